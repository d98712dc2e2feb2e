// Fuzzer of the connection manager: a byte says what happens next: a datagram of any bytes, one of each message near
// what the manager expects, a call of its consumer, time. Whatever happens, what it keeps stays within bounds, its time
// goes forward, and once everybody has left nothing remains.
#include <tests/fuzz/bytewise.hpp>
#include <tests/fuzz/followed.hpp>
#include <transport-replay/live/cm/cm_messages.hpp>
#include <transport-replay/live/cm/communication.hpp>
#include <transport-replay/live/cm/ip_cm.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace {

using namespace qps;
using namespace dissect;
using namespace transport;
using namespace transport::live;
using fuzz::Bytewise;
using fuzz::demand;
using live::ManagementDatagram;

constexpr std::size_t kMostSteps = 4096;
constexpr std::size_t kMostIds = 2 * kMostSteps;
constexpr ServiceId kService = ip_service(PortSpace::tcp, IpPort{1});
constexpr ServiceId kDatagrams = ip_service(PortSpace::udp, IpPort{1});
constexpr Address kOurs = ipv4(0xc0000201);

class World {
public:
    World() : manager_({.seed = 42, .alternate_paths = true}) {
        demand(manager_.listen(kService).has_value() && manager_.listen(kDatagrams, ListenKind::datagrams).has_value());
    }
    void step(Bytewise& input);
    void settle();
    void finish();

private:
    [[nodiscard]] CmId id(std::uint8_t choice) const {
        return ids_.empty() ? CmId{choice} : ids_[choice % ids_.size()];
    }
    void call(Bytewise& input);
    void arrive(ManagementDatagram datagram, std::uint8_t from);
    template <class Message> void say(const Message& message, std::uint64_t transaction, std::uint8_t from) {
        if (const auto datagram = write_message(message, transaction)) arrive(*datagram, from);
    }
    void message(Bytewise& input);
    void raw(Bytewise& input);

    ConnectionManager manager_;
    Instant now_{1};
    std::vector<CmId> ids_;
    std::uint64_t transaction_ = 0;  // of the last datagram it sent
};

void World::arrive(ManagementDatagram datagram, std::uint8_t from) {
    datagram.remote = ipv4(0xc0000210U + (from & 1U));
    datagram.local = (from & 2U) != 0 ? Address{} : kOurs;
    manager_.process(datagram, now_);
}

void World::raw(Bytewise& input) {
    ManagementDatagram datagram;
    const std::uint8_t from = input.byte();
    const auto bytes = input.take(datagram.bytes.size());
    std::ranges::transform(bytes, datagram.bytes.begin(),
                           [](std::uint8_t value) { return static_cast<std::byte>(value); });
    datagram.remote_qp = Qpn{1U + (from >> 6U)};
    if ((from & 4U) != 0) {  // at least the head is right
        write_bits(datagram.bytes, 0, 32, 0x01070203);
        write_bits(datagram.bytes, 32, 16, 0);
        write_bits(datagram.bytes, 16UZ * 8, 16, 0x10U + from % kCmMessages);
        if ((from & 8U) != 0)
            write_bits(datagram.bytes, (kMadHeaderLength + 4) * 8, 32, static_cast<std::uint32_t>(id(from)));
    }
    arrive(datagram, from);
}

void World::message(Bytewise& input) {
    const std::uint8_t kind = input.byte();
    const std::uint8_t from = input.byte();
    const std::uint8_t number = input.byte();
    const auto ours = static_cast<std::uint32_t>(id(input.byte()));
    const std::uint32_t theirs = number & 7U;
    const std::uint64_t transaction = (number & 8U) != 0 ? transaction_ : number;
    const Address peer = ipv4(0xc0000210U + (from & 1U));
    switch (kind % 11) {
        case 0: {
            CmReq req{
                .local_id = theirs, .service = kService, .qpn = Qpn{0x10U + theirs}, .pkey = Pkey{0xffff}, .mtu = 3};
            req.primary.local_gid = peer;
            req.primary.remote_gid = kOurs;
            req.primary.hop_limit = 64;
            req.primary.ack_timeout = TimeoutCode{static_cast<std::uint8_t>(number & 31U)};
            req.local_response_timeout = TimeoutCode{static_cast<std::uint8_t>(kind & 31U)};
            req.remote_response_timeout = TimeoutCode{static_cast<std::uint8_t>(from & 31U)};
            req.max_retries = number & 15U;
            return say(req, number, from);
        }
        case 1:
            return say(CmMra{.local_id = theirs,
                             .remote_id = ours,
                             .about = CmAbout{static_cast<std::uint8_t>(from >> 6U)},
                             .service_timeout = TimeoutCode{static_cast<std::uint8_t>(number & 31U)},
                             .private_data = {}},
                       transaction, from);
        case 2:
            return say(CmRej{.local_id = theirs,
                             .remote_id = (from & 16U) != 0 ? 0 : ours,
                             .about = CmAbout{static_cast<std::uint8_t>(from >> 6U)},
                             .reason = RejectReason{number},
                             .information = {},
                             .private_data = {}},
                       transaction, from);
        case 3:
            return say(CmRep{.local_id = theirs, .remote_id = ours, .qpn = Qpn{0x10U + theirs}, .private_data = {}},
                       transaction, from);
        case 4: return say(CmRtu{.local_id = theirs, .remote_id = ours, .private_data = {}}, transaction, from);
        case 5:
            return say(
                CmDreq{
                    .local_id = theirs, .remote_id = ours, .remote_qpn = Qpn{0x20U + (from >> 4U)}, .private_data = {}},
                number, from);
        case 6: return say(CmDrep{.local_id = theirs, .remote_id = ours, .private_data = {}}, transaction, from);
        case 7:
            return say(CmLap{.local_id = theirs,
                             .remote_id = ours,
                             .remote_qpn = Qpn{0x20U + (from >> 4U)},
                             .path = {},
                             .private_data = {}},
                       number, from);
        case 8:
            return say(
                CmApr{.local_id = theirs, .remote_id = ours, .status = AlternateStatus{number}, .private_data = {}},
                transaction, from);
        case 9:
            return say(CmSidrReq{.request_id = theirs, .pkey = Pkey{0xffff}, .service = kDatagrams, .private_data = {}},
                       number, from);
        default:
            return say(CmSidrRep{.request_id = ours, .status = SidrStatus{number}, .private_data = {}}, transaction,
                       from);
    }
}

void World::call(Bytewise& input) {
    const std::uint8_t kind = input.byte();
    const std::uint8_t number = input.byte();
    const CmId chosen = id(number);
    const std::array<std::byte, kMostPrivateBytes> data{};
    const Bytes some = Bytes(data).first(number % (kMostPrivateBytes + 1));
    const CmPath path{
        .local = kOurs, .remote = ipv4(0xc0000210U + (number & 1U)), .packet_lifetime = TimeoutCode{number}};
    switch (kind % 14) {
        case 0: {
            ConnectRequest request{
                .service = kService, .path = path, .local_qpn = Qpn{0x20U + (number >> 4U)}, .private_data = some};
            request.max_retries = kind >> 4U;
            if (const auto made = manager_.connect(request, now_)) ids_.push_back(*made);
            break;
        }
        case 1:
            (void)manager_.accept(
                chosen, {.local_qpn = Qpn{0x20U + (number >> 4U)}, .starting_psn = Psn(number), .private_data = some},
                now_);
            break;
        case 2: (void)manager_.ready(chosen, some, now_); break;
        case 3: (void)manager_.reject(chosen, RejectReason{number}, slice(some, 0, number % 80U), some, now_); break;
        case 4: (void)manager_.delay(chosen, TimeoutCode{number}, some, now_); break;
        case 5: (void)manager_.disconnect(chosen, some, now_); break;
        case 6: (void)manager_.abandon(chosen, now_); break;
        case 7: manager_.communication_established(Qpn{0x20U + (number >> 4U)}, now_); break;
        case 8: (void)manager_.load_alternate(chosen, path, some, now_); break;
        case 9: (void)manager_.answer_alternate(chosen, AlternateStatus{number}, some, now_); break;
        case 10:
            if (const auto made =
                    manager_.sidr_request({.service = kDatagrams, .path = path, .private_data = some}, now_))
                ids_.push_back(*made);
            break;
        case 11:
            (void)manager_.sidr_reply(chosen, {.status = SidrStatus{number}, .qpn = Qpn{number}}, some, now_);
            break;
        case 12: (void)manager_.listen(ServiceId{number}, ListenKind::connections, number); break;
        default: (void)manager_.stop_listening(ServiceId{number}); break;
    }
}

void World::settle() {
    while (const auto datagram = manager_.poll(now_)) {
        const auto read = read_cm(datagram->bytes);
        demand(read.has_value() && datagram->remote_qp == kGsiQpn && datagram->remote.space != AddressSpace::none);
        transaction_ = read->transaction;
    }
    for (const ConnectionEvent& event : manager_.take_events()) {
        demand(static_cast<std::size_t>(event.kind) < kConnectionEventNames.size());
        if (ids_.size() < kMostIds) ids_.push_back(event.id);
    }
    const auto due = manager_.poll_at();
    demand(!due || *due > now_);  // whatever was due is done
    demand(manager_.half_open() <= kMaxHalfOpen && manager_.size() <= kMaxCmIds);
}

void World::step(Bytewise& input) {
    const std::uint8_t what = input.byte();
    if (what < 96) message(input);
    else if (what < 128) raw(input);
    else if (what < 224) call(input);
    else now_ = now_ + Duration{std::int64_t{1} << (what & 31U) << 4U};
    if ((what & 3U) != 0) settle();
}

// Everybody leaves, and what is under way comes to its end.
void World::finish() {
    settle();
    constexpr int kLongEnough = 4000;
    constexpr Duration kWhile{30'000'000'000};
    for (int i = 0; i < kLongEnough && manager_.size() != 0; ++i) {
        for (const CmId each : ids_) (void)manager_.abandon(each, now_);
        now_ = now_ + kWhile;
        ids_.clear();
        settle();
        if (const auto due = manager_.poll_at()) now_ = std::max(now_, *due);
    }
    demand(manager_.size() == 0 && !manager_.poll_at());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Bytewise input(std::span(data, size));
    World world;
    for (std::size_t i = 0; i < kMostSteps && !input.empty(); ++i) world.step(input);
    world.finish();
    return 0;
}
