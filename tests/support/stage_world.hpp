// A tester and a device on a simulated link under virtual time: the stage with our own adapter behind it, and at the
// other end an endpoint with an agent, whose frames a test may damage on their way out and in.
#pragma once

#include <tests/support/damage.hpp>
#include <tests/support/lying_agent.hpp>
#include <transport-replay/conformance/agent/agent_client.hpp>
#include <transport-replay/conformance/agent/agent_over_verbs.hpp>
#include <transport-replay/conformance/stage/stage.hpp>
#include <transport-replay/live/device/sim_device.hpp>

namespace qps::tests {

// An agent, whom a client asks without a network between.
struct DirectAgent {
    transport::conformance::agent::AgentOverVerbs agent;
    transport::conformance::agent::AgentClient client;

    // Whether something was said.
    bool turn(transport::live::Endpoint& endpoint, dissect::Instant now) {
        const std::vector<std::byte> asked = client.take_output();
        heard.append(reinterpret_cast<const char*>(asked.data()), asked.size());
        for (std::size_t end = heard.find('\n'); end != std::string::npos; end = heard.find('\n')) {
            agent.hear(heard.substr(0, end + 1), endpoint, now);
            heard.erase(0, end + 1);
        }
        agent.poll(endpoint, now);
        const std::string said = agent.take_output();
        client.process(std::as_bytes(std::span(said)));
        return !asked.empty() || !said.empty();
    }
    [[nodiscard]] transport::conformance::stage::AgentChannel channel() {
        return {.ask = [this](const transport::conformance::agent::Request& request) { return client.ask(request); },
                .take_answer = [this](std::uint32_t sequence) { return client.take_answer(sequence); },
                .problem = [this] { return client.problem(); }};
    }

    std::string heard;
};

struct StageWish {
    transport::conformance::stage::StageSettings settings{};
    Damage damage{};  // of the device's frames
    Lie lie{};        // of its agent
    bool with_agent = true;
    bool ipv6 = false;
    std::uint64_t seed = 1;
};

class StageWorld {
public:
    explicit StageWorld(StageWish wish = {})
        : wire(transport::live::make_wire(
              {.seed = wish.seed, .delay = transport::microseconds(2), .a_to_b = {}, .b_to_a = {}}, {}, now)),
          device(DamagingDevice(transport::live::open_sim_device(wire, transport::End::a), std::move(wish.damage)),
                 settings_of(1), now),
          tester(transport::live::open_sim_device(wire, transport::End::b), settings_of(2), now),
          device_agent(std::make_unique<DirectAgent>()),
          our_agent(std::make_unique<DirectAgent>()),
          stage(with_address(wish),
                wish.with_agent ? lying(device_agent->channel(), wish.lie)
                                : transport::conformance::stage::AgentChannel{},
                our_agent->channel()) {}
    ~StageWorld() {
        device_agent->agent.reset(device, now);
        our_agent->agent.reset(tester, now);
    }

    // Plays the script to its end; virtual time passes.
    transport::conformance::stage::ScriptOutcome run(const transport::conformance::script::Script& script) {
        stage.begin(script, tester, now);
        const dissect::Instant end = now + transport::microseconds(600'000'000);
        for (std::size_t turns = 0; !stage.done() && now < end && turns < 2'000'000; ++turns) turn(stage);
        return stage.take_outcome();
    }
    // `played`: the stage, or what has stages of its own.
    template <class Played> void turn(Played& played) {
        device.poll(now);
        const bool answered = device_agent->turn(device, now);
        device.depart(now);
        tester.arrive(now);
        const bool answered_us = our_agent->turn(tester, now);
        played.poll(tester, now);
        const bool asked = device_agent->turn(device, now);
        const bool asked_us = our_agent->turn(tester, now);
        tester.depart(now);
        if (answered || answered_us || asked || asked_us) return;  // an answer takes no time
        std::optional<dissect::Instant> due;
        for (const auto& at : {device.poll_at(), tester.poll_at(), device_agent->agent.poll_at(),
                               our_agent->agent.poll_at(), played.poll_at()})
            if (at && (!due || *at < *due)) due = at;
        const dissect::Instant next = due.value_or(now + transport::microseconds(1000));
        now = std::max(next, now);
        if (next <= before_) ++still_;
        else still_ = 0;
        if (still_ > 50'000) now = now + transport::microseconds(1);
        before_ = now;
    }

    dissect::Instant now{1'700'000'000'000'000'000};
    std::shared_ptr<transport::live::SimWire> wire;
    transport::live::Endpoint device;
    transport::live::Endpoint tester;
    std::unique_ptr<DirectAgent> device_agent;
    std::unique_ptr<DirectAgent> our_agent;
    transport::conformance::stage::Stage stage;

private:
    static transport::conformance::stage::StageSettings with_address(const StageWish& wish) {
        auto settings = wish.settings;
        settings.device = wish.ipv6 ? transport::live::ipv6_address(0x2001'0db8'0000'0000, 1)
                                    : transport::live::ipv4_address(0xc0000201);
        settings.seed = wish.seed;
        return settings;
    }
    static transport::live::EndpointSettings settings_of(std::uint32_t last) {
        return {.host = {.mac = transport::live::Mac{0x0200'0000'0000ULL + last},
                         .addresses = {{transport::live::ipv4_address(0xc0000200 + last), 24},
                                       {transport::live::ipv6_address(0x2001'0db8'0000'0000, last), 64}},
                         .mtu = 4200,
                         .detect_duplicates = false},
                .adapter = {.dcqcn = transport::verbs::DcqcnSettings{}},
                .seed = last};
    }

    dissect::Instant before_{};
    std::size_t still_ = 0;
};

}  // namespace qps::tests
