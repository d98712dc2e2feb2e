#include <gui/base/text.hpp>
#include <gui/export/evidence_dialog.hpp>
#include <gui/export/packet_export.hpp>
#include <gui/session/selection.hpp>
#include <gui/session/session.hpp>
#include <gui/tables/sheet.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/report/findings.hpp>

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QSettings>
#include <QTabBar>
#include <QTabWidget>
#include <QVBoxLayout>
#include <algorithm>

namespace qps::gui {

using namespace transport;

namespace {

constexpr int kLookSoon = 60;  // ms: changes that come together are one
constexpr int kSteps = 1000;

// Where evidence went before, else where the capture lies.
QString offeredFolder(const Session& session) {
    QString before = QSettings().value(QStringLiteral("export/folder")).toString();
    if (!before.isEmpty() && QDir(before).exists()) return before;
    const QString file = session.files().value(0);
    return QFileInfo(file).isFile() ? QFileInfo(file).absolutePath() : QDir::homePath();
}

QCheckBox* check(const QString& text, const QString& tip, bool on) {
    auto* box = new QCheckBox(text);
    box->setToolTip(tip);
    box->setChecked(on);
    return box;
}

QComboBox* choice(const QStringList& items, const QString& name, const QString& tip) {
    auto* box = new QComboBox;
    box->addItems(items);
    box->setAccessibleName(name);
    box->setToolTip(tip);
    return box;
}

SheetCell cell(const QString& text) { return {text, {}, {}}; }

}  // namespace

EvidenceDialog::EvidenceDialog(Session& session, Selection& selection, Comments comments, QWidget* parent)
    : QDialog(parent),
      m_session(session),
      m_selection(selection),
      m_source{session.index(), session.timeline(), session.packets(), std::move(comments)},
      m_key(drawnKey()),
      m_scope(choice({}, tr("Packets that leave"), tr("Which packets leave; those of connections with their setup"))),
      m_report(check(tr("&Report (HTML)"), tr("One file that opens in any browser: findings, advice, pictures"), true)),
      m_reportNames(choice({tr("under pseudonyms"), tr("as captured")}, tr("Addresses in the report"),
                           tr("Addresses in the report"))),
      m_slice(check(tr("&Packets as captured (pcapng)"), tr("The packets with their addresses, payload and comments"),
                    false)),
      m_anonymized(check(tr("Packets under p&seudonyms (pcapng)"),
                         tr("Addresses, keys and names are others, the same one for the same"), true)),
      m_payload(choice({tr("payload zeroed"), tr("payload cut off"), tr("payload kept")},
                       tr("Payload under pseudonyms"), tr("Zero, cut or keep payload; keep may reveal names"))),
      m_map(check(tr("&Key and pseudonyms, for yourself (JSON)"), tr("Who is who. Not to be given away"), false)),
      m_folder(new QLineEdit(offeredFolder(session))),
      m_name(new QLineEdit(offeredName(session.title(), QStringLiteral("-evidence")))),
      m_state(new QLabel),
      m_progress(new QProgressBar) {
    setWindowTitle(tr("Evidence"));
    build();
    fillScopes();
    m_due.setSingleShot(true);
    m_due.setInterval(kLookSoon);
    connect(&m_due, &QTimer::timeout, this, &EvidenceDialog::look);
    connect(m_scope, &QComboBox::currentIndexChanged, this, &EvidenceDialog::lookAgain);
    for (QCheckBox* box : {m_report, m_slice, m_anonymized, m_map})
        connect(box, &QCheckBox::toggled, this, &EvidenceDialog::showLeaving);
    for (QComboBox* box : {m_reportNames, m_payload})
        connect(box, &QComboBox::currentIndexChanged, this, &EvidenceDialog::showLeaving);
    for (QLineEdit* line : {m_folder, m_name})
        connect(line, &QLineEdit::textChanged, this, &EvidenceDialog::showLeaving);
    connect(&m_looking, &SeriesJob::failed, this, &EvidenceDialog::tell);
    connect(&m_task, &Task::progressed, this,
            [this](double part) { m_progress->setValue(static_cast<int>(part * kSteps)); });
    connect(&m_task, &Task::ended, this, &EvidenceDialog::wrote);
    lookAgain();
}

EvidenceDialog::~EvidenceDialog() = default;

void EvidenceDialog::build() {
    auto* buttons = new QDialogButtonBox;
    m_write = buttons->addButton(tr("&Write"), QDialogButtonBox::ActionRole);
    m_write->setToolTip(tr("Write the files"));
    m_close = buttons->addButton(QDialogButtonBox::Close);
    m_close->setToolTip(tr("Close, or end writing (Esc)"));
    m_write->setDefault(true);
    connect(m_write, &QPushButton::clicked, this, &EvidenceDialog::write);
    connect(buttons, &QDialogButtonBox::rejected, this, &EvidenceDialog::reject);
    m_state->setTextFormat(Qt::PlainText);
    m_state->setWordWrap(true);
    m_state->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_state->setAccessibleName(tr("State"));
    m_progress->setRange(0, kSteps);
    m_progress->setTextVisible(false);
    QSizePolicy kept = m_progress->sizePolicy();
    kept.setRetainSizeWhenHidden(true);
    m_progress->setSizePolicy(kept);
    m_progress->hide();
    m_progress->setAccessibleName(tr("Progress"));
    auto* column = new QVBoxLayout(this);
    column->addWidget(buildChoices());
    column->addWidget(buildPreview(), 1);
    column->addWidget(m_state);
    column->addWidget(m_progress);
    column->addWidget(buttons);
    const QFontMetrics metrics = fontMetrics();
    resize(metrics.averageCharWidth() * 132, metrics.lineSpacing() * 34);
}

QWidget* EvidenceDialog::buildChoices() {
    auto* box = new QWidget;
    auto* grid = new QGridLayout(box);
    grid->setContentsMargins({});
    int row = 0;
    const auto labelled = [&](const QString& text, QWidget* field, QWidget* beside = nullptr) {
        auto* label = new QLabel(text);
        label->setBuddy(field);
        grid->addWidget(label, row, 0);
        grid->addWidget(field, row, 1, 1, beside != nullptr ? 1 : 2);
        if (beside != nullptr) grid->addWidget(beside, row, 2);
        ++row;
    };
    labelled(tr("P&ackets:"), m_scope);
    const auto line = [&](QCheckBox* what, QWidget* how) {
        grid->addWidget(what, row, 1);
        if (how != nullptr) grid->addWidget(how, row, 2);
        ++row;
    };
    line(m_report, m_reportNames);
    line(m_slice, nullptr);
    line(m_anonymized, m_payload);
    line(m_map, nullptr);
    m_folder->setAccessibleName(tr("Folder"));
    m_name->setAccessibleName(tr("Name of the files"));
    m_name->setToolTip(tr("What the names of the files begin with"));
    auto* browse = new QPushButton(tr("&Browse..."));
    browse->setToolTip(tr("Choose the folder"));
    browse->setAutoDefault(false);
    connect(browse, &QPushButton::clicked, this, [this] {
        const QString folder = QFileDialog::getExistingDirectory(this, tr("Folder of the evidence"), m_folder->text());
        if (!folder.isEmpty()) m_folder->setText(folder);
    });
    labelled(tr("&Folder:"), m_folder, browse);
    labelled(tr("&Name:"), m_name);
    grid->setColumnStretch(1, 1);
    return box;
}

QWidget* EvidenceDialog::buildPreview() {
    m_files = new Sheet(tr("What leaves"),
                        {{tr("File"), tr("Its name"), false},
                         {tr("Packets"), tr("Packets in it"), true},
                         {tr("Bytes"), tr("Bytes of packets in it"), true},
                         {tr("Payload"), tr("Bytes that are not of headers, and what becomes of them"), false},
                         {tr("Addresses and keys"), tr("Whether they are those of the capture"), false}});
    m_hosts = new Sheet(tr("Addresses that leave"),
                        {{tr("Address"), tr("As it was captured"), false},
                         {tr("Under pseudonyms"), tr("As it leaves in packets and reports under pseudonyms"), false},
                         {tr("Packets"), tr("Packets that name it"), true}});
    m_findings = new Sheet(tr("Findings that leave"), {{tr("Severity"), tr("Error, warning or note"), false},
                                                       {tr("Finding"), tr("Its name"), false},
                                                       {tr("#"), tr("Its connection in this capture"), true},
                                                       {tr("Summary"), tr("What happened"), false}});
    m_findings->setEmptyText(tr("No packet that leaves proves a finding."));
    auto* tabs = new QTabWidget;
    tabs->setDocumentMode(true);
    tabs->setAccessibleName(tr("Preview of what leaves"));
    tabs->tabBar()->setAccessibleName(tr("Preview of what leaves"));
    tabs->addTab(m_files, tr("What leaves"));
    tabs->addTab(m_hosts, tr("Addresses"));
    tabs->addTab(m_findings, tr("Findings"));
    return tabs;
}

// What a user looks at comes first: a connection, then its finding, then what is displayed.
void EvidenceDialog::fillScopes() {
    const auto add = [&](const QString& words, EvidenceScope scope) {
        m_scope->addItem(words);
        m_scopes.push_back(std::move(scope));
    };
    const Timeline& timeline = *m_source.timeline;
    if (const auto connection = m_selection.connection(); connection && timeline.find(*connection) != nullptr)
        add(tr("Connection %1 with its setup").arg(std::to_underlying(*connection)),
            {SliceRequest{{*connection}, {}, {}, false}});
    if (const auto wanted = m_selection.finding()) {
        const auto found = std::ranges::find(timeline.findings, *wanted, keyOf);
        if (found != timeline.findings.end())
            add(tr("Finding %1: its connection and evidence").arg(shown(found->id)),
                {SliceRequest{{}, {static_cast<std::size_t>(found - timeline.findings.begin())}, {}, false}});
    }
    if (m_selection.hits() != nullptr && !m_selection.filtering())
        add(tr("Displayed packets"), {{}, *m_selection.hits()});
    add(tr("All packets"), {});
}

void EvidenceDialog::tell(const QString& sentence) {
    m_state->setText(sentence);
    m_state->setAccessibleDescription(sentence);
}

void EvidenceDialog::lookAgain() {
    m_preview.reset();
    m_looking.cancel();
    tell(tr("Counting what leaves..."));
    m_due.start();
    updateButtons();
}

void EvidenceDialog::look() {
    const EvidenceScope scope = m_scopes[static_cast<std::size_t>(m_scope->currentIndex())];
    m_looking.start([this, source = m_source, scope, key = m_key](const series::Stop& stop) -> SeriesJob::Delivery {
        auto found = preview(source, scope, key, stop);
        if (!found) return {};
        return [this, shared = std::make_shared<EvidencePreview>(std::move(*found))] { showPreview(*shared); };
    });
}

void EvidenceDialog::showPreview(const EvidencePreview& preview) {
    m_preview = preview;
    std::vector<SheetRow> hosts;
    for (const auto& host : preview.hosts)
        hosts.push_back({{cell(host.address), cell(host.pseudonym), countCell(host.packets)}, {}, {}, Tone::plain});
    m_hosts->setRows(std::move(hosts));
    std::vector<SheetRow> findings;
    for (const std::size_t place : preview.findings) {
        const Finding& finding = m_source.timeline->findings[place];
        const auto connection = finding.connection ? std::to_underlying(*finding.connection) : 0;
        findings.push_back(
            {{cell(shown(severity_name(finding))), cell(shown(finding.id)),
              connection == 0 ? cell(QStringLiteral("-")) : countCell(connection), cell(shown(finding.summary))},
             {},
             finding.packets.empty() ? dissect::FrameIndex{} : finding.packets.front(),
             Tone::plain});
    }
    m_findings->setRows(std::move(findings));
    QString said = tr("%1, %2, %L3 addresses.")
                       .arg(shown(counted(preview.leaving.packets, "packet")))
                       .arg(shown(bytes_text(preview.leaving.bytes)))
                       .arg(preview.hosts.size());
    if (preview.leaving.more_addresses != 0) said += tr(" More addresses leave than are listed.");
    if (preview.leaving.unreadable != 0)
        said += tr(" %L1 packets can no longer be read.").arg(preview.leaving.unreadable);
    if (m_session.busy()) said += tr(" The capture goes on: what comes later does not leave.");
    tell(said);
    showLeaving();
}

void EvidenceDialog::showLeaving() {
    updateButtons();
    if (!m_preview) return;
    const Leaving& leaving = m_preview->leaving;
    const EvidenceWish wanted = wish();
    std::vector<SheetRow> rows;
    const auto add = [&](EvidenceFile file, SheetCell packets, SheetCell bytes, const QString& payload,
                         const QString& names, Tone tone) {
        rows.push_back(
            {{cell(fileName(file, wanted.name)), std::move(packets), std::move(bytes), cell(payload), cell(names)},
             {},
             {},
             tone});
    };
    const QString payload = shown(grouped(leaving.payload));
    const SheetCell none = cell(QStringLiteral("-"));
    const QString captured = tr("as captured"), others = tr("pseudonyms");
    if (wanted.report)
        add(EvidenceFile::Report, none, none, tr("none"), wanted.reportAsCaptured ? captured : others,
            wanted.reportAsCaptured ? Tone::warning : Tone::plain);
    if (wanted.slice)
        add(EvidenceFile::Slice, countCell(leaving.packets), countCell(leaving.bytes),
            leaving.payload == 0 ? tr("none") : tr("%1 bytes, as captured").arg(payload), captured, Tone::warning);
    if (wanted.anonymized) {
        const bool kept = wanted.payload == PayloadMode::keep && leaving.payload != 0;
        const QString what = leaving.payload == 0                  ? tr("none")
                             : wanted.payload == PayloadMode::keep ? tr("%1 bytes, as captured").arg(payload)
                             : wanted.payload == PayloadMode::cut  ? tr("%1 bytes, cut off").arg(payload)
                                                                   : tr("%1 bytes, zeroed").arg(payload);
        SheetCell bytes = countCell(leaving.bytes);
        if (wanted.payload == PayloadMode::cut) bytes.text.prepend(QStringLiteral("< "));
        add(EvidenceFile::Anonymized, countCell(leaving.packets), std::move(bytes), what, others,
            kept ? Tone::warning : Tone::plain);
    }
    if (wanted.map)
        add(EvidenceFile::Map, none, none, tr("none"), tr("key, both: not to be given away"), Tone::warning);
    m_files->setRows(std::move(rows));
}

EvidenceWish EvidenceDialog::wish() const {
    constexpr std::array kModes{PayloadMode::zero, PayloadMode::cut, PayloadMode::keep};
    EvidenceWish wish;
    wish.scope = m_scopes[static_cast<std::size_t>(m_scope->currentIndex())];
    wish.folder = m_folder->text();
    wish.name = m_name->text();
    wish.report = m_report->isChecked();
    wish.reportAsCaptured = m_reportNames->currentIndex() == 1;
    wish.slice = m_slice->isChecked();
    wish.anonymized = m_anonymized->isChecked();
    wish.map = m_map->isChecked();
    wish.payload = kModes[static_cast<std::size_t>(m_payload->currentIndex())];
    wish.key = m_key;
    return wish;
}

void EvidenceDialog::updateButtons() {
    const bool busy = m_task.running();
    const EvidenceWish wanted = wish();
    const bool place =
        !wanted.name.isEmpty() && !wanted.name.contains(QLatin1Char('/')) && QFileInfo(wanted.folder).isDir();
    m_write->setEnabled(!busy && place && m_preview && m_preview->leaving.packets != 0 && !pathsOf(wanted).isEmpty());
    for (QWidget* each : {static_cast<QWidget*>(m_scope), static_cast<QWidget*>(m_report),
                          static_cast<QWidget*>(m_slice), static_cast<QWidget*>(m_anonymized),
                          static_cast<QWidget*>(m_map), static_cast<QWidget*>(m_folder), static_cast<QWidget*>(m_name)})
        each->setEnabled(!busy);
    m_reportNames->setEnabled(!busy && wanted.report);
    m_payload->setEnabled(!busy && (wanted.anonymized || (wanted.report && !wanted.reportAsCaptured)));
    m_close->setText(busy ? tr("&Cancel") : tr("&Close"));
}

void EvidenceDialog::write() {
    if (m_task.running()) return;
    QSettings().setValue(QStringLiteral("export/folder"), m_folder->text());
    m_progress->setValue(0);
    m_progress->show();
    tell(tr("Writing..."));
    m_task.start(
        [source = m_source, wanted = wish()](const TaskWatch& watch) { return writeEvidence(source, wanted, watch); });
    updateButtons();
}

void EvidenceDialog::wrote(const TaskOutcome& outcome) {
    m_progress->setValue(outcome.written ? kSteps : 0);
    tell(outcome.sentence);
    updateButtons();
}

void EvidenceDialog::reject() {
    if (!m_task.running()) return QDialog::reject();
    m_task.stop();
    tell(tr("Ending..."));
}

}  // namespace qps::gui
