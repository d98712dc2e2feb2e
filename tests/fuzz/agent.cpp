// Fuzzer of the agent's protocol: lines of a client to an agent over our own adapter, and lines of an agent to a
// client. An agent answers a line for a line, with no more than a line may have; a client ends with a problem or with
// answers to what it asked.
//
// The input: a byte that says which, then lines.
#include <dissect/base/types.hpp>
#include <transport-replay/conformance/agent/agent_client.hpp>
#include <transport-replay/conformance/agent/agent_over_verbs.hpp>
#include <transport-replay/live/device/sim_device.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

using namespace qps::transport;
using namespace qps::transport::live;
using namespace qps::transport::conformance::agent;
using qps::dissect::Instant;

namespace {

void demand(bool holds) {
    if (!holds) std::abort();
}

live::Endpoint endpoint_of(std::uint64_t last, const std::shared_ptr<SimWire>& wire, End end, Instant now) {
    return live::Endpoint(open_sim_device(wire, end),
                          {.host = {.mac = Mac{0x0200'0000'0000 + last},
                                    .addresses = {{ipv4_address(0xc0000200 + static_cast<std::uint32_t>(last)), 24}},
                                    .detect_duplicates = false},
                           .seed = last},
                          now);
}

// Every line is given to one of two agents, which can reach each other.
void serve(std::string_view lines) {
    Instant now{1'700'000'000'000'000'000};
    const auto wire = make_wire({.seed = 1, .delay = microseconds(2), .a_to_b = {}, .b_to_a = {}}, {}, now);
    std::array endpoints{endpoint_of(1, wire, End::a, now), endpoint_of(2, wire, End::b, now)};
    std::array<AgentOverVerbs, 2> agents;
    std::size_t asked = 0;
    std::size_t answered = 0;
    const auto tend = [&] {
        for (std::size_t i = 0; i < agents.size(); ++i) {
            endpoints[i].poll(now);
            agents[i].poll(endpoints[i], now);
            const std::string out = agents[i].take_output();
            answered += static_cast<std::size_t>(std::ranges::count(out, '\n'));
            demand(out.size() <= kMostLine * 2 * (asked + 1));
        }
        now = now + microseconds(500);
    };
    for (std::size_t begin = 0; begin < lines.size() && asked < 200;) {
        const std::size_t end = std::min(lines.find('\n', begin), lines.size());
        const std::string_view line = lines.substr(begin, end - begin);
        begin = end + 1;
        const std::size_t which = asked % 2;
        if (agents[which].quitting() || line.find_first_not_of(" \r\n") == std::string_view::npos) continue;
        agents[which].hear(line, endpoints[which], now);
        ++asked;
        for (int turns = 0; turns < 4; ++turns) tend();
    }
    // A wait is over after kLongestWait at the latest.
    for (std::size_t left = asked; left > 0 && answered < asked; --left) {
        now = now + microseconds(static_cast<std::int64_t>(kLongestWait) * 1000);
        tend();
    }
    demand(answered <= asked);
    for (std::size_t i = 0; i < agents.size(); ++i) {
        demand(answered == asked || agents[i].quitting() || agents[1 - i].quitting());
        agents[i].reset(endpoints[i], now);
    }
}

void listen(std::string_view lines) {
    AgentClient client;
    std::vector<std::uint32_t> asked;
    for (std::size_t verb = 0; verb < kVerbCount; ++verb) asked.push_back(client.ask({static_cast<Verb>(verb), {}}));
    client.process(std::as_bytes(std::span(lines)));
    std::size_t answers = 0;
    for (const std::uint32_t each : asked) {
        const auto answer = client.take_answer(each);
        if (!answer) continue;
        ++answers;
        for (const Field& field : answer->fields.all())
            if (field.key == Key::wc) static_cast<void>(parse_completion(field.text));
    }
    demand(answers + client.open() == asked.size());
    client.closed();
    demand(client.awaits() == Awaits::nothing);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view lines(reinterpret_cast<const char*>(data) + 1, size - 1);
    if ((data[0] & 1) != 0) serve(lines);
    else listen(lines);
    return 0;
}
