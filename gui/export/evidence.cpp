#include <gui/export/evidence.hpp>
#include <transport-replay/evidence/pseudonym_map.hpp>
#include <transport-replay/index/indexer.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/page/collector.hpp>
#include <transport-replay/page/gather.hpp>
#include <transport-replay/page/page.hpp>

#include <QCoreApplication>
#include <QCryptographicHash>
#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QRandomGenerator>
#include <QTemporaryDir>
#include <algorithm>
#include <array>
#include <new>
#include <thread>

#include <packaging/version/version.hpp>

namespace qps::gui {

using namespace transport;
using dissect::FrameIndex;

namespace {

constexpr std::size_t kMostPairs =
    100'000;  // pseudonyms remembered of a kind, some 25 MB; past that they are computed again

QString tr(const char* text) { return QCoreApplication::translate("Evidence", text); }

TaskOutcome cancelled() { return {false, tr("Cancelled; nothing was written.")}; }
TaskOutcome problem(const QString& sentence) { return {true, sentence}; }

// The packets of the scope; nothing where it was stopped.
std::optional<Chosen> chosenBy(const EvidenceSource& source, const EvidenceScope& scope,
                               const std::function<bool()>& stopped) {
    if (scope.slice) {
        auto rows = slice_rows(*source.index, *source.timeline, *scope.slice, stopped);
        if (!rows) return std::nullopt;
        return Chosen(std::move(*rows));
    }
    if (std::holds_alternative<AllFrames>(scope.given) && source.packets != 0)
        return Chosen(std::vector{FrameRange{FrameIndex{1}, FrameIndex{source.packets}}});
    return scope.given;
}

bool holds(const Chosen& chosen, FrameIndex frame) {
    const auto* rows = std::get_if<RowSet>(&chosen);
    return rows == nullptr || rows->contains(frame);
}

// Those that a packet proves which leaves; those that no packet proves where their connection leaves, or everything.
std::vector<std::size_t> findingsOf(const Timeline& timeline, const EvidenceScope& scope, const Chosen& chosen) {
    std::vector<ConnectionId> connections;
    if (scope.slice) {
        const Slice slice(timeline, *scope.slice, {});
        connections.assign(slice.connections().begin(), slice.connections().end());
    }
    const bool everything = !std::holds_alternative<RowSet>(chosen);
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < timeline.findings.size(); ++i) {
        const Finding& finding = timeline.findings[i];
        const bool unproved = finding.packets.empty() && finding.connection &&
                              std::ranges::binary_search(connections, *finding.connection);
        if (everything || unproved ||
            std::ranges::any_of(finding.packets, [&](FrameIndex frame) { return holds(chosen, frame); }))
            places.push_back(i);
    }
    return places;
}

// The pieces of the work, each with its share of the bar.
class Pieces {
public:
    Pieces(const TaskWatch& watch, int pieces) : m_watch(watch), m_pieces(pieces) {}
    void next() { ++m_piece; }
    void progressed(double part) const { m_watch.progressed((m_piece + part) / m_pieces); }
    [[nodiscard]] ExtractWatch watching() const {
        return {m_watch.stopped, [this](std::uint64_t done, std::uint64_t all) {
                    progressed(all == 0 ? 1 : static_cast<double>(done) / static_cast<double>(all));
                }};
    }
    [[nodiscard]] const std::function<bool()>& stopped() const { return m_watch.stopped; }

private:
    const TaskWatch& m_watch;
    int m_pieces;
    int m_piece = 0;
};

struct ReadAgain {
    std::shared_ptr<CaptureIndex> index;
    Timeline timeline;
};

// The copy as who gets it will read it.
ReadAgain readAgain(const QString& path, const Pieces& pieces) {
    constexpr unsigned kEnough = 8;
    const IndexWatch watch{.stopped = pieces.stopped(),
                           .progressed = [&](std::uint64_t done, std::optional<std::uint64_t> all) {
                               if (all && *all != 0)
                                   pieces.progressed(static_cast<double>(done) / static_cast<double>(*all));
                           }};
    // A quarter of what a capture may have: the one that is open has its own.
    Indexing indexing{.files = {path.toStdString()},
                      .jobs = {std::clamp(std::thread::hardware_concurrency(), 1U, kEnough)},
                      .spool_folder = QDir::tempPath().toStdString(),
                      .memory = MemoryBudget::of_machine().part_of(4)};
    auto [index, outcome] = read_index(std::move(indexing), watch);
    return {std::move(index), std::move(outcome.timeline)};
}

class Writing {
public:
    Writing(const EvidenceSource& source, const EvidenceWish& wish, const TaskWatch& watch)
        : m_source(source),
          m_wish(wish),
          m_pieces(watch, 2 + wish.slice + wish.anonymized + 2 * wish.report),
          m_pseudonyms(wish.key, false, kMostPairs),
          m_folder(QDir(wish.folder).filePath(QStringLiteral(".qpscope-XXXXXX"))) {}

    TaskOutcome run() {
        if (const auto wrong = whyNot()) return problem(*wrong);
        auto chosen = chosenBy(m_source, m_wish.scope, m_pieces.stopped());
        if (!chosen) return cancelled();
        m_chosen = std::move(*chosen);
        if (count(m_chosen, *m_source.index) == 0) return problem(tr("No packets to write."));
        m_pieces.next();
        if (m_wish.slice || (m_wish.report && m_wish.reportAsCaptured))
            if (auto ended = copy(EvidenceFile::Slice)) return *ended;
        if (m_wish.anonymized || (m_wish.report && !m_wish.reportAsCaptured))
            if (auto ended = copy(EvidenceFile::Anonymized)) return *ended;
        if (m_wish.report)
            if (auto ended = report()) return *ended;
        if (m_wish.map)
            if (auto ended =
                    text(EvidenceFile::Map, [&](const auto& write) { write_map(m_wish.key, m_pseudonyms, write); }))
                return *ended;
        return name();
    }

private:
    using Ended = std::optional<TaskOutcome>;  // nothing: it goes on

    [[nodiscard]] QString part(EvidenceFile file) const { return m_folder.filePath(fileName(file, m_wish.name)); }

    std::optional<QString> whyNot() const {
        for (const QString& path : pathsOf(m_wish))
            if (QFileInfo::exists(path)) return tr("%1 is there already: choose another name.").arg(path);
        if (pathsOf(m_wish).isEmpty()) return tr("Nothing is chosen.");
        if (!m_folder.isValid()) return tr("%1: cannot write: %2.").arg(m_wish.folder, m_folder.errorString());
        return std::nullopt;
    }

    Ended copy(EvidenceFile file) {
        Extraction wanted{part(file).toStdString(), m_chosen, {}, {}};
        if (file == EvidenceFile::Slice) wanted.comments = m_source.comments;
        else wanted.disguise.emplace(m_pseudonyms, m_wish.payload);
        const auto outcome = extract(*m_source.index, wanted, m_pieces.watching());
        m_pieces.next();
        if (!outcome) return problem(QString::fromStdString(outcome.error()) + QLatin1Char('.'));
        if (outcome->stopped) return cancelled();
        m_packets = outcome->written;
        m_unreadable = outcome->unreadable;
        return std::nullopt;
    }

    template <class Write> Ended text(EvidenceFile file, const Write& write) {
        QFile out(part(file));
        bool well = out.open(QIODevice::WriteOnly | QIODevice::NewOnly);
        if (file == EvidenceFile::Map)
            well = well && out.setPermissions(QFileDevice::ReadOwner | QFileDevice::WriteOwner);  // who is who
        if (well)
            write([&](std::string_view piece) {
                well = well &&
                       out.write(piece.data(), static_cast<qint64>(piece.size())) == static_cast<qint64>(piece.size());
            });
        if (well && out.flush()) return std::nullopt;
        return problem(tr("%1: cannot write: %2.").arg(out.fileName(), out.errorString()));
    }

    // The written capture that a report is of, as it will be named.
    page::InputFile described(EvidenceFile of) const {
        page::InputFile input{fileName(of, m_wish.name).toStdString(), {}, {}};
        QFile file(part(of));
        QCryptographicHash hash(QCryptographicHash::Sha256);
        if (!file.open(QIODevice::ReadOnly) || !hash.addData(&file)) return input;
        input.bytes = static_cast<std::uint64_t>(file.size());
        input.sha256 = hash.result().toHex().toStdString();
        return input;
    }

    Ended report() {
        const EvidenceFile of = m_wish.reportAsCaptured ? EvidenceFile::Slice : EvidenceFile::Anonymized;
        const ReadAgain read = readAgain(part(of), m_pieces);
        m_pieces.next();
        if (m_pieces.stopped()()) return cancelled();
        page::Collector collector(read.timeline);
        if (!page::gather(collector, read.index, m_pieces.stopped())) return cancelled();
        m_findings = read.timeline.findings.size();
        const page::Origin origin{
            {described(of)}, version_text(), {}, dissect::Instant{QDateTime::currentMSecsSinceEpoch() * 1'000'000}};
        return text(EvidenceFile::Report, [&](const auto& write) { page::write_page(collector, origin, write); });
    }

    // Everything is there: now it is seen.
    TaskOutcome name() {
        QStringList named;
        for (const QString& path : pathsOf(m_wish)) {
            const QString file = QFileInfo(path).fileName();
            if (!QFile::rename(m_folder.filePath(file), path)) {
                for (const QString& done : named) QFile::remove(QDir(m_wish.folder).filePath(done));
                return problem(tr("%1: cannot write.").arg(path));
            }
            named << file;
        }
        QString said = tr("Written to %1: %2.").arg(m_wish.folder, named.join(QStringLiteral(", ")));
        said += tr(" %L1 packets.").arg(m_packets);
        if (m_wish.report) said += tr(" Findings in the report: %L1.").arg(m_findings);
        if (m_unreadable != 0) said += tr(" %L1 packets could not be read.").arg(m_unreadable);
        return {false, said, true};
    }

    const EvidenceSource& m_source;
    const EvidenceWish& m_wish;
    Pieces m_pieces;
    Pseudonyms m_pseudonyms;
    QTemporaryDir m_folder;  // beside the files, so that they are renamed; what fails goes with it
    Chosen m_chosen;
    std::uint64_t m_packets = 0;
    std::uint64_t m_unreadable = 0;
    std::size_t m_findings = 0;
};

}  // namespace

Pseudonyms::Key drawnKey() {
    Pseudonyms::Key key{};
    std::array<quint32, std::tuple_size_v<Pseudonyms::Key> / sizeof(quint32)> drawn{};
    QRandomGenerator::system()->fillRange(drawn.data(), static_cast<qsizetype>(drawn.size()));
    std::ranges::copy(std::as_bytes(std::span(drawn)), key.begin());
    return key;
}

QString fileName(EvidenceFile file, const QString& name) {
    switch (file) {
        case EvidenceFile::Report: return name + QStringLiteral("-report.html");
        case EvidenceFile::Slice: return name + QStringLiteral("-packets.pcapng");
        case EvidenceFile::Anonymized: return name + QStringLiteral("-anonymized.pcapng");
        case EvidenceFile::Map: break;
    }
    return name + QStringLiteral("-pseudonyms-private.json");
}

QStringList pathsOf(const EvidenceWish& wish) {
    const std::array wanted{std::pair(wish.report, EvidenceFile::Report), std::pair(wish.slice, EvidenceFile::Slice),
                            std::pair(wish.anonymized, EvidenceFile::Anonymized),
                            std::pair(wish.map, EvidenceFile::Map)};
    QStringList paths;
    for (const auto& [is, file] : wanted)
        if (is) paths << QDir(wish.folder).filePath(fileName(file, wish.name));
    return paths;
}

std::optional<EvidencePreview> preview(const EvidenceSource& source, const EvidenceScope& scope,
                                       const Pseudonyms::Key& key, const std::function<bool()>& stopped) {
    const auto chosen = chosenBy(source, scope, stopped);
    if (!chosen) return std::nullopt;
    auto found = leaving(*source.index, *chosen, {stopped, {}});
    if (!found) return std::nullopt;
    EvidencePreview preview{std::move(*found), {}, findingsOf(*source.timeline, scope, *chosen)};
    Pseudonyms pseudonyms(key, false, kMostPairs);
    for (const auto& [address, packets] : preview.leaving.addresses)
        preview.hosts.push_back({QString::fromStdString(transport::text(address)),
                                 QString::fromStdString(transport::text(pseudonym_of(address, pseudonyms))), packets});
    return preview;
}

TaskOutcome writeEvidence(const EvidenceSource& source, const EvidenceWish& wish, const TaskWatch& watch) {
    return Writing(source, wish, watch).run();
}

}  // namespace qps::gui
