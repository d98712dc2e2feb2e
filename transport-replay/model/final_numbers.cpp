#include <transport-replay/model/final_numbers.hpp>

#include <algorithm>

namespace qps::transport {

void FinalNumbers::settle(ConnectionId& connection, End& end) const {
    const JoinedFlow* const joined = find(connection);
    if (joined == nullptr) return;
    connection = joined->connection;
    end = other(end);
}

const JoinedFlow* FinalNumbers::find(ConnectionId given) const {
    const auto found = std::ranges::lower_bound(flows_, given, {}, &JoinedFlow::given);
    return found != flows_.end() && found->given == given ? &*found : nullptr;
}

}  // namespace qps::transport
