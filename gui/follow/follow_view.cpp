#include <dissect/packet/render.hpp>
#include <dissect/ulp/ulp.hpp>
#include <gui/base/text.hpp>
#include <gui/follow/follow_view.hpp>
#include <gui/follow/text_lines.hpp>
#include <gui/session/selection.hpp>
#include <gui/session/session.hpp>
#include <gui/tables/sheet.hpp>
#include <transport-replay/index/followed_messages.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/report/ulp.hpp>
#include <transport-replay/report/verbs.hpp>

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
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
constexpr std::size_t kMostOfOne = std::size_t{64} << 10;           // of one message
constexpr qsizetype kLineOfText = 120;                              // characters

enum Form { Decoded, Hex, PlainText };
enum Whose { BothEnds, EndA, EndB };

QString plainText(dissect::Bytes bytes) {
    QString text;
    text.reserve(static_cast<qsizetype>(bytes.size()));
    qsizetype column = 0;
    for (const std::byte byte : bytes) {
        const auto letter = std::to_integer<unsigned char>(byte);
        constexpr unsigned char kFirst = 0x20, kLast = 0x7e;
        if (letter == '\n' || column == kLineOfText) {
            text += QLatin1Char('\n');
            column = 0;
            if (letter == '\n') continue;
        }
        text += letter >= kFirst && letter <= kLast ? QLatin1Char(static_cast<char>(letter)) : QLatin1Char('.');
        ++column;
    }
    return text;
}

// The message as `follow` prints it, below its heading.
QString bodyOf(const FollowedMessage& followed, int form, dissect::Packet& scratch) {
    const dissect::Bytes all = followed.payload.bytes;
    const dissect::Bytes bytes = all.first(std::min(all.size(), kMostOfOne));
    QString body;
    if (form == PlainText) {
        body = plainText(bytes);
    } else {
        std::string text;
        if (form == Decoded && followed.message.verb == dissect::Verb::send &&
            followed.hint.protocol != dissect::UlpProtocol::none) {
            dissect::decode_message(bytes, followed.hint, scratch);
            dissect::append_tree(text, scratch);
        } else {
            dissect::append_hex_dump(text, bytes);
        }
        body = shown(text);
    }
    if (bytes.size() < all.size())
        body += FollowView::tr("\n... and %1 more").arg(shown(counted(all.size() - bytes.size(), "byte")));
    if (followed.payload.cut_bytes != 0)
        body +=
            FollowView::tr("\n(%1 truncated by the capture)").arg(shown(counted(followed.payload.cut_bytes, "byte")));
    const bool whole = followed.message.outcome == Outcome::completed || followed.message.outcome == Outcome::sent;
    if (whole && followed.payload.missing_packets != 0)
        body += FollowView::tr("\n(%1 not captured)").arg(shown(counted(followed.payload.missing_packets, "packet")));
    return body;
}

SheetCell followCell(const std::string& text) { return {shown(text), {}, {}}; }

}  // namespace

struct FollowView::Made {
    std::vector<TextLine> lines;
    std::vector<SheetRow> rows;
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
      m_state(new QLabel),
      m_messages(
          new Sheet(tr("Messages followed"),
                    {{tr("#"), tr("Number of the message, in the order in which those of the connection end"), true},
                     {tr("From"), tr("Who sent it; of a READ who asked for it"), false},
                     {tr("Verb"), tr("What the work request was"), false},
                     {tr("Bytes"), tr("Payload that the capture has of it"), true},
                     {tr("Outcome"), tr("What became of it"), false},
                     {tr("Operation"), tr("Of an upper protocol, that it belongs to"), false},
                     {tr("Packet"), tr("Its first packet"), true}})),
      m_lines(new TextLines(tr("Payload"))) {
    build();
    connect(m_messages, &Sheet::rowReached, this, [this] {
        const SheetRow* row = m_messages->currentRow();
        if (row != nullptr && row->cells.front().number)
            m_lines->showMessage(static_cast<std::size_t>(*row->cells.front().number));
    });
    connect(m_messages, &Sheet::rowActivated, this, [this] {
        if (const SheetRow* row = m_messages->currentRow(); row != nullptr && row->cells.front().number)
            goTo(static_cast<std::size_t>(*row->cells.front().number));
    });
    connect(m_lines, &TextLines::lineActivated, this, [this] {
        if (const TextLine* line = m_lines->currentLine()) goTo(line->message);
    });
    connect(&m_job, &SeriesJob::tookLong, this, [this] { tell(tr("Following...")); });
    connect(&m_job, &SeriesJob::failed, this, &FollowView::tell);
    connect(&m_job, &SeriesJob::finished, this, [this] {
        if (m_stale) refresh();
    });
    connect(&session, &Session::opened, this, &FollowView::anew);
    connect(&session, &Session::timelineChanged, this, &FollowView::refresh);
    connect(&selection, &Selection::connectionChanged, this, &FollowView::anew);
    connect(m_form, &QComboBox::currentIndexChanged, this, &FollowView::refresh);
    connect(m_whose, &QComboBox::currentIndexChanged, this, &FollowView::refresh);
}

void FollowView::build() {
    setAccessibleName(tr("Payload"));
    m_form->addItems({tr("Decoded"), tr("Hex"), tr("Text")});
    m_form->setObjectName(QStringLiteral("followForm"));
    m_form->setAccessibleName(tr("How payload is shown"));
    m_form->setToolTip(tr("How payload is shown; decoded: as fields, where the protocol is known"));
    m_whose->addItems({tr("Both ends"), tr("End a"), tr("End b")});
    m_whose->setObjectName(QStringLiteral("followWhose"));
    m_whose->setAccessibleName(tr("Whose messages"));
    m_whose->setToolTip(tr("Whose messages are shown"));
    const auto button = [](QToolButton* made, const QString& text, const QString& tip) {
        made->setText(text);
        made->setAccessibleName(tip);
        made->setToolTip(tip);
        made->setFocusPolicy(Qt::TabFocus);
    };
    button(m_earlier, tr("Earlier"), tr("Earlier messages of the connection"));
    button(m_later, tr("Later"), tr("Later messages of the connection"));
    connect(m_earlier, &QToolButton::clicked, this, [this] { step(-1); });
    connect(m_later, &QToolButton::clicked, this, [this] { step(1); });
    m_state->setTextFormat(Qt::PlainText);
    m_state->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_state->setWordWrap(true);  // a long sentence shall not make the window wider
    m_state->setAccessibleName(tr("What is followed"));
    auto* line = new QHBoxLayout;
    for (QWidget* each : {static_cast<QWidget*>(m_form), static_cast<QWidget*>(m_whose),
                          static_cast<QWidget*>(m_earlier), static_cast<QWidget*>(m_later)})
        line->addWidget(each);
    line->addWidget(m_state, 1);
    auto* parts = new QSplitter(Qt::Vertical);
    parts->addWidget(m_messages);
    parts->addWidget(m_lines);
    parts->setChildrenCollapsible(false);
    parts->setSizes({1000, 2000});
    auto* column = new QVBoxLayout(this);
    column->addLayout(line);
    column->addWidget(parts, 1);
    setFocusProxy(m_messages);
}

void FollowView::tell(const QString& sentence) {
    m_state->setText(sentence);
    m_state->setAccessibleDescription(sentence);
}

void FollowView::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (m_stale) refresh();
}

void FollowView::anew() {
    m_first = 1;
    m_parts.clear();
    refresh();
}

void FollowView::step(int by) {
    if (by > 0 && m_made->next <= m_made->messages) {
        m_parts.push_back(m_first);
        m_first = m_made->next;
    } else if (by < 0 && !m_parts.empty()) {
        m_first = m_parts.back();
        m_parts.pop_back();
    }
    refresh();
}

void FollowView::refresh() {
    m_stale = true;
    if (!isVisible() || (m_job.running() && m_session.busy())) return;
    m_stale = false;
    const auto wanted = m_selection.connection();
    const Connection* connection = wanted ? m_session.timeline()->find(*wanted) : nullptr;
    if (connection == nullptr) {
        m_job.cancel();
        present(std::make_shared<Made>());
        return tell(tr("Select a connection, or a packet of one."));
    }
    const std::array ends{text(connection->ends[0]), text(connection->ends[1])};
    m_job.start([this, index = m_session.index(), uid = *wanted, ends, first = m_first, form = m_form->currentIndex(),
                 whose = m_whose->currentIndex(), start = m_session.timeline()->first.value_or(dissect::Instant{})](
                    const series::Stop& stop) -> SeriesJob::Delivery {
        const auto part = follow(index, uid, first, kMostFollowed, kMostFollowedBytes, stop);
        if (!part) return {};
        auto made = std::make_shared<Made>();
        made->messages = part->messages;
        made->let_go = part->let_go;
        made->next = first + part->followed.size();
        made->ends = tr("Connection %1, %2 and %3").arg(std::to_underlying(uid)).arg(shown(ends[0]), shown(ends[1]));
        dissect::Packet scratch;
        for (const FollowedMessage& one : part->followed) {
            if (whose != BothEnds && (whose == EndA) != (one.requester == End::a)) continue;
            const Message& message = one.message;
            const auto from = static_cast<std::size_t>(one.requester);
            const auto place = static_cast<std::size_t>(one.number);
            const auto put = [&](const QString& line, bool heading) {
                made->lines.push_back({line, place, one.requester, heading});
            };
            put(tr("message %1 at %2: %3 from %4 to %5, PSN %6, %7, %8")
                    .arg(QString::number(one.number), shown(seconds_text(message.first_time - start)),
                         shown(verb_text(message)), shown(ends[from]), shown(ends[1 - from]),
                         shown(psn_range(message.first, message.last)),
                         shown(counted(one.payload.bytes.size(), "byte")), shown(outcome_text(message))),
                true);
            if (message.ulp) put(QStringLiteral("    ") + shown(label_text(*message.ulp)), false);
            for (const QString& line : bodyOf(one, form, scratch).split(QLatin1Char('\n'), Qt::SkipEmptyParts))
                put(line, false);
            const auto packet = std::to_underlying(message.first_frame);
            made->rows.push_back({{{QString::number(one.number), static_cast<double>(one.number), {}},
                                   followCell(ends[from]),
                                   followCell(verb_text(message)),
                                   countCell(one.payload.bytes.size()),
                                   followCell(outcome_text(message)),
                                   message.ulp ? followCell(label_text(*message.ulp)) : SheetCell{},
                                   countCell(packet)},
                                  {},
                                  message.first_frame,
                                  Tone::plain});
        }
        return [this, made] { present(made); };
    });
}

void FollowView::present(std::shared_ptr<const Made> made) {
    m_made = std::move(made);
    m_messages->setEmptyText(m_made->ends.isEmpty() ? QString() : tr("The connection has no messages here."));
    m_messages->setRows(m_made->rows);
    m_lines->setLines(m_made->lines);
    m_earlier->setEnabled(!m_parts.empty());
    m_later->setEnabled(m_made->next <= m_made->messages);
    if (m_made->ends.isEmpty()) return;
    QString said = m_made->ends;
    if (m_made->messages != 0)
        said += tr(": messages %L1 to %L2 of %L3").arg(m_first).arg(m_made->next - 1).arg(m_made->messages);
    else said += tr(": no messages");
    if (m_made->let_go != 0) said += tr("; %1 of payload was let go").arg(shown(bytes_text(m_made->let_go)));
    tell(said);
}

void FollowView::goTo(std::size_t message) {
    const auto found = std::ranges::find_if(
        m_made->rows, [&](const SheetRow& row) { return row.cells.front().number == static_cast<double>(message); });
    if (found == m_made->rows.end() || found->packet == FrameIndex{}) return;
    m_selection.selectPacket(found->packet);
    Q_EMIT viewRequested(QStringLiteral("packets"));
}

}  // namespace qps::gui
