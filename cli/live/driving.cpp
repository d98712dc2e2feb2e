#include <cli/input.hpp>
#include <cli/live/driving.hpp>
#include <cli/live/system_addresses.hpp>
#include <cli/message.hpp>
#include <dissect/base/types.hpp>
#include <transport-replay/live/device/capture_tap.hpp>
#include <transport-replay/live/device/fault_injector.hpp>
#include <transport-replay/live/device/fault_text.hpp>
#include <transport-replay/live/device/null_device.hpp>
#include <transport-replay/live/device/packet_ring.hpp>
#include <transport-replay/live/device/pcap_device.hpp>
#include <transport-replay/live/device/tracer.hpp>
#include <transport-replay/live/device/udp_device.hpp>
#include <transport-replay/live/device/xdp_device.hpp>

#include <algorithm>
#include <ctime>
#include <memory>
#include <random>
#include <utility>

#include <fmt/format.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

namespace qps::cli {

using namespace transport;
using namespace transport::live;
using dissect::Duration;
using dissect::Instant;
using live::Endpoint;

namespace {

std::int64_t read_clock(clockid_t which) {
    timespec time{};
    clock_gettime(which, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// Those of one interface.
std::vector<AddressSetting> addresses_of_interface(const std::string& interface) {
    std::vector<AddressSetting> found;
    for (const SystemAddress& each : system_addresses())
        if (each.interface == interface) found.push_back({each.address, each.prefix_length});
    return found;
}

std::optional<std::size_t> mtu_of_interface(const std::string& interface) {
    const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (socket < 0) return std::nullopt;
    ifreq request{};
    interface.copy(request.ifr_name, sizeof request.ifr_name - 1);
    const bool known = ioctl(socket, SIOCGIFMTU, &request) == 0;
    close(socket);
    if (!known) return std::nullopt;
    return static_cast<std::size_t>(request.ifr_mtu);
}

Failure failure_of(const Problem& problem) {
    return {ExitCode::unreadable, fmt::format("{}: {}", problem.device, problem.sentence)};
}

Failure without_address(const WireOptions& options) {
    return {ExitCode::usage, fmt::format("{} has no address: set one with --address", options.interface)};
}

std::expected<Device, Failure> open_bare(const WireOptions& options) {
    const auto hold = [](std::expected<Device, Problem> opened) -> std::expected<Device, Failure> {
        if (!opened) return std::unexpected(failure_of(opened.error()));
        return std::move(*opened);
    };
    if (options.via == Via::udp) {
        if (options.addresses.size() != 1)
            return std::unexpected(
                Failure{ExitCode::usage, "--via udp needs exactly one --address of this machine, such as 127.0.0.1"});
        return hold(open_udp_device(text(options.addresses.front().address)));
    }
    if (options.via == Via::nowhere) return Device(NullDevice(true));
    if (options.interface.empty())
        return std::unexpected(Failure{ExitCode::usage, "missing interface: name one with -i, or use --via udp"});
    const std::string filter = options.unheard.empty() ? "" : fmt::format("not ({})", options.unheard);
    if (options.via == Via::pcap) return hold(open_pcap_device(options.interface, filter));
    if (options.via == Via::xdp) {
        std::vector<Address> ours;
        for (const TypedAddress& typed : options.addresses) ours.push_back(typed.address);
        if (ours.empty())
            for (const AddressSetting& each : addresses_of_interface(options.interface)) ours.push_back(each.address);
        if (ours.empty()) return std::unexpected(without_address(options));
        return hold(open_xdp_device({.interface = options.interface, .addresses = std::move(ours), .filter = filter}));
    }
    return hold(open_packet_ring({.interface = options.interface, .filter = filter}));
}

// The device with everything the options wrap around it: faults, then the capture, then the trace.
struct OpenDevice {
    Device device;
    std::shared_ptr<dissect::SavedCapture> capture;  // where asked for; to be committed at the end
};

// Nearest to the wire is what records and tells, so that it shows what was really there; faults are behind. `mac`: who
// we are.
std::expected<OpenDevice, Failure> wrap(Device device, const WireOptions& options, std::uint64_t mac) {
    OpenDevice opened{.device = std::move(device), .capture = {}};
    if (!options.capture.empty()) {
        auto file = dissect::SavedCapture::open(options.capture, {});
        if (!file)
            return std::unexpected(
                Failure{ExitCode::output_failed, fmt::format("{}: {}", file.error().file, file.error().sentence)});
        opened.capture = std::make_shared<dissect::SavedCapture>(std::move(*file));
        const std::string name = options.interface.empty() ? "udp" : options.interface;
        if (auto described = opened.capture->describe(dissect::InterfaceId{}, dissect::LinkType::ethernet, {}, name);
            !described)
            return std::unexpected(Failure{ExitCode::output_failed,
                                           fmt::format("{}: {}", described.error().file, described.error().sentence)});
        opened.device = CaptureTap(std::move(opened.device),
                                   [file = opened.capture](const dissect::Frame& frame) { return file->write(frame); });
    }
    if (options.trace)
        opened.device = Tracer(std::move(opened.device), [](live::Way way, Instant, std::string_view line) {
            say("{} {}\n", way == live::Way::in ? "<-" : "->", line);
        });
    if (options.faults.empty()) return opened;
    std::string faults;
    for (const std::string& each : options.faults) faults += (faults.empty() ? "" : ",") + each;
    const auto settings = parse_faults(faults);
    if (!settings) return std::unexpected(Failure{ExitCode::usage, settings.error()});
    FaultSettings injected = *settings;
    if (!injected.pauses.empty() && options.via == Via::udp)
        return std::unexpected(
            Failure{ExitCode::usage, "--fault pause sends Ethernet frames: name an interface with -i"});
    injected.pause_source = mac;
    opened.device = inject_faults(std::move(opened.device), injected);
    return opened;
}

std::optional<Duration> until(std::optional<Instant> due, Instant now) {
    if (!due) return std::nullopt;
    return std::max(*due - now, Duration{});
}

std::optional<Instant> earliest(std::initializer_list<std::optional<Instant>> times) {
    std::optional<Instant> first;
    for (const auto& time : times)
        if (time && (!first || *time < *first)) first = time;
    return first;
}

// Until a frame comes, something the program waits for, or the time is there; at most kNap, so that a signal is never
// missed for long.
void sleep_on(int descriptor, std::optional<Duration> longest, const std::vector<Watched>& watched = {}) {
    constexpr Duration kNap{200'000'000};
    const std::int64_t time = static_cast<std::int64_t>(longest ? std::min(*longest, kNap) : kNap);
    if (time == 0) return;
    std::vector<pollfd> all{
        {.fd = descriptor, .events = POLLIN, .revents = 0}};  // a negative one is left out by ppoll()
    for (const Watched& each : watched)
        all.push_back({.fd = each.descriptor,
                       .events = static_cast<short>((each.to_read ? POLLIN : 0) | (each.to_write ? POLLOUT : 0)),
                       .revents = 0});
    const timespec timeout{.tv_sec = time / 1'000'000'000, .tv_nsec = time % 1'000'000'000};
    static_cast<void>(ppoll(all.data(), all.size(), &timeout, nullptr));
}

}  // namespace

ExitCode fail(const Failure& failure) {
    say("qpscope: {}\n", failure.sentence);
    return failure.code;
}

ReservedPort::ReservedPort(const Address& address) {
    constexpr std::uint16_t kRocePort = 4791;
    const bool ipv4 = family_of(address) == Family::ipv4;
    sockaddr_in narrow{
        .sin_family = AF_INET, .sin_port = htons(kRocePort), .sin_addr = {htonl(ipv4_bits(address))}, .sin_zero = {}};
    sockaddr_in6 wide{};
    wide.sin6_family = AF_INET6;
    wide.sin6_port = htons(kRocePort);
    const dissect::MutableBytes bytes = std::as_writable_bytes(std::span(wide.sin6_addr.s6_addr));
    dissect::write_bits(bytes, 0, 64, address.bits[0]);
    dissect::write_bits(bytes, 64, 64, address.bits[1]);
    descriptor_ = socket(ipv4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const auto* name = ipv4 ? reinterpret_cast<const sockaddr*>(&narrow) : reinterpret_cast<const sockaddr*>(&wide);
    const socklen_t length = ipv4 ? sizeof narrow : sizeof wide;
    if (descriptor_ < 0 || bind(descriptor_, name, length) == 0) return;
    close(descriptor_);
    descriptor_ = -1;
}

ReservedPort::~ReservedPort() {
    if (descriptor_ >= 0) close(descriptor_);
}

namespace {

bool has(const std::vector<AddressSetting>& all, const Address& address) {
    return std::ranges::any_of(all, [&](const AddressSetting& each) { return each.address == address; });
}

// A MAC address of our own, locally administered, made of the address so that two peers on a wire differ.
Mac mac_for(const Address& address) { return Mac{0x0251'0000'0000 | (address.bits[1] & 0xffff'ffff)}; }

// The longest IP packet: as the interface says, if the device carries it. Where that costs path MTU, the user is told.
std::size_t mtu_for(const WireOptions& options, const DeviceLimits& limits) {
    constexpr std::size_t kTags = 8;  // two VLAN tags
    const auto whole = mtu_of_interface(options.interface);
    if (!whole) return limits.frame_bytes - kEthernetHeader;
    const std::size_t carried = std::min(*whole, limits.frame_bytes - kEthernetHeader - kTags);
    const auto wanted = std::min(path_mtu_of(*whole), std::optional(options.mtu.value_or(PathMtu::bytes_4096)));
    if (const auto possible = path_mtu_of(carried); wanted && possible && *possible < *wanted)
        say("qpscope: {}: frames of at most {} bytes can go this way: path MTU {} instead of {}\n", options.interface,
            limits.frame_bytes, bytes_of(*possible), bytes_of(*wanted));
    return carried;
}

// Who we are on the wire: an address of the system's is shared with it, any other is ours alone.
std::expected<HostSettings, Failure> identity(const WireOptions& options, const DeviceLimits& limits) {
    const std::vector<AddressSetting> systems = addresses_of_interface(options.interface);
    HostSettings host{.mac = Mac{limits.mac}, .vlan = options.vlan};
    host.mtu = mtu_for(options, limits);
    for (const Address& gateway : options.gateways)
        (family_of(gateway) == Family::ipv4 ? host.gateway_ipv4 : host.gateway_ipv6) = gateway;
    std::size_t shared = 0;
    for (const TypedAddress& typed : options.addresses) {
        const std::uint8_t usual = family_of(typed.address) == Family::ipv4 ? 24 : 64;
        host.addresses.push_back({typed.address, typed.prefix_length.value_or(usual)});
        if (has(systems, typed.address)) ++shared;
    }
    if (limits.resolves_addresses) {
        host.owner = AddressOwner::device;
    } else if (host.addresses.empty()) {
        host.addresses = systems;
        host.owner = AddressOwner::system;
        if (systems.empty()) return std::unexpected(without_address(options));
    } else if (shared == host.addresses.size()) {
        host.owner = AddressOwner::system;
    } else if (shared > 0) {
        return std::unexpected(
            Failure{ExitCode::usage, "conflicting addresses: either all of them belong to the system, or none"});
    } else {
        host.mac = options.mac.value_or(mac_for(host.addresses.front().address));
    }
    if (options.mac) host.mac = *options.mac;
    return host;
}

// A peer that knew an earlier run of ours takes a queue pair number it still has for a stale connection (12.9.8.3.1),
// so that numbers must not begin anew with every start.
dissect::Qpn random_first_qp() {
    constexpr std::uint32_t kFirst = 0x100;    // above what adapters keep for themselves
    constexpr std::uint32_t kLast = 0x7fffff;  // as many again are left to count upwards from here
    return dissect::Qpn{kFirst + std::random_device{}() % (kLast - kFirst + 1)};
}

}  // namespace

std::expected<OpenEndpoint, Failure> open_endpoint(const WireOptions& options, Instant now) {
    auto bare = open_bare(options);
    if (!bare) return std::unexpected(bare.error());
    auto host = identity(options, bare->limits());
    if (!host) return std::unexpected(host.error());
    auto opened = wrap(std::move(*bare), options, std::to_underlying(host->mac));
    if (!opened) return std::unexpected(opened.error());
    EndpointSettings settings{
        .host = *host, .roce_v1 = options.roce_v1, .dscp = options.dscp, .priority = options.priority};
    settings.seed = options.seed.value_or(std::random_device{}());
    settings.obey_pauses = options.obey_pauses;
    settings.link_speed = options.link_speed;
    if (!options.seed) settings.adapter.first_qp = random_first_qp();
    if (options.mtu) settings.adapter.mtu = *options.mtu;
    if (options.rate_control == RateControlWord::dcqcn) settings.adapter.dcqcn = verbs::DcqcnSettings{};
    if (options.rate_control == RateControlWord::rtt) settings.adapter.timely = verbs::TimelySettings{};
    OpenEndpoint result{.endpoint = Endpoint(std::move(opened->device), settings, now),
                        .capture = std::move(opened->capture),
                        .reserved = {},
                        .addresses = {},
                        .of_system = host->owner != AddressOwner::us};
    for (const AddressSetting& each : host->addresses) {
        result.addresses.push_back(each.address);
        if (host->owner == AddressOwner::system) result.reserved.emplace_back(each.address);
    }
    return result;
}

SteadyTime::SteadyTime() : start_{read_clock(CLOCK_REALTIME)}, monotonic_start_(read_clock(CLOCK_MONOTONIC)) {}

ProcessTime processor_time() {
    rusage usage{};
    static_cast<void>(getrusage(RUSAGE_SELF, &usage));
    const std::int64_t kernel =
        std::int64_t{usage.ru_stime.tv_sec} * 1'000'000'000 + std::int64_t{usage.ru_stime.tv_usec} * 1000;
    return {.worked = Duration{read_clock(CLOCK_PROCESS_CPUTIME_ID)}, .kernel = Duration{kernel}};
}

Instant SteadyTime::now() const { return start_ + Duration{read_clock(CLOCK_MONOTONIC) - monotonic_start_}; }

std::expected<void, Failure> settle(Endpoint& endpoint, const SteadyTime& clock) {
    while (!endpoint.host().settled() && !interrupted()) {
        const Instant now = clock.now();
        endpoint.poll(now);
        sleep_on(endpoint.device().descriptor(), until(endpoint.poll_at(), now));
    }
    for (const OwnAddress& own : endpoint.host().addresses())
        if (own.state == AddressState::duplicate)
            return std::unexpected(
                Failure{ExitCode::unreadable, fmt::format("address {} is in use by another host", text(own.address))});
    return {};
}

Ending drive(Endpoint& endpoint, Program& program, const WireOptions& options, const SteadyTime& clock,
             const std::function<void(Instant)>& show) {
    Instant now = clock.now();
    const std::optional<Instant> end = options.lasts ? std::optional(now + *options.lasts) : std::nullopt;
    std::optional<Instant> farewell;
    Ending ending = Ending::done;
    while (!program.done()) {
        now = clock.now();
        endpoint.arrive(now);
        program.poll(endpoint, now);
        endpoint.depart(now);
        show(now);
        if (endpoint.device().problem()) return Ending::device_gone;
        const bool over = end && now >= *end;
        if (!farewell && (interrupted() || over)) {
            ending = interrupted() ? Ending::interrupted : Ending::time_is_up;
            farewell = now + kFarewell;
            program.stop(endpoint, now);
        }
        if (farewell && now >= *farewell) break;
        if (options.busy || program.done()) continue;
        const auto due = earliest({endpoint.poll_at(), program.poll_at(), farewell ? farewell : end});
        sleep_on(endpoint.device().descriptor(), until(due, now), program.watched());
    }
    endpoint.poll(clock.now());  // what the farewell still has to say
    show(now);
    return ending;
}

}  // namespace qps::cli
