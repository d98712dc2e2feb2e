// Clients: who connects to the agent, one after the other, and the one that is served.
//
// A stranger may connect and say anything, or nothing. Who connects stands at the door (door.hpp), where there are
// kMostAtDoor places and kPatienceAtDoor; who has passed it and asks for something has the device, alone, until it goes
// or is silent for too long. Lines are bounded by kMostLine; a client that does not read an answer is given up after
// kPatienceReading.
#pragma once

#include <transport-replay/conformance/agent/door.hpp>

#include <chrono>
#include <csignal>
#include <memory>
#include <optional>
#include <vector>

#include <agent/agent.hpp>
#include <unistd.h>

namespace qps::agent {

using namespace qps::transport::conformance::agent;

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

class Clients {
public:
    Clients(Device& device, Descriptor listener, std::string secret)
        : device_(device), listener_(std::move(listener)), secret_(std::move(secret)) {}

    // Serves until it is stopped.
    void serve(const volatile std::sig_atomic_t& stopped);

private:
    using Clock = std::chrono::steady_clock;
    struct Caller {
        Descriptor socket;
        Door door;
        std::string heard{};        // at most kMostLine and what one recv() gives
        Clock::time_point since{};  // it connected; of the client: it was last answered
    };
    void wait();
    void greet();
    void tend_door();
    // False: it is gone, or is to go.
    [[nodiscard]] bool attend(Caller& caller);
    void serve_client(const volatile std::sig_atomic_t& stopped);
    [[nodiscard]] bool answer_all(const volatile std::sig_atomic_t& stopped);
    void leave();
    [[nodiscard]] static bool hear(Caller& caller);
    [[nodiscard]] static std::optional<std::string> take_line(Caller& caller);
    [[nodiscard]] static bool silent_for(const Caller& caller, int seconds) {
        return Clock::now() - caller.since >= std::chrono::seconds(seconds);
    }

    Device& device_;
    Descriptor listener_;
    std::string secret_;
    std::vector<Caller> door_;  // in the order in which they came
    std::optional<Caller> client_;
    std::unique_ptr<Agent> agent_;  // the client's
};

}  // namespace qps::agent
