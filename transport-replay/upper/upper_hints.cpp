#include <transport-replay/upper/upper_hints.hpp>

namespace qps::transport {

UpperHints hints_of(const Timeline& timeline, bool whole) {
    UpperHints hints;
    const auto say = [&](ConnectionId uid, UpperSaid said) {
        said.settled = whole;
        hints.insert_or_assign(std::to_underlying(uid), said);
    };
    if (whole)
        for (const Connection& connection : timeline.connections) say(connection.uid, UpperProtocol::none);
    for (const UpperConversation& conversation : timeline.upper.conversations) {
        UpperSaid said = conversation.protocol;
        said.basis = conversation.basis;
        said.certainty = conversation.certainty;
        said.active = conversation.active;
        say(conversation.connection, said);
    }
    return hints;
}

}  // namespace qps::transport
