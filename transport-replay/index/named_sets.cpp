#include <dissect/base/parse_value.hpp>
#include <transport-replay/findings/findings.hpp>
#include <transport-replay/index/event_frames.hpp>
#include <transport-replay/index/named_sets.hpp>
#include <transport-replay/model/renamed.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace qps::transport {

using dissect::FrameIndex;
using dissect::NamedSet;
using dissect::SetReader;

namespace {

constexpr std::string_view kMessage = "rdma.message";
constexpr std::string_view kFinding = "rdma.finding";
constexpr std::array kNames{kMessage, kFinding};

using Frames = std::expected<std::vector<FrameIndex>, std::string>;

// Why there can be no such set.
std::optional<std::string> mistake_of(const NamedSet& set) {
    if (set.name == kMessage)
        return dissect::parse_number(set.value.value_or("")) ? std::nullopt
                                                             : std::optional("expected the number of a message");
    const auto rows = finding_rows();
    if (!set.value || std::ranges::find(rows, current_finding(*set.value), &FindingRow::id) != rows.end())
        return std::nullopt;
    return fmt::format("no finding is called '{}' (qpscope findings --list has all)", *set.value);
}

std::vector<FrameIndex> members(const NamedSet& set, const CaptureIndex& index, const Timeline& timeline,
                                const std::function<bool()>& stop) {
    if (set.name == kMessage) return message_packets(index, dissect::parse_number(*set.value).value_or(0));
    if (set.value) return event_frames(current_finding(*set.value), timeline, index, stop);
    std::vector<FrameIndex> all;
    for (const FindingRow& row : finding_rows()) {
        const auto events = event_frames(row.id, timeline, index, stop);
        all.insert(all.end(), events.begin(), events.end());
    }
    return all;
}

}  // namespace

const SetReader& set_names() {
    static const SetReader reader{kNames, [](const NamedSet& set) -> Frames {
                                      if (auto mistake = mistake_of(set)) return std::unexpected(std::move(*mistake));
                                      return {};
                                  }};
    return reader;
}

SetReader sets_of(const CaptureIndex& index, const Timeline& timeline, std::function<bool()> stop) {
    return {kNames, [&index, &timeline, stop = std::move(stop)](const NamedSet& set) -> Frames {
                if (auto mistake = mistake_of(set)) return std::unexpected(std::move(*mistake));
                return members(set, index, timeline, stop);
            }};
}

std::vector<const Renamed*> old_names_in(const dissect::Filter& filter) {
    std::vector<const Renamed*> rows;
    for (const NamedSet& set : filter.sets()) {
        const Renamed* row = set.name == kFinding ? renamed_finding(set.value.value_or("")) : nullptr;
        if (row != nullptr && std::ranges::find(rows, row) == rows.end()) rows.push_back(row);
    }
    return rows;
}

bool belongs_to(const MessageRow& message, dissect::Psn first, FrameIndex frame, const PacketRow& packet) {
    if (frame == message.answer_frame()) return true;
    const bool own =
        (static_cast<std::uint32_t>(packet.psn() - first) & 0xffffffU) < std::max<std::uint32_t>(1, message.psns());
    if (!own || dissect::info(packet.opcode()).verb == dissect::Verb::notify) return false;
    if (packet.from() == message.requester()) return !packet.syndrome();
    // Answers have the PSN of the request; what the other end asks for itself has PSNs of its own.
    return packet.syndrome() || dissect::info(packet.opcode()).verb == dissect::Verb::read_response;
}

std::vector<FrameIndex> message_packets(const CaptureIndex& index, std::uint64_t message) {
    std::vector<FrameIndex> frames;
    if (message == 0 || message > index.messages.size()) return frames;
    const MessageRow& row = index.messages[message - 1];
    if (!index.has(row.first_frame())) return frames;
    const dissect::Psn first = index.row(row.first_frame()).psn();
    const FrameIndex answer = row.answer_frame().value_or(FrameIndex{});
    const std::uint64_t end = std::min(std::to_underlying(std::max(row.last_frame(), answer)), index.packets.size());
    for (std::uint64_t frame = std::to_underlying(row.first_frame()); frame <= end && frames.size() < kMostEvents;
         ++frame) {
        const PacketRow& packet = index.row(FrameIndex{frame});
        if (packet.kind() != ObservationKind::transport || packet.connection() != row.connection()) continue;
        if (belongs_to(row, first, FrameIndex{frame}, packet)) frames.push_back(FrameIndex{frame});
    }
    return frames;
}

}  // namespace qps::transport
