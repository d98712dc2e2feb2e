// Fuzzer of a listening endpoint: frames made to its measure and changed by the input, frames of any bytes, time, and
// what its application does. Nothing around what it registered is read or written, what it keeps stays bounded, all
// that came is counted, what it says itself is right, and in the end everything can be given back.
//
// The input: a byte of settings, then records: a byte of kind and what that needs (step()).
#include <tests/fuzz/bytewise.hpp>
#include <tests/fuzz/followed.hpp>
#include <tests/support/forgery.hpp>
#include <tests/support/hub.hpp>
#include <transport-replay/live/cm/cm_messages.hpp>
#include <transport-replay/live/endpoint.hpp>
#include <transport-replay/live/frame_writer.hpp>

#include <array>
#include <cstdint>
#include <numeric>

namespace {

using namespace qps;
using namespace dissect;
using namespace transport;
using namespace transport::live;
using namespace transport::verbs;
using fuzz::Bytewise;
using fuzz::demand;
using tests::WireBytes;

constexpr Address kOurs = ipv4_address(0xc0000201), kPeer = ipv4_address(0xc0000202);
constexpr Mac kOurMac{0x0200'0000'0001}, kPeerMac{0x0200'0000'0002};
constexpr IpPort kPort{7777};
constexpr Qpn kPeerQp{0x4321};
constexpr Qkey kKey{0x1111'1111};
constexpr std::byte kSecret{0xee};
constexpr std::size_t kAround = 512;  // bytes of a secret on both sides
constexpr std::size_t kShown = 8192;
constexpr std::size_t kLeak = 8;  // bytes in a row that can only come from a secret
constexpr std::size_t kMostFrames = 20'000;
constexpr int kMostPolls = 20'000;

bool leaks(Bytes frame) {
    std::size_t run = 0;
    for (const std::byte byte : frame) {
        run = byte == kSecret ? run + 1 : 0;
        if (run >= kLeak) return true;
    }
    return false;
}

class World {
public:
    explicit World(std::uint8_t settings);
    void step(Bytewise& input);
    void settle();
    void finish();

private:
    struct Queue {
        Qpn qp{};
        std::uint64_t receives = 0;  // posted and not complete
    };
    void hear(Bytes frame);
    void open(QpType type);
    void open_shared();
    void listen_and_serve();
    void take_completions();
    void post_receive(Queue& queue);
    void work(Bytewise& input);
    [[nodiscard]] TransportPacket template_of(std::uint8_t which, const Queue& to, Bytewise& input);
    void send(const TransportPacket& packet, Bytewise& input);
    void manage(Bytewise& input);
    void check();
    [[nodiscard]] MutableBytes shown() { return MutableBytes(memory_).subspan(kAround, kShown); }

    Instant now_{1'700'000'000'000'000'000};
    std::shared_ptr<tests::Hub> hub_ = std::make_shared<tests::Hub>();
    std::vector<std::byte> memory_ = std::vector<std::byte>(2 * kAround + kShown, kSecret);
    std::vector<std::byte> receives_ = std::vector<std::byte>(4096);
    std::array<std::byte, 9000> payload_{};
    live::Endpoint endpoint_;
    Pd pd_{};
    Mr mr_{};
    Mr receive_mr_{};
    verbs::Window window_{};
    Rkey fast_key_{};  // of the last registration posted
    Cq cq_{};
    Xrcd xrcd_{};
    XrcSrq srq_{};
    std::vector<Queue> queues_;
    std::size_t heard_ = 0;
};

EndpointSettings settings_of(std::uint8_t bits) {
    EndpointSettings settings{.host = {.mac = kOurMac, .addresses = {{kOurs, 24}}, .detect_duplicates = false}};
    settings.adapter.end_to_end_credits = (bits & 1) != 0;
    settings.adapter.ack_every = bits >> 1 & 3;
    if ((bits & 8) != 0) settings.adapter.dcqcn = DcqcnSettings{};
    return settings;
}

World::World(std::uint8_t settings)
    : endpoint_(tests::HubDevice(hub_, std::to_underlying(kOurMac)), settings_of(settings), now_) {
    hub_->watch = [this](std::size_t, Bytes frame) { hear(frame); };
    Adapter& adapter = endpoint_.adapter();
    std::ranges::fill(shown(), std::byte{0});
    pd_ = *adapter.alloc_pd();
    mr_ = *adapter.reg_mr(pd_, shown(), kEveryAccess);
    receive_mr_ = *adapter.reg_mr(pd_, receives_, kLocalWrite);
    window_ = *adapter.alloc_mw(pd_, MwType::type_2);
    fast_key_ = adapter.alloc_mr(pd_, 1024)->lkey;
    cq_ = *adapter.create_cq(1 << 14);
    demand(endpoint_.connections().listen(PortSpace::tcp, kPort).has_value());
    demand(endpoint_.connections().listen(PortSpace::udp, kPort).has_value());
    open_shared();
    for (const QpType type : {QpType::rc, QpType::uc, QpType::ud, QpType::xrc_send, QpType::xrc_recv}) open(type);
}

// What the XRC target serves.
void World::open_shared() {
    Adapter& adapter = endpoint_.adapter();
    xrcd_ = *adapter.open_xrcd();
    srq_ = *adapter.create_xrc_srq(pd_, xrcd_, cq_, 64);
    const Sge piece{.address = receive_mr_.address, .length = 600, .lkey = receive_mr_.lkey};
    for (int i = 0; i < 8; ++i)
        demand(adapter.post_srq_recv(srq_.handle, {.wr_id = 8, .sg_list = {&piece, 1}}).has_value());
}

// Connected by hand to a peer that is the input.
void World::open(QpType type) {
    Adapter& adapter = endpoint_.adapter();
    Queue& queue = queues_.emplace_back(
        Queue{.qp = *adapter.create_qp({.pd = pd_, .send_cq = cq_, .recv_cq = cq_, .xrcd = xrcd_, .qp_type = type})});
    if (type == QpType::ud) {
        demand(endpoint_.connections().activate_datagrams(queue.qp, kKey).has_value());
    } else {
        QpAttr rtr{.qp_state = QpState::rtr,
                   .address = handle_to(kPeer),
                   .path_mtu = PathMtu::bytes_256,
                   .dest_qp_num = kPeerQp,
                   .rq_psn = Psn{100}};
        QpAttr rts{.qp_state = QpState::rts, .sq_psn = Psn{500}};
        if (type == QpType::rc || type == QpType::xrc_recv) {
            rtr.max_dest_rd_atomic = 4;
            rtr.min_rnr_timer = 12;
        }
        if (type == QpType::rc || is_xrc(type)) rts.timeout = 10;
        if (type == QpType::rc || type == QpType::xrc_send) {
            rts.max_rd_atomic = 4;
            rts.retry_cnt = rts.rnr_retry = 3;
        }
        demand(adapter.modify_qp(queue.qp, {.qp_state = QpState::init, .pkey = Pkey{0xffff}, .access = kEveryAccess})
                   .has_value());
        demand(adapter.modify_qp(queue.qp, rtr).has_value() && adapter.modify_qp(queue.qp, rts).has_value());
    }
    for (int i = 0; i < 3; ++i) post_receive(queue);
    if (type == QpType::rc) {
        const MwBind bind{.mw = window_.handle,
                          .rkey = next_rkey(window_.rkey),
                          .lkey = mr_.lkey,
                          .address = mr_.address + 1024,
                          .length = 1024,
                          .access = {.remote_write = true, .remote_read = true, .remote_atomic = true}};
        demand(adapter.post_send(queue.qp, {.wr_id = 1, .opcode = WrOpcode::bind_mw, .bind = bind}).has_value());
    }
}

void World::post_receive(Queue& queue) {
    const Sge piece{.address = receive_mr_.address, .length = 600, .lkey = receive_mr_.lkey};
    if (endpoint_.adapter().post_recv(queue.qp, {.wr_id = 7, .sg_list = {&piece, 1}})) ++queue.receives;
}

// What the endpoint says is right; who is asked for answers truthfully.
void World::hear(Bytes bytes) {
    demand(++heard_ < kMostFrames && !leaks(bytes));
    Frame frame;
    frame.bytes = bytes;
    frame.wire_length = static_cast<std::uint32_t>(bytes.size());
    Packet packet;
    decode(frame, packet);
    for (const Layer& layer : packet.layers()) demand(layer.fault == Fault::none);
    if (packet.has_transport()) demand(packet.icrc.status == CrcStatus::good);
    const auto arp = read_arp(packet);
    if (!arp || arp->operation != ArpOperation::request || arp->target != kPeer) return;
    const auto answer = arp_frame({kPeerMac, kOurMac}, {ArpOperation::reply, kPeerMac, kPeer, kOurMac, arp->sender});
    hub_->put(0, Bytes(answer));
}

// One of what a peer says, with the numbers that are right now; every further byte of the input may make one wrong.
TransportPacket World::template_of(std::uint8_t which, const Queue& to, Bytewise& input) {
    constexpr std::array kOpcodes{
        Opcode{0x00}, Opcode{0x01}, Opcode{0x02}, Opcode{0x03}, Opcode{0x04}, Opcode{0x05}, Opcode{0x06}, Opcode{0x07},
        Opcode{0x08}, Opcode{0x09}, Opcode{0x0a}, Opcode{0x0b}, Opcode{0x0c}, Opcode{0x0d}, Opcode{0x0e}, Opcode{0x0f},
        Opcode{0x10}, Opcode{0x11}, Opcode{0x12}, Opcode{0x13}, Opcode{0x14}, Opcode{0x16}, Opcode{0x17}, Opcode{0x1c},
        Opcode{0x1d}, Opcode{0x20}, Opcode{0x22}, Opcode{0x24}, Opcode{0x26}, Opcode{0x2a}, Opcode{0x64}, Opcode{0x81},
        Opcode{0xa0}, Opcode{0xa1}, Opcode{0xa2}, Opcode{0xa4}, Opcode{0xa6}, Opcode{0xa8}, Opcode{0xaa}, Opcode{0xac},
        Opcode{0xb0}, Opcode{0xb1}, Opcode{0xb2}, Opcode{0xb3}};
    TransportPacket packet;
    packet.opcode = kOpcodes[which % kOpcodes.size()];
    packet.dest_qp = to.qp;
    const std::uint8_t psn = input.byte(), place = input.byte(), length = input.byte();
    const bool request = info(packet.opcode).request;
    packet.psn = Psn{(request ? 100U : 500U) + (psn & 0x7fU)} + ((psn & 0x80) != 0 ? 0x800000U : 0U);
    packet.ack_request = (length & 1) != 0;
    packet.solicited = (length & 2) != 0;
    const Rkey region = (place & 0x80) != 0 ? receive_mr_.rkey : mr_.rkey;
    const Rkey key = (place & 0x60) == 0x60 ? fast_key_ : (place & 0x40) != 0 ? next_rkey(window_.rkey) : region;
    const std::uint64_t base = (place & 0x40) != 0 ? mr_.address + 1024 : mr_.address;
    const std::uint64_t end = mr_.address + kShown;
    packet.access =
        RemoteAccess{(place & 0x20) != 0 ? end - 8 * (place & 0x1fU) : base + 8 * (place & 0x1fU), key, length * 5U};
    packet.atomic = AtomicOperands{length, place};
    packet.acknowledgment = Acknowledgment{place, Msn{psn}};
    packet.atomic_result = length;
    packet.immediate = length;
    packet.invalidate = next_rkey(window_.rkey);
    packet.datagram = Datagram{kKey, kPeerQp};
    packet.flush = Flush{};
    packet.srq = Srqn{std::to_underlying(srq_.number) + ((place & 0x10) != 0 ? 1U : 0U)};
    packet.payload = Bytes(payload_).first(std::min<std::size_t>(length * 4U, 256));
    return packet;
}

void World::send(const TransportPacket& packet, Bytewise& input) {
    Route route{.source = kPeer,
                .destination = kOurs,
                .source_mac = std::to_underlying(kPeerMac),
                .destination_mac = std::to_underlying(kOurMac)};
    WireBytes frame(9600);
    frame.resize(write_frame(packet, route, frame));
    if (frame.empty()) return;
    const std::uint8_t edits = input.byte();
    for (int i = 0; i < (edits & 7); ++i) {
        const std::size_t at = (edits & 8) != 0 ? input.byte() : tests::kBthAt + input.byte() % 64U;
        const std::uint8_t value = input.byte();
        if (at < frame.size()) frame[at] = std::byte{value};
    }
    if ((edits & 0x10) != 0) frame.resize(input.byte() * 2U);
    if ((edits & 0x20) == 0) tests::seal(frame, (edits & 0x40) == 0);
    hub_->put(0, frame);
}

// A connection request as a peer makes it, or another message of the connection manager in its place.
void World::manage(Bytewise& input) {
    CmReq req{.local_id = 1U + input.byte(),
              .service = ip_service((input.byte() & 1) != 0 ? PortSpace::udp : PortSpace::tcp, kPort),
              .qpn = Qpn{0x100U + input.byte()}};
    req.pkey = kDefaultPkey;
    req.mtu = 1;
    req.responder_resources = req.initiator_depth = 4;
    req.max_retries = 3;
    req.remote_response_timeout = req.local_response_timeout = TimeoutCode{10};
    req.primary.local_gid = kPeer;
    req.primary.remote_gid = kOurs;
    req.primary.hop_limit = 64;
    req.primary.ack_timeout = TimeoutCode{12};
    const auto datagram = write_message(req, req.local_id);
    if (!datagram) return;
    TransportPacket packet;
    packet.opcode = Opcode{0x64};
    packet.dest_qp = Qpn{1};
    packet.datagram = Datagram{Qkey{0x8001'0000}, Qpn{1}};
    packet.payload = datagram->bytes;
    send(packet, input);
}

void World::listen_and_serve() {
    for (const ConnectionEvent& event : endpoint_.connections().take_events()) {
        if (event.kind != ConnectionEventKind::request) continue;
        if (queues_.size() < 8) {
            const Qpn qp = *endpoint_.adapter().create_qp({.pd = pd_, .send_cq = cq_, .recv_cq = cq_});
            queues_.push_back({.qp = qp});
            if (endpoint_.connections().accept(event.id, qp, {}, now_)) continue;
        }
        static_cast<void>(endpoint_.connections().reject(event.id, {}, now_));
    }
    static_cast<void>(endpoint_.connections().take_async_events());
}

void World::take_completions() {
    std::array<Wc, 16> some{};
    while (const std::size_t count = endpoint_.adapter().poll_cq(cq_, some))
        for (const Wc& wc : std::span(some).first(count)) {
            const auto queue = std::ranges::find(queues_, wc.qp_num, &Queue::qp);
            demand(queue != queues_.end());
            if (wc.wr_id != 7) continue;
            demand(queue->receives > 0);
            --queue->receives;
            if (wc.status == WcStatus::success) demand(wc.byte_len <= 8192);
        }
}

// Work of our own, which the peer may answer as it likes.
void World::work(Bytewise& input) {
    const std::uint8_t what = input.byte(), length = input.byte();
    Queue& queue = queues_[what % queues_.size()];
    const Sge piece{.address = mr_.address + 2048, .length = (what & 0x80) != 0 ? 8U : length * 5U, .lkey = mr_.lkey};
    SendWr wr{.wr_id = 2,
              .sg_list = {&piece, 1},
              .opcode = static_cast<WrOpcode>(input.byte() % kWrOpcodeNames.size()),
              .send_flags = {.signaled = true}};
    wr.remote = {0x1000, Rkey{0x77}};
    wr.ud = {.ah = handle_to(kPeer), .remote_qpn = kPeerQp, .remote_qkey = kKey};
    wr.flush = {.length = 8, .global_visibility = true};
    wr.remote_srq = Srqn{3};
    wr.invalidate_rkey = (what & 0x40) != 0 ? fast_key_ : next_rkey(window_.rkey);
    if (wr.opcode == WrOpcode::reg_mr) {
        wr.sg_list = {};
        wr.reg = {.lkey = fast_key_, .key = next_rkey(fast_key_), .bytes = shown().last(1024), .address = 0x9000};
        wr.reg.access = kEveryAccess;
        if (endpoint_.adapter().post_send(queue.qp, wr)) fast_key_ = wr.reg.key;
        return;
    }
    static_cast<void>(endpoint_.adapter().post_send(queue.qp, wr));
}

void World::step(Bytewise& input) {
    const std::uint8_t kind = input.byte();
    if (kind < 140) {
        send(template_of(kind, queues_[kind / 32U % queues_.size()], input), input);
    } else if (kind < 160) {
        manage(input);
    } else if (kind < 180) {
        const auto bytes = input.take(input.byte() * 2U);
        WireBytes frame(bytes.size());
        std::ranges::transform(bytes, frame.begin(), [](std::uint8_t byte) { return std::byte{byte}; });
        hub_->put(0, frame);
    } else if (kind < 200) {
        now_ = now_ + microseconds(std::int64_t{1} << (kind - 180));
    } else if (kind < 220) {
        work(input);
    } else if (kind < 240) {
        post_receive(queues_[kind % queues_.size()]);
    } else if (kind < 250) {
        static_cast<void>(endpoint_.adapter().modify_qp(queues_[kind % queues_.size()].qp, {.qp_state = QpState::err}));
    } else {
        return;  // more comes before the endpoint has its turn
    }
    if ((kind & 1) != 0) settle();
}

void World::settle() {
    int polls = 0;
    do {
        demand(++polls < kMostPolls);
        endpoint_.poll(now_);
        listen_and_serve();
        take_completions();
    } while (endpoint_.poll_at() && *endpoint_.poll_at() <= now_);
    check();
}

void World::check() {
    const auto secret = [](std::byte byte) { return byte == kSecret; };
    demand(std::ranges::all_of(Bytes(memory_).first(kAround), secret) &&
           std::ranges::all_of(Bytes(memory_).last(kAround), secret));
    const auto sum = [](const auto& counts) { return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}); };
    const AdapterCounts& adapter = endpoint_.adapter().counts();
    demand(adapter.arrivals == endpoint_.counts().packets_received);
    demand(adapter.arrivals + adapter.copies == adapter.accepted + sum(adapter.refused));
    const LinkPauses& pauses = endpoint_.pauses();
    demand(endpoint_.device().counts().received ==
           sum(endpoint_.host().counts().frames) + pauses.frames() + pauses.ignored());
    const auto ends = pauses.ends_at();
    demand(!pauses.running() || (ends && *ends > now_ && *ends <= now_ + pause_time(0xffff, pauses.speed())));
    demand(endpoint_.manager().size() <= kMaxCmIds && endpoint_.manager().half_open() <= kMaxHalfOpen);
    demand(endpoint_.host().neighbours().size() <= kMaxNeighbours && endpoint_.waiting() <= kMaxWaiting);
}

void World::finish() {
    settle();
    for (const Queue& queue : queues_)
        demand(endpoint_.adapter().modify_qp(queue.qp, {.qp_state = QpState::err}).has_value());
    settle();
    for (const Queue& queue : queues_) {
        demand(queue.receives == 0 && endpoint_.adapter().query_qp(queue.qp)->sends == 0);
        demand(endpoint_.adapter().destroy_qp(queue.qp).has_value());
    }
    demand(endpoint_.adapter().destroy_srq(srq_.handle).has_value() &&
           endpoint_.adapter().close_xrcd(xrcd_).has_value());
    demand(endpoint_.adapter().dealloc_mw(window_.handle).has_value());
    // Its key is that of a registration that came to its turn: any of those posted.
    bool given_back = false;
    for (int tag = 0; tag < 256 && !given_back; ++tag, fast_key_ = next_rkey(fast_key_))
        given_back = endpoint_.adapter().dereg_mr(fast_key_).has_value();
    demand(given_back);
    demand(endpoint_.adapter().dereg_mr(mr_.lkey).has_value() &&
           endpoint_.adapter().dereg_mr(receive_mr_.lkey).has_value());
    demand(endpoint_.adapter().destroy_cq(cq_).has_value() && endpoint_.adapter().dealloc_pd(pd_).has_value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    Bytewise input({data + 1, size - 1});
    World world(*data);
    world.settle();
    while (!input.empty()) world.step(input);
    world.finish();
    return 0;
}
