// What the start page says of a capture, as plain values: how good it is and what is noteworthy in it, in plain words.
#pragma once

#include <QString>
#include <vector>

namespace qps::transport {
struct Connection;
struct Finding;
struct Timeline;
}  // namespace qps::transport

namespace qps::gui {

enum class Verdict { Good, Unknown, Doubtful, Bad };

struct Judgement {
    Verdict verdict{};
    QString text;  // one sentence
};
// How much of the input was read.
struct ReadExtent {
    bool damaged = false;    // there is more, or was, that could not be read
    bool cancelled = false;  // the user ended the reading
};
// Of the recording, not of the network; nothing for a capture without packets.
[[nodiscard]] std::vector<Judgement> judgements(const transport::Timeline& timeline, const ReadExtent& extent = {});
// What is not known does no harm.
[[nodiscard]] Verdict worst(const std::vector<Judgement>& judgements);

// Findings that are alike but for their connection: one advice.
struct FindingGroup {
    const transport::Finding* first = nullptr;  // of the timeline: the most frequent
    std::uint64_t findings = 0;
    std::uint64_t count = 0;  // how often in all
};
// Worst first.
[[nodiscard]] std::vector<FindingGroup> findingGroups(const transport::Timeline& timeline);

// The connections that a reader should know of, at most so many: those in trouble, then the busiest. Of the timeline.
[[nodiscard]] std::vector<const transport::Connection*> noteworthy(const transport::Timeline& timeline,
                                                                   std::size_t most);

struct Label {
    QString name;
    QString text;
};
// Packets, time, rate, connections; and what was said, by kind.
[[nodiscard]] std::vector<Label> captureLabels(const transport::Timeline& timeline);
[[nodiscard]] std::vector<Label> messageLabels(const transport::Timeline& timeline);

}  // namespace qps::gui
