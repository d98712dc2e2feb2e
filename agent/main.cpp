// qpscope-agent: beside a device under test, does what `qpscope conform` asks: one client after the other, over TCP, in
// lines.
//
// A client can use the device, and read what is registered through it: it listens to this machine alone, unless its
// user gives it a secret, or tells it to do without (docs/security.md). clients.hpp says what a stranger can do to it.
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <agent/clients.hpp>
#include <netdb.h>
#include <sys/resource.h>
#include <sys/socket.h>

namespace {

using namespace qps::agent;

constexpr std::string_view kUsage =
    "Usage: qpscope-agent [--device NAME] [--port N] [--gid-index N] [--listen ADDRESS[:PORT]] [--secret FILE | --insecure]\n"
    "\n"
    "Uses an RDMA device of this host for a client over TCP: the part of `qpscope conform` that sees memory, completions,\n"
    "states and counters of a device under test. Requests are lines of text.\n"
    "\n"
    "  --device NAME            Use this device: rxe0, mlx5_0, ... (default: the first)\n"
    "  --port N                 Use this port of the device (default: 1)\n"
    "  --gid-index N            Use this source GID (default: of RoCEv2, in the address family of the peer)\n"
    "  --listen ADDRESS[:PORT]  Listen on this address (default: 127.0.0.1:7475); [ADDRESS]:PORT for IPv6; 0.0.0.0 or [::]: all\n"
    "  --secret FILE            Serve only clients that know the secret in FILE, which only you can read: openssl rand -hex 32\n"
    "  --insecure               Serve other machines without a secret\n"
    "\n"
    "A client can use the device: clients on other machines need a secret, or --insecure on a network of your own.\n";

struct Options {
    DeviceChoice device{};
    std::string address = "127.0.0.1";
    std::string secret{};
    bool insecure = false;
    std::string port = std::to_string(kAgentPort);
};

volatile std::sig_atomic_t stopped = 0;
void stop(int) { stopped = 1; }

[[noreturn]] void leave(int code, const std::string& why) {
    std::fprintf(stderr, "qpscope-agent: %s\n", why.c_str());
    std::exit(code);
}

std::uint8_t small_number(const std::string& option, const std::string& text) {
    unsigned value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value > 255)
        leave(2, option + " is a number up to 255, not " + text);
    return static_cast<std::uint8_t>(value);
}

// ADDRESS, ADDRESS:PORT, [ADDRESS]:PORT, or an address of IPv6.
void read_listen(const std::string& value, Options& options) {
    const std::size_t colon = value.rfind(':');
    const bool has_port = colon != std::string::npos && (value.find(':') == colon || value[colon - 1] == ']');
    options.address = value.substr(0, has_port ? colon : std::string::npos);
    if (has_port) options.port = value.substr(colon + 1);
    if (options.address.starts_with('[') && options.address.ends_with(']'))
        options.address = options.address.substr(1, options.address.size() - 2);
    if (options.address.empty() || options.port.empty())
        leave(2, "--listen wants ADDRESS or ADDRESS:PORT; 0.0.0.0 and [::] are all");
}

Options options_of(int count, char** words) {
    Options options;
    for (int i = 1; i < count; ++i) {
        std::string option = words[i];
        if (option == "--help" || option == "-h") {
            std::fwrite(kUsage.data(), 1, kUsage.size(), stdout);
            std::exit(0);
        }
        if (option == "--insecure") {
            options.insecure = true;
            continue;
        }
        std::string value;
        if (const std::size_t equals = option.find('='); equals != std::string::npos) {
            value = option.substr(equals + 1);
            option.resize(equals);
        } else if (i + 1 < count) {
            value = words[++i];
        } else {
            leave(2, option + " wants a value, or is unknown; see --help");
        }
        if (option == "--device") options.device.device = value;
        else if (option == "--port") options.device.port = small_number(option, value);
        else if (option == "--gid-index") options.device.gid_index = small_number(option, value);
        else if (option == "--listen") {
            read_listen(value, options);
        } else if (option == "--secret") {
            std::string why;
            auto secret = read_secret(value, why);
            if (!secret) leave(2, why);
            options.secret = std::move(*secret);
        } else {
            leave(2, "unknown option " + option + "; see --help");
        }
    }
    if (options.secret.empty() && !options.insecure && !is_loopback(options.address))
        leave(2, "every host that reaches " + options.address +
                     " could use the device: give a secret (--secret FILE) or --insecure");
    return options;
}

Descriptor listener_at(const Options& options) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV;
    addrinfo* found = nullptr;
    const int error = getaddrinfo(options.address.c_str(), options.port.c_str(), &hints, &found);
    if (error != 0) leave(2, options.address + ":" + options.port + ": " + gai_strerror(error));
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> held(found, freeaddrinfo);
    int why = 0;
    for (const int family : {AF_INET6, AF_INET}) {  // all IPv6 addresses hold those of IPv4 too
        for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
            if (each->ai_family != family) continue;
            Descriptor socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
            const int on = 1;
            if (socket.get() < 0) continue;
            setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
            if (bind(socket.get(), each->ai_addr, each->ai_addrlen) == 0 && listen(socket.get(), 4) == 0) return socket;
            why = errno;
        }
    }
    leave(1, "port " + options.port + " cannot be listened at: " + std::strerror(why));
}

}  // namespace

int main(int count, char** words) {
    const Options options = options_of(count, words);
    std::string why;
    const std::unique_ptr<Device> device = Device::open(options.device, why);
    if (!device) leave(1, why);
    Descriptor listener = listener_at(options);
    struct sigaction action{};
    action.sa_handler = stop;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    const rlimit unlimited{.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
    setrlimit(RLIMIT_MEMLOCK, &unlimited);  // where it may: regions are locked memory
    std::printf("qpscope-agent: %s, port %u, at %s:%s, %s\n", ibv_get_device_name(device->context()->device),
                unsigned{device->port()}, options.address.c_str(), options.port.c_str(),
                options.secret.empty() ? "WITHOUT a secret" : "with a secret");
    std::fflush(stdout);
    Clients(*device, std::move(listener), options.secret).serve(stopped);
    return 0;
}
