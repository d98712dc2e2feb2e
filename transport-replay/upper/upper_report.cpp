#include <transport-replay/upper/upper_report.hpp>

#include <algorithm>

namespace qps::transport {

namespace {

std::string printable(std::string_view text) {
    std::string made(text.substr(0, kMaxFactBytes));
    for (char& c : made)
        if (c < ' ' || c > '~') c = '.';
    return made;
}

}  // namespace

void UpperConversation::note(std::string_view name, std::string_view value) {
    if (value.empty() || facts.size() == kMaxFacts || !fact(name).empty()) return;
    facts.push_back({name, printable(value)});
}

std::string_view UpperConversation::fact(std::string_view name) const {
    const auto found = std::ranges::find(facts, name, &UpperFact::name);
    return found == facts.end() ? std::string_view{} : std::string_view(found->value);
}

void UpperReport::add(UpperEvent event) {
    if (events.size() == kMaxUpperEvents) {
        ++events_left_out;
        return;
    }
    event.words = printable(event.words);
    events.push_back(std::move(event));
}

const UpperConversation* UpperReport::find(ConnectionId connection) const {
    const auto found = std::ranges::lower_bound(conversations, connection, {}, &UpperConversation::connection);
    return found == conversations.end() || found->connection != connection ? nullptr : &*found;
}

}  // namespace qps::transport
