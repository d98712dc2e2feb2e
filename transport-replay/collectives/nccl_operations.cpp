#include <transport-replay/collectives/nccl_operations.hpp>

#include <algorithm>
#include <map>

namespace qps::transport {

using namespace dissect;

namespace {

// The lists of a channel by the number of the offer, and where the flow comes from.
struct Line {
    std::uint32_t flow = 0;
    std::span<const NcclOffered> offers;
    std::vector<NcclMessage> messages;  // those with a number, in order

    [[nodiscard]] std::uint64_t first() const { return offers.front().index; }
    [[nodiscard]] std::uint64_t last() const { return offers.back().index; }
    [[nodiscard]] std::span<const NcclOffered> between(std::uint64_t from, std::uint64_t behind) const {
        const auto begin = std::ranges::lower_bound(offers, from, {}, &NcclOffered::index);
        const auto end = std::ranges::lower_bound(begin, offers.end(), behind, {}, &NcclOffered::index);
        return {begin, end};
    }
    [[nodiscard]] std::span<const NcclMessage> sent(std::uint64_t from, std::uint64_t behind) const {
        const auto begin = std::ranges::lower_bound(messages, from, {}, &NcclMessage::index);
        const auto end = std::ranges::lower_bound(begin, messages.end(), behind, {}, &NcclMessage::index);
        return {begin, end};
    }
};

std::vector<Line> lines_of(std::span<const NcclFlow> flows) {
    std::vector<Line> lines;
    for (std::uint32_t flow = 0; flow < flows.size(); ++flow) {
        const NcclChannel& channel = *flows[flow].channel;
        if (channel.offers().empty() || channel.messages().empty()) continue;
        Line line{.flow = flow, .offers = channel.offers(), .messages = channel.messages()};
        std::erase_if(line.messages, [](const NcclMessage& message) { return message.index == 0; });
        std::ranges::stable_sort(line.messages, {}, &NcclMessage::index);
        if (!line.messages.empty()) lines.push_back(std::move(line));
    }
    return lines;
}

// Flows that count alike: the same operations have used them. Others (a ring and a tree of the same job) are divided by
// themselves.
std::vector<std::vector<Line>> alike(std::vector<Line> lines) {
    constexpr std::uint64_t kMostApart = 16;  // offers: a capture ends in the middle of an operation
    std::ranges::stable_sort(lines, {}, &Line::last);
    std::vector<std::vector<Line>> groups;
    for (Line& line : lines) {
        if (groups.empty() || line.last() - groups.back().back().last() > kMostApart) groups.emplace_back();
        groups.back().push_back(std::move(line));
    }
    return groups;
}

const NcclOffered* offer_of(const Line& line, std::uint64_t index) {
    const auto offers = line.between(index, index + 1);
    return offers.empty() ? nullptr : &offers.front();
}
const NcclMessage* message_of(const Line& line, std::uint64_t index) {
    const auto messages = line.sent(index, index + 1);
    return messages.empty() ? nullptr : &messages.front();
}

// Whether all receivers began anew with that number, as far as it can be told: of its first offer in a capture it
// cannot.
bool begins_anew(std::span<const Line> lines, std::uint64_t index) {
    bool any = false;
    for (const Line& line : lines) {
        if (index <= line.first() || index > line.last()) continue;
        const NcclOffered* offer = offer_of(line, index);
        if (offer == nullptr || !offer->fresh) return false;
        any = true;
    }
    return any;
}

// Whether each rank had sent and received all before that number when it began with it: one that is held up in the
// middle has received more than it has sent.
bool divides_ranks(std::span<const NcclFlow> flows, std::span<const Line> lines, std::uint64_t index) {
    for (const Line& in : lines)
        for (const Line& out : lines) {
            if (flows[in.flow].edge.destination != flows[out.flow].edge.source) continue;
            const NcclOffered* offered = offer_of(in, index);
            const NcclMessage *received = message_of(in, index - 1), *sent = message_of(out, index - 1),
                              *next = message_of(out, index);
            if (offered != nullptr && sent != nullptr && offered->time < sent->begin) return false;
            if (next != nullptr && received != nullptr && next->begin < received->end) return false;
        }
    return true;
}

// How often each distance between bounds comes.
std::map<std::uint64_t, std::size_t> lengths_of(std::span<const std::uint64_t> bounds) {
    std::map<std::uint64_t, std::size_t> times;
    for (std::size_t i = 1; i < bounds.size(); ++i) ++times[bounds[i] - bounds[i - 1]];
    return times;
}

// The distance that comes most often; 0: none comes twice.
std::uint64_t usual_length(std::span<const std::uint64_t> bounds) {
    const auto times = lengths_of(bounds);
    const auto most = std::ranges::max_element(times, {}, [](const auto& one) { return one.second; });
    return most != times.end() && most->second > 1 ? most->first : 0;
}

// Without the bounds inside of an operation of usual length whose pieces are rare: a pause there looked like a
// beginning. Operations of several lengths come again and again, and stay.
std::vector<std::uint64_t> without_pieces(const std::vector<std::uint64_t>& bounds) {
    constexpr std::size_t kRare = 4;  // times as often comes what is usual
    const auto times = lengths_of(bounds);
    const std::uint64_t usual = usual_length(bounds);
    std::vector<std::uint64_t> kept;
    for (auto bound = bounds.begin(); bound != bounds.end();) {
        kept.push_back(*bound);
        const auto end = std::find(bound, bounds.end(), *bound + usual);
        bool pieces = usual != 0 && end != bounds.end() && end - bound > 1;
        for (auto piece = bound; pieces && piece != end; ++piece)
            pieces = times.at(piece[1] - piece[0]) * kRare <= times.at(usual);
        bound = pieces ? end : bound + 1;
    }
    return kept;
}

std::vector<std::uint64_t> bounds_of(std::span<const NcclFlow> flows, std::span<const Line> lines) {
    std::vector<std::uint64_t> fresh;
    for (const Line& line : lines)
        for (const NcclOffered& offer : line.offers)
            if (offer.fresh) fresh.push_back(offer.index);
    std::ranges::sort(fresh);
    fresh.erase(std::ranges::unique(fresh).begin(), fresh.end());
    std::erase_if(fresh, [&](std::uint64_t index) { return !begins_anew(lines, index); });
    const std::uint64_t first = std::ranges::min(lines, {}, &Line::first).first();
    std::vector<std::uint64_t> bounds{first};
    for (const std::uint64_t index : fresh)
        if (index > first && divides_ranks(flows, lines, index)) bounds.push_back(index);
    // A receiver may begin the next operation while its last message waits for room; where operations have the same
    // length, these bounds are known by it.
    const std::uint64_t usual = usual_length(bounds);
    std::vector<std::uint64_t> all = bounds;
    for (const std::uint64_t index : fresh) {
        const auto behind = std::ranges::upper_bound(bounds, index);
        if (usual != 0 && behind != bounds.begin() && (index - *(behind - 1)) % usual == 0) all.push_back(index);
    }
    std::ranges::sort(all);
    all.erase(std::ranges::unique(all).begin(), all.end());
    all.push_back(std::ranges::max(lines, {}, &Line::last).last() + 1);
    return without_pieces(all);
}

void add(NcclOperation& operation, NcclPart part) {
    for (const NcclMessage& message : part.messages) {
        if (operation.frame == FrameIndex{} || message.begin < operation.begin) {
            operation.begin = message.begin;
            operation.frame = message.frame;
        }
        operation.end = std::max(operation.end, message.end);
        operation.bytes += message.bytes;
    }
    operation.messages = std::max<std::uint64_t>(operation.messages, part.messages.size());
    operation.parts.push_back(std::move(part));
}

bool is_whole(const NcclPart& part, std::uint64_t messages) {
    return part.messages.size() == messages && part.offers.size() == messages &&
           std::ranges::all_of(part.messages, &NcclMessage::ended);
}

std::vector<NcclOperation> operations_of(std::span<const NcclFlow> flows, std::span<const Line> lines,
                                         std::size_t most) {
    const std::vector<std::uint64_t> bounds = bounds_of(flows, lines);
    std::vector<NcclOperation> operations;
    for (std::size_t i = 0; i + 1 < bounds.size() && operations.size() < most; ++i) {
        NcclOperation operation;
        operation.end = Instant{INT64_MIN};
        for (const Line& line : lines) {
            const auto messages = line.sent(bounds[i], bounds[i + 1]);
            add(operation, {line.flow, line.between(bounds[i], bounds[i + 1]), {messages.begin(), messages.end()}});
        }
        if (operation.messages == 0) continue;
        const std::uint64_t whole = bounds[i + 1] - bounds[i];
        const bool from_start = i != 0 || bounds[i] == 1;
        operation.whole = from_start && std::ranges::all_of(operation.parts, [&](const NcclPart& part) {
                              return is_whole(part, whole);
                          });
        operations.push_back(std::move(operation));
    }
    return operations;
}

// Of flows that count differently: what all take part in at the same time is one operation.
std::vector<NcclOperation> joined(std::vector<NcclOperation> all, std::size_t most) {
    std::ranges::stable_sort(all, {}, &NcclOperation::begin);
    std::vector<NcclOperation> operations;
    Instant least_end{};
    for (NcclOperation& one : all) {
        const auto taken = [&](const NcclPart& part) {
            return std::ranges::any_of(operations.back().parts,
                                       [&](const NcclPart& other) { return other.flow == part.flow; });
        };
        if (operations.empty() || one.begin >= least_end || std::ranges::any_of(one.parts, taken)) {
            if (operations.size() == most) break;
            least_end = one.end;
            operations.push_back(std::move(one));
            continue;
        }
        NcclOperation& last = operations.back();
        least_end = std::min(least_end, one.end);
        last.end = std::max(last.end, one.end);
        last.bytes += one.bytes;
        last.messages = std::max(last.messages, one.messages);
        last.whole = last.whole && one.whole;
        std::ranges::move(one.parts, std::back_inserter(last.parts));
    }
    return operations;
}

}  // namespace

std::vector<NcclOperation> nccl_operations(std::span<const NcclFlow> flows, std::size_t most) {
    std::vector<NcclOperation> all;
    std::size_t groups = 0;
    for (const std::vector<Line>& lines : alike(lines_of(flows))) {
        std::ranges::move(operations_of(flows, lines, most), std::back_inserter(all));
        ++groups;
    }
    return groups > 1 ? joined(std::move(all), most) : all;
}

}  // namespace qps::transport
