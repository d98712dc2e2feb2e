#include <algorithm>
#include <array>
#include <cerrno>

#include <agent/clients.hpp>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

namespace qps::agent {

namespace {

// Within kPatienceReading, all of it.
bool send_all(int socket, std::string_view text) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(kPatienceReading);
    while (!text.empty()) {
        const ssize_t sent = send(socket, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent > 0) {
            text.remove_prefix(static_cast<std::size_t>(sent));
            continue;
        }
        if (sent == 0 || (errno != EAGAIN && errno != EINTR)) return false;
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
        pollfd waited{socket, POLLOUT, 0};
        if (left <= 0 || (poll(&waited, 1, static_cast<int>(left)) <= 0 && errno != EINTR)) return false;
    }
    return true;
}

// To who has no place: what the socket takes at once.
void send_text(int socket, std::string_view text) {
    static_cast<void>(send(socket, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
}

}  // namespace

void Clients::serve(const volatile std::sig_atomic_t& stopped) {
    while (stopped == 0) {
        wait();
        if (agent_) agent_->attend();
        greet();
        tend_door();
        if (client_) serve_client(stopped);
    }
    if (client_) leave();
}

void Clients::wait() {
    std::vector<pollfd> waited{pollfd{listener_.get(), POLLIN, 0}};
    for (const Caller& each : door_) waited.push_back({each.socket.get(), POLLIN, 0});
    if (client_)
        for (const int each : {client_->socket.get(), agent_->cm_descriptor(), agent_->async_descriptor()})
            waited.push_back({each, POLLIN, 0});
    const bool nobody = door_.empty() && !client_;
    static_cast<void>(poll(waited.data(), waited.size(), nobody ? -1 : 1000));  // somebody may be silent for too long
}

void Clients::greet() {
    pollfd waited{listener_.get(), POLLIN, 0};
    while (poll(&waited, 1, 0) > 0) {
        Descriptor socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (socket.get() < 0) return;
        const int on = 1;
        setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        if (door_.size() >= kMostAtDoor) door_.erase(door_.begin());  // the oldest: it had its time
        door_.push_back({std::move(socket), Door(secret_), {}, Clock::now()});
    }
}

bool Clients::hear(Caller& caller) {
    std::array<char, 16'384> room{};
    const ssize_t got = recv(caller.socket.get(), room.data(), room.size(), MSG_DONTWAIT);
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    caller.heard.append(room.data(), static_cast<std::size_t>(got));
    return got > 0;
}

// The next that is not empty.
std::optional<std::string> Clients::take_line(Caller& caller) {
    for (;;) {
        const std::size_t end = caller.heard.find('\n');
        if (end == std::string::npos) return std::nullopt;
        std::string line = caller.heard.substr(0, end);
        caller.heard.erase(0, end + 1);
        if (line.find_first_not_of(" \r") != std::string::npos) return line;
    }
}

void Clients::tend_door() {
    for (auto each = door_.begin(); each != door_.end();) {
        const bool stays = attend(*each) && !silent_for(*each, kPatienceAtDoor);
        each = stays ? std::next(each) : door_.erase(each);
    }
}

bool Clients::attend(Caller& caller) {
    const bool there = hear(caller);
    while (!caller.door.open()) {
        const auto line = take_line(caller);
        if (!line) return there && caller.heard.size() <= kMostLine;
        send_text(caller.socket.get(), caller.door.answer(*line));
        if (caller.door.refused()) return false;
    }
    if (caller.heard.find('\n') == std::string::npos) return there && caller.heard.size() <= kMostLine;
    if (client_ && silent_for(*client_, kIdleIfWanted)) leave();
    if (client_) {
        send_text(caller.socket.get(), write_refusal(0, "EBUSY", "another client is served"));
        return false;
    }
    client_.emplace(std::move(caller));
    client_->since = Clock::now();
    agent_ = std::make_unique<Agent>(device_);
    return false;  // it is no longer at the door
}

void Clients::serve_client(const volatile std::sig_atomic_t& stopped) {
    const bool there = hear(*client_);
    if (!answer_all(stopped) || !there || silent_for(*client_, kIdle)) leave();
}

bool Clients::answer_all(const volatile std::sig_atomic_t& stopped) {
    while (const auto line = take_line(*client_)) {
        if (!send_all(client_->socket.get(), agent_->answer(*line)) || agent_->quitting() || stopped != 0) return false;
        client_->since = Clock::now();
    }
    if (client_->heard.size() <= kMostLine) return true;
    send_text(client_->socket.get(),
              write_refusal(0, kFaultWords[static_cast<std::size_t>(Fault::line)], "longer than any line"));
    return false;
}

void Clients::leave() {
    agent_->reset();
    agent_.reset();
    client_.reset();
}

}  // namespace qps::agent
