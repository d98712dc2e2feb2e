#include <dissect/mad/notice.hpp>
#include <dissect/packet/render_value.hpp>
#include <transport-replay/management/management_events.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr Field kGeneric = named(kNoticeFields, "infiniband.notice.isgeneric");
constexpr Field kType = named(kNoticeFields, "infiniband.notice.type");
constexpr Field kProducer = named(kNoticeFields, "infiniband.notice.producertypevendorid");
constexpr Field kNumber = named(kNoticeFields, "infiniband.notice.trapnumberdeviceid");
constexpr Field kIssuer = named(kNoticeFields, "infiniband.notice.issuerlid");
constexpr Field kToggle = named(kNoticeFields, "infiniband.notice.noticetoggle");
constexpr std::size_t kToggleBytes = 2;  // with the count of those that wait

// "LID of the switch 3", "Old P_Key 0x8001": a value under its label, of a number with its name.
std::string detail_text(const Field& field, Bytes notice) {
    const ValueType type = value_type(field.format);
    Value value{0, slice(notice, field.bit / 8U, field.width / 8U)};
    if (type != ValueType::bytes && type != ValueType::ipv6 && type != ValueType::text)
        value = {read(notice, field), {}};
    std::string out{label(field)};
    out += ' ';
    append_words(out, field, value);
    return out;
}

}  // namespace

void ManagementEvents::observe(const ManagementDatagram& datagram, const Observation& observation) {
    const bool reported = datagram.method == ManagementMethod::report;
    if ((!reported && datagram.method != ManagementMethod::trap) || datagram.response) return;
    if (!datagram.is(kind::notice) || !datagram.whole()) return;
    const Bytes notice = datagram.data().first(kNoticeLength);
    std::array<std::byte, kNoticeLength + 1> key{};
    std::ranges::copy(notice, key.begin());
    std::fill_n(key.begin() + kToggle.bit / 8, kToggleBytes, std::byte{0});
    key.back() = static_cast<std::byte>(reported);
    auto found = index_.find(key);
    if (found == index_.end()) {
        if (events_.size() >= kMaxEvents) {
            ++dropped_;
            return;
        }
        found = index_.emplace(key, events_.size()).first;
        ManagementEvent& event = events_.emplace_back();
        event.generic = read(notice, kGeneric) != 0;
        event.reported = reported;
        event.type = static_cast<std::uint8_t>(read(notice, kType));
        event.producer = static_cast<std::uint32_t>(read(notice, kProducer));
        event.number = static_cast<std::uint16_t>(read(notice, kNumber));
        event.issuer = static_cast<Lid>(read(notice, kIssuer));
        std::ranges::copy(notice, event.notice.begin());
        event.first = observation.frame;
        event.time = observation.time;
        event.from = observation.flow.source;
        event.to = observation.flow.destination;
    }
    ManagementEvent& event = events_[found->second];
    ++event.count;
    event.last = observation.frame;
}

void ManagementEvents::finish(ManagementReport& report) {
    report.events = std::move(events_);
    report.events_dropped = dropped_;
}

std::string event_text(const ManagementEvent& event) {
    if (!event.generic) return fmt::format("notice of vendor 0x{:06x}, device 0x{:04x}", event.producer, event.number);
    const std::string_view name = name_of(kNumber, event.number);
    std::string out = fmt::format("trap {}", event.number);
    if (!name.empty()) out += fmt::format(", {}", name);
    std::string details;
    for (const Field& field : kNoticeFields) {
        if (field.when.width == 0 || field.when.value != event.number) continue;
        const bool is_flag = field.format == Format::flag;
        if (is_flag && read(event.notice, field) == 0) continue;
        if (!details.empty()) details += ", ";
        details += is_flag ? std::string(label(field)) : detail_text(field, event.notice);
    }
    return details.empty() ? out : fmt::format("{}: {}", out, details);
}

}  // namespace qps::transport
