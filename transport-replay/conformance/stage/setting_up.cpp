// Queue pairs of the device and our ends of them: by agents, or by connection management with the listener there.
#include <dissect/mad/names.hpp>
#include <dissect/packet.hpp>
#include <transport-replay/conformance/stage/run.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace qps::transport::conformance::stage {

using namespace dissect;
using script::EndKind;
using script::Side;

namespace {

constexpr std::uint32_t kFirstRawQpn = 0x80'0000;  // above any number that the adapter gives out
constexpr std::uint64_t kRawQpns = 0x40'0000;
constexpr std::uint32_t kMostQpn = 0xff'ffff;
constexpr Duration kRequestAgain{1'000'000'000};
constexpr std::size_t kMostRequests = 3;

constexpr std::string_view kind_word(Service service) { return service == Service::rc ? "rc" : service == Service::uc ? "uc" : "ud"; }

// "8 (Invalid service ID)"
std::string rejection_text(std::uint64_t reason) {
    const auto row = std::ranges::find(kRejectReasons, reason, &ValueName::value);
    return row == kRejectReasons.end() ? std::to_string(reason) : fmt::format("{} ({})", reason, row->name);
}

std::string address_text(const Address& address) { return text(live::in_space(address, AddressSpace::roce_v2)); }

}  // namespace

std::optional<std::string> Run::setting(const script::Settings& settings, std::string_view key) {
    const auto found = std::ranges::find(settings, key, &script::Setting::key);
    if (found == settings.end()) return std::nullopt;
    if (found->choices.empty()) return "1";
    const script::SettingChoice& choice = found->choices.front();
    if (!choice.value) return choice.text;
    const auto value = number(*choice.value);
    return value ? std::optional(std::to_string(*value)) : std::nullopt;
}

std::optional<std::uint64_t> Run::number_of(const script::Settings& settings, std::string_view key) {
    const auto found = std::ranges::find(settings, key, &script::Setting::key);
    if (found == settings.end() || found->choices.empty() || !found->choices.front().value) return std::nullopt;
    return number(*found->choices.front().value);
}

void Run::define_qp(const ScriptQp& qp) {
    const auto name = [&](std::string_view member) { return fmt::format("{}.{}", qp.name, member); };
    variables_.set(name("qpn"), std::to_underlying(qp.ours));
    variables_.set(name("psn"), qp.our_first.value());
    variables_.set(name("dut"), std::to_underlying(qp.theirs));
    variables_.set(name("dut_psn"), qp.their_first.value());
    variables_.set(name("mtu"), qp.mtu);
    variables_.set(name("id"), qp.agent_qp.value_or(0));
}

void Run::free_half(ScriptQp& qp) {
    if (qp.agent_qp) ask(Side::device, Question(agent::Verb::qp_free).put("qp", *qp.agent_qp), nullptr);
    if (qp.our_qp) ask(Side::us, Question(agent::Verb::qp_free).put("qp", *qp.our_qp), nullptr);
    endpoint_->release(qp.ours);
    regions_.erase("dut " + qp.name + ".recv");
    regions_.erase("dut " + qp.name + ".send");
}

Step Run::play(const script::Release& line) {
    const auto qp = queue_pairs_.find(line.name);
    if (qp != queue_pairs_.end() && waits_.part == 0) {
        free_half(qp->second);
        queue_pairs_.erase(qp);
        waits_.part = 1;
    }
    return asked_.empty() ? Step::next : Step::wait;
}

Step Run::play(const script::MakeQp& line) {
    if (waits_.part == 0) {
        if (line.kind != EndKind::managed && line.kind != EndKind::known && !given_.device.there())
            return cannot("a queue pair of the device needs its agent (--agent) or `cm`");
        if (line.kind == EndKind::verbs && !given_.us.there()) return cannot("no adapter of our own");
        if (const auto old = queue_pairs_.find(line.name); old != queue_pairs_.end()) free_half(old->second);
        ScriptQp& qp = queue_pairs_[line.name] = ScriptQp{};
        qp.name = line.name;
        qp.kind = line.kind;
        qp.service = line.service;
        // What CM connects must not have a number that it remembers of an earlier run (12.9.8.3.1): drawn of time, too.
        const std::uint64_t drawn = line.kind == EndKind::managed ? mix(management_.drawn * 31 + ++drawn_) : draw();
        qp.ours = Qpn{static_cast<std::uint32_t>(number_of(line.settings, "us").value_or(kFirstRawQpn + drawn % kRawQpns) & kMostQpn)};
        qp.theirs = Qpn{static_cast<std::uint32_t>(number_of(line.settings, "dut").value_or(0) & kMostQpn)};
        qp.our_first = Psn(static_cast<std::uint32_t>(number_of(line.settings, "psn").value_or(draw())));
        qp.their_first = Psn(static_cast<std::uint32_t>(number_of(line.settings, "dut_psn").value_or(draw())));
        qp.next = qp.next_sent = qp.our_first;
        qp.mtu = static_cast<std::uint32_t>(number_of(line.settings, "mtu").value_or(1024));
        qp.qkey = Qkey{static_cast<std::uint32_t>(number_of(line.settings, "qkey").value_or(std::to_underlying(qp.qkey)))};
        if (phase_ != Phase::playing) return Step::ended;
        waits_.part = 1;
        if (line.kind != EndKind::verbs && !endpoint_->claim(qp.ours)) return cannot("too many queue pairs");
        if (line.kind == EndKind::raw || line.kind == EndKind::verbs) make_at_agents(line, qp);
    }
    ScriptQp& qp = queue_pairs_[line.name];
    if (line.kind == EndKind::managed) return connect_managed(line, qp);
    if (!asked_.empty()) return Step::wait;
    define_qp(qp);
    return Step::next;
}

// Both ends are made before either is connected: each is told the other's number.
void Run::make_at_agents(const script::MakeQp& line, ScriptQp& qp) {
    const auto question = [&](bool device) {
        Question made(agent::Verb::qp);
        made.put("kind", kind_word(line.service));
        if (const auto sends = setting(line.settings, "sq")) made.put("sends", *sends);
        if (const auto receives = setting(line.settings, "rq")) made.put("receives", *receives);
        if (const auto room = setting(line.settings, "inline")) made.put("inline", *room);
        if (const auto srq = setting(line.settings, "srq"); srq && device) made.put("srq", *srq);
        return made;
    };
    if (line.kind == EndKind::verbs)
        ask(Side::us, question(false), [&qp](const agent::ParsedAnswer& answer) {
            qp.our_qp = answer.fields.number_or(agent::Key::qp, 0);
            qp.ours = Qpn{static_cast<std::uint32_t>(answer.fields.number_or(agent::Key::qpn, 0))};
        });
    Question theirs = question(true);
    const auto domain = number_of(line.settings, "pd");
    if (domain && *domain != 0) theirs.put("pd", domains_[{Side::device, *domain}]);
    ask(Side::device, theirs, [this, &line, &qp](const agent::ParsedAnswer& answer) {
        qp.agent_qp = answer.fields.number_or(agent::Key::qp, 0);
        qp.theirs = Qpn{static_cast<std::uint32_t>(answer.fields.number_or(agent::Key::qpn, 0))};
        connect_at(Side::device, line, qp);
        if (line.kind == EndKind::verbs) connect_at(Side::us, line, qp);
        const auto count = number_of(line.settings, "recv_count");
        const auto length = number_of(line.settings, "recv_len");
        if (!count || !length || *count == 0) return;
        make_region(Side::device, qp.name + ".recv", {}, *count * *length, [this, &qp, count, length](const Region& region) {
            Question receive(agent::Verb::recv);
            receive.put("qp", qp.agent_qp.value_or(0)).put("mr", region.mr).put("len", *length).put("count", *count).put("step", *length);
            ask(Side::device, receive, nullptr);
        });
    });
}

// From reset to RTS. What a script says of a queue pair is said of the device's; ours is patient.
void Run::connect_at(Side side, const script::MakeQp& line, const ScriptQp& qp) {
    const bool device = side == Side::device;
    Question connect(agent::Verb::connect);
    connect.put("qp", device ? qp.agent_qp.value_or(0) : qp.our_qp.value_or(0));
    if (line.service == Service::ud) {
        connect.put("qkey", std::to_underlying(qp.qkey)).put("sq_psn", device ? qp.their_first.value() : qp.our_first.value());
        ask(side, connect, nullptr);
        return;
    }
    connect.put("to", address_text(device ? route_.source : route_.destination));
    connect.put("qpn", std::to_underlying(device ? qp.ours : qp.theirs));
    connect.put("rq_psn", (device ? qp.our_first : qp.their_first).value());
    connect.put("sq_psn", (device ? qp.their_first : qp.our_first).value());
    connect.put("mtu", std::uint64_t{qp.mtu});
    struct Named {
        std::string_view ours, agents;
    };
    static constexpr std::array kOfDevice{Named{"timeout", "timeout"}, Named{"retry", "retry"},     Named{"rnr_retry", "rnr_retry"},
                                          Named{"min_rnr", "min_rnr"}, Named{"depth", "rd_atomic"}, Named{"resources", "dest_rd_atomic"},
                                          Named{"access", "access"}};
    if (device)
        for (const Named& row : kOfDevice)
            if (const auto value = setting(line.settings, row.ours); value && (line.service == Service::rc || row.ours == "access"))
                connect.put(row.agents, row.ours == "access" && *value == "none" ? "local" : *value);
    ask(side, connect, nullptr);
}

// Our end connects to the listener: REQ, REP, RTU, each a packet of queue pair 1. The starting PSN in a message is the one that its
// sender expects: the other end's requests begin with it.
Step Run::connect_managed(const script::MakeQp& line, ScriptQp& qp) {
    ScriptQp& gsi = queue_pairs_["gsi"];
    const auto port = number_of(line.settings, "port").value_or(variables_.number("port").value_or(0));
    if (port == 0) {
        end(Verdict::not_applicable, "the port of the device is unknown (--port)");
        return Step::ended;
    }
    const std::uint64_t code = qp.mtu >= 4096 ? 5 : qp.mtu >= 2048 ? 4 : qp.mtu >= 1024 ? 3 : qp.mtu >= 512 ? 2 : 1;
    if (!waits_.until || now_ >= *waits_.until) {
        if (waits_.part > kMostRequests) return cannot("no answer to the connection request");
        ++waits_.part;
        waits_.until = now_ + kRequestAgain;
        const auto said = setting(line.settings, "private");
        const std::string request =
            fmt::format("REQ port={} local_qp={} start_psn={} mtu={}{}{}", port, std::to_underlying(qp.ours), qp.their_first.value(), code,
                        line.service == Service::uc ? " infiniband.cm.req.transpsvctype=1" : "",
                        said ? " infiniband.cm.req.ip_cm.private=" + *said : std::string{});
        // The same once more: another communication ID for the same queue pair would be another connection (12.9.8.3.1).
        if (!(waits_.request.empty() ? send_line(request, gsi) : send(waits_.request))) return Step::ended;
        if (outcome_.frames_lost == 0) waits_.request = outcome_.frames.back().bytes;
        qp.our_comm = management_.our_comm;
    }
    for (; !gsi.arrived.empty(); gsi.arrived.pop_front()) {
        Packet packet;
        Frame whole;
        whole.bytes = gsi.arrived.front().bytes;
        whole.wire_length = static_cast<std::uint32_t>(whole.bytes.size());
        decode(whole, packet);
        const auto field = [&](LayerKind kind, std::string_view name) -> std::uint64_t {
            for (const Field& each : header(kind).fields)
                if (each.name == name)
                    if (const auto value = stage::value_of(packet, kind, each)) return value->number;
            return 0;
        };
        if (find(packet, LayerKind::cm_rej) != nullptr && field(LayerKind::cm_rej, "infiniband.cm.rej.remotecommid") == qp.our_comm)
            return cannot(
                fmt::format("the connection to port {} is rejected, reason {}", port, rejection_text(field(LayerKind::cm_rej, "infiniband.cm.rej.reason"))));
        if (find(packet, LayerKind::cm_rep) == nullptr || field(LayerKind::cm_rep, "infiniband.cm.rep.remotecommid") != qp.our_comm)
            continue;
        note_received(gsi, packet);
        qp.their_comm = management_.their_comm;
        qp.theirs = Qpn{static_cast<std::uint32_t>(field(LayerKind::cm_rep, "infiniband.cm.rep.localqpn"))};
        qp.our_first = Psn(static_cast<std::uint32_t>(field(LayerKind::cm_rep, "infiniband.cm.rep.startpsn")));
        qp.next = qp.next_sent = qp.our_first;
        gsi.arrived.pop_front();
        if (!send_line("RTU", gsi)) return Step::ended;
        define_qp(qp);
        return Step::next;
    }
    waits_.at = waits_.until;
    return Step::wait;
}

}  // namespace qps::transport::conformance::stage
