// The suite in the world of a stage: a device that a test may kill, and wake again, while virtual time passes.
#pragma once

#include <tests/support/stage_world.hpp>
#include <transport-replay/conformance/suite/suite.hpp>

#include <algorithm>
#include <memory>

namespace qps::tests {

// Whether the device lives: what it gets and sends passes, and its agent answers.
struct Life {
    bool alive = true;
    bool agent_too = true;  // dies with the device
    std::size_t renewed = 0;
    std::optional<dissect::Duration> back_after{};  // since it died
    std::optional<dissect::Instant> died_at{};
    std::function<bool(const dissect::Packet&)> dies_of{};  // among what it gets

    void die(dissect::Instant now) {
        if (!alive) return;
        alive = false;
        died_at = now;
    }
    void wake(dissect::Instant now) {
        if (!alive && back_after && now - *died_at >= *back_after) alive = true;
    }
};

class SuiteWorld {
public:
    explicit SuiteWorld(Life wanted = {}, StageWish wish = {})
        : life(std::make_shared<Life>(std::move(wanted))),
          with_agent_(wish.with_agent),
          world_(damaged(std::move(wish))) {}

    transport::conformance::Report run(transport::conformance::SuiteSettings settings) {
        settings.stage.device = transport::live::ipv4_address(0xc0000201);
        suite = std::make_unique<transport::conformance::Suite>(
            std::move(settings),
            with_agent_ ? mortal(world_.device_agent->channel()) : transport::conformance::stage::AgentChannel{},
            world_.our_agent->channel());
        const dissect::Instant end = world_.now + transport::microseconds(3'600'000'000);
        suite->begin(world_.tester, world_.now);
        while (!suite->done() && world_.now < end) {
            if (stop_when && stop_when()) suite->stop(world_.tester, world_.now);
            life->wake(world_.now);
            world_.turn(*suite);
        }
        return suite->take_report();
    }

    std::shared_ptr<Life> life;
    std::unique_ptr<transport::conformance::Suite> suite;
    std::function<bool()> stop_when{};

private:
    StageWish damaged(StageWish wish) {
        const auto passes_then = [life = life](Alter then) {
            return [life, then = std::move(then)](FrameBytes frame) {
                std::vector<FrameBytes> frames;
                if (life->alive && then) return then(std::move(frame));
                if (life->alive) frames.push_back(std::move(frame));
                return frames;
            };
        };
        const auto passes = passes_then(wish.damage.in);
        wish.damage.out = passes_then(wish.damage.out);
        wish.damage.in = [passes, this](FrameBytes frame) {
            dissect::Packet packet;
            dissect::Frame whole;
            whole.bytes = frame;
            whole.wire_length = static_cast<std::uint32_t>(frame.size());
            dissect::decode(whole, packet);
            if (life->dies_of && packet.has_transport() && life->dies_of(packet)) life->die(world_.now);
            return passes(std::move(frame));
        };
        return wish;
    }
    transport::conformance::stage::AgentChannel mortal(transport::conformance::stage::AgentChannel channel) {
        const auto hears = [life = life] { return life->alive || !life->agent_too; };
        return {.ask = channel.ask,
                .take_answer =
                    [channel, hears](std::uint32_t sequence) {
                        return hears() ? channel.take_answer(sequence) : std::nullopt;
                    },
                .problem = channel.problem,
                .renew = [life = life] { ++life->renewed; }};
    }

    bool with_agent_;
    StageWorld world_;
};

}  // namespace qps::tests
