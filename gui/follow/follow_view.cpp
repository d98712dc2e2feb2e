#include <gui/base/text.hpp>
#include <gui/follow/follow_lines.hpp>
#include <gui/follow/follow_view.hpp>
#include <gui/session/selection.hpp>
#include <gui/session/session.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/figures.hpp>

#include <QAction>
#include <QComboBox>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSaveFile>
#include <QSplitter>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <array>

namespace qps::gui {

using namespace transport;
using dissect::FrameIndex;

namespace {

constexpr std::size_t kMostFollowed = 1000;                         // messages of a part
constexpr std::size_t kMostFollowedBytes = std::size_t{256} << 10;  // of payload of a part: some 16,000 lines
constexpr std::size_t kMostSavedAtOnce = std::size_t{8} << 20;      // bytes that wait to be written

}  // namespace

struct FollowView::Made {
    FollowLines shown;
    std::uint64_t messages = 0;  // of the connection
    std::uint64_t next = 0;      // number of the message after these
    std::uint64_t let_go = 0;
    QString ends;
};

FollowView::FollowView(Session& session, Selection& selection, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_selection(selection),
      m_made(std::make_shared<Made>()),
      m_form(new QComboBox),
      m_whose(new QComboBox),
      m_earlier(new QToolButton),
      m_later(new QToolButton),
      m_wanted(new QLineEdit),
      m_save(new QToolButton),
      m_state(new QLabel),
      m_messages(
          new Sheet(tr("Messages followed"),
                    {{tr("#"), tr("Number of the message, in the order in which those of the connection end"), true},
                     {tr("From"), tr("Who sent the payload; of a READ the end that was asked"), false},
                     {tr("Verb"), tr("What the work request was"), false},
                     {tr("Bytes"), tr("Payload that the capture has of it"), true},
                     {tr("Outcome"), tr("What became of it"), false},
                     {tr("Operation"), tr("Of an upper protocol, that it belongs to"), false},
                     {tr("Packet"), tr("Its first packet"), true}})),
      m_lines(new TextLines(tr("Payload"))) {
    build();
    connect(m_messages, &Sheet::rowReached, this, [this] {
        const SheetRow* row = m_messages->currentRow();
        if (!m_choosing && row != nullptr && row->cells.front().number)
            m_lines->showMessage(static_cast<std::size_t>(*row->cells.front().number));
    });
    connect(m_messages, &Sheet::rowActivated, this, [this] {
        if (const SheetRow* row = m_messages->currentRow(); row != nullptr && row->cells.front().number)
            goTo(static_cast<std::size_t>(*row->cells.front().number));
    });
    connect(m_lines, &TextLines::lineActivated, this, &FollowView::goToLine);
    connect(&m_job, &SeriesJob::tookLong, this, [this] { tell(tr("Following...")); });
    connect(&m_job, &SeriesJob::failed, this, &FollowView::tell);
    connect(&m_job, &SeriesJob::finished, this, [this] {
        if (m_stale) refresh();
    });
    connect(&m_saving, &SeriesJob::failed, this, &FollowView::tell);
    connect(&session, &Session::opened, this, &FollowView::anew);
    connect(&session, &Session::timelineChanged, this, &FollowView::refresh);
    connect(&selection, &Selection::connectionChanged, this, &FollowView::anew);
    connect(&selection, &Selection::packetChanged, this, &FollowView::followPacket);
    connect(m_form, &QComboBox::currentIndexChanged, this, &FollowView::refresh);
    connect(m_whose, &QComboBox::currentIndexChanged, this, &FollowView::refresh);
}

FollowView::~FollowView() = default;

void FollowView::build() {
    setAccessibleName(tr("Payload"));
    m_form->addItems({tr("Decoded"), tr("Hex"), tr("Text")});
    m_form->setObjectName(QStringLiteral("followForm"));
    m_form->setAccessibleName(tr("How payload is shown"));
    m_form->setToolTip(tr("How payload is shown; decoded: as fields, where the protocol is known"));
    m_whose->addItems({tr("Both ends"), QString(), QString()});
    m_whose->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    m_whose->setObjectName(QStringLiteral("followWhose"));
    m_whose->setAccessibleName(tr("Whose payload"));
    m_whose->setToolTip(tr("Who sent the payload that is shown"));
    const auto button = [](QToolButton* made, const QString& text, const QString& tip) {
        made->setText(text);
        made->setAccessibleName(tip);
        made->setToolTip(tip);
        made->setFocusPolicy(Qt::TabFocus);
    };
    button(m_earlier, tr("Earlier"), tr("Earlier messages of the connection"));
    button(m_later, tr("Later"), tr("Later messages of the connection"));
    button(m_save, tr("Save..."), tr("Save the payload of the connection, or of the end that is chosen"));
    connect(m_earlier, &QToolButton::clicked, this, [this] { step(-1); });
    connect(m_later, &QToolButton::clicked, this, [this] { step(1); });
    connect(m_save, &QToolButton::clicked, this, &FollowView::save);
    m_wanted->setPlaceholderText(tr("Find text or 0x bytes"));
    m_wanted->setClearButtonEnabled(true);
    m_wanted->setAccessibleName(tr("Find in the payload"));
    m_wanted->setToolTip(
        tr("Find text, or bytes as 0x6e766d65, in what is shown (Enter: next, Shift+Enter: previous)"));
    m_wanted->setMaximumWidth(fontMetrics().averageCharWidth() * 28);
    auto* previous = new QAction(this);
    previous->setShortcut(QKeySequence(Qt::SHIFT | Qt::Key_Return));
    previous->setShortcutContext(Qt::WidgetShortcut);
    m_wanted->addAction(previous);
    connect(previous, &QAction::triggered, this, [this] { find(true); });
    connect(m_wanted, &QLineEdit::returnPressed, this, [this] { find(false); });
    m_state->setTextFormat(Qt::PlainText);
    m_state->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_state->setWordWrap(true);  // a long sentence shall not make the window wider
    m_state->setAccessibleName(tr("What is followed"));
    auto* line = new QHBoxLayout;
    for (QWidget* each :
         {static_cast<QWidget*>(m_form), static_cast<QWidget*>(m_whose), static_cast<QWidget*>(m_earlier),
          static_cast<QWidget*>(m_later), static_cast<QWidget*>(m_wanted), static_cast<QWidget*>(m_save)})
        line->addWidget(each);
    line->addStretch(1);
    auto* parts = new QSplitter(Qt::Vertical);
    parts->addWidget(m_messages);
    parts->addWidget(m_lines);
    parts->setChildrenCollapsible(false);
    parts->setSizes({1000, 2000});
    auto* column = new QVBoxLayout(this);
    column->addLayout(line);
    column->addWidget(m_state);
    column->addWidget(parts, 1);
    setFocusProxy(m_messages);
}

void FollowView::tell(const QString& sentence) {
    m_state->setText(sentence);
    m_state->setAccessibleDescription(sentence);
}

void FollowView::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    followPacket();
    if (m_stale) refresh();
}

void FollowView::anew() {
    m_first = 1;
    m_parts.clear();
    m_following = true;
    refresh();
}

void FollowView::step(int by) {
    if (by > 0 && m_made->next <= m_made->messages) {
        m_parts.push_back(m_first);
        m_first = m_made->next;
    } else if (by < 0 && !m_parts.empty()) {
        m_first = m_parts.back();
        m_parts.pop_back();
    } else if (by < 0) {  // it began where a packet was selected
        m_first -= std::min<std::uint64_t>(m_first - 1, kMostFollowed);
    }
    refresh();
}

// The part that has the message of the packet that is selected is shown, and its first line is sought out.
void FollowView::followPacket() {
    if (m_choosing || !isVisible()) return;
    const auto packet = m_selection.packet();
    const auto connection = m_selection.connection();
    if (!packet || !connection) return;
    const auto number = followed_number(*m_session.index(), *connection, *packet);
    if (!number) return;
    m_following = true;
    const bool here = !m_stale && m_first <= *number && *number < m_made->next;
    if (here) return showPacket();
    while (!m_parts.empty() && m_parts.back() >= *number) m_parts.pop_back();
    // From the beginning where it is near: then nothing is to be stepped back to.
    m_first = *number <= kMostFollowed / 10 && m_parts.empty() ? 1 : *number;
    refresh();
}

void FollowView::showPacket() {
    if (!std::exchange(m_following, false)) return;
    const auto packet = m_selection.packet();
    const auto connection = m_selection.connection();
    const auto number = packet && connection ? followed_number(*m_session.index(), *connection, *packet) : std::nullopt;
    if (!number) return;
    if (*number >= m_made->next && m_made->next > m_first && *number <= m_made->messages) {  // the part ended before it
        m_first = *number;
        m_following = true;
        return refresh();
    }
    m_choosing = true;
    m_messages->showRow(QString::number(*number));
    m_choosing = false;
    m_lines->showMessage(static_cast<std::size_t>(*number));
    // The byte that the packet begins with, where the lines are of bytes.
    const auto message = std::ranges::find(m_made->shown.followed, *number, &FollowedMessage::number);
    if (message == m_made->shown.followed.end()) return;
    for (const PayloadPiece& piece : message->payload.pieces) {
        if (packet_of_byte(*m_session.index(), *connection, *message, piece.begin) != *packet) continue;
        const auto& lines = m_made->shown.lines;
        std::optional<std::size_t> best;
        for (std::size_t i = 0; i < lines.size(); ++i)
            if (lines[i].message == *number && lines[i].byte && *lines[i].byte <= piece.begin) best = i;
        if (best && piece.begin != 0) m_lines->showLine(*best);
        return;
    }
}

void FollowView::refresh() {
    m_stale = true;
    if (!isVisible() || (m_job.running() && m_session.busy())) return;
    m_stale = false;
    const auto wanted = m_selection.connection();
    const Connection* connection = wanted ? m_session.timeline()->find(*wanted) : nullptr;
    m_save->setEnabled(connection != nullptr);
    if (connection == nullptr) {
        m_job.cancel();
        present(std::make_shared<Made>());
        return tell(tr("Select a connection, or a packet of one."));
    }
    const std::array ends{text(connection->ends[0]), text(connection->ends[1])};
    for (int end = 0; end < 2; ++end)
        m_whose->setItemText(1 + end, tr("From %1").arg(shown(ends[static_cast<std::size_t>(end)])));
    m_job.start([this, index = m_session.index(), uid = *wanted, ends, first = m_first,
                 form = static_cast<PayloadForm>(m_form->currentIndex()),
                 whose = static_cast<PayloadOf>(m_whose->currentIndex()),
                 start = m_session.timeline()->first.value_or(dissect::Instant{})](
                    const series::Stop& stop) -> SeriesJob::Delivery {
        auto part = follow(index, uid, first, kMostFollowed, kMostFollowedBytes, stop);
        if (!part) return {};
        auto made = std::make_shared<Made>();
        made->messages = part->messages;
        made->let_go = part->let_go;
        made->next = first + part->followed.size();
        made->ends = tr("Connection %1, %2 and %3").arg(std::to_underlying(uid)).arg(shown(ends[0]), shown(ends[1]));
        made->shown = followLines(std::move(part->followed), form, whose, ends, start);
        return [this, made] { present(made); };
    });
}

void FollowView::present(std::shared_ptr<const Made> made) {
    m_made = std::move(made);
    const bool whole = m_first == 1 && m_made->next > m_made->messages;
    m_messages->setEmptyText(m_made->ends.isEmpty()  ? QString()
                             : m_made->messages == 0 ? tr("The connection has no messages in the capture.")
                             : whole                 ? tr("This end sent no payload that the capture has.")
                                                     : tr("This end sent no payload in this part."));
    m_messages->setRows(m_made->shown.rows);
    m_lines->setLines(m_made->shown.lines);
    m_earlier->setEnabled(m_first > 1);
    m_later->setEnabled(m_made->next <= m_made->messages);
    if (m_made->ends.isEmpty()) return;
    QString said = m_made->ends;
    if (m_made->messages != 0)
        said += tr(": messages %L1 to %L2 of %L3").arg(m_first).arg(m_made->next - 1).arg(m_made->messages);
    else said += tr(": no messages");
    if (m_made->let_go != 0) said += tr("; %1 of payload was let go").arg(shown(bytes_text(m_made->let_go)));
    tell(said);
    showPacket();
}

void FollowView::find(bool backwards) {
    if (m_wanted->text().isEmpty()) return;
    const auto from = m_lines->currentNumber();
    const auto found = findLine(m_made->shown, m_wanted->text(), from, backwards);
    if (!found)
        return tell(
            tr("Not found in messages %L1 to %L2: %3").arg(m_first).arg(m_made->next - 1).arg(m_wanted->text()));
    m_lines->showLine(*found);
    const bool around = from && (backwards ? *found >= *from : *found <= *from);
    tell(around ? tr("Found from the other end on")
                : tr("Found in message %L1").arg(m_made->shown.lines[*found].message));
}

// To the packet that carried the byte that a line begins with; of a line without bytes, to the message's first.
void FollowView::goToLine() {
    const TextLine* line = m_lines->currentLine();
    const auto connection = m_selection.connection();
    if (line == nullptr || !connection) return;
    const auto message = std::ranges::find(m_made->shown.followed, line->message, &FollowedMessage::number);
    FrameIndex packet{};
    if (line->byte && message != m_made->shown.followed.end())
        packet = packet_of_byte(*m_session.index(), *connection, *message, *line->byte);
    if (packet == FrameIndex{}) return goTo(line->message);
    m_choosing = true;
    m_selection.selectPacket(packet);
    m_choosing = false;
    Q_EMIT viewRequested(QStringLiteral("packets"));
}

void FollowView::goTo(std::size_t message) {
    const auto found = std::ranges::find_if(m_made->shown.rows, [&](const SheetRow& row) {
        return row.cells.front().number == static_cast<double>(message);
    });
    if (found == m_made->shown.rows.end() || found->packet == FrameIndex{}) return;
    m_choosing = true;
    m_selection.selectPacket(found->packet);
    m_choosing = false;
    Q_EMIT viewRequested(QStringLiteral("packets"));
}

void FollowView::save() {
    const auto connection = m_selection.connection();
    if (!connection) return;
    const QString path = QFileDialog::getSaveFileName(
        this, tr("Save payload"), QStringLiteral("connection-%1.bin").arg(std::to_underlying(*connection)),
        tr("Bytes (*.bin);;All files (*)"));
    if (!path.isEmpty()) saveTo(path);
}

void FollowView::saveTo(const QString& path) {
    const auto connection = m_selection.connection();
    if (!connection) return;
    m_saving.start(
        [this, path, index = m_session.index(), uid = *connection,
         whose = static_cast<PayloadOf>(m_whose->currentIndex())](const series::Stop& stop) -> SeriesJob::Delivery {
            QSaveFile file(path);
            const auto say = [this](const QString& words) { return [this, words] { tell(words); }; };
            const auto failed = [&] { return say(tr("%1: cannot write: %2.").arg(path, file.errorString())); };
            if (!file.open(QIODevice::WriteOnly)) return failed();
            std::uint64_t written = 0, lacking = 0;
            for (std::uint64_t next = 1;;) {
                const auto part = follow(index, uid, next, kMostFollowed, kMostSavedAtOnce, stop);
                if (!part) return {};
                for (const FollowedMessage& one : part->followed) {
                    if (whose != PayloadOf::BothEnds && (whose == PayloadOf::EndA) != (payload_sender(one) == End::a))
                        continue;
                    const auto& bytes = one.payload.bytes;
                    const auto size = static_cast<qint64>(bytes.size());
                    if (file.write(reinterpret_cast<const char*>(bytes.data()), size) != size) return failed();
                    written += bytes.size();
                    lacking += one.payload.cut_bytes != 0 || one.payload.missing_packets != 0 ? 1 : 0;
                }
                next += part->followed.size();
                if (part->followed.empty() || next > part->messages) break;
            }
            if (!file.commit()) return failed();
            QString words = tr("%1 written to %2").arg(shown(counted(written, "byte")), path);
            if (lacking != 0) words += tr("; %1 not captured whole").arg(shown(counted(lacking, "message")));
            return [this, words, path] {
                tell(words);
                Q_EMIT savedTo(path);
            };
        });
}

}  // namespace qps::gui
