#include <dissect/packet/render_value.hpp>
#include <transport-replay/model/ulp_report.hpp>

#include <algorithm>

namespace qps::transport {

namespace {

std::string kept(std::string_view text) { return dissect::printable(text.substr(0, kMaxFactBytes)); }

}  // namespace

void UlpConversation::note(std::string_view name, std::string_view value) {
    if (value.empty() || facts.size() == kMaxFacts || !fact(name).empty()) return;
    facts.push_back({name, kept(value)});
}

std::string_view UlpConversation::fact(std::string_view name) const {
    const auto found = std::ranges::find(facts, name, &UlpFact::name);
    return found == facts.end() ? std::string_view{} : std::string_view(found->value);
}

void UlpReport::add(UlpEvent event) {
    if (events.size() == kMaxUlpEvents) {
        ++events_left_out;
        return;
    }
    event.words = kept(event.words);
    events.push_back(std::move(event));
}

const UlpConversation* UlpReport::find(ConnectionId connection) const {
    const auto found = std::ranges::lower_bound(conversations, connection, {}, &UlpConversation::connection);
    return found == conversations.end() || found->connection != connection ? nullptr : &*found;
}

}  // namespace qps::transport
