// A tester and an NVMe target of ours on a simulated link under virtual time, without agents.
#pragma once

#include <tests/support/damage.hpp>
#include <tests/support/nvme_target.hpp>
#include <transport-replay/conformance/nvme/nvme_scripts.hpp>
#include <transport-replay/conformance/suite/suite.hpp>
#include <transport-replay/live/device/sim_device.hpp>

namespace qps::tests {

class NvmeWorld {
public:
    static constexpr transport::Address kTarget = transport::live::ipv4_address(0xc0000201);

    explicit NvmeWorld(NvmeNeglect neglect = {}, Damage damage = {}, bool serves = true)
        : wire_(transport::live::make_wire({.seed = 1, .delay = transport::microseconds(2), .a_to_b = {}, .b_to_a = {}},
                                           {}, now)),
          device(DamagingDevice(transport::live::open_sim_device(wire_, transport::End::a), std::move(damage)),
                 settings_of(1), now),
          tester(transport::live::open_sim_device(wire_, transport::End::b), settings_of(2), now),
          target(neglect) {
        if (serves) target.begin(device);
    }
    ~NvmeWorld() { target.close(device, now); }

    static transport::conformance::stage::StageSettings settings() {
        return {.device = kTarget,
                .patience = transport::conformance::nvme::kPatience,
                .port = transport::live::IpPort{transport::conformance::nvme::kUsualPort}};
    }
    transport::conformance::stage::ScriptOutcome run(const transport::conformance::script::Script& script) {
        transport::conformance::stage::Stage stage(settings(), {}, {});
        stage.begin(script, tester, now);
        play(stage);
        return stage.take_outcome();
    }
    transport::conformance::Report run(const std::vector<transport::conformance::script::Script>& scripts,
                                       const transport::conformance::script::Script& life) {
        transport::conformance::SuiteSettings wanted{.stage = settings(), .scripts = {}};
        for (const auto& each : scripts) wanted.scripts.push_back(&each);
        wanted.belongs = transport::conformance::is_of_storage;
        wanted.sign_of_life = &life;
        wanted.comes_back = transport::microseconds(1'000'000);
        suite = std::make_unique<transport::conformance::Suite>(std::move(wanted),
                                                                transport::conformance::stage::AgentChannel{},
                                                                transport::conformance::stage::AgentChannel{});
        suite->begin(tester, now);
        play(*suite);
        return suite->take_report();
    }

    dissect::Instant now{1'700'000'000'000'000'000};

private:
    std::shared_ptr<transport::live::SimWire> wire_;

public:
    transport::live::Endpoint device;
    transport::live::Endpoint tester;
    NvmeTarget target;
    std::unique_ptr<transport::conformance::Suite> suite;

private:
    template <class Played> void play(Played& played) {
        const dissect::Instant end = now + transport::microseconds(7'200'000'000);
        while (!played.done() && now < end) {
            device.arrive(now);
            target.poll(device, now);
            device.depart(now);
            tester.arrive(now);
            played.poll(tester, now);
            tester.depart(now);
            std::optional<dissect::Instant> due;
            for (const auto& at : {device.poll_at(), tester.poll_at(), target.poll_at(), played.poll_at()})
                if (at && (!due || *at < *due)) due = at;
            const dissect::Instant before = now;
            now = std::max(now, due.value_or(now + transport::microseconds(1000)));
            still_ = now == before ? still_ + 1 : 0;
            if (still_ > 1000) now = now + transport::microseconds(1);
        }
    }
    static transport::live::EndpointSettings settings_of(std::uint32_t last) {
        return {.host = {.mac = transport::live::Mac{0x0200'0000'0000ULL + last},
                         .addresses = {{transport::live::ipv4_address(0xc0000200 + last), 24}},
                         .mtu = 4200,
                         .detect_duplicates = false},
                .seed = last};
    }

    std::size_t still_ = 0;
};

}  // namespace qps::tests
