#include <gui/base/look.hpp>
#include <gui/preferences/preferences_dialog.hpp>

#include <QCheckBox>
#include <QComboBox>
#include <QDialog>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QGroupBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>
#include <array>

namespace qps::gui {

namespace {

class PreferencesDialog : public QDialog {
public:
    PreferencesDialog(const Preferences& before, QWidget* parent);
    [[nodiscard]] Preferences preferences() const;

private:
    QWidget* reading(const Preferences& before);
    QWidget* shown(const Preferences& before);
    QWidget* names(const Preferences& before);
    QWidget* fileRow(QLineEdit* line, const QString& title, const QString& choose);
    void judge();

    QComboBox* m_icrc = new QComboBox(this);
    QLineEdit* m_speed = new QLineEdit(this);
    QLineEdit* m_ports = new QLineEdit(this);
    QLineEdit* m_protocol = new QLineEdit(this);
    QLineEdit* m_unordered = new QLineEdit(this);
    QComboBox* m_time = new QComboBox(this);
    QCheckBox* m_useNames = new QCheckBox(this);
    QLineEdit* m_namesFile = new QLineEdit(this);
    QLineEdit* m_ncclLog = new QLineEdit(this);
    QLabel* m_mistake = new QLabel(this);
    QDialogButtonBox* m_buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel, this);
};

PreferencesDialog::PreferencesDialog(const Preferences& before, QWidget* parent) : QDialog(parent) {
    setWindowTitle(tr("Preferences"));
    auto* column = new QVBoxLayout(this);
    column->addWidget(reading(before));
    column->addWidget(shown(before));
    column->addWidget(names(before));
    m_mistake->setTextFormat(Qt::PlainText);
    m_mistake->setWordWrap(true);
    column->addWidget(m_mistake);
    column->addStretch();
    column->addWidget(m_buttons);
    connect(m_buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(m_buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    for (const QLineEdit* line : {m_speed, m_ports, m_protocol, m_unordered})
        connect(line, &QLineEdit::textChanged, this, &PreferencesDialog::judge);
    resize(fontMetrics().averageCharWidth() * 84, sizeHint().height());
    judge();
}

QWidget* PreferencesDialog::reading(const Preferences& before) {
    auto* group = new QGroupBox(tr("Reading captures"), this);
    auto* form = new QFormLayout(group);
    m_icrc->addItem(tr("Decide for each sender"), savedPolicy(transport::IcrcPolicy::automatic));
    m_icrc->addItem(tr("Check: wrong means corrupted"), savedPolicy(transport::IcrcPolicy::check));
    m_icrc->addItem(tr("Ignore"), savedPolicy(transport::IcrcPolicy::ignore));
    m_icrc->setCurrentIndex(m_icrc->findData(savedPolicy(before.reading.icrc)));
    m_icrc->setToolTip(
        tr("What a wrong ICRC proves. Some adapters hand out packets of their own before it is computed"));
    m_icrc->setAccessibleName(tr("ICRC"));
    form->addRow(tr("&ICRC:"), m_icrc);
    m_speed->setText(speedText(before.reading.linkSpeed));
    m_speed->setPlaceholderText(tr("as the capture says; for example 100G"));
    m_speed->setToolTip(tr("Speed of the links, which turns pause quanta into time"));
    m_speed->setAccessibleName(tr("Link speed"));
    form->addRow(tr("&Link speed:"), m_speed);
    m_ports->setText(portsText(before.reading.rocePorts));
    m_ports->setPlaceholderText(tr("4791 alone; for example 4800, 4801"));
    m_ports->setToolTip(tr("UDP ports that are decoded as RoCEv2 as well, in all tabs"));
    m_ports->setAccessibleName(tr("RoCE ports beside 4791"));
    form->addRow(tr("&RoCE ports beside 4791:"), m_ports);
    m_protocol->setText(protocolText(before.reading.uetProtocol));
    m_protocol->setPlaceholderText(tr("none: UDP port 4793 alone; for example 253"));
    m_protocol->setToolTip(tr("IP protocol number that is decoded as Ultra Ethernet without UDP, in all tabs"));
    m_protocol->setAccessibleName(tr("IP protocol of Ultra Ethernet"));
    form->addRow(tr("IP &protocol of Ultra Ethernet:"), m_protocol);
    m_unordered->setText(hostsText(before.reading.unorderedHosts));
    m_unordered->setPlaceholderText(tr("none; for example 10.0.0.2, fd00::2"));
    m_unordered->setToolTip(tr(
        "Hosts whose NICs accept packets in any order (multipath, packet spraying): late packets to them are as they should be"));
    m_unordered->setAccessibleName(tr("Hosts that accept any order"));
    form->addRow(tr("Hosts that accept an&y order:"), m_unordered);
    return group;
}

QWidget* PreferencesDialog::shown(const Preferences& before) {
    auto* group = new QGroupBox(tr("Packet list"), this);
    auto* form = new QFormLayout(group);
    const std::array times{std::pair{TimeFormat::SinceFirst, tr("Since first packet or time reference")},
                           std::pair{TimeFormat::SinceFirstShown, tr("Since first displayed packet or time reference")},
                           std::pair{TimeFormat::SincePreviousShown, tr("Since previous displayed packet")},
                           std::pair{TimeFormat::Utc, tr("Time of day (UTC)")},
                           std::pair{TimeFormat::Local, tr("Time of day (local time)")}};
    for (const auto& [format, title] : times) m_time->addItem(title, savedTime(format));
    m_time->setCurrentIndex(m_time->findData(savedTime(before.time)));
    m_time->setAccessibleName(tr("Times"));
    form->addRow(tr("&Times:"), m_time);
    return group;
}

QWidget* PreferencesDialog::names(const Preferences& before) {
    auto* group = new QGroupBox(tr("Names"), this);
    auto* form = new QFormLayout(group);
    m_useNames->setText(tr("&Show names in place of addresses and queue pairs"));
    m_useNames->setChecked(before.useNames);
    form->addRow(m_useNames);
    m_namesFile->setText(before.namesFile);
    m_namesFile->setPlaceholderText(tr("none; for example /etc/hosts"));
    m_namesFile->setToolTip(
        tr("Lines of an address and a name; 10.0.0.1:17 and [fe80::1]:0x11 name a queue pair, lid:4 a LID"));
    form->addRow(tr("&Hosts file:"), fileRow(m_namesFile, tr("Hosts file"), tr("Choose hosts file")));
    m_ncclLog->setText(before.ncclLog);
    m_ncclLog->setPlaceholderText(tr("none; the output of NCCL_DEBUG=INFO"));
    m_ncclLog->setToolTip(tr("Addresses get the ranks that the log tells"));
    form->addRow(tr("&NCCL log:"), fileRow(m_ncclLog, tr("NCCL log"), tr("Choose NCCL log")));
    return group;
}

QWidget* PreferencesDialog::fileRow(QLineEdit* line, const QString& title, const QString& choose) {
    line->setAccessibleName(title);
    auto* row = new QWidget(this);
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    auto* button = new QPushButton(tr("Choose..."), row);
    button->setAccessibleName(choose);
    button->setAutoDefault(false);
    layout->addWidget(line, 1);
    layout->addWidget(button);
    row->setFocusProxy(line);
    connect(button, &QPushButton::clicked, this, [this, line, title] {
        if (const QString path = QFileDialog::getOpenFileName(this, title, line->text()); !path.isEmpty())
            line->setText(path);
    });
    return row;
}

void PreferencesDialog::judge() {
    const auto speed = readSpeed(m_speed->text());
    const auto ports = readPorts(m_ports->text());
    const auto protocol = readProtocol(m_protocol->text());
    const auto unordered = readHosts(m_unordered->text());
    m_mistake->setText(!speed       ? speed.error()
                       : !ports     ? ports.error()
                       : !protocol  ? protocol.error()
                       : !unordered ? unordered.error()
                                    : QString());
    QPalette colours = palette();
    colours.setColor(QPalette::WindowText, textColor(transport::Severity::error, palette()));
    m_mistake->setPalette(colours);
    m_buttons->button(QDialogButtonBox::Ok)->setEnabled(speed && ports && protocol && unordered);
}

Preferences PreferencesDialog::preferences() const {
    return {.reading = {restoredPolicy(m_icrc->currentData().toString()),
                        readSpeed(m_speed->text()).value_or(dissect::BitsPerSecond{}),
                        readPorts(m_ports->text()).value_or(std::vector<std::uint16_t>{}),
                        readProtocol(m_protocol->text()).value_or(std::nullopt),
                        readHosts(m_unordered->text()).value_or(std::vector<transport::Address>{})},
            .time = restoredTime(m_time->currentData().toString()),
            .useNames = m_useNames->isChecked(),
            .namesFile = m_namesFile->text().trimmed(),
            .ncclLog = m_ncclLog->text().trimmed()};
}

}  // namespace

std::optional<Preferences> askPreferences(const Preferences& before, QWidget* parent) {
    PreferencesDialog dialog(before, parent);
    if (dialog.exec() != QDialog::Accepted) return std::nullopt;
    return dialog.preferences();
}

}  // namespace qps::gui
