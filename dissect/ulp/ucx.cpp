// The walks over messages of UCX, and what proves them. What an attacker could feed: numbers of active messages that do
// not exist, headers that are cut. No header is entered that is not whole; no length of a message is believed.
#include <dissect/ulp/ucx.hpp>
#include <dissect/ulp/walks.hpp>

#include <algorithm>

namespace qps::dissect {

namespace ucx {

namespace {

constexpr Field kNumber = named(kActiveFields, "rdma.ucx.am.id");
constexpr Field kDatagramNumber = named(kDatagramFields, "rdma.ucx.am.id");
constexpr Field kActiveFlag = named(kDatagramFields, "rdma.ucx.ud.active");
constexpr Field kControlFlag = named(kDatagramFields, "rdma.ucx.ud.ctl");
constexpr Field kHost = named(kControlFields, "rdma.ucx.ud.host");
constexpr Field kWireupType = named(kWireupFields, "rdma.ucx.wireup.type");
constexpr Field kErrorMode = named(kWireupFields, "rdma.ucx.wireup.err_mode");
constexpr Field kSource = named(kWireupFields, "rdma.ucx.wireup.src_ep");
constexpr Field kDestination = named(kWireupFields, "rdma.ucx.wireup.dst_ep");
constexpr Field kOpcode = named(kReadyToSendFields, "rdma.ucx.rts.opcode");

// One of each active message that has a header we know; at least so long, and to the end of the message where it is
// open.
struct Form {
    Active active{};
    LayerKind kind{};
    bool open = false;
};
constexpr std::array kForms{
    Form{Active::wireup, kind::ucx_wireup, true},
    Form{Active::eager_only, kind::ucx_eager},
    Form{Active::eager_first, kind::ucx_eager_first},
    Form{Active::eager_middle, kind::ucx_eager_middle},
    Form{Active::eager_sync_only, kind::ucx_eager_sync},
    Form{Active::eager_sync_first, kind::ucx_eager_sync_first},
    Form{Active::eager_sync_ack, kind::ucx_reply, true},
    Form{Active::ready_to_send, kind::ucx_ready_to_send, true},
    Form{Active::ack_to_send, kind::ucx_reply, true},
    Form{Active::ready_to_receive, kind::ucx_ready_to_receive, true},
    Form{Active::rendezvous_data, kind::ucx_rendezvous_data},
    Form{Active::ack_to_put, kind::ucx_reply, true},
    Form{Active::user_single, kind::ucx_user},
    Form{Active::user_first, kind::ucx_user},
    Form{Active::user_single_reply, kind::ucx_user},
};

// Addresses of memory of a process, on a multiple of 8 and of 48 bits, the highest of them used: of x86 they begin with
// 0x55 or 0x7f, of arm64 up to 0xff, in anonymised captures with anything.
bool is_pointer(std::uint64_t number) {
    constexpr std::uint64_t kLow = 7;
    return (number & kLow) == 0 && number >> 40 != 0 && number >> 48 == 0;
}

constexpr std::size_t kAddressHead = 10;  // of ucp_address: at least so much

// ucp_address: its version and flags, then the number of the worker; anonymised captures have zeros there.
bool is_address(Bytes bytes) {
    constexpr std::uint8_t kVersion = 15, kWorkerOfFirst = 0x20, kWorker = 2;
    if (std::ranges::all_of(slice(bytes, 0, kAddressHead), [](std::byte b) { return b == std::byte{0}; })) return true;
    const auto head = read_be<std::uint8_t>(bytes, 0);
    if ((head & kVersion) == 0) return (head & kWorkerOfFirst) != 0 && read_le<std::uint64_t>(bytes, 1) != 0;
    return (head & kVersion) == 1 && (read_be<std::uint8_t>(bytes, 1) & kWorker) != 0 &&
           read_le<std::uint64_t>(bytes, 2) != 0;
}

// Printable characters, then zeros; at least one.
bool is_name(Bytes bytes) {
    const auto end = std::ranges::find(bytes, std::byte{0});
    const auto printable = [](std::byte c) { return c > std::byte{0x20} && c < std::byte{0x7f}; };
    return end != bytes.begin() && end != bytes.end() && std::all_of(bytes.begin(), end, printable) &&
           std::all_of(end, bytes.end(), [](std::byte c) { return c == std::byte{0}; });
}

// Not where the header says that it is of a version that nobody described.
bool is_known(const Form& form, Bytes bytes) {
    return form.kind != kind::ucx_ready_to_send || read(bytes, kOpcode) <= 1;
}

void walk_active(Walk& walk, std::uint64_t number) {
    const auto form = std::ranges::find(kForms, static_cast<Active>(number), &Form::active);
    const std::size_t left = walk.left();
    if (form != kForms.end() && left >= header(form->kind).length && is_known(*form, walk.header()))
        if (enter(walk, form->kind, form->open ? left : header(form->kind).length).empty()) return;
    add_data(walk);
}

void walk_message(Walk& walk) {
    if (walk.left() == 0) return;
    const bool hardware = walk.left() > 1 && read_be<std::uint8_t>(walk.header(), 0) == 0;
    if (hardware && enter(walk, kind::ucx_hardware_tag, 1).empty()) return;
    if (const Bytes first = enter(walk, kind::ucx_active, 1); !first.empty()) walk_active(walk, read(first, kNumber));
}

void walk_datagram(Walk& walk) {
    if (walk.left() < kDatagram) return add_data(walk);
    const Bytes first = enter(walk, kind::ucx_ud, kDatagram);
    if (first.empty()) return;
    if (read(first, kActiveFlag) != 0) return walk_active(walk, read(first, kDatagramNumber));
    if (read(first, kControlFlag) != 0 && walk.left() >= kControl)
        return static_cast<void>(enter(walk, kind::ucx_ud_control, walk.left()));
    add_data(walk);
}

}  // namespace

bool proves_connection(Bytes message) {
    const bool hardware = read_be<std::uint8_t>(message, 0) == 0;
    const Bytes active = slice(message, hardware ? 1 : 0);
    constexpr std::size_t kMaps = 16;
    if (active.size() < 1 + kWireup + kAddressHead ||
        read_be<std::uint8_t>(active, 0) != static_cast<std::uint8_t>(Active::wireup))
        return false;
    const Bytes said = slice(active, 1);
    constexpr std::uint64_t kRequestType = 1, kAckType = 3, kLastMode = 2;
    const std::uint64_t type = read(said, kWireupType);
    if (type < kRequestType || type > kAckType || read(said, kErrorMode) > kLastMode) return false;
    if (!is_pointer(read(said, kSource)) || !is_pointer(read(said, kDestination))) return false;
    return is_address(slice(said, kWireup)) ||
           (said.size() >= kWireup + kMaps + kAddressHead && is_address(slice(said, kWireup + kMaps)));
}

bool proves_datagrams(Bytes message) {
    if (message.size() < kDatagram + kControl) return false;
    const Bytes control = slice(message, kDatagram);
    constexpr std::uint32_t kToNobody = 0x20ffffff;        // a control message to no endpoint yet
    constexpr std::uint32_t kFirst = 1;                    // sequence number 1, nothing acknowledged
    const auto type = read_le<std::uint32_t>(control, 0);  // with three bytes of zero
    const bool to_nobody =
        read_le<std::uint32_t>(message, 0) == kToNobody && read_le<std::uint32_t>(message, 4) == kFirst;
    const bool answers =
        read(message, kActiveFlag) == 0 && read(message, kControlFlag) == 1 && message.size() == kDatagram + kControl;
    if (!(to_nobody && type == kRequest) && !(answers && type == kReply)) return false;
    return is_name(slice(control, kHost.bit / 8, kHost.width / 8));
}

bool may_be_datagram(Bytes message) {
    if (message.size() < kDatagram) return false;
    if (read(message, kActiveFlag) == 0) return true;
    return std::ranges::find(kActives, read(message, kDatagramNumber), &ValueName::value) != kActives.end();
}

}  // namespace ucx

void ulp::walk_ucx(Walk& walk, const UlpHint&) { ucx::walk_message(walk); }
void ulp::walk_ucx_datagram(Walk& walk, const UlpHint&) { ucx::walk_datagram(walk); }

}  // namespace qps::dissect
