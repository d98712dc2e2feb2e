// Evidence: what somebody else needs to see what happened, in one go: the packets as they were captured, the same under
// pseudonyms, and a report of the packets that leave. Everything here runs in a worker thread and touches nothing of
// the window.
//
// The report is made of the copy that leaves, read anew: it can say no more than who gets it could find out.
#pragma once

#include <gui/export/task.hpp>
#include <transport-replay/evidence/pseudonyms.hpp>
#include <transport-replay/index/extract.hpp>
#include <transport-replay/index/slice_rows.hpp>

#include <QString>
#include <QStringList>
#include <memory>
#include <optional>

namespace qps::gui {

struct EvidenceSource {
    std::shared_ptr<const transport::CaptureIndex> index;
    std::shared_ptr<const transport::Timeline> timeline;
    std::uint64_t packets = 0;  // of a capture that goes on, those that are looked at
    transport::Comments comments{};
};

// Which packets: those of connections and of findings with their set-up, or what is given.
struct EvidenceScope {
    std::optional<transport::SliceRequest> slice{};
    transport::Chosen given = transport::AllFrames{};
};

struct EvidenceWish {
    EvidenceScope scope;
    QString folder;
    QString name;  // what the names of the files begin with
    bool report = true;
    bool reportAsCaptured = false;  // else under pseudonyms
    bool slice = true;
    bool anonymized = true;
    bool map = false;
    transport::PayloadMode payload = transport::PayloadMode::zero;
    transport::Pseudonyms::Key key{};
};

// Drawn by the system.
[[nodiscard]] transport::Pseudonyms::Key drawnKey();

enum class EvidenceFile { Report, Slice, Anonymized, Map };
[[nodiscard]] QString fileName(EvidenceFile file, const QString& name);
// Those that are wanted, as paths.
[[nodiscard]] QStringList pathsOf(const EvidenceWish& wish);

// What would leave, before it does. Nothing where `stopped` said so.
struct EvidencePreview {
    struct Host {
        QString address;
        QString pseudonym;
        std::uint64_t packets = 0;
    };
    transport::Leaving leaving;
    std::vector<Host> hosts;            // by address
    std::vector<std::size_t> findings;  // of the timeline: those of which packets leave
};
[[nodiscard]] std::optional<EvidencePreview> preview(const EvidenceSource& source, const EvidenceScope& scope,
                                                     const transport::Pseudonyms::Key& key,
                                                     const std::function<bool()>& stopped);

// All of it is there or nothing: the files get their names at the end. Nothing is written over.
[[nodiscard]] TaskOutcome writeEvidence(const EvidenceSource& source, const EvidenceWish& wish, const TaskWatch& watch);

}  // namespace qps::gui
