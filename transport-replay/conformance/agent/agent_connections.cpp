// rdma_cm of AgentOverVerbs: what qpscope-agent does over librdmacm, over our own Connections.
#include <transport-replay/conformance/agent/agent_state.hpp>

#include <algorithm>

namespace qps::transport::conformance::agent {

using namespace dissect;
using State = AgentState;
using live::ConnectionEventKind;

namespace {

constexpr std::array kSpaces{live::PortSpace::tcp, live::PortSpace::udp, live::PortSpace::ib, live::PortSpace::ipoib};
static_assert(kSpaces.size() == kSpaceWords.size());
constexpr std::uint8_t kDepth = 4;  // READs and atomics, each way, where nothing is said

bool is_datagram(live::PortSpace space) { return space == live::PortSpace::udp || space == live::PortSpace::ipoib; }

Bytes data_of(const Fields& ask) { return std::as_bytes(std::span(ask.text(Key::data))); }

live::ConnectOptions options_of(const Fields& ask, const QueuePair& pair, std::uint8_t resources, std::uint8_t depth) {
    return {.access = access_of(ask.number_or(Key::access, 0xf)),
            .responder_resources = static_cast<std::uint8_t>(ask.number_or(Key::responder_resources, resources)),
            .initiator_depth = static_cast<std::uint8_t>(ask.number_or(Key::initiator_depth, depth)),
            .retry_count = static_cast<std::uint8_t>(ask.number_or(Key::retry, 7)),
            .rnr_retry_count = static_cast<std::uint8_t>(ask.number_or(Key::rnr_retry, 7)),
            .min_rnr_timer = static_cast<std::uint8_t>(ask.number_or(Key::min_rnr, 12)),
            .shared_receive_queue = pair.srq != 0,
            .private_data = data_of(ask)};
}

void add_data(Fields& fields, Bytes data) {
    if (!data.empty()) fields.add(Key::data, std::string_view(reinterpret_cast<const char*>(data.data()), data.size()));
}

void add_parameters(Fields& fields, const live::ConnectionParameters& parameters) {
    fields.add(Key::qpn, std::uint64_t{std::to_underlying(parameters.remote_qpn)});
    fields.add(Key::responder_resources, std::uint64_t{parameters.responder_resources});
    fields.add(Key::initiator_depth, std::uint64_t{parameters.initiator_depth});
    fields.add(Key::flow_control, std::uint64_t{parameters.flow_control ? 1U : 0U});
    fields.add(Key::retry, std::uint64_t{parameters.retry_count})
        .add(Key::rnr_retry, std::uint64_t{parameters.rnr_retry_count});
}

CmWord word_of(ConnectionEventKind kind) {
    switch (kind) {
        case ConnectionEventKind::request:
        case ConnectionEventKind::sidr_request: return CmWord::connect_request;
        case ConnectionEventKind::sidr_response:
        case ConnectionEventKind::established: return CmWord::established;
        case ConnectionEventKind::rejected: return CmWord::rejected;
        case ConnectionEventKind::unreachable: return CmWord::unreachable;
        case ConnectionEventKind::disconnected: return CmWord::disconnected;
        case ConnectionEventKind::released: return CmWord::timewait_exit;
        default: return CmWord::other;
    }
}

}  // namespace

std::uint64_t State::cm_of(live::CmId id) {
    for (const auto& [number, end] : cms.all())
        if (!end.listens && !end.over && end.id == id) return number;
    return 0;
}

void State::take_cm_event(const live::ConnectionEvent& event) {
    Fields fields;
    CmWord word = word_of(event.kind);
    std::uint64_t number = cm_of(event.id);
    if (word == CmWord::connect_request) {
        const auto service = live::ip_service_of(event.service);
        const auto asked = std::ranges::find_if(cms.all(), [&](const auto& each) {
            return each.second.listens && service && each.second.space == service->space &&
                   each.second.port == service->port;
        });
        if (asked == cms.all().end() || cms.full()) return;  // the peer's patience ends, not ours
        const std::uint64_t listener = asked->first;
        number = cms.add({.datagrams = is_datagram(service->space),
                          .space = service->space,
                          .port = service->port,
                          .id = event.id,
                          .requested = event.parameters});
        fields.add(Key::listener, listener);
        if (event.kind == ConnectionEventKind::request) add_parameters(fields, event.parameters);
        const auto caller = live::read_ip_cm(event.private_data.bytes());
        add_data(fields, caller ? caller->private_data : event.private_data.bytes());
        fields.add(Key::remote, transport::text(event.remote));
        if (caller) fields.add(Key::port, std::uint64_t{std::to_underlying(caller->ends.source_port)});
    } else {
        if (number == 0) return;
        if (event.kind == ConnectionEventKind::rejected) {
            fields.add(Key::status, std::uint64_t{std::to_underlying(event.rejection.reason)});
            add_data(fields, event.rejection.private_data.bytes());
        } else if (event.kind == ConnectionEventKind::sidr_response && event.sidr.status != live::SidrStatus::valid) {
            word = CmWord::unreachable;
            fields.add(Key::status, std::uint64_t{std::to_underlying(event.sidr.status)});
        } else if (event.kind == ConnectionEventKind::sidr_response) {
            fields.add(Key::qpn, std::uint64_t{std::to_underlying(event.sidr.qpn)});
            fields.add(Key::qkey, std::uint64_t{std::to_underlying(event.sidr.qkey)});
            add_data(fields, event.private_data.bytes());
        } else {
            if (event.parameters.remote_qpn != dissect::Qpn{}) add_parameters(fields, event.parameters);
            add_data(fields, event.private_data.bytes());
        }
    }
    if (event.last) cms.find(number)->over = true;
    fields.add(Key::cm_event, word).add(Key::cm, number);
    if (cm_events.size() >= kMostEvents) cm_events.pop_front();
    cm_events.push_back(std::move(fields));
}

void State::end_cm(CmEnd& end, const Turn& turn) {
    live::ConnectionManager& manager = turn.endpoint.manager();
    if (end.listens) static_cast<void>(manager.stop_listening(live::ip_service(end.space, end.port)));
    else if (!end.over) static_cast<void>(manager.abandon(end.id, turn.now));
}

State::Later State::listen(const Fields& ask, const Turn& turn) {
    if (cms.full()) return refused("ENOSPC", "cm");
    if (ask.has(Key::at) && !address_of(ask.text(Key::at))) return refused("EINVAL", "at");
    const live::PortSpace space = kSpaces[ask.number_or(Key::space, 0)];
    const live::IpPort port{static_cast<std::uint16_t>(ask.number_or(Key::port, 0))};
    if (const auto done = turn.endpoint.connections().listen(space, port); !done)
        return refused(done.error(), "listen");
    return Fields{}.add(Key::cm,
                        cms.add({.listens = true, .datagrams = is_datagram(space), .space = space, .port = port}));
}

State::Later State::cm_connect(const Fields& ask, const Turn& turn) {
    if (cms.full()) return refused("ENOSPC", "cm");
    const std::uint64_t number = ask.number_or(Key::qp, 0);
    const QueuePair* pair = qps.find(number);
    if (pair == nullptr) return unknown("qp");
    const auto to = address_of(ask.text(Key::to));
    if (!to) return refused("EINVAL", "to");
    const live::PortSpace space = kSpaces[ask.number_or(Key::space, 0)];
    live::Connections& connections = turn.endpoint.connections();
    const live::Target target{
        .address = *to, .port = live::IpPort{static_cast<std::uint16_t>(ask.number_or(Key::port, 0))}, .space = space};
    if (is_datagram(space)) {
        const auto active = connections.activate_datagrams(pair->qpn, live::kRdmaCmQkey);
        if (!active) return refused(active.error(), "modify_qp for datagrams");
    }
    const auto id = is_datagram(space)
                        ? connections.resolve(target, data_of(ask), turn.now)
                        : connections.connect(pair->qpn, target, options_of(ask, *pair, kDepth, kDepth), turn.now);
    if (!id) return refused(id.error(), "connect");
    return Fields{}.add(
        Key::cm,
        cms.add({.datagrams = is_datagram(space), .space = space, .port = target.port, .id = *id, .qp = number}));
}

State::Later State::accept(const Fields& ask, const Turn& turn) {
    CmEnd* end = cms.find(ask.number_or(Key::cm, 0));
    if (end == nullptr || end->listens || end->over) return unknown("cm");
    const std::uint64_t number = ask.number_or(Key::qp, 0);
    const QueuePair* pair = qps.find(number);
    if (pair == nullptr) return unknown("qp");
    live::Connections& connections = turn.endpoint.connections();
    if (end->datagrams) {
        const auto status = turn.adapter().query_qp(pair->qpn);
        if (status && status->state == verbs::QpState::reset) {
            const auto active = connections.activate_datagrams(pair->qpn, live::kRdmaCmQkey);
            if (!active) return refused(active.error(), "modify_qp for datagrams");
        }
        const auto done = connections.answer(end->id, pair->qpn, live::kRdmaCmQkey, data_of(ask), turn.now);
        if (!done) return refused(done.error(), "accept");
    } else {
        const auto options = options_of(ask, *pair, end->requested.responder_resources, end->requested.initiator_depth);
        if (const auto done = connections.accept(end->id, pair->qpn, options, turn.now); !done)
            return refused(done.error(), "accept");
    }
    end->qp = number;
    return Fields{};
}

State::Later State::reject(const Fields& ask, const Turn& turn) {
    const CmEnd* end = cms.find(ask.number_or(Key::cm, 0));
    if (end == nullptr || end->listens || end->over) return unknown("cm");
    const auto done = end->datagrams ? turn.endpoint.manager().sidr_reply(
                                           end->id, {.status = live::SidrStatus::rejected}, data_of(ask), turn.now)
                                     : turn.endpoint.connections().reject(end->id, data_of(ask), turn.now);
    if (!done) return refused(done.error(), "reject");
    return Fields{};
}

State::Later State::disconnect(const Fields& ask, const Turn& turn) {
    const CmEnd* end = cms.find(ask.number_or(Key::cm, 0));
    if (end == nullptr || end->listens || end->over) return unknown("cm");
    if (const auto done = turn.endpoint.connections().disconnect(end->id, turn.now); !done)
        return refused(done.error(), "disconnect");
    return Fields{};
}

State::Later State::cm_event(const Fields& ask, const Turn& turn) {
    if (cm_events.empty() && !waited_long_enough(ask, turn)) return std::nullopt;
    if (cm_events.empty()) return Fields{}.add(Key::cm_event, CmWord::none);
    Fields fields = std::move(cm_events.front());
    cm_events.pop_front();
    return fields;
}

State::Later State::cm_free(const Fields& ask, const Turn& turn) {
    const std::uint64_t number = ask.number_or(Key::cm, 0);
    CmEnd* end = cms.find(number);
    if (end == nullptr) return unknown("cm");
    end_cm(*end, turn);
    cms.erase(number);
    std::erase_if(cm_events, [&](const Fields& event) { return event.number_or(Key::cm, 0) == number; });
    return Fields{};
}

}  // namespace qps::transport::conformance::agent
