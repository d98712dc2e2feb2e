#include <dissect/ulp/ulp.hpp>
#include <transport-replay/findings/ulp_words.hpp>
#include <transport-replay/model/timeline.hpp>

namespace qps::transport {

namespace {

Sides of_connection(const Timeline& timeline, ConnectionId uid, End active) {
    const Connection* connection = timeline.find(uid);
    if (connection == nullptr) return {};
    return {connection->end(active), connection->end(other(active))};
}

}  // namespace

Sides sides_of(const Timeline& timeline, const UlpConversation& conversation) {
    return of_connection(timeline, conversation.connection, conversation.active);
}

Sides sides_of(const Timeline& timeline, const UlpEvent& event) {
    if (event.connection) {
        const UlpConversation* conversation = timeline.ulp.find(*event.connection);
        return of_connection(timeline, *event.connection, conversation == nullptr ? End::a : conversation->active);
    }
    if (!event.cm_attempt || *event.cm_attempt >= timeline.cm.attempts.size()) return {};
    const CmAttempt& attempt = timeline.cm.attempts[*event.cm_attempt];
    return {Endpoint{attempt.active.address, {}}, Endpoint{attempt.passive.address, {}}};
}

std::string_view protocol_name(UlpProtocol protocol) { return dissect::info(protocol).name; }

std::string clean(std::string_view words) {
    std::string made;
    for (const char c : words) {
        const char one = c < ' ' || c > '~' ? '?' : c;
        if (one == ' ' && (made.empty() || made.back() == ' ')) continue;
        if (one == ' ' && made.back() == '.') made.back() = ';';  // its sentence ends, ours goes on
        made += one;
    }
    while (!made.empty() && (made.back() == '.' || made.back() == ' ')) made.pop_back();
    return made.empty() ? "no known reason" : made;
}

}  // namespace qps::transport
