#include <dissect/base/parse_value.hpp>
#include <gui/base/fixed_font.hpp>
#include <gui/base/look.hpp>
#include <gui/live/capture_dialog.hpp>
#include <gui/live/capture_files.hpp>
#include <gui/live/remote.hpp>
#include <transport-replay/capture/listener.hpp>

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QCompleter>
#include <QDialogButtonBox>
#include <QEvent>
#include <QFile>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QTreeWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <limits>
#include <utility>

namespace qps::gui {

namespace {

constexpr int kTrafficEvery = 500;                // ms
constexpr int kMostSeconds = 366 * 24 * 60 * 60;  // what qpscope-capture takes
constexpr int kLink = Qt::UserRole + 2;           // of a row: its link type
enum Column { name_column, traffic_column, addresses_column, description_column };

// One of IPv6 may have a zone: fe80::1%eth0.
bool isInternet(const QString& address) {
    return dissect::parse_ip(address.section(QLatin1Char('%'), 0, 0).toStdString()).has_value();
}

// Those of the internet, or where there are none what else there is.
QString shownAddresses(const QStringList& addresses) {
    QStringList shown;
    std::ranges::copy_if(addresses, std::back_inserter(shown), isInternet);
    return (shown.isEmpty() ? addresses : shown).join(QStringLiteral(", "));
}

QTreeWidgetItem* rowOf(const Interface& interface, const QPalette& palette) {
    auto* row = new QTreeWidgetItem;
    row->setText(name_column, interface.name);
    row->setText(addresses_column, shownAddresses(interface.addresses));
    row->setToolTip(addresses_column, interface.addresses.join(QLatin1Char('\n')));
    QString description = interface.description;
    if (description.isEmpty() && interface.loopback) description = CaptureDialog::tr("loopback");
    if (!interface.up) description += description.isEmpty() ? CaptureDialog::tr("down") : CaptureDialog::tr(" (down)");
    row->setText(description_column, description);
    row->setToolTip(description_column, description);
    row->setData(name_column, kLink, static_cast<int>(interface.link.value_or(dissect::LinkType::ethernet)));
    for (int column = name_column; !interface.up && column <= description_column; ++column)
        row->setForeground(column, palette.brush(QPalette::Disabled, QPalette::Text));
    return row;
}

QSpinBox* limit(int most, const QString& unlimited, const QString& name, const QString& label) {
    auto* box = new QSpinBox;
    box->setRange(0, most);
    box->setSpecialValueText(unlimited);
    box->setGroupSeparatorShown(true);
    box->setObjectName(name);
    box->setAccessibleName(label);
    return box;
}

}  // namespace

CaptureDialog::CaptureDialog(const QString& program, QWidget* parent) : QDialog(parent), m_finder(program) {
    setWindowTitle(tr("Capture"));
    build();
    connect(&m_finder, &InterfaceFinder::found, this, &CaptureDialog::showList);
    connect(&m_finder, &InterfaceFinder::failed, this, &CaptureDialog::showFailure);
    connect(&m_check, &BpfCheck::verdictChanged, this, &CaptureDialog::showVerdict);
    connect(&m_traffic, &QTimer::timeout, this, &CaptureDialog::showTraffic);
    restore(lastChoice());
    showVerdict();
    refresh();
    m_traffic.start(kTrafficEvery);
}

// A line that loses the focus as it goes has been edited, but nobody asks any more.
CaptureDialog::~CaptureDialog() { m_host->disconnect(this); }

void CaptureDialog::build() {
    m_interfaces = new QTreeWidget;
    m_interfaces->setObjectName(QStringLiteral("interfaces"));
    m_interfaces->setAccessibleName(tr("Interfaces"));
    m_interfaces->setHeaderLabels({tr("Interface"), tr("Packets"), tr("Addresses"), tr("Description")});
    m_interfaces->setRootIsDecorated(false);
    m_interfaces->setUniformRowHeights(true);
    m_interfaces->setAllColumnsShowFocus(true);
    m_interfaces->setItemDelegateForColumn(traffic_column, new TrafficDelegate(m_interfaces));
    connect(m_interfaces, &QTreeWidget::currentItemChanged, this, &CaptureDialog::askFilter);
    connect(m_interfaces, &QTreeWidget::itemActivated, this, [this] {
        if (ready()) accept();
    });

    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
    m_start = buttons->addButton(tr("&Start"), QDialogButtonBox::AcceptRole);
    m_start->setObjectName(QStringLiteral("start"));
    m_refresh = buttons->addButton(tr("&Refresh"), QDialogButtonBox::ResetRole);
    for (QAbstractButton* button : buttons->buttons())
        qobject_cast<QPushButton*>(button)->setAutoDefault(button == m_start);
    m_refresh->setShortcut(QKeySequence::Refresh);
    m_refresh->setToolTip(tr("List the interfaces again (%1)").arg(QKeySequence(QKeySequence::Refresh).toString()));
    connect(m_refresh, &QPushButton::clicked, this, &CaptureDialog::refresh);
    connect(buttons, &QDialogButtonBox::accepted, this, &CaptureDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &CaptureDialog::reject);

    auto* layout = new QVBoxLayout(this);
    layout->addWidget(buildHost());
    layout->addWidget(m_interfaces, 1);
    layout->addWidget(buildMessage());
    layout->addWidget(buildFilter());
    layout->addWidget(buildLimits());
    m_files = new FileChoice;
    connect(m_files, &FileChoice::changed, this, &CaptureDialog::updateStart);
    layout->addWidget(m_files);
    layout->addWidget(buttons);
    const QFontMetrics metrics = fontMetrics();
    resize(metrics.averageCharWidth() * 105, metrics.lineSpacing() * 28);
    m_interfaces->setFocus();  // most capture here
}

QWidget* CaptureDialog::buildHost() {
    m_host = new QLineEdit;
    m_host->setObjectName(QStringLiteral("host"));
    m_host->setAccessibleName(tr("Host to capture on"));
    m_host->setPlaceholderText(tr("this machine; or user@host, by ssh with a key"));
    m_host->setToolTip(tr("qpscope-capture has to be installed there. ssh is not asked for passwords: use a key."));
    m_host->setClearButtonEnabled(true);
    connect(m_host, &QLineEdit::editingFinished, this, &CaptureDialog::takeHost);
    auto* label = new QLabel(tr("&Host:"));
    label->setBuddy(m_host);
    auto* part = new QWidget;
    auto* layout = new QHBoxLayout(part);
    layout->setContentsMargins({});
    layout->addWidget(label);
    layout->addWidget(m_host, 1);
    return part;
}

// Of another machine the list is another one.
void CaptureDialog::takeHost() {
    const QString host = m_host->text().trimmed();
    if (host == m_listed) return;
    m_listed = host;
    m_files->setHost(host);
    m_interfaces->clear();
    m_histories.clear();
    updateStart();
    if (!host.isEmpty() && !isHost(host))
        return showFailure(tr("invalid host '%1': expected host or user@host").arg(host));
    m_finder.setHost(host);
    refresh();
}

QWidget* CaptureDialog::buildMessage() {
    m_messageText = new QLabel;
    m_messageText->setObjectName(QStringLiteral("message"));
    m_messageText->setWordWrap(true);
    m_messageText->setTextFormat(Qt::PlainText);
    m_messageText->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);

    m_command = new QLineEdit;
    m_command->setObjectName(QStringLiteral("remedy"));
    m_command->setReadOnly(true);
    m_command->setFont(fixedFont());
    m_command->setAccessibleName(tr("Command that grants the capture privilege"));
    auto* copy = new QPushButton(tr("C&opy"));
    copy->setToolTip(tr("Copy the command"));
    copy->setAutoDefault(false);
    connect(copy, &QPushButton::clicked, this, [this] { QApplication::clipboard()->setText(m_command->text()); });
    m_remedy = new QWidget;
    auto* line = new QHBoxLayout(m_remedy);
    line->setContentsMargins({});
    line->addWidget(m_command, 1);
    line->addWidget(copy);

    m_message = new QWidget;
    auto* layout = new QVBoxLayout(m_message);
    layout->setContentsMargins({});
    layout->addWidget(m_messageText);
    layout->addWidget(m_remedy);
    m_message->hide();
    return m_message;
}

QWidget* CaptureDialog::buildFilter() {
    m_filter = new QComboBox;
    m_filter->setObjectName(QStringLiteral("filter"));
    m_filter->setEditable(true);
    m_filter->setInsertPolicy(QComboBox::NoInsert);
    m_filter->addItems(recentCaptureFilters());
    m_filter->completer()->setCompletionMode(QCompleter::PopupCompletion);
    m_filter->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_filter->setAccessibleName(tr("Capture filter"));
    m_filter->setToolTip(tr("libpcap filter, as of tcpdump. Packets that do not match are not captured."));
    m_filter->lineEdit()->setPlaceholderText(tr("all packets; for example: udp port 4791"));
    m_filter->lineEdit()->setClearButtonEnabled(true);
    m_filter->lineEdit()->setFont(fixedFont());
    connect(m_filter, &QComboBox::editTextChanged, this, &CaptureDialog::askFilter);
    m_verdict = new QLabel;
    m_verdict->setObjectName(QStringLiteral("verdict"));
    m_verdict->setTextFormat(Qt::PlainText);
    m_verdict->setWordWrap(true);

    auto* label = new QLabel(tr("Capture &filter:"));
    label->setBuddy(m_filter);
    auto* part = new QWidget;
    auto* layout = new QGridLayout(part);
    layout->setContentsMargins({});
    layout->addWidget(label, 0, 0);
    layout->addWidget(m_filter, 0, 1);
    layout->addWidget(m_verdict, 1, 1);
    layout->setColumnStretch(1, 1);
    return part;
}

QWidget* CaptureDialog::buildLimits() {
    m_packets =
        limit(std::numeric_limits<int>::max(), tr("unlimited"), QStringLiteral("packets"), tr("Stop after packets"));
    m_seconds = limit(kMostSeconds, tr("unlimited"), QStringLiteral("seconds"), tr("Stop after seconds"));
    m_seconds->setSuffix(tr(" s"));
    m_snapLength = limit(static_cast<int>(transport::kListenerSnapLength), tr("unlimited"),
                         QStringLiteral("snapLength"), tr("Snap length in bytes"));
    m_snapLength->setSuffix(tr(" bytes"));
    auto* part = new QWidget;
    auto* layout = new QHBoxLayout(part);
    layout->setContentsMargins({});
    const auto add = [layout](const QString& text, QSpinBox* box) {
        auto* label = new QLabel(text);
        label->setBuddy(box);
        layout->addWidget(label);
        layout->addWidget(box);
        layout->addSpacing(box->fontMetrics().averageCharWidth() * 2);
    };
    add(tr("Stop after &packets:"), m_packets);
    add(tr("or &time:"), m_seconds);
    add(tr("Snap &length:"), m_snapLength);
    layout->addStretch();
    m_stopOn = new QComboBox;
    m_stopOn->setObjectName(QStringLiteral("stopOn"));
    m_stopOn->setAccessibleName(tr("Stop on a finding"));
    m_stopOn->addItems({tr("never"), tr("error"), tr("warning or error")});
    auto* label = new QLabel(tr("Stop on f&inding:"));
    label->setBuddy(m_stopOn);
    auto* whole = new QWidget;
    auto* rows = new QVBoxLayout(whole);
    rows->setContentsMargins({});
    auto* second = new QHBoxLayout;
    second->addWidget(label);
    second->addWidget(m_stopOn);
    second->addStretch();
    rows->addWidget(part);
    rows->addLayout(second);
    return whole;
}

void CaptureDialog::restore(const CaptureChoice& choice) {
    m_wanted = choice.interface;
    m_filter->setEditText(choice.filter);
    m_packets->setValue(static_cast<int>(std::min<qint64>(choice.packets, m_packets->maximum())));
    m_seconds->setValue(choice.seconds);
    m_snapLength->setValue(choice.snapLength);
    m_stopOn->setCurrentIndex(static_cast<int>(choice.stopOn));
    m_host->setText(choice.host);
    m_listed = choice.host;
    m_finder.setHost(choice.host);
    m_files->restore(choice);
}

CaptureChoice CaptureDialog::choice() const {
    CaptureChoice made;
    if (const QTreeWidgetItem* row = current(); row != nullptr) {
        made.interface = row->text(name_column);
        const auto link = static_cast<dissect::LinkType>(row->data(name_column, kLink).toInt());
        made.withoutSsh = link != dissect::LinkType::infiniband && link != dissect::LinkType::erf;
    }
    made.filter = m_filter->currentText().trimmed();
    made.packets = m_packets->value();
    made.seconds = m_seconds->value();
    made.snapLength = m_snapLength->value();
    made.host = m_listed;
    made.stopOn = static_cast<StopOn>(m_stopOn->currentIndex());
    m_files->addTo(made);
    return made;
}

bool CaptureDialog::ready() const {
    return m_mayCapture && m_host->text().trimmed() == m_listed && current() != nullptr &&
           m_check.verdict() == BpfCheck::Verdict::Right && m_files->isRight();
}

void CaptureDialog::accept() {
    if (!ready()) return;
    rememberChoice(choice());
    QDialog::accept();
}

QTreeWidgetItem* CaptureDialog::current() const { return m_interfaces->currentItem(); }

void CaptureDialog::refresh() {
    if (const QTreeWidgetItem* row = current(); row != nullptr) m_wanted = row->text(name_column);
    if (m_interfaces->topLevelItemCount() == 0) showMessage(tr("Listing interfaces..."));
    m_refresh->setEnabled(false);
    m_finder.find();
}

// The interface of the last time is current, or else the first one that is up.
void CaptureDialog::showList(const InterfaceList& list) {
    m_refresh->setEnabled(true);
    m_mayCapture = list.mayCapture;
    m_interfaces->clear();
    QTreeWidgetItem* chosen = nullptr;
    bool wanted = false;
    for (const Interface& interface : list.interfaces) {
        QTreeWidgetItem* row = rowOf(interface, palette());
        m_interfaces->addTopLevelItem(row);
        wanted = wanted || interface.name == m_wanted;
        if (interface.name == m_wanted || (chosen == nullptr && interface.up && !interface.loopback)) chosen = row;
    }
    m_interfaces->setCurrentItem(chosen != nullptr ? chosen : m_interfaces->topLevelItem(0));
    m_histories.removeIf([&](const auto& entry) {
        return std::ranges::none_of(list.interfaces,
                                    [&](const Interface& interface) { return interface.name == entry.key(); });
    });
    showTraffic();
    for (int column = name_column; column < description_column; ++column) m_interfaces->resizeColumnToContents(column);
    if (!list.mayCapture)
        showMessage(
            m_listed.isEmpty()
                ? tr("qpscope-capture, which captures for this window, needs CAP_NET_RAW. "
                     "Run this command once as an administrator, then press Refresh.")
                : tr("qpscope-capture on %1 needs CAP_NET_RAW. Run this command there once as an administrator, then press "
                     "Refresh.")
                      .arg(m_listed),
            list.remedy);
    else if (list.interfaces.isEmpty()) showMessage(tr("No interface to capture from."));
    else m_message->hide();
    updateStart();
}

void CaptureDialog::showFailure(const QString& sentence) {
    m_refresh->setEnabled(true);
    m_mayCapture = false;
    m_interfaces->clear();
    showMessage(sentence);
    updateStart();
}

void CaptureDialog::showMessage(const QString& text, const QString& command) {
    m_messageText->setText(text);
    m_command->setText(command);
    m_command->setCursorPosition(0);
    m_remedy->setVisible(!command.isEmpty());
    m_message->show();
}

void CaptureDialog::askFilter() {
    const QTreeWidgetItem* row = current();
    const auto link = row == nullptr ? dissect::LinkType::ethernet
                                     : static_cast<dissect::LinkType>(row->data(name_column, kLink).toInt());
    m_check.ask(m_filter->currentText(), link);
    showVerdict();
}

// In words as well as in colour.
void CaptureDialog::showVerdict() {
    using enum BpfCheck::Verdict;
    const bool everything = m_filter->currentText().trimmed().isEmpty();
    QPalette field = palette();
    QPalette words = palette();
    switch (m_check.verdict()) {
        case Pending: m_verdict->setText(tr("Checking...")); break;
        case Right:
            m_verdict->setText(everything ? tr("All packets are captured.") : tr("Packets that match are captured."));
            break;
        case Wrong: m_verdict->setText(tr("Invalid filter: %1").arg(m_check.sentence())); break;
    }
    if (m_check.verdict() == Wrong) {
        field.setColor(QPalette::Base, rowColor(transport::Severity::error, palette()));
        words.setColor(QPalette::WindowText, textColor(transport::Severity::error, palette()));
    } else if (m_check.verdict() == Right && !everything) {
        constexpr double kTint = 0.16;
        field.setColor(QPalette::Base,
                       mixed(palette().color(QPalette::Base), color(Ink::Acknowledgment, palette()), kTint));
    }
    m_filter->setPalette(field);
    m_filter->lineEdit()->setPalette(field);
    m_verdict->setPalette(words);
    updateStart();
}

void CaptureDialog::showTraffic() {
    if (!m_listed.isEmpty()) return;  // known of this machine alone
    QFile table(QStringLiteral("/proc/net/dev"));
    if (!table.open(QIODevice::ReadOnly)) return;
    const QHash<QString, quint64> counters = packetCounters(table.readAll());
    const double seconds = m_sinceTraffic.isValid() ? static_cast<double>(m_sinceTraffic.nsecsElapsed()) / 1e9 : 0;
    constexpr double kShortest = 0.1;  // after a refresh; shorter ones say nothing
    const bool counts = !m_sinceTraffic.isValid() || seconds > kShortest;
    if (counts) m_sinceTraffic.start();
    for (int i = 0; i < m_interfaces->topLevelItemCount(); ++i) {
        QTreeWidgetItem* row = m_interfaces->topLevelItem(i);
        const auto counter = counters.find(row->text(name_column));
        if (counter == counters.end()) continue;
        TrafficHistory& history = m_histories[row->text(name_column)];
        if (counts) history.add(*counter, seconds);
        row->setData(traffic_column, TrafficDelegate::kRates, QVariant::fromValue(history.rates()));
    }
}

void CaptureDialog::updateStart() {
    m_start->setEnabled(ready());
    if (m_start->isEnabled()) m_start->setDefault(true);  // a button that is disabled gives that away
}

void CaptureDialog::changeEvent(QEvent* event) {
    QDialog::changeEvent(event);
    if (event->type() != QEvent::PaletteChange || m_verdict == nullptr) return;
    showVerdict();
    if (m_interfaces->topLevelItemCount() != 0) refresh();  // rows have colours of their own
}

}  // namespace qps::gui
