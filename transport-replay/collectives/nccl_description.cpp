// What a job of NCCL is, by its offers and messages: numbers of ranks, the order of a ring, the protocol, the
// operation.
#include <transport-replay/collectives/nccl_verdicts.hpp>

#include <algorithm>
#include <array>

namespace qps::transport {

using namespace dissect;

namespace {

// Sizes of the slots of the protocols' buffers; LL and LL128 have no other, Simple follows NCCL_BUFFSIZE.
constexpr std::uint64_t kSlotOfLl = 65536, kSlotOfLl128 = 614400;
constexpr std::uint64_t kLineOfLl = 16, kLineOfLl128 = 128;  // bytes: messages are whole lines
constexpr std::uint64_t kSlicesOfSimple = 2;                 // messages of a chunk

NcclProtocol protocol_of(std::span<const NcclFlow> flows) {
    std::uint64_t size = 0;
    bool any = false, ll = true, ll128 = true;
    for (const NcclFlow& flow : flows) {
        size = std::max(size, flow.channel->size());
        for (const NcclMessage& message : flow.channel->messages()) {
            any = true;
            ll = ll && message.bytes != 0 && message.bytes % kLineOfLl == 0;
            ll128 = ll128 && message.bytes != 0 && message.bytes % kLineOfLl128 == 0;
        }
    }
    if (!any || size == 0) return NcclProtocol::unknown;
    if (size == kSlotOfLl128 && ll128) return NcclProtocol::ll128;
    if (size == kSlotOfLl && ll) return NcclProtocol::ll;
    return !ll || size > kSlotOfLl128 ? NcclProtocol::simple : NcclProtocol::unknown;
}

// Each rank's number is the tag of the offers that it gets; of two that say the same neither has it.
void number(std::vector<CollectiveRank>& ranks, std::span<const NcclFlow> flows) {
    std::vector<std::uint8_t> contradicted(ranks.size());
    for (const NcclFlow& flow : flows) {
        const auto tag = flow.channel->sender();
        if (!tag) continue;
        CollectiveRank& rank = ranks[flow.edge.source];
        if (rank.number && *rank.number != *tag) contradicted[flow.edge.source] = 1;
        rank.number = tag;
    }
    for (std::size_t one = 0; one < ranks.size(); ++one)
        for (std::size_t two = one + 1; two < ranks.size(); ++two)
            if (ranks[one].number && ranks[one].number == ranks[two].number) contradicted[one] = contradicted[two] = 1;
    for (std::size_t one = 0; one < ranks.size(); ++one)
        if (contradicted[one] != 0) ranks[one].number.reset();
}

// From each to the next where everybody has at most one before and one behind it: a ring, or a part of one.
std::vector<std::uint32_t> chain_of(std::uint32_t ranks, std::span<const NcclFlow> flows) {
    constexpr std::uint32_t kNone = UINT32_MAX;
    std::vector<std::uint32_t> next(ranks, kNone), before(ranks, kNone);
    for (const NcclFlow& flow : flows) {
        const auto [source, destination] = flow.edge;
        if ((next[source] != kNone && next[source] != destination) ||
            (before[destination] != kNone && before[destination] != source))
            return {};
        next[source] = destination;
        before[destination] = source;
    }
    const auto open = std::ranges::find(before, kNone);
    std::vector<std::uint32_t> chain{open == before.end() ? 0 : static_cast<std::uint32_t>(open - before.begin())};
    while (next[chain.back()] != kNone && next[chain.back()] != chain.front() && chain.size() < ranks)
        chain.push_back(next[chain.back()]);
    return chain.size() == ranks ? chain : std::vector<std::uint32_t>{};
}

// Whether a rank of a ring of n sends what an all-reduce sends: in each turn of 2 (n-1) chunks one of its own, n-1 with
// its part added to what came before, then what it received as it is. Empty chunks, and those of which nothing was
// captured, say nothing.
bool reduces_and_passes(const NcclPart& in, const NcclPart& out, std::uint64_t slices, std::uint64_t ranks) {
    const std::uint64_t turn = 2 * (ranks - 1);
    bool added = false, passed = false;
    for (std::uint64_t at = slices; at < out.messages.size(); ++at) {
        const NcclMessage& sent = out.messages[at];
        const NcclMessage& received = in.messages[at - slices];
        const std::uint64_t place = at / slices % turn;
        if (place == 0 || sent.sample == 0 || received.sample == 0) continue;
        const bool same = sent.sample == received.sample && sent.bytes == received.bytes;
        if (same != (place >= ranks)) return false;
        (same ? passed : added) = true;
    }
    return added && passed;
}

// Of how many ranks the ring is by what one of them sends on; 0: more than one number fits, or none.
std::uint64_t ranks_by_passing(const NcclPart& in, const NcclPart& out, std::uint64_t slices, std::uint64_t least) {
    constexpr std::uint64_t kMostTried = 256;
    if (in.messages.size() != out.messages.size() || in.messages.size() % slices != 0) return 0;
    const std::uint64_t chunks = in.messages.size() / slices;
    std::uint64_t found = 0;
    for (std::uint64_t ranks = least; ranks <= kMostTried && 2 * (ranks - 1) <= chunks; ++ranks) {
        if (chunks % (2 * (ranks - 1)) != 0 || !reduces_and_passes(in, out, slices, ranks)) continue;
        if (found != 0) return 0;
        found = ranks;
    }
    return found;
}

// Where the whole ring is known, the number of chunks tells an all-reduce from others that take half as many; two turns
// of those take as many, but then a message of the first turn fills its buffer.
bool counts_as_all_reduce(const NcclOperation& operation, std::uint64_t ranks, std::uint64_t slices,
                          std::uint64_t size) {
    const bool full = std::ranges::any_of(operation.parts, [&](const NcclPart& part) {
        return std::ranges::any_of(part.messages, [&](const NcclMessage& message) { return message.bytes >= size; });
    });
    return operation.whole && !full && operation.messages == 2 * (ranks - 1) * slices;
}

}  // namespace

void describe_nccl(Collective& collective, std::span<const NcclFlow> flows, std::span<const NcclOperation> operations) {
    const auto ranks = static_cast<std::uint32_t>(collective.ranks.size());
    collective.protocol = protocol_of(flows);
    number(collective.ranks, flows);
    collective.chain = chain_of(ranks, flows);
    const bool closed = collective.pattern == CollectivePattern::ring;
    if (collective.chain.empty() || ranks < 3) return;
    if (closed) collective.members = ranks;
    const std::uint64_t slices = collective.protocol == NcclProtocol::simple ? kSlicesOfSimple : 1;
    std::uint64_t size = 0;
    for (const NcclFlow& flow : flows) size = std::max(size, flow.channel->size());
    for (const NcclOperation& operation : operations) {
        if (!operation.whole) continue;
        if (closed && counts_as_all_reduce(operation, ranks, slices, size))
            collective.operation = CollectiveOperation::all_reduce;
        for (const NcclPart& in : operation.parts)
            for (const NcclPart& out : operation.parts) {
                if (flows[in.flow].edge.destination != flows[out.flow].edge.source) continue;
                const std::uint64_t members = ranks_by_passing(in, out, slices, ranks);
                if (members == 0 || (closed && members != ranks)) continue;
                collective.operation = CollectiveOperation::all_reduce;
                collective.members = static_cast<std::uint32_t>(members);
            }
    }
    if (collective.members != ranks) return;
    // A ring of which all ranks but not all ways were seen is one; the number that is left is of the rank that has
    // none.
    collective.pattern = CollectivePattern::ring;
    std::vector<std::uint8_t> used(ranks);
    std::vector<CollectiveRank*> without;
    for (CollectiveRank& rank : collective.ranks) {
        if (!rank.number) without.push_back(&rank);
        else if (*rank.number < ranks) used[*rank.number] = 1;
    }
    const auto left = std::ranges::find(used, std::uint8_t{0});
    if (without.size() == 1 && std::ranges::count(used, std::uint8_t{0}) == 1)
        without.front()->number = static_cast<std::uint32_t>(left - used.begin());
    const auto number_at = [&](std::uint32_t place) { return collective.ranks[place].number.value_or(UINT32_MAX); };
    std::ranges::rotate(collective.chain, std::ranges::min_element(collective.chain, {}, number_at));
}

}  // namespace qps::transport
