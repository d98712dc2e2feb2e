// qpscope-agent: beside a device under test, does what `qpscope conform` asks: one client at a time, over TCP, in lines.
//
// Whoever reaches the port can use the device: it is for test networks. What a client says is bounded by the protocol's table and
// by kMostLine; one that does not read what it is told is given up after kPatience.
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <agent/agent.hpp>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

namespace {

using namespace qps::agent;

constexpr std::string_view kUsage =
    "Usage: qpscope-agent [--device NAME] [--port N] [--gid-index N] [--listen ADDRESS:PORT]\n"
    "\n"
    "Does on an RDMA device of this host what a client asks over TCP, in lines that can be typed: the half of\n"
    "`qpscope conform` that sees memory, completions, states and counters of a device under test.\n"
    "\n"
    "  --device NAME          rxe0, mlx5_0, ... (the first)\n"
    "  --port N               of the device (1)\n"
    "  --gid-index N          of the source address (RoCEv2, of the same kind as where to)\n"
    "  --listen ADDRESS:PORT  where clients connect (all addresses, 7475); [ADDRESS]:PORT for IPv6, :PORT for all\n"
    "\n"
    "Whoever reaches that port may use the device: for test networks.\n";

constexpr int kPatience = 10;  // seconds for a client that does not read

class Descriptor {
public:
    explicit Descriptor(int descriptor = -1) : descriptor_(descriptor) {}
    Descriptor(Descriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(descriptor_, other.descriptor_);
        return *this;
    }
    ~Descriptor() {
        if (descriptor_ >= 0) close(descriptor_);
    }
    [[nodiscard]] int get() const { return descriptor_; }

private:
    int descriptor_;
};

struct Options {
    DeviceChoice device{};
    std::string address{};
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
    if (error != std::errc{} || end != text.data() + text.size() || value > 255) leave(2, option + " is a number up to 255, not " + text);
    return static_cast<std::uint8_t>(value);
}

Options options_of(int count, char** words) {
    Options options;
    for (int i = 1; i < count; ++i) {
        std::string option = words[i];
        if (option == "--help" || option == "-h") {
            std::fwrite(kUsage.data(), 1, kUsage.size(), stdout);
            std::exit(0);
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
            const std::size_t colon = value.rfind(':');
            if (colon == std::string::npos) leave(2, "--listen wants ADDRESS:PORT");
            options.address = value.substr(0, colon);
            options.port = value.substr(colon + 1);
            if (options.address.starts_with('[') && options.address.ends_with(']'))
                options.address = options.address.substr(1, options.address.size() - 2);
        } else {
            leave(2, "unknown option " + option + "; see --help");
        }
    }
    return options;
}

Descriptor listener_at(const Options& options) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV;
    addrinfo* found = nullptr;
    const int error = getaddrinfo(options.address.empty() ? nullptr : options.address.c_str(), options.port.c_str(), &hints, &found);
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

bool send_all(int socket, std::string_view text) {
    while (!text.empty()) {
        const ssize_t sent = send(socket, text.data(), text.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

Descriptor accept_from(int listener) {
    Descriptor socket(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
    if (socket.get() < 0) return socket;
    const int on = 1;
    const timeval patience{.tv_sec = kPatience, .tv_usec = 0};
    setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    return socket;
}

// False: the client is gone, or is to go.
bool answer_what_came(Agent& agent, int client, std::string& heard) {
    std::array<char, 16'384> room{};
    const ssize_t got = recv(client, room.data(), room.size(), MSG_DONTWAIT);
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    if (got == 0) return false;
    heard.append(room.data(), static_cast<std::size_t>(got));
    std::size_t begin = 0;
    for (std::size_t end = heard.find('\n'); end != std::string::npos; end = heard.find('\n', begin)) {
        const std::string_view line = std::string_view(heard).substr(begin, end - begin);
        begin = end + 1;
        if (line.find_first_not_of(" \r") == std::string_view::npos) continue;
        if (!send_all(client, agent.answer(line)) || agent.quitting() || stopped != 0) return false;
    }
    heard.erase(0, begin);
    if (heard.size() <= kMostLine) return true;
    static_cast<void>(send_all(client, write_refusal(0, kFaultWords[static_cast<std::size_t>(Fault::line)], "longer than any line")));
    return false;
}

// Another client meanwhile is told so.
void serve(Device& device, int listener, const Descriptor& client) {
    Agent agent(device);
    std::string heard;
    while (stopped == 0) {
        std::array waited{pollfd{client.get(), POLLIN, 0}, pollfd{listener, POLLIN, 0}, pollfd{agent.cm_descriptor(), POLLIN, 0},
                          pollfd{agent.async_descriptor(), POLLIN, 0}};
        if (poll(waited.data(), waited.size(), -1) < 0) continue;
        agent.attend();
        if (waited[1].revents != 0) {
            const Descriptor other = accept_from(listener);
            if (other.get() >= 0) static_cast<void>(send_all(other.get(), write_refusal(0, "EBUSY", "another client is served")));
        }
        if (waited[0].revents != 0 && !answer_what_came(agent, client.get(), heard)) break;
    }
    agent.reset();
}

}  // namespace

int main(int count, char** words) {
    const Options options = options_of(count, words);
    std::string why;
    const std::unique_ptr<Device> device = Device::open(options.device, why);
    if (!device) leave(1, why);
    const Descriptor listener = listener_at(options);
    struct sigaction action{};
    action.sa_handler = stop;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    const rlimit unlimited{.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
    setrlimit(RLIMIT_MEMLOCK, &unlimited);  // where it may: regions are locked memory
    std::printf("qpscope-agent: %s, port %u, at %s:%s\n", ibv_get_device_name(device->context()->device), unsigned{device->port()},
                options.address.c_str(), options.port.c_str());
    std::fflush(stdout);
    while (stopped == 0) {
        const Descriptor client = accept_from(listener.get());
        if (client.get() >= 0) serve(*device, listener.get(), client);
    }
    return 0;
}
