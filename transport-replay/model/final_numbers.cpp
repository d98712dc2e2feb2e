#include <transport-replay/model/numbering.hpp>

#include <algorithm>

namespace qps::transport {

namespace {

// In the number of the connection: the flow is the other end of it, not that connection under another number. Numbers
// that rows name are below.
constexpr std::uint32_t kOtherEnd = std::uint32_t{1} << 31U;
static_assert(FinalNumbers::kMost < kOtherEnd);

bool is_other_end(const JoinedFlow& flow) { return (std::to_underlying(flow.connection) & kOtherEnd) != 0; }

const JoinedFlow* moved(const std::vector<JoinedFlow>& flows, ConnectionId given) {
    const auto found = std::ranges::lower_bound(flows, given, {}, &JoinedFlow::given);
    return found != flows.end() && found->given == given ? &*found : nullptr;
}

}  // namespace

FinalNumbers number_connections(std::vector<JoinedFlow> parts, ConnectionId last, Numbering numbering) {
    std::erase_if(parts, [](const JoinedFlow& part) { return !FinalNumbers::has_room_for(part.given); });
    std::ranges::sort(parts, {}, &JoinedFlow::given);
    std::vector<JoinedFlow> flows;
    const auto before = [&](ConnectionId given) {
        return static_cast<std::uint32_t>(std::ranges::lower_bound(parts, given, {}, &JoinedFlow::given) -
                                          parts.begin());
    };
    const auto numbered = [&](ConnectionId given) {
        if (given == ConnectionId{} || numbering == Numbering::kept) return given;
        return ConnectionId{std::to_underlying(given) - before(given)};
    };
    const std::uint32_t end = std::min(std::to_underlying(last), FinalNumbers::kMost);
    auto part = parts.begin();
    for (std::uint32_t number = parts.empty() ? end + 1 : std::to_underlying(parts.front().given);
         number <= end || part != parts.end(); ++number) {
        const ConnectionId given{number};
        if (part == parts.end() || part->given != given) {
            if (numbering == Numbering::dense) flows.push_back({given, numbered(given)});
            continue;
        }
        flows.push_back({given, ConnectionId{std::to_underlying(numbered(part->connection)) | kOtherEnd}});
        ++part;
    }
    return FinalNumbers(std::move(flows));
}

void FinalNumbers::settle(ConnectionId& connection, End& end) const {
    const JoinedFlow* const flow = moved(flows_, connection);
    if (flow == nullptr) return;
    connection = ConnectionId{std::to_underlying(flow->connection) & ~kOtherEnd};
    if (is_other_end(*flow)) end = other(end);
}

const JoinedFlow* FinalNumbers::find(ConnectionId given) const {
    const JoinedFlow* const flow = moved(flows_, given);
    return flow != nullptr && is_other_end(*flow) ? flow : nullptr;
}

// Numbers are no higher at the end than they were given, and connections keep their order.
std::vector<ConnectionId> given_numbers(const FinalNumbers& numbers, ConnectionId last) {
    std::vector<ConnectionId> given(std::size_t{std::to_underlying(last)} + 1);
    for (std::uint32_t number = 0; number < given.size(); ++number) given[number] = ConnectionId{number};
    if (!numbers.any()) return given;
    ConnectionId final{};
    for (std::uint32_t number = 1; number <= FinalNumbers::kMost && final < last; ++number) {
        End end{};
        if (numbers.is_part(ConnectionId{number})) continue;
        final = ConnectionId{number};
        numbers.settle(final, end);
        if (final <= last) given[std::to_underlying(final)] = ConnectionId{number};
    }
    return given;
}

}  // namespace qps::transport
