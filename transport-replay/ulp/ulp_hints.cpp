#include <transport-replay/model/timeline.hpp>
#include <transport-replay/ulp/ulp_hints.hpp>

namespace qps::transport {

UlpHints hints_of(const Timeline& timeline, bool whole) {
    UlpHints hints;
    const auto say = [&](ConnectionId uid, UlpDeclared said) {
        said.settled = whole;
        hints.insert_or_assign(std::to_underlying(uid), said);
    };
    if (whole)
        for (const Connection& connection : timeline.connections) say(connection.uid, UlpProtocol::none);
    for (const UlpConversation& conversation : timeline.ulp.conversations) {
        UlpDeclared said = conversation.protocol;
        said.basis = conversation.basis;
        said.certainty = conversation.certainty;
        said.active = conversation.active;
        say(conversation.connection, said);
    }
    return hints;
}

}  // namespace qps::transport
