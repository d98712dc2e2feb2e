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

using dissect::FilterError;
using dissect::FrameIndex;

namespace {

constexpr std::string_view kMessage = "rdma.message";
constexpr std::string_view kFinding = "rdma.finding";
static_assert(kMessage.size() == kFinding.size());

bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

// A set that is named in a filter: `name`, and a comparison behind it or none.
struct Named {
    std::size_t begin = 0;
    std::size_t end = 0;
    bool is_message = false;
    bool is_not = false;
    std::string_view value;  // without quotes; empty: any member
    std::size_t value_begin = 0;
};

std::size_t skip_blanks(std::string_view text, std::size_t at) {
    return std::min(text.find_first_not_of(" \t", at), text.size());
}

void read_comparison(std::string_view filter, Named& named) {
    std::size_t at = skip_blanks(filter, named.end);
    const std::string_view rest = filter.substr(at);
    struct Operator {
        std::string_view text;
        bool is_not;
    };
    constexpr std::array kOperators{Operator{"==", false}, Operator{"eq ", false}, Operator{"!=", true},
                                    Operator{"ne ", true}};
    const auto found =
        std::ranges::find_if(kOperators, [&](const Operator& each) { return rest.starts_with(each.text); });
    if (found == kOperators.end()) return;
    named.is_not = found->is_not;
    at = skip_blanks(filter, at + found->text.size());
    const bool quoted = at < filter.size() && filter[at] == '"';
    if (quoted) ++at;
    std::size_t end = at;
    while (end < filter.size() && (is_word(filter[end]) || filter[end] == '-')) ++end;
    named.value = filter.substr(at, end - at);
    named.value_begin = at;
    named.end = quoted && end < filter.size() && filter[end] == '"' ? end + 1 : end;
}

// From `at` on; texts between quotes name nothing.
std::optional<Named> next_set(std::string_view filter, std::size_t at) {
    bool quoted = false;
    for (std::size_t i = 0; i < filter.size(); ++i) {
        if (filter[i] == '\\' && quoted) ++i;
        else if (filter[i] == '"') quoted = !quoted;
        else if (!quoted && i >= at && (i == 0 || !is_word(filter[i - 1]))) {
            const std::string_view word = filter.substr(i, kMessage.size());
            const bool ends = i + kMessage.size() >= filter.size() || !is_word(filter[i + kMessage.size()]);
            if (!ends || (word != kMessage && word != kFinding)) continue;
            Named named{i, i + kMessage.size(), word == kMessage, false, {}, i};
            read_comparison(filter, named);
            // Not compared with a number, it is a field like any other.
            if (named.is_message && named.end == named.begin + kMessage.size()) continue;
            return named;
        }
    }
    return std::nullopt;
}

std::optional<FilterError> mistake_of(const Named& named) {
    const auto wrong = [&](std::string message) {
        return FilterError{named.value_begin + 1,
                           named.value.empty() ? named.end - named.begin : named.value.size(),
                           std::move(message),
                           {}};
    };
    if (named.is_message) {
        if (named.value.empty())
            return wrong("a message is compared by == or != with its number, as in rdma.message == 17");
        if (!dissect::parse_number(named.value)) return wrong("expected the number of a message");
        return std::nullopt;
    }
    if (named.value.empty() && named.end == named.begin + kFinding.size()) return std::nullopt;
    const auto rows = finding_rows();
    if (std::ranges::find(rows, current_finding(named.value), &FindingRow::id) != rows.end()) return std::nullopt;
    return wrong(fmt::format("no finding is called '{}' (qpscope findings --list has all)", named.value));
}

// "frame.number in {3..7, 9}"
std::string frames_filter(const std::vector<FrameIndex>& frames) {
    if (frames.empty()) return "frame.number == 0";
    std::string text = "frame.number in {";
    for (std::size_t i = 0; i < frames.size();) {
        std::size_t end = i + 1;
        while (end < frames.size() && std::to_underlying(frames[end]) == std::to_underlying(frames[end - 1]) + 1) ++end;
        if (i > 0) text += ", ";
        text += fmt::format("{}", std::to_underlying(frames[i]));
        if (end > i + 1) text += fmt::format("..{}", std::to_underlying(frames[end - 1]));
        i = end;
    }
    return text + "}";
}

std::vector<FrameIndex> members(const Named& named, const CaptureIndex& index, const Timeline& timeline,
                                const std::function<bool()>& stop) {
    if (named.is_message) return message_packets(index, dissect::parse_number(named.value).value_or(0));
    if (!named.value.empty()) return event_frames(current_finding(named.value), timeline, index, stop);
    std::vector<FrameIndex> all;
    for (const FindingRow& row : finding_rows()) {
        const auto events = event_frames(row.id, timeline, index, stop);
        all.insert(all.end(), events.begin(), events.end());
    }
    std::ranges::sort(all);
    const auto repeated = std::ranges::unique(all);
    all.erase(repeated.begin(), repeated.end());
    return all;
}

}  // namespace

bool names_sets(std::string_view filter) { return next_set(filter, 0).has_value(); }

std::vector<const Renamed*> old_names_in(std::string_view filter) {
    std::vector<const Renamed*> rows;
    for (auto named = next_set(filter, 0); named; named = next_set(filter, named->end)) {
        const Renamed* row = named->is_message ? nullptr : renamed_finding(named->value);
        if (row != nullptr && std::ranges::find(rows, row) == rows.end()) rows.push_back(row);
    }
    return rows;
}

std::expected<std::string, FilterError> without_sets(std::string_view filter) {
    std::string text(filter);
    for (auto named = next_set(filter, 0); named; named = next_set(filter, named->end)) {
        if (const auto mistake = mistake_of(*named)) return std::unexpected(*mistake);
        constexpr std::string_view kNeutral = "frame.number";  // as long as the name of a set: whether there is one
        std::string neutral(named->end - named->begin, ' ');
        neutral.replace(0, kNeutral.size(), kNeutral);
        text.replace(named->begin, neutral.size(), neutral);
    }
    return text;
}

std::string with_frames(std::string_view filter, const CaptureIndex& index, const Timeline& timeline,
                        const std::function<bool()>& stop) {
    std::string text;
    std::size_t done = 0;
    for (auto named = next_set(filter, 0); named; named = next_set(filter, named->end)) {
        text += filter.substr(done, named->begin - done);
        text +=
            fmt::format("({}{})", named->is_not ? "not " : "", frames_filter(members(*named, index, timeline, stop)));
        done = named->end;
    }
    return text += filter.substr(done);
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
