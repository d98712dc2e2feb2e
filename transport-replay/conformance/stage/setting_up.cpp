// Queue pairs of the device and our ends of them: by agents, or by connection management with the listener there.
#include <dissect/base/packet.hpp>
#include <dissect/mad/names.hpp>
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

constexpr std::uint64_t kExtendedReceives = 128;  // of a shared receive queue of XRC, where no line says rq=

constexpr std::string_view kind_word(Service service) {
    return service == Service::rc ? "rc" : service == Service::uc ? "uc" : "ud";
}

// "8 (Invalid service ID)"
std::string rejection_text(std::uint64_t reason) {
    const auto row = std::ranges::find(kCmRejectReasons, reason, &ValueName::value);
    return row == kCmRejectReasons.end() ? std::to_string(reason) : fmt::format("{} ({})", reason, row->name);
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
    if (qp.service != Service::xrc) return;
    variables_.set(name("srqn"), std::to_underlying(qp.extended.number));
    variables_.set(name("srq"), qp.extended.srq);
    variables_.set(name("xrcd"), qp.extended.domain);
}

void Run::free_half(ScriptQp& qp) {
    if (qp.agent_qp) ask(Side::device, Question(agent::Verb::qp_free).put("qp", *qp.agent_qp), nullptr);
    if (qp.our_qp) ask(Side::us, Question(agent::Verb::qp_free).put("qp", *qp.our_qp), nullptr);
    free_extended(qp);
    endpoint_->release(qp.ours);
    regions_.erase("dut " + qp.name + ".recv");
    regions_.erase("dut " + qp.name + ".send");
}

// Its domain is another's from now on, where another serves in it too.
void Run::free_extended(ScriptQp& qp) {
    const ExtendedEnd& end = qp.extended;
    if (end.srq == 0) return;
    ask(end.side, Question(agent::Verb::srq_free).put("srq", end.srq), nullptr);
    ask(end.side, Question(agent::Verb::cq_free).put("cq", end.cq), nullptr);
    if (!end.made_domain) return;
    for (auto& [name, other] : queue_pairs_)
        if (&other != &qp && other.extended.side == end.side && other.extended.domain == end.domain) {
            other.extended.made_domain = true;
            return;
        }
    ask(end.side, Question(agent::Verb::xrcd_free).put("xrcd", end.domain), nullptr);
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
        if (line.service == Service::xrc && line.kind != EndKind::known && given_.features &&
            !has(agent::Feature::xrc)) {
            end(Verdict::not_applicable, std::string(kNoExtended));
            return Step::ended;
        }
        if (const auto old = queue_pairs_.find(line.name); old != queue_pairs_.end()) free_half(old->second);
        ScriptQp& qp = queue_pairs_[line.name] = ScriptQp{};
        qp.name = line.name;
        qp.kind = line.kind;
        qp.service = line.service;
        qp.serves = line.serves;
        if (line.service == Service::xrc)
            qp.extended.number =
                Srqn{static_cast<std::uint32_t>(number_of(line.settings, "srqn").value_or(draw()) & kMostQpn)};
        // What CM connects must not have a number that it remembers of an earlier run (12.9.8.3.1): drawn of time, too.
        const std::uint64_t drawn = line.kind == EndKind::managed ? mix(management_.drawn * 31 + ++drawn_) : draw();
        qp.ours = Qpn{static_cast<std::uint32_t>(
            number_of(line.settings, "us").value_or(kFirstRawQpn + drawn % kRawQpns) & kMostQpn)};
        qp.theirs = Qpn{static_cast<std::uint32_t>(number_of(line.settings, "dut").value_or(0) & kMostQpn)};
        qp.our_first = Psn(static_cast<std::uint32_t>(number_of(line.settings, "psn").value_or(draw())));
        qp.their_first = Psn(static_cast<std::uint32_t>(number_of(line.settings, "dut_psn").value_or(draw())));
        qp.next = qp.next_sent = qp.our_first;
        qp.mtu = static_cast<std::uint32_t>(number_of(line.settings, "mtu").value_or(1024));
        qp.qkey =
            Qkey{static_cast<std::uint32_t>(number_of(line.settings, "qkey").value_or(std::to_underlying(qp.qkey)))};
        if (phase_ != Phase::playing) return Step::ended;
        waits_.part = 1;
        if (line.kind != EndKind::verbs && !endpoint_->claim(qp.ours)) return cannot("too many queue pairs");
        if (line.kind == EndKind::raw || line.kind == EndKind::verbs) {
            if (line.service == Service::xrc) make_extended(line, qp);
            else make_at_agents(line, qp);
        }
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
        connect_both(line, qp);
    });
}

// And the device's gets the receives that the line says.
void Run::connect_both(const script::MakeQp& line, ScriptQp& qp) {
    connect_at(Side::device, line, qp);
    if (line.kind == EndKind::verbs) connect_at(Side::us, line, qp);
    const auto count = number_of(line.settings, "recv_count");
    const auto length = number_of(line.settings, "recv_len");
    if (!count || !length || *count == 0) return;
    make_region(Side::device, qp.name + ".recv", {}, *count * *length,
                [this, &qp, count, length](const Region& region) {
                    Question receive(agent::Verb::recv);
                    put_half(receive, Side::device, qp, false);
                    receive.put("mr", region.mr).put("len", *length).put("count", *count).put("step", *length);
                    ask(Side::device, receive, nullptr);
                });
}

// Where an end receives, or, `completes`, where its work completes: at its queue pair; of the end of XRC that serves,
// at its shared queue.
void Run::put_half(Question& question, Side side, const ScriptQp& qp, bool completes) const {
    const ExtendedEnd& end = qp.extended;
    if (end.srq != 0 && end.side == side) question.put(completes ? "cq" : "srq", completes ? end.cq : end.srq);
    else question.put("qp", (side == Side::device ? qp.agent_qp : qp.our_qp).value_or(0));
}

// XRC: an end asks, the other one serves, with a domain, a shared receive queue and a completion queue of it.
void Run::make_extended(const script::MakeQp& line, ScriptQp& qp) {
    const auto asking = [this, &line, &qp] {
        const Side side = line.serves ? Side::us : Side::device;
        if (side == Side::us && line.kind != EndKind::verbs) return connect_both(line, qp);
        Question made(agent::Verb::qp);
        made.put("kind", "xrc_send");
        if (side == Side::device)
            for (const auto& [ours, agents] : {std::pair{"sq", "sends"}, std::pair{"inline", "inline"}})
                if (const auto value = setting(line.settings, ours)) made.put(agents, *value);
        ask(side, made, [this, &line, &qp, side](const agent::ParsedAnswer& answer) {
            (side == Side::device ? qp.agent_qp : qp.our_qp) = answer.fields.number_or(agent::Key::qp, 0);
            (side == Side::device ? qp.theirs : qp.ours) =
                Qpn{static_cast<std::uint32_t>(answer.fields.number_or(agent::Key::qpn, 0))};
            connect_both(line, qp);
        });
    };
    if (!line.serves && line.kind != EndKind::verbs) return asking();
    qp.extended.side = line.serves ? Side::device : Side::us;
    make_serving(line, qp, asking);
}

void Run::make_serving(const script::MakeQp& line, ScriptQp& qp, std::function<void()> then) {
    const Side side = qp.extended.side;
    const auto of_domain = [this, &line, &qp, side, then = std::move(then)](std::uint64_t domain) {
        qp.extended.domain = domain;
        const auto receives = number_of(line.settings, "rq").value_or(kExtendedReceives);
        ask(side, Question(agent::Verb::cq).put("depth", receives),
            [this, &line, &qp, side, receives, then](const agent::ParsedAnswer& made) {
                qp.extended.cq = made.fields.number_or(agent::Key::cq, 0);
                Question queue(agent::Verb::srq);
                queue.put("receives", receives).put("xrcd", qp.extended.domain).put("cq", qp.extended.cq);
                if (const auto pd = number_of(line.settings, "pd"); pd && *pd != 0 && side == Side::device)
                    queue.put("pd", domains_[{side, *pd}]);
                ask(side, queue, [&qp](const agent::ParsedAnswer& answer) {
                    qp.extended.srq = answer.fields.number_or(agent::Key::srq, 0);
                    qp.extended.number = Srqn{static_cast<std::uint32_t>(answer.fields.number_or(agent::Key::srqn, 0))};
                });
                ask(side, Question(agent::Verb::qp).put("kind", "xrc_recv").put("xrcd", qp.extended.domain),
                    [&qp, side, then](const agent::ParsedAnswer& answer) {
                        (side == Side::device ? qp.agent_qp : qp.our_qp) = answer.fields.number_or(agent::Key::qp, 0);
                        (side == Side::device ? qp.theirs : qp.ours) =
                            Qpn{static_cast<std::uint32_t>(answer.fields.number_or(agent::Key::qpn, 0))};
                        then();
                    });
            });
    };
    if (const auto said = number_of(line.settings, "xrcd"); said && side == Side::device) return of_domain(*said);
    ask(side, Question(agent::Verb::xrcd), [&qp, of_domain](const agent::ParsedAnswer& answer) {
        qp.extended.made_domain = true;
        of_domain(answer.fields.number_or(agent::Key::xrcd, 0));
    });
}

// From reset to RTS. What a script says of a queue pair is said of the device's; ours is patient.
void Run::connect_at(Side side, const script::MakeQp& line, const ScriptQp& qp) {
    const bool device = side == Side::device;
    Question connect(agent::Verb::connect);
    connect.put("qp", device ? qp.agent_qp.value_or(0) : qp.our_qp.value_or(0));
    if (line.service == Service::ud) {
        connect.put("qkey", std::to_underlying(qp.qkey))
            .put("sq_psn", device ? qp.their_first.value() : qp.our_first.value());
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
    static constexpr std::array kOfDevice{Named{"timeout", "timeout"},     Named{"retry", "retry"},
                                          Named{"rnr_retry", "rnr_retry"}, Named{"min_rnr", "min_rnr"},
                                          Named{"depth", "rd_atomic"},     Named{"resources", "dest_rd_atomic"},
                                          Named{"access", "access"}};
    if (device)
        for (const Named& row : kOfDevice)
            if (const auto value = setting(line.settings, row.ours);
                value && (line.service == Service::rc || line.service == Service::xrc || row.ours == "access"))
                connect.put(row.agents, row.ours == "access" && *value == "none" ? "local" : *value);
    ask(side, connect, nullptr);
}

// Our end connects to the listener: REQ, REP, RTU, each a packet of queue pair 1. The starting PSN in a message is the
// one that its sender expects: the other end's requests begin with it.
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
        const std::string request = fmt::format("REQ port={} local_qp={} start_psn={} mtu={}{}{}", port,
                                                std::to_underlying(qp.ours), qp.their_first.value(), code,
                                                line.service == Service::uc ? " infiniband.cm.req.transpsvctype=1" : "",
                                                said ? " infiniband.cm.req.ip_cm.private=" + *said : std::string{});
        // The same once more: another communication ID for the same queue pair would be another connection
        // (12.9.8.3.1).
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
        if (find(packet, LayerKind::cm_rej) != nullptr &&
            field(LayerKind::cm_rej, "infiniband.cm.rej.remotecommid") == qp.our_comm)
            return cannot(fmt::format("the connection to port {} is rejected, reason {}", port,
                                      rejection_text(field(LayerKind::cm_rej, "infiniband.cm.rej.reason"))));
        if (find(packet, LayerKind::cm_rep) == nullptr ||
            field(LayerKind::cm_rep, "infiniband.cm.rep.remotecommid") != qp.our_comm)
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
