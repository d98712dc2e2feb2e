#include <tests/court/exhibits.hpp>
#include <tests/court/stage.hpp>
#include <tests/support/sample_captures.hpp>

#include <cstdlib>

#include <fmt/format.h>

namespace qps::court {

using namespace transport;

namespace {

constexpr std::uint64_t kSimulatedExhibits = 12;

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

}  // namespace

bool everything_is_wanted() { return variable("QPSCOPE_COURT") == "all"; }
bool folder_is_given() { return !variable(kFolderVariable).empty(); }

std::vector<Exhibit> exhibits() {
    std::vector<Exhibit> out;
    const auto take = [&](const std::filesystem::path& path, std::string name) {
        if (auto recording = read_recording(path);
            recording && recording->link == kEthernet && !recording->records.empty())
            out.push_back({std::move(name), std::move(*recording)});
    };
    if (folder_is_given()) {
        for (const auto& entry : std::filesystem::recursive_directory_iterator(variable(kFolderVariable)))
            if (entry.is_regular_file()) take(entry.path(), entry.path().filename().string());
        std::ranges::sort(out, {}, &Exhibit::name);
        return out;
    }
    for (const std::string& path : tests::sample_captures())
        take(path, std::filesystem::path(path).parent_path().filename().string());
    for (std::uint64_t seed = 1; seed <= kSimulatedExhibits; ++seed) {
        Scenario scenario = drawn_scenario(seed);
        scenario.tap.place = TapPlace::end_a;  // where derived captures of two taps take the first to be
        out.push_back({fmt::format("simulated-{}", seed), recorded(simulate(scenario))});
    }
    return out;
}

std::vector<DrawnExhibit> drawn_exhibits() {
    std::vector<DrawnExhibit> out;
    for (const auto family :
         {setup_scenes(), network_scenes(), pause_scenes(), bridging_scenes(), reachability_scenes(), security_scenes(),
          beside_scenes(), link_scenes(), management_scenes(), iwarp_scenes(), upper_scenes(), ultra_ethernet_scenes(),
          collective_scenes()})
        for (const Scene& scene : family)
            for (unsigned variant = 0; variant < kVariants; ++variant) {
                Stage stage;
                scene.play(stage, variant);
                out.push_back({std::string(scene.finding),
                               {fmt::format("{}-{}", scene.finding, variant), std::move(stage.recording)}});
            }
    return out;
}

Recording recorded(const Simulated& simulated) {
    Recording recording;
    for (const CapturedFrame& frame : simulated.frames) {
        Record record{.time = std::to_underlying(frame.time), .wire = frame.wire_length, .bytes = {}};
        for (const std::byte byte : frame.bytes) record.bytes.push_back(std::to_integer<std::uint8_t>(byte));
        recording.records.push_back(std::move(record));
    }
    return recording;
}

Scenario drawn_scenario(std::uint64_t seed) {
    constexpr std::array kKinds{WorkKind::send,  WorkKind::send_with_immediate,
                                WorkKind::write, WorkKind::write_with_immediate,
                                WorkKind::write, WorkKind::read,
                                WorkKind::read,  WorkKind::fetch_add};
    Draws draws(seed * 7919 + 11);
    Scenario scenario;
    scenario.seed = seed;
    scenario.network = draws.chance(0.7) ? dissect::Network::roce_v2_ipv4 : dissect::Network::roce_v2_ipv6;
    scenario.mtu = draws.chance(0.5) ? PathMtu::bytes_1024 : PathMtu::bytes_4096;
    scenario.queue_pairs = static_cast<std::uint32_t>(1 + draws.below(3));
    scenario.same_numbers = draws.chance(0.2);
    scenario.window = static_cast<std::uint32_t>(8 + draws.below(120));
    scenario.ack_every = static_cast<std::uint32_t>(1 + draws.below(16));
    scenario.ack_timeout = static_cast<std::uint8_t>(9 + draws.below(6));
    scenario.between_posts =
        draws.chance(0.5) ? microseconds(static_cast<std::int64_t>(draws.below(300))) : dissect::Duration{};
    if (draws.chance(0.3))
        scenario.first_psn_a = dissect::Psn(static_cast<std::uint32_t>(0x1000000 - 1 - draws.below(60)));
    const WorkKind main = kKinds[draws.below(kKinds.size())];
    const std::uint64_t messages = 20 + draws.below(60);
    for (std::uint64_t i = 0; i < messages; ++i)
        scenario.messages.push_back(
            {.kind = draws.chance(0.7) ? main : kKinds[draws.below(kKinds.size())],
             .bytes = static_cast<std::uint32_t>(draws.below(8) == 0 ? draws.below(3) : draws.below(12'000)),
             .from = draws.chance(0.8) ? End::a : End::b});
    // A third of the networks is perfect, and each fault is there in half of the others.
    const bool perfect = draws.chance(0.33);
    for (LinkFaults* faults : {&scenario.link.a_to_b, &scenario.link.b_to_a}) {
        const auto fault = [&](double worst) { return draws.chance(0.5) && !perfect ? draws.unit() * worst : 0; };
        *faults = {.loss = fault(0.03),
                   .duplication = fault(0.02),
                   .reordering = fault(0.03),
                   .corruption = fault(0.01),
                   .marking = fault(0.2)};
    }
    if (draws.chance(0.2)) {
        scenario.receives = {.initial = 8, .refill = 8, .every = microseconds(400), .rnr_timer = 14};
    }
    scenario.tap.place = static_cast<TapPlace>(draws.below(3));
    // Some programs are wrong, some queue pairs have little patience, some hosts answer no mark.
    if (draws.chance(0.15)) {
        constexpr std::array kMistakes{Mistake::wrong_key, Mistake::beyond_region, Mistake::no_right, Mistake::too_long,
                                       Mistake::misaligned};
        MessagePlan& message = scenario.messages[draws.below(scenario.messages.size())];
        message.mistake = kMistakes[draws.below(kMistakes.size())];
        message.kind = message.mistake == Mistake::too_long     ? WorkKind::send
                       : message.mistake == Mistake::misaligned ? WorkKind::fetch_add
                                                                : WorkKind::write;
        message.bytes = 2000;
    }
    if (draws.chance(0.08)) {
        scenario.retries = 1;
        scenario.link.a_to_b.loss = draws.chance(0.5) ? 0.2 : 1;
    }
    if (draws.chance(0.05)) {
        scenario.rnr_retries = 2;
        scenario.receives = {.initial = 4, .refill = 0, .every = {}, .rnr_timer = 12};
    }
    scenario.notifies_congestion = !draws.chance(0.1);
    return scenario;
}

}  // namespace qps::court
