// What the tracker asks for before it needs it: where connections are many, every line of one comes from memory.
#include <dissect/base/opcode.hpp>
#include <transport-replay/tracking/tracker.hpp>

#include <cstddef>
#include <utility>

namespace qps::transport {

using namespace dissect;

void Tracker::prefetch(const Observation& far, const Observation& nearer, const Observation& near) {
    index_.prefetch_table(far.flow_hash);
    index_.prefetch_slot(nearer.flow_hash);
    const auto where = index_.likely(near.flow_hash);
    // By now the stream is there that was asked for some packets ago, and says where its messages are.
    WayOf& asked = asked_[turn_++ % kAsked];
    const WayOf before = std::exchange(asked, WayOf{});
    if (before.known() && before.index() < entries_.size())
        entries_[before.index()].directions[static_cast<std::size_t>(before.from())].requests.prefetch();
    if (!where || WayOf(*where).index() >= entries_.size()) return;
    const Entry& entry = entries_[WayOf(*where).index()];
    asked = info(near.opcode).request ? WayOf(*where) : WayOf(WayOf(*where).index(), other(WayOf(*where).from()));
    const auto lines = [](const void* from, std::size_t bytes) {
        constexpr std::size_t kLine = 64;
        for (std::size_t i = 0; i < bytes; i += kLine) __builtin_prefetch(static_cast<const char*>(from) + i);
    };
    constexpr std::size_t kCounts = 200;  // of a way: up to first_time, what every packet counts
    const Way& way = entry.connection.way(WayOf(*where).from());
    lines(&way, kCounts);
    const Direction& sends = entry.directions[static_cast<std::size_t>(WayOf(*where).from())];
    lines(&sends, sizeof(Direction));
    lines(&entry.directions[static_cast<std::size_t>(other(WayOf(*where).from()))].requests, sizeof(RequestStream));
    lines(&entry.connection, 1);
    lines(&entry.retries, 1);
}

}  // namespace qps::transport
