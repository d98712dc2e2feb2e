#include <dissect/mad/performance.hpp>
#include <dissect/packet/render_value.hpp>
#include <transport-replay/management/port_counters.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

// Both tables call them alike behind their own prefix.
constexpr std::array<std::string_view, 6> kTraffic{"portxmitdata", "portrcvdata",  "portxmitpkts",
                                                   "portrcvpkts",  "portxmitwait", "castxmitpkts"};
constexpr std::string_view kMulticastIn = "castrcvpkts";

constexpr Field kPort = named(kPortCountersFields, "infiniband.portcounters.portselect");
constexpr Field kPortExtended = named(kPortCountersExtendedFields, "infiniband.portcounters_ext.portselect");
static_assert(kPort.bit == kPortExtended.bit && kPort.width == kPortExtended.width);

void step(CounterHistory& history, std::uint64_t value, std::uint64_t largest, bool first) {
    if (first) {
        history.first = value;
    } else if (value >= history.last) {
        history.increments += value - history.last;
    } else {
        ++history.resets;
        history.increments += value;  // at least that since it was cleared
    }
    history.last = value;
    history.saturated = value == largest;
}

}  // namespace

std::vector<const Field*> counter_fields(LayerKind attribute) {
    std::vector<const Field*> counters;
    for (const Field& field : header(attribute).fields)
        if (!field.name.empty() && !field.computed() && !field.is_part && !field.name.ends_with("portselect") &&
            field.name.find("counterselect") == std::string_view::npos)
            counters.push_back(&field);
    return counters;
}

bool counts_errors(const Field& counter) {
    return std::ranges::none_of(kTraffic, [&](std::string_view traffic) { return counter.name.ends_with(traffic); }) &&
           !counter.name.ends_with(kMulticastIn);
}

std::string_view counter_name(const Field& counter) { return label(counter); }

void PortCounters::observe(const ManagementDatagram& datagram, const Observation& observation) {
    if (datagram.management_class != ManagementClass::performance || !datagram.response || datagram.status != 0 ||
        !datagram.whole())
        return;
    if (!datagram.is(LayerKind::port_counters) && !datagram.is(LayerKind::port_counters_extended)) return;
    const Bytes data = datagram.data();
    const auto port = static_cast<std::uint8_t>(read(data, kPort));
    const std::tuple key{observation.flow.source, port, datagram.known->data};
    auto found = index_.find(key);
    if (found == index_.end()) {
        if (histories_.size() >= kMaxCounterPorts) {
            ++dropped_;
            return;
        }
        found = index_.emplace(key, histories_.size()).first;
        PortCounterHistory& fresh = histories_.emplace_back();
        fresh.port_of = observation.flow.source;
        fresh.port = port;
        fresh.attribute = datagram.known->data;
        fresh.first = observation.frame;
        fresh.first_time = observation.time;
    }
    PortCounterHistory& history = histories_[found->second];
    const std::vector<const Field*> fields = counter_fields(history.attribute);
    history.counters.resize(fields.size());
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const std::uint64_t largest =
            fields[i]->width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << fields[i]->width) - 1;
        step(history.counters[i], read(data, *fields[i]), largest, history.answers == 0);
    }
    ++history.answers;
    history.last = observation.frame;
    history.last_time = observation.time;
}

void PortCounters::finish(ManagementReport& report) {
    report.counters = std::move(histories_);
    report.counter_ports_dropped = dropped_;
}

}  // namespace qps::transport
