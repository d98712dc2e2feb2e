// rdma_cm: the client says whom to connect to and whom to accept; addresses, routes and states of queue pairs follow by
// themselves.
//
// Queue pairs are the client's, not made by rdma_create_qp(): what librdmacm does to those by itself is done here by
// hand, with what the kernel says their attributes are (rdma_init_qp_attr).
#include <agent/agent.hpp>
#include <arpa/inet.h>

namespace qps::agent {

namespace {

constexpr int kResolveMs = 2000;  // for an address or a route: a quiet network answers in one
constexpr int kBacklog = 64;

constexpr std::array kSpaces{RDMA_PS_TCP, RDMA_PS_UDP, RDMA_PS_IB, RDMA_PS_IPOIB};

struct SocketAddress {
    sockaddr_storage storage{};
    [[nodiscard]] sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};
// Empty: any address, of both kinds.
std::optional<SocketAddress> socket_address(std::string_view text, std::uint16_t port) {
    SocketAddress address;
    auto* const wide = reinterpret_cast<sockaddr_in6*>(&address.storage);
    auto* const narrow = reinterpret_cast<sockaddr_in*>(&address.storage);
    const std::string word(text);
    if (!text.empty() && inet_pton(AF_INET, word.c_str(), &narrow->sin_addr) == 1) {
        narrow->sin_family = AF_INET;
        narrow->sin_port = htons(port);
        return address;
    }
    if (!text.empty() && inet_pton(AF_INET6, word.c_str(), &wide->sin6_addr) != 1) return std::nullopt;
    wide->sin6_family = AF_INET6;
    wide->sin6_port = htons(port);
    return address;
}

void add_remote(Fields& event, const rdma_cm_id& id) {
    std::array<char, INET6_ADDRSTRLEN> room{};
    const auto* const peer = reinterpret_cast<const sockaddr*>(&id.route.addr.dst_storage);
    std::uint16_t port = 0;
    const char* text = nullptr;
    if (peer->sa_family == AF_INET) {
        text = inet_ntop(AF_INET, &id.route.addr.dst_sin.sin_addr, room.data(), room.size());
        port = ntohs(id.route.addr.dst_sin.sin_port);
    } else if (peer->sa_family == AF_INET6) {
        text = inet_ntop(AF_INET6, &id.route.addr.dst_sin6.sin6_addr, room.data(), room.size());
        port = ntohs(id.route.addr.dst_sin6.sin6_port);
    }
    if (text != nullptr) event.add(Key::remote, std::string_view(text)).add(Key::port, std::uint64_t{port});
}

void add_data(Fields& event, const void* data, std::uint8_t length) {
    if (data != nullptr && length > 0 && length <= kMostPrivate)
        event.add(Key::data, std::string_view(static_cast<const char*>(data), length));
}

void add_parameters(Fields& event, const rdma_conn_param& parameters) {
    event.add(Key::qpn, std::uint64_t{parameters.qp_num & 0xffffff});
    event.add(Key::responder_resources, std::uint64_t{parameters.responder_resources});
    event.add(Key::initiator_depth, std::uint64_t{parameters.initiator_depth});
    event.add(Key::flow_control, std::uint64_t{parameters.flow_control != 0});
    event.add(Key::retry, std::uint64_t{parameters.retry_count & 7U})
        .add(Key::rnr_retry, std::uint64_t{parameters.rnr_retry_count & 7U});
}

rdma_conn_param parameters_of(const Fields& wants, const QueuePair& pair, const rdma_conn_param& otherwise) {
    rdma_conn_param parameters{};
    const std::string_view data = wants.text(Key::data);
    parameters.private_data = data.data();
    parameters.private_data_len = static_cast<std::uint8_t>(data.size());
    parameters.responder_resources =
        static_cast<std::uint8_t>(wants.number_or(Key::responder_resources, otherwise.responder_resources));
    parameters.initiator_depth =
        static_cast<std::uint8_t>(wants.number_or(Key::initiator_depth, otherwise.initiator_depth));
    parameters.flow_control = static_cast<std::uint8_t>(wants.number_or(Key::flow_control, 1));
    parameters.retry_count = static_cast<std::uint8_t>(wants.number_or(Key::retry, 7));
    parameters.rnr_retry_count = static_cast<std::uint8_t>(wants.number_or(Key::rnr_retry, 7));
    parameters.srq = pair.srq != 0 ? 1 : 0;
    parameters.qp_num = pair.qp->qp_num;
    return parameters;
}

// What is asked for where nothing is said.
constexpr rdma_conn_param kModest{.private_data = nullptr,
                                  .private_data_len = 0,
                                  .responder_resources = 4,
                                  .initiator_depth = 4,
                                  .flow_control = 1,
                                  .retry_count = 7,
                                  .rnr_retry_count = 7,
                                  .srq = 0,
                                  .qp_num = 0};

}  // namespace

std::uint64_t Agent::number_of(const rdma_cm_id* id) {
    for (const auto& [number, end] : objects_.cms.all())
        if (end.id.get() == id) return number;
    return 0;
}

QueuePair* Agent::pair_of(const CmEnd& end) { return objects_.qps.find(end.qp); }

void Agent::queue_cm_event(Fields event) {
    if (cm_events_.size() >= kMostEvents) cm_events_.pop_front();
    cm_events_.push_back(std::move(event));
}

// INIT and whatever else is there until `last`, as the kernel knows it from the exchange.
Answer Agent::program(CmEnd& end, const Fields& wants, ibv_qp_state last) {
    QueuePair* pair = pair_of(end);
    if (pair == nullptr) return unknown("qp");
    for (const ibv_qp_state state : {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS}) {
        ibv_qp_attr attr{};
        attr.qp_state = state;
        int mask = 0;
        // Of datagrams the kernel knows what INIT takes; the rest takes nothing that it could know.
        if (pair->kind == QpKind::ud && state != IBV_QPS_INIT)
            mask = state == IBV_QPS_RTR ? IBV_QP_STATE : IBV_QP_STATE | IBV_QP_SQ_PSN;
        else if (rdma_init_qp_attr(end.id.get(), &attr, &mask) != 0) return refused(errno, "rdma_init_qp_attr");
        if ((mask & IBV_QP_ACCESS_FLAGS) != 0) attr.qp_access_flags = access_of(wants.number_or(Key::access, 0xf));
        if ((mask & IBV_QP_MIN_RNR_TIMER) != 0)
            attr.min_rnr_timer = static_cast<std::uint8_t>(wants.number_or(Key::min_rnr, 12));
        const auto depth = [&](int which, Key key, std::uint8_t& value, std::uint8_t otherwise) {
            if ((mask & which) != 0) value = static_cast<std::uint8_t>(wants.number_or(key, otherwise));
        };
        // The accepting side programs before it says what it grants: the kernel does not know yet.
        if (end.requested.qp_num != 0) {
            depth(IBV_QP_MAX_DEST_RD_ATOMIC, Key::responder_resources, attr.max_dest_rd_atomic,
                  end.requested.responder_resources);
            depth(IBV_QP_MAX_QP_RD_ATOMIC, Key::initiator_depth, attr.max_rd_atomic, end.requested.initiator_depth);
        }
        if (const int error = ibv_modify_qp(pair->qp.get(), &attr, mask); error != 0)
            return refused(error, "ibv_modify_qp for rdma_cm to state " + std::to_string(state));
        if (state == last) break;
    }
    return {};
}

// The next step of cm_connect once there is an address, then a route.
Answer Agent::go_on(CmEnd& end) {
    QueuePair* pair = pair_of(end);
    if (pair == nullptr) return unknown("qp");
    const bool datagrams = pair->kind == QpKind::ud;
    Answer programmed = program(end, end.wants, datagrams ? IBV_QPS_RTS : IBV_QPS_INIT);
    if (!programmed.error.empty()) return programmed;
    rdma_conn_param parameters = parameters_of(end.wants, *pair, kModest);
    return rdma_connect(end.id.get(), &parameters) == 0 ? Answer{} : refused(errno, "rdma_connect");
}

void Agent::take_request(const rdma_cm_event& event) {
    OwnedCmId id(event.id);
    const std::uint64_t listener = number_of(event.listen_id);
    if (objects_.cms.full() || listener == 0) {
        rdma_reject(id.get(), nullptr, 0);
        static_cast<void>(id.release());  // ended once its event is acknowledged
        return;
    }
    CmEnd end{.space = objects_.cms.find(listener)->space};
    const bool datagrams = end.space == RDMA_PS_UDP || end.space == RDMA_PS_IPOIB;
    Fields fields;
    fields.add(Key::cm_event, CmWord::connect_request);
    if (datagrams) {
        add_data(fields, event.param.ud.private_data, event.param.ud.private_data_len);
    } else {
        end.requested = event.param.conn;
        end.requested.private_data = nullptr;
        add_data(fields, event.param.conn.private_data, event.param.conn.private_data_len);
        add_parameters(fields, event.param.conn);
    }
    add_remote(fields, *id);
    end.id = std::move(id);
    fields.add(Key::cm, objects_.cms.add(std::move(end))).add(Key::listener, listener);
    queue_cm_event(std::move(fields));
}

void Agent::take(const rdma_cm_event& event, CmEnd& end, std::uint64_t number) {
    Fields fields;
    const auto say = [&](CmWord word) { fields.add(Key::cm_event, word).add(Key::cm, number); };
    const auto fail = [&](CmWord word, int error) {
        say(word);
        fields.add(Key::status, static_cast<std::uint64_t>(error < 0 ? -error : error));
    };
    switch (event.event) {
        case RDMA_CM_EVENT_ADDR_RESOLVED:
            if (rdma_resolve_route(end.id.get(), kResolveMs) == 0) return;
            fail(CmWord::route_error, errno);
            break;
        case RDMA_CM_EVENT_ROUTE_RESOLVED:
            if (const Answer went = go_on(end); went.error.empty()) return;
            fail(CmWord::connect_error, errno);
            break;
        case RDMA_CM_EVENT_CONNECT_RESPONSE:
            if (const Answer went = program(end, end.wants, IBV_QPS_RTS);
                !went.error.empty() || rdma_establish(end.id.get()) != 0) {
                fail(CmWord::connect_error, errno);
                break;
            }
            [[fallthrough]];
        case RDMA_CM_EVENT_ESTABLISHED:
            say(CmWord::established);
            if (end.space == RDMA_PS_UDP || end.space == RDMA_PS_IPOIB) {
                add_data(fields, event.param.ud.private_data, event.param.ud.private_data_len);
                fields.add(Key::qpn, std::uint64_t{event.param.ud.qp_num & 0xffffff})
                    .add(Key::qkey, std::uint64_t{event.param.ud.qkey});
            } else {
                add_data(fields, event.param.conn.private_data, event.param.conn.private_data_len);
                if (event.event == RDMA_CM_EVENT_CONNECT_RESPONSE) add_parameters(fields, event.param.conn);
            }
            break;
        case RDMA_CM_EVENT_DISCONNECTED:
            // As programs do it, and what makes the kernel answer the peer (DREP).
            if (QueuePair* pair = pair_of(end); pair != nullptr) {
                ibv_qp_attr attr{};
                attr.qp_state = IBV_QPS_ERR;
                ibv_modify_qp(pair->qp.get(), &attr, IBV_QP_STATE);
            }
            rdma_disconnect(end.id.get());
            say(CmWord::disconnected);
            break;
        case RDMA_CM_EVENT_REJECTED:
            fail(CmWord::rejected, event.status);
            add_data(fields, event.param.conn.private_data, event.param.conn.private_data_len);
            break;
        case RDMA_CM_EVENT_ADDR_ERROR: fail(CmWord::addr_error, event.status); break;
        case RDMA_CM_EVENT_ROUTE_ERROR: fail(CmWord::route_error, event.status); break;
        case RDMA_CM_EVENT_CONNECT_ERROR: fail(CmWord::connect_error, event.status); break;
        case RDMA_CM_EVENT_UNREACHABLE: fail(CmWord::unreachable, event.status); break;
        case RDMA_CM_EVENT_TIMEWAIT_EXIT: say(CmWord::timewait_exit); break;
        default: say(CmWord::other);
    }
    queue_cm_event(std::move(fields));
}

// Whom a request is refused ends only after its event: librdmacm waits for that.
void Agent::take_cm_events() {
    rdma_cm_event* event = nullptr;
    while (channel_ && rdma_get_cm_event(channel_.get(), &event) == 0) {
        rdma_cm_id* refused_id = nullptr;
        if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
            take_request(*event);
            if (number_of(event->id) == 0) refused_id = event->id;
        } else if (const std::uint64_t number = number_of(event->id); number != 0) {
            take(*event, *objects_.cms.find(number), number);
        }
        rdma_ack_cm_event(event);
        if (refused_id != nullptr) rdma_destroy_id(refused_id);
    }
}

Answer Agent::listen(const Fields& ask) {
    if (objects_.cms.full() || !channel_) return refused(ENOSPC, "cm");
    CmEnd end{.space = kSpaces[ask.number_or(Key::space, 0)], .listens = true};
    rdma_cm_id* id = nullptr;
    if (rdma_create_id(channel_.get(), &id, nullptr, end.space) != 0) return refused(errno, "rdma_create_id");
    end.id.reset(id);
    const auto port = static_cast<std::uint16_t>(ask.number_or(Key::port, 0));
    auto address = socket_address(ask.text(Key::at), port);
    if (!address) return refused(EINVAL, "at");
    if (rdma_bind_addr(id, address->get()) != 0) {
        auto narrow = socket_address("0.0.0.0", port);  // a host without IPv6
        if (ask.has(Key::at) || rdma_bind_addr(id, narrow->get()) != 0) return refused(errno, "rdma_bind_addr");
    }
    if (rdma_listen(id, kBacklog) != 0) return refused(errno, "rdma_listen");
    Answer answer;
    answer.fields.add(Key::cm, objects_.cms.add(std::move(end)));
    return answer;
}

Answer Agent::cm_connect(const Fields& ask) {
    if (objects_.cms.full() || !channel_) return refused(ENOSPC, "cm");
    CmEnd end{.qp = ask.number_or(Key::qp, 0), .space = kSpaces[ask.number_or(Key::space, 0)], .wants = ask};
    if (pair_of(end) == nullptr) return unknown("qp");
    auto address = socket_address(ask.text(Key::to), static_cast<std::uint16_t>(ask.number_or(Key::port, 0)));
    if (!address || ask.text(Key::to).empty()) return refused(EINVAL, "to");
    rdma_cm_id* id = nullptr;
    if (rdma_create_id(channel_.get(), &id, nullptr, end.space) != 0) return refused(errno, "rdma_create_id");
    end.id.reset(id);
    if (rdma_resolve_addr(id, nullptr, address->get(), kResolveMs) != 0) return refused(errno, "rdma_resolve_addr");
    Answer answer;
    answer.fields.add(Key::cm, objects_.cms.add(std::move(end)));
    return answer;
}

Answer Agent::accept(const Fields& ask) {
    CmEnd* end = objects_.cms.find(ask.number_or(Key::cm, 0));
    if (end == nullptr || end->listens) return unknown("cm");
    end->qp = ask.number_or(Key::qp, 0);
    const QueuePair* pair = pair_of(*end);
    if (pair == nullptr) return unknown("qp");
    Answer programmed = program(*end, ask, IBV_QPS_RTS);
    if (!programmed.error.empty()) return programmed;
    rdma_conn_param parameters = parameters_of(ask, *pair, end->requested);
    return rdma_accept(end->id.get(), &parameters) == 0 ? Answer{} : refused(errno, "rdma_accept");
}

Answer Agent::reject(const Fields& ask) {
    const CmEnd* end = objects_.cms.find(ask.number_or(Key::cm, 0));
    if (end == nullptr || end->listens) return unknown("cm");
    const std::string_view data = ask.text(Key::data);
    const int error = rdma_reject(end->id.get(), data.data(), static_cast<std::uint8_t>(data.size()));
    return error == 0 ? Answer{} : refused(errno, "rdma_reject");
}

Answer Agent::disconnect(const Fields& ask) {
    const CmEnd* end = objects_.cms.find(ask.number_or(Key::cm, 0));
    if (end == nullptr || end->listens) return unknown("cm");
    if (QueuePair* pair = pair_of(*end); pair != nullptr) {
        ibv_qp_attr attr{};
        attr.qp_state = IBV_QPS_ERR;
        if (const int error = ibv_modify_qp(pair->qp.get(), &attr, IBV_QP_STATE); error != 0)
            return refused(error, "ibv_modify_qp to err");
    }
    return rdma_disconnect(end->id.get()) == 0 ? Answer{} : refused(errno, "rdma_disconnect");
}

Answer Agent::cm_event(const Fields& ask) {
    wait(ask, [&] { return !cm_events_.empty(); });
    Answer answer;
    if (cm_events_.empty()) {
        answer.fields.add(Key::cm_event, CmWord::none);
        return answer;
    }
    answer.fields = std::move(cm_events_.front());
    cm_events_.pop_front();
    return answer;
}

Answer Agent::cm_free(const Fields& ask) {
    const std::uint64_t number = ask.number_or(Key::cm, 0);
    CmEnd* end = objects_.cms.find(number);
    if (end == nullptr) return unknown("cm");
    const int error = rdma_destroy_id(end->id.release());
    const int why = errno;
    objects_.cms.erase(number);
    std::erase_if(cm_events_, [&](const Fields& event) { return event.number_or(Key::cm, 0) == number; });
    return error == 0 ? Answer{} : refused(why, "rdma_destroy_id");
}

}  // namespace qps::agent
