#include <dissect/base/packet.hpp>
#include <dissect/base/types.hpp>
#include <dissect/packet/render_value.hpp>
#include <transport-replay/conformance/script/packet_words.hpp>
#include <transport-replay/conformance/script/script_writer.hpp>
#include <transport-replay/model/observation.hpp>

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>

namespace qps::transport::conformance::script {

using namespace dissect;

namespace {

constexpr std::uint64_t kWorthATime = 100'000;  // ns between two lines; less is the speed of a machine
constexpr std::uint64_t kPatience = 500'000'000;

std::optional<std::uint64_t> number_in(const Packet& packet, LayerKind kind, std::string_view name) {
    const Layer* layer = find(packet, kind);
    if (layer == nullptr) return std::nullopt;
    for (const Field& field : header(kind).fields)
        if (field.name == name)
            if (const auto value = value_of(packet, *layer, field)) return value->number;
    return std::nullopt;
}

// Fields that do not depend on the machines.
struct Kept {
    LayerKind kind;
    std::string_view field;
    bool only_set;
};
constexpr std::array kKept{
    Kept{LayerKind::bth, "infiniband.bth.a", true},
    Kept{LayerKind::bth, "infiniband.bth.se", true},
    Kept{LayerKind::bth, "infiniband.bth.tver", true},
    Kept{LayerKind::aeth, "infiniband.aeth.syndrome.error_code", false},
    Kept{LayerKind::aeth, "infiniband.aeth.syndrome.timer", false},
    Kept{LayerKind::aeth, "infiniband.aeth.syndrome.reserved_value", false},
    Kept{LayerKind::atomiceth, "infiniband.atomiceth.swapdt", false},
    Kept{LayerKind::atomiceth, "infiniband.atomiceth.cmpdt", false},
    Kept{LayerKind::immdt, "infiniband.immdt", false},
    Kept{LayerKind::cm_req, "infiniband.cm.req.serviceid", false},
    Kept{LayerKind::cm_rej, "infiniband.cm.rej.reason", false},
    Kept{LayerKind::cm_rej, "infiniband.cm.rej.msgrej", false},
};

std::string time_text(std::uint64_t nanoseconds) {
    return nanoseconds % 1'000'000 == 0 ? fmt::format("{}ms", nanoseconds / 1'000'000)
                                        : fmt::format("{}us", nanoseconds / 1000);
}

bool begins(Opcode opcode) {
    return info(opcode).place == dissect::Place::first || info(opcode).place == dissect::Place::only;
}
bool ends(Opcode opcode) {
    return info(opcode).place == dissect::Place::last || info(opcode).place == dissect::Place::only;
}
bool takes_receive(Opcode opcode) {
    const OpcodeRow& row = info(opcode);
    return ends(opcode) && (row.verb == Verb::send || (row.verb == Verb::write && row.header_count > 0 &&
                                                       row.headers[row.header_count - 1U] == LayerKind::immdt));
}

// What an agent is asked to post, by the requests that it makes.
std::string_view operation_of(Opcode opcode) {
    switch (info(opcode).verb) {
        case Verb::send: return "send";
        case Verb::write: return "write";
        case Verb::read_request: return "read";
        case Verb::fetch_add: return "fetch_add";
        case Verb::compare_swap: return "cmp_swap";
        default: return {};
    }
}

}  // namespace

void ScriptWriter::add(const Packet& packet) {
    if (!packet.has_transport() || packet.network_layer == kNoLayer || !info(packet.opcode).defined) return;
    Observation seen;
    observe(packet, seen);
    if (rows_.empty()) {
        ours_ = seen.flow.source;
        theirs_ = seen.flow.destination;
    }
    const bool ours = seen.flow.source == ours_ && seen.flow.destination == theirs_;
    const bool known = ours || (seen.flow.source == theirs_ && seen.flow.destination == ours_);
    if (!known || rows_.size() >= kMaxWritten) {
        ++left_out_;
        return;
    }
    Row row{.time = packet.frame.time,
            .ours = ours,
            .request = info(packet.opcode).request,
            .opcode = packet.opcode,
            .to = packet.dest_qp,
            .psn = packet.psn};
    row.length = packet.payload.length;
    const LayerKind access = find(packet, LayerKind::atomiceth) != nullptr ? LayerKind::atomiceth : LayerKind::reth;
    row.has_reth = find(packet, access) != nullptr;
    row.va = number_in(packet, access, "infiniband.reth.va").value_or(0);
    row.rkey = static_cast<std::uint32_t>(number_in(packet, access, "infiniband.reth.r_key").value_or(0));
    row.dmalen = static_cast<std::uint32_t>(
        number_in(packet, LayerKind::reth, "infiniband.reth.dmalen").value_or(access == LayerKind::reth ? 0 : 8));
    row.has_aeth = find(packet, LayerKind::aeth) != nullptr;
    row.msn = static_cast<std::uint32_t>(number_in(packet, LayerKind::aeth, "infiniband.aeth.msn").value_or(0));
    row.rnr = number_in(packet, LayerKind::aeth, "infiniband.aeth.syndrome.timer");
    for (const Kept& kept : kKept) {
        const auto value = number_in(packet, kept.kind, kept.field);
        if (!value || (kept.only_set && *value == 0)) continue;
        for (const Field& field : header(kept.kind).fields) {
            if (field.name != kept.field) continue;
            const std::string key = key_of(kept.kind, field);
            if (field.format == Format::flag) row.words += " " + key;
            else
                row.words += field.format == Format::hexadecimal ? fmt::format(" {}=0x{:x}", key, *value)
                                                                 : fmt::format(" {}={}", key, *value);
        }
    }
    if (packet.icrc.status == CrcStatus::bad) row.words += " bad_icrc";
    if (const Layer* mad = find(packet, LayerKind::mad); mad != nullptr && packet.dest_qp == kGsiQpn) {
        const auto attribute = number_in(packet, LayerKind::mad, "infiniband.mad.attributeid").value_or(0);
        const MadAttribute* found =
            find_attribute(ManagementClass::communication, static_cast<std::uint16_t>(attribute));
        row.words = found == nullptr ? std::string{} : std::string(found->name) + row.words;
    }
    rows_.push_back(std::move(row));
}

// Queue pairs in the order in which each direction first meets them: the first of one belongs to the first of the
// other.
std::vector<ScriptWriter::Written> ScriptWriter::queue_pairs() const {
    std::vector<Qpn> of_us, of_device;
    for (const Row& row : rows_) {
        if (row.to == kGsiQpn) continue;
        std::vector<Qpn>& all = row.ours ? of_device : of_us;
        if (std::ranges::find(all, row.to) == all.end() && all.size() < kMaxWrittenHalves) all.push_back(row.to);
    }
    std::vector<Written> all;
    for (std::size_t i = 0; i < std::max(of_us.size(), of_device.size()); ++i)
        all.push_back({std::string(1, static_cast<char>('a' + i)), i < of_us.size() ? of_us[i] : Qpn{},
                       i < of_device.size() ? of_device[i] : Qpn{}});
    return all;
}

const ScriptWriter::Written* ScriptWriter::qp_of(const std::vector<Written>& all, const Row& row) {
    for (const Written& each : all)
        if ((row.ours ? each.theirs : each.ours) == row.to) return &each;
    return nullptr;
}

// The first PSN of that space: of requests, or, where only responses were recorded, of these.
Psn ScriptWriter::base_of(const Written& qp, bool our_space) const {
    std::optional<Psn> first;
    for (const Row& row : rows_) {
        if ((row.ours ? qp.theirs : qp.ours) != row.to || (row.ours == row.request) != our_space) continue;
        if (row.request) return row.psn;
        if (!first) first = row.psn;
    }
    return first.value_or(Psn{});
}

void ScriptWriter::write_head(std::string& text, std::vector<Written>& all,
                              const std::map<std::uint32_t, Touched>& regions) const {
    for (Written& qp : all) {
        std::uint32_t mtu = 256, longest = 0, message = 0;
        std::optional<Service> service;
        std::optional<std::uint64_t> timer;
        std::set<std::uint32_t> receives;  // PSNs that take one: what is sent again takes no other
        for (const Row& row : rows_)
            if (qp_of(all, row) == &qp && row.rnr && !timer) timer = row.rnr, qp.refused = row.psn;
        for (const Row& row : rows_) {
            if (qp_of(all, row) != &qp) continue;
            service = service.value_or(service_of(row.opcode));
            if (!ends(row.opcode))
                while (mtu < row.length && mtu < 4096) mtu *= 2;
            if (!row.ours || !row.request) continue;
            message = begins(row.opcode) ? row.length : message + row.length;
            if (!takes_receive(row.opcode)) continue;
            if (!qp.refused || row.psn.before(*qp.refused)) receives.insert(row.psn.value());
            longest = std::max(longest, message);
        }
        for (const Row& row : rows_)
            if (qp_of(all, row) == &qp)
                while (mtu < row.length && mtu < 4096) mtu *= 2;
        const bool ask = std::ranges::any_of(
            rows_, [&](const Row& row) { return row.ours && row.request && qp_of(all, row) == &qp; });
        const std::string_view kind = service == Service::uc    ? "uc"
                                      : service == Service::ud  ? "ud"
                                      : service == Service::xrc ? (ask ? "xrc_recv" : "xrc_send")
                                                                : "rc";
        qp.receive = std::max(longest, 1U) + (kind == "ud" ? 40U : 0U);
        text += fmt::format("qp {} {} mtu={}{}{}\n", qp.name, kind, mtu,
                            receives.empty() ? "" : fmt::format(" recv={}x{}", receives.size(), qp.receive),
                            timer ? fmt::format(" min_rnr={}", *timer) : "");
    }
    for (const auto& [key, region] : regions)
        text += fmt::format("dut mr m{} len={} access=write,read,atomic\n", region.number,
                            std::max<std::uint64_t>(region.high - region.low, 8));
}

std::string ScriptWriter::packet_line(const Row& row, const Written& qp,
                                      const std::map<std::uint32_t, Touched>& regions) const {
    const bool our_space = row.ours == row.request;
    std::string text = fmt::format("{} psn={:+}", info(row.opcode).name(), row.psn - base_of(qp, our_space));
    if (const auto region = regions.find(row.rkey); row.has_reth && row.ours && region != regions.end())
        text += fmt::format(" va=$m{0}.va+{1} rkey=$m{0}.rkey", region->second.number, row.va - region->second.low);
    if (row.has_reth && info(row.opcode).verb != Verb::fetch_add && info(row.opcode).verb != Verb::compare_swap)
        text += fmt::format(" dmalen={}", row.dmalen);
    if (row.has_aeth) {
        std::uint32_t least = ~0U;
        for (const Row& each : rows_)
            if (each.has_aeth && each.ours == row.ours && each.to == row.to) least = std::min(least, each.msn);
        const std::uint32_t before = least == ~0U || least == 0 ? 0 : least - 1;
        text += fmt::format(" msn=+{}", row.msn - before);
    }
    text += row.words;
    if (row.length > 0) text += fmt::format(" len={}", row.length);
    return text;
}

// The work request whose first packet that is; empty where it is sent again.
std::string ScriptWriter::post_line(std::size_t at, const Written& qp) const {
    const Row& first = rows_[at];
    if (first.ours || !first.request || !begins(first.opcode) || operation_of(first.opcode).empty()) return {};
    for (std::size_t i = 0; i < at; ++i)
        if (!rows_[i].ours && rows_[i].request && rows_[i].to == first.to && !rows_[i].psn.before(first.psn)) return {};
    std::uint32_t length = 0;
    bool immediate = false;
    for (std::size_t i = at; i < rows_.size(); ++i) {
        const Row& row = rows_[i];
        if (row.ours || !row.request || row.to != first.to) continue;
        length += row.length;
        immediate = immediate || row.words.find(" imm=") != std::string::npos;
        if (ends(row.opcode)) break;
    }
    const std::string_view operation = operation_of(first.opcode);
    if (first.has_reth) length = first.dmalen;
    return fmt::format("dut {} post {}{} len={}\n", qp.name, operation, immediate ? "_imm" : "", length);
}

// Whether the packet took a receive that was posted after one had been missing: the first sending of its PSN that was
// not refused.
bool ScriptWriter::finds_late_receive(std::size_t at, const Written& qp) const {
    const Row& row = rows_[at];
    if (!qp.refused || !row.ours || !row.request || row.psn.before(*qp.refused)) return false;
    // A SEND needs it with its first packet, a WRITE with immediate with its last.
    if (info(row.opcode).verb == Verb::send ? !begins(row.opcode) : !takes_receive(row.opcode)) return false;
    const auto refuses = [&](const Row& other) {
        return !other.ours && other.rnr && other.psn == row.psn && other.to == qp.ours;
    };
    const auto sends = [&](const Row& other) {
        return other.ours && other.request && other.psn == row.psn && other.to == row.to;
    };
    const std::span rows(rows_);
    if (std::ranges::any_of(rows.subspan(at + 1), refuses)) return false;
    for (std::size_t before = at; before-- > 0;)
        if (refuses(rows[before]) || sends(rows[before])) return refuses(rows[before]);
    return true;
}

std::string ScriptWriter::finish(std::string_view source) const {
    std::map<std::uint32_t, Touched> regions;
    for (const Row& row : rows_) {
        if (!row.has_reth || !row.ours) continue;
        Touched& region = regions[row.rkey];
        region.low = std::min(region.low, row.va);
        region.high = std::max(region.high, row.va + row.dmalen);
    }
    std::size_t number = 0;
    for (auto& [key, region] : regions) region.number = number++;
    std::vector<Written> all = queue_pairs();
    std::string text = "# of ";
    append_printable(text, source);
    text += fmt::format(": {} packets{}\n", rows_.size(), left_out_ > 0 ? fmt::format(", {} left out", left_out_) : "");
    if (all.size() > 1)
        text += "# Several queue pairs, paired by guess: better select one connection with a filter (-Y).\n";
    if (!all.empty()) text += "needs agent\n\n";
    write_head(text, all, regions);
    text += '\n';
    std::optional<Instant> before;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const Row& row = rows_[i];
        const Written* qp = qp_of(all, row);
        if (row.to == kGsiQpn ? row.words.empty() : qp == nullptr) continue;
        const auto gap = static_cast<std::uint64_t>(std::max(before ? row.time - *before : Duration{}, Duration{}));
        if (qp != nullptr) text += post_line(i, *qp);
        if (qp != nullptr && finds_late_receive(i, *qp))
            text += fmt::format("dut {} recv count=1 len={}\n", qp->name, qp->receive);
        if (row.ours && gap >= kWorthATime) text += fmt::format("@+{} ", time_text(gap));
        text += fmt::format("{} {} {}", row.ours ? ">" : "<", qp == nullptr ? "gsi" : qp->name,
                            qp == nullptr ? row.words : packet_line(row, *qp, regions));
        if (!row.ours && gap * 2 > kPatience) text += fmt::format(" within {}", time_text(gap * 2));
        text += '\n';
        before = row.time;
    }
    return text;
}

}  // namespace qps::transport::conformance::script
