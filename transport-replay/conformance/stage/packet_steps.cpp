// Lines of packets: sent, expected, not expected.
#include <dissect/base/packet.hpp>
#include <dissect/mad/cm.hpp>
#include <transport-replay/conformance/script/packet_words.hpp>
#include <transport-replay/conformance/script/source_line.hpp>
#include <transport-replay/conformance/stage/run.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace qps::transport::conformance::stage {

using namespace dissect;

namespace {

std::optional<std::uint64_t> number_in(const Packet& packet, LayerKind kind, std::string_view name) {
    const Layer* layer = find(packet, kind);
    if (layer == nullptr) return std::nullopt;
    for (const Field& field : header(kind).fields)
        if (field.name == name)
            if (const auto value = dissect::value_of(packet, *layer, field)) return value->number;
    return std::nullopt;
}

}  // namespace

ScriptQp* Run::qp_named(const std::string& name) {
    const auto qp = queue_pairs_.find(name);
    if (qp == queue_pairs_.end()) {
        cannot(fmt::format("no such queue pair {}", name));
        return nullptr;
    }
    if (qp->second.kind == script::EndKind::verbs) {
        cannot(fmt::format("{} is a queue pair of our own adapter: scripts cannot write its packets", name));
        return nullptr;
    }
    return &qp->second;
}

bool Run::send(const std::vector<std::byte>& bytes) {
    if (!endpoint_->send_raw(bytes)) return false;
    record(bytes, now_, Sender::us);
    event_ = now_;
    return true;
}

std::optional<MadePacket> Run::make(const script::PacketLine& packet, ScriptQp& qp) {
    static_cast<void>(endpoint_->host().complete(route_, 0, now_));  // the next identification
    Route route = route_;
    route.ecn = info(packet.opcode.value_or(Opcode{})).carries_payload ? Ecn::capable_0 : Ecn::not_capable;
    const verbs::AddressHandle handle{
        .destination = route.destination, .source = route.source, .network = route.network};
    route.udp_source_port = verbs::udp_source_port(handle, qp.ours, qp.theirs);
    auto made = make_packet(packet, {.route = route, .qp = qp, .variables = variables_, .management = management_});
    if (!made) {
        cannot(made.error());
        return std::nullopt;
    }
    return std::move(*made);
}

void Run::note_sent(ScriptQp& qp, const MadePacket& made) {
    const Packet packet = decoded(made.bytes);
    if (qp.management) {
        variables_.set("gsi.comm", management_.our_comm);
        variables_.set("gsi.tid", management_.our_tid);
        variables_.set("gsi.qpn", std::to_underlying(management_.local_qp));
        variables_.set("gsi.psn", management_.start_psn.value());
        return;
    }
    if (!packet.has_transport()) return;
    const OpcodeRow& row = info(packet.opcode);
    if (begins_message(row.place)) qp.streams[0][row.request ? 0 : 1].begin(made.psn, made.pattern_offset);
    if (!row.request) return;
    std::uint32_t packets = 1;
    if (row.verb == Verb::read_request)
        if (const auto length = number_in(packet, LayerKind::reth, "infiniband.reth.dmalen"))
            packets = *length == 0 ? 1 : static_cast<std::uint32_t>((*length - 1) / qp.mtu + 1);
    if (const Psn behind = made.psn + packets; qp.next_sent.before(behind)) qp.next_sent = behind;
}

// A packet that no script asked for: words as a script has them.
bool Run::send_line(const std::string& words, ScriptQp& qp) {
    const auto split = script::split_line(words);
    if (!split) return false;
    const auto packet = script::parse_packet(split->tokens, script::Purpose::inject);
    if (!packet) return false;
    const auto made = make(*packet, qp);
    if (!made || !send(made->bytes)) return false;
    note_sent(qp, *made);
    return true;
}

Step Run::play(const script::Inject& line) {
    ScriptQp* qp = qp_named(line.qp);
    if (qp == nullptr) return Step::ended;
    const auto made = make(line.packet, *qp);
    if (!made) return Step::ended;
    if (!send(made->bytes)) {
        if (made->bytes.size() > endpoint_->device().limits().frame_bytes)
            return cannot("the frame is longer than the MTU of the interface");
        waits_.at = now_;  // the device has no room: behind what waits
        return Step::wait;
    }
    note_sent(*qp, *made);
    return Step::next;
}

std::optional<Run::Bounds> Run::bounds_of(const script::Window& window) {
    Bounds bounds;
    Duration longest = given_.settings.patience;
    if (window.earliest) {
        const auto by = duration(*window.earliest);
        if (!by) return std::nullopt;
        bounds.earliest = event_ + *by;
        longest = longest + *by;
    }
    if (window.latest) {
        const auto by = duration(*window.latest);
        if (!by) return std::nullopt;
        longest = *by;
    }
    bounds.latest = event_ + longest;
    return bounds;
}

// The next that came and that nobody allowed to come.
const live::ClaimedFrame* Run::first_of(ScriptQp& qp) {
    while (!qp.arrived.empty()) {
        const Packet packet = decoded(qp.arrived.front().bytes);
        const Comparing with{
            .qp = qp, .variables = variables_, .checks_icrc = endpoint_->device().limits().checks_icrc};
        const bool allowed = std::ranges::any_of(qp.allowed, [&](const script::PacketLine* line) {
            const auto differences = compare(*line, packet, with);
            return differences && differences->empty();
        });
        if (!allowed) return &qp.arrived.front();
        note_received(qp, packet);
        qp.arrived.pop_front();
    }
    return nullptr;
}

std::optional<Run::Met> Run::meet(const script::Expect& line, ScriptQp& qp) {
    Met met;
    const live::ClaimedFrame* came = first_of(qp);
    if (came == nullptr) return met;
    met.there = true;
    met.time = came->time;
    const Packet packet = decoded(came->bytes);
    auto differences =
        compare(line.packet, packet,
                {.qp = qp, .variables = variables_, .checks_icrc = endpoint_->device().limits().checks_icrc});
    if (!differences) {
        cannot(differences.error());
        return std::nullopt;
    }
    met.differences = std::move(*differences);
    met.holds = met.differences.empty();
    return met;
}

void Run::note_management(const Packet& packet) {
    if (const auto tid = number_in(packet, LayerKind::mad, "infiniband.mad.transactionid"))
        management_.their_tid = *tid;
    struct Names {
        LayerKind kind;
        std::string_view field;
    };
    static constexpr std::array kLocal{
        Names{LayerKind::cm_req, "infiniband.cm.req"},
        Names{LayerKind::cm_rep, "infiniband.cm.rep"},
        Names{LayerKind::cm_mra, "infiniband.cm.mra.localcommid"},
        Names{LayerKind::cm_rej, "infiniband.cm.rej.localcommid"},
        Names{LayerKind::cm_dreq, "infiniband.cm.dreq.localcommid"},
        Names{LayerKind::cm_sidr_req, "infiniband.cm.sidr_req.requestid"},
        Names{LayerKind::cm_lap, "infiniband.cm.lap.localcommid"},
    };
    // What is over needs no farewell.
    if (find(packet, LayerKind::cm_dreq) != nullptr || find(packet, LayerKind::cm_drep) != nullptr)
        for (auto& [name, qp] : queue_pairs_) qp.their_comm = 0;
    for (const Names& row : kLocal)
        if (const auto comm = number_in(packet, row.kind, row.field))
            management_.their_comm = static_cast<std::uint32_t>(*comm);
}

// What was taken: it moves what is known of the queue pair.
void Run::note_received(ScriptQp& qp, const Packet& packet) {
    if (qp.management) return note_management(packet);
    if (!packet.has_transport()) return;
    const OpcodeRow& row = info(packet.opcode);
    if (row.request) {
        qp.last_request = packet.psn;
        if (begins_message(row.place)) qp.streams[1][0].begin(packet.psn, 0);
        return;
    }
    if (begins_message(row.place)) qp.streams[1][1].begin(packet.psn, 0);
    const auto type = number_in(packet, LayerKind::aeth, "infiniband.aeth.syndrome.opcode");
    const Psn behind = type.value_or(0) == 0 ? packet.psn + 1 : packet.psn;
    if (qp.next.before(behind)) qp.next = behind;
}

void Run::accept(const script::Expect& line, ScriptQp& qp) {
    const live::ClaimedFrame& frame = qp.arrived.front();
    const Packet packet = decoded(frame.bytes);
    for (const script::Binding& binding : line.packet.bindings) {
        if (binding.field == nullptr) {
            if (const auto value = stage::number_in(packet, binding.number)) variables_.set(binding.variable, *value);
            continue;
        }
        if (const auto value = stage::value_of(packet, binding.kind, *binding.field)) {
            variables_.set(binding.variable, value->number);
            if (!value->bytes.empty()) variables_.set_bytes(binding.variable, value->bytes);
        }
    }
    note_received(qp, packet);
    // A response that begins in the middle of the pattern goes on from there.
    const auto from = std::ranges::find(line.packet.words, script::Special::from, &script::PacketWord::special);
    if (from != line.packet.words.end() && packet.has_transport())
        if (const auto offset = variables_.value_of(*from->pattern.choices.front().first)) {
            auto& beginnings = qp.streams[1][info(packet.opcode).request ? 0 : 1].beginnings;
            if (!beginnings.empty() && beginnings.back().psn == packet.psn) beginnings.back().offset = *offset;
        }
    event_ = frame.time;
    ++outcome_.examined;
    qp.arrived.pop_front();
}

Step Run::play(const script::Expect& line) {
    ScriptQp* qp = qp_named(line.qp);
    if (qp == nullptr) return Step::ended;
    const auto bounds = bounds_of(line.window);
    if (!bounds) return Step::ended;
    auto met = meet(line, *qp);
    if (!met) return Step::ended;
    if (!met->there) {
        if (now_ < bounds->latest) {
            static_cast<void>(wait_until(bounds->latest));
            return Step::wait;
        }
        fail_silent(line.qp, line.packet.text, *bounds);
        return Step::ended;
    }
    met->early = met->holds && bounds->earliest && met->time < *bounds->earliest;
    met->late = met->holds && met->time > bounds->latest;
    if (!met->holds || met->early || met->late) {
        fail_packet(line.qp, line.packet, *met, first_of(*qp), bounds);
        return Step::ended;
    }
    accept(line, *qp);
    return Step::next;
}

Step Run::play(const script::Nothing& line) {
    const auto lasting = duration(line.lasting);
    if (!lasting) return Step::ended;
    const Instant last = event_ + *lasting;
    for (auto& [name, qp] : queue_pairs_) {
        if (!line.qp.empty() && name != line.qp) continue;
        const live::ClaimedFrame* came = first_of(qp);
        if (came == nullptr || came->time > last) continue;
        fail_unexpected(qp, *came, *lasting);
        return Step::ended;
    }
    if (wait_until(last)) return Step::wait;
    ++outcome_.examined;
    event_ = now_;
    return Step::next;
}

Step Run::play(const script::Allow& line) {
    ScriptQp* qp = qp_named(line.qp);
    if (qp == nullptr) return Step::ended;
    if (std::ranges::find(qp->allowed, &line.packet) == qp->allowed.end()) qp->allowed.push_back(&line.packet);
    return Step::next;
}

Step Run::play(const script::Either& line) {
    std::optional<Instant> latest;
    const script::Expect* first = nullptr;
    for (const script::Block& branch : line.branches) {
        if (const auto* nothing = std::get_if<script::Nothing>(&branch.front().body)) {
            const auto lasting = duration(nothing->lasting);
            if (!lasting) return Step::ended;
            latest = std::max(latest.value_or(live::kAtOnce), event_ + *lasting);
            continue;
        }
        const auto& expect = std::get<script::Expect>(branch.front().body);
        if (first == nullptr) first = &expect;
        ScriptQp* qp = qp_named(expect.qp);
        const auto bounds = qp == nullptr ? std::nullopt : bounds_of(expect.window);
        if (!bounds) return Step::ended;
        latest = std::max(latest.value_or(live::kAtOnce), bounds->latest);
        const auto met = meet(expect, *qp);
        if (!met) return Step::ended;
        if (!met->holds || (bounds->earliest && met->time < *bounds->earliest) || met->time > bounds->latest) continue;
        accept(expect, *qp);
        enter(branch, nullptr, nullptr, 1);
        cursors_.back().next = 1;  // its first line has been played
        return Step::next;
    }
    // Something came that no branch begins with; or nothing did, for as long as the longest waits.
    for (const script::Block& branch : line.branches) {
        const auto* expect = std::get_if<script::Expect>(&branch.front().body);
        if (expect == nullptr) continue;
        ScriptQp& qp = queue_pairs_[expect->qp];
        const auto met = meet(*expect, qp);
        if (!met) return Step::ended;
        if (!met->there) continue;
        fail_packet(expect->qp, expect->packet, *met, first_of(qp), bounds_of(expect->window));
        return Step::ended;
    }
    for (const script::Block& branch : line.branches) {
        const auto* nothing = std::get_if<script::Nothing>(&branch.front().body);
        const auto lasting = nothing == nullptr ? std::nullopt : duration(nothing->lasting);
        if (!lasting || now_ < event_ + *lasting) continue;
        event_ = now_;
        enter(branch, nullptr, nullptr, 1);
        cursors_.back().next = 1;
        return Step::next;
    }
    if (latest && wait_until(*latest)) return Step::wait;
    fail_silent(first == nullptr ? "" : first->qp, "one of the alternatives", {.earliest = {}, .latest = now_});
    return Step::ended;
}

Step Run::play(const script::Alive& line) {
    if (line.qp.empty()) return alive_device();
    ScriptQp* qp = qp_named(line.qp);
    if (qp == nullptr) return Step::ended;
    const bool asks_us = qp->service == Service::xrc && !qp->serves;  // it answers nothing
    return (qp->service == Service::rc || qp->service == Service::xrc) && !asks_us ? alive_half(*qp) : alive_device();
}

// An empty WRITE needs no key and no receive (C9-88), and its acknowledgment says that the queue pair goes on.
Step Run::alive_half(ScriptQp& qp) {
    if (waits_.part == 0) {
        qp.arrived.clear();
        waits_.psn = qp.next;
        const std::string_view service = qp.service == Service::xrc ? "XRC" : "RC";
        if (!send_line(fmt::format("{}_RDMA_WRITE_ONLY psn={} va=0 rkey=0 dmalen=0 ackreq", service, qp.next.value()),
                       qp))
            return Step::ended;
        waits_.part = 1;
        waits_.until = now_ + given_.settings.patience;
    }
    while (const live::ClaimedFrame* came = first_of(qp)) {
        const Packet packet = decoded(came->bytes);
        const OpcodeRow& row = info(packet.opcode);
        const bool answers = row.verb == Verb::acknowledge && row.service == qp.service && packet.psn == waits_.psn &&
                             number_in(packet, LayerKind::aeth, "infiniband.aeth.syndrome.opcode").value_or(1) == 0;
        event_ = came->time;
        note_received(qp, packet);
        qp.arrived.pop_front();
        if (!answers) continue;
        ++outcome_.examined;
        return Step::next;
    }
    if (wait_until(*waits_.until)) return Step::wait;
    const std::string_view wanted =
        qp.service == Service::xrc ? "an ACK of an empty XRC_RDMA_WRITE_ONLY" : "an ACK of an empty RC_RDMA_WRITE_ONLY";
    fail_silent(qp.name, wanted, {.earliest = {}, .latest = *waits_.until});
    return Step::ended;
}

// The agent, or, where there is none, the manager of connections: it rejects what nobody offers.
Step Run::alive_device() {
    if (given_.device.there()) {
        if (waits_.part == 1) return asked_.empty() ? Step::next : Step::wait;
        waits_.part = 1;
        ask(script::Side::device, Question(agent::Verb::ping),
            [this](const agent::ParsedAnswer&) { ++outcome_.examined; });
        return Step::wait;
    }
    ScriptQp& gsi = queue_pairs_["gsi"];
    if (waits_.part == 0) {
        gsi.arrived.clear();
        if (!send_line("REQ service=0x0000000001060009", gsi)) return Step::ended;
        waits_.part = 1;
        waits_.until = now_ + (given_.settings.patience + given_.settings.patience);
    }
    if (!gsi.arrived.empty()) {
        gsi.arrived.clear();
        ++outcome_.examined;
        event_ = now_;
        return Step::next;
    }
    if (wait_until(*waits_.until)) return Step::wait;
    outcome_.silent = true;
    fail_silent("gsi", "any answer to a request for an unused service", {.earliest = {}, .latest = *waits_.until});
    return Step::ended;
}

}  // namespace qps::transport::conformance::stage
