// Scenes of pause frames: one end of a link asks the other to stop, which does, does not, or is not seen.
#include <tests/court/stage.hpp>

#include <array>

namespace qps::court {

namespace scenes {

namespace {

constexpr std::size_t kShortest = 60;  // bytes of a frame without FCS
constexpr std::array<std::uint8_t, 6> kSender{0x02, 0, 0, 0, 0, 0x09};

void ask(Stage& stage, std::optional<unsigned> priority, std::uint32_t quanta) {
    constexpr std::array<std::uint8_t, 6> kControl{0x01, 0x80, 0xc2, 0, 0, 0x01};
    Octets frame(kControl.begin(), kControl.end());
    frame.insert(frame.end(), kSender.begin(), kSender.end());
    frame.resize(kShortest);
    put_number(frame, 12, 2, 0x8808);
    put_number(frame, 14, 2, priority ? 0x101 : 1);
    if (priority) put_number(frame, 16, 2, 1U << *priority);
    put_number(frame, priority ? 18 + 2 * std::size_t{*priority} : 16, 2, quanta);
    stage.put(std::move(frame));
}

// The next SEND goes to who sends the pauses, in a priority of its VLAN tag.
void send(Stage& stage, unsigned number, std::optional<unsigned> priority) {
    stage.send(1, 2, 21, number);
    Record& record = stage.recording.records.back();
    std::ranges::copy(kSender, record.bytes.begin());
    if (!priority) return;
    const std::array<std::uint8_t, 4> tag{0x81, 0, static_cast<std::uint8_t>(*priority << 5U), 7};
    record.bytes.insert(record.bytes.begin() + 12, tag.begin(), tag.end());
    record.wire += 4;
}

void traffic(Stage& stage, unsigned& number, std::optional<unsigned> priority) {
    for (unsigned i = 0; i < 8; ++i) send(stage, number, priority), stage.acknowledge(2, 1, 21, number), ++number;
}

// Variant 0: the speed is known and traffic stops; 1: it does not; 2: the speed is not known.
void storm(Stage& stage, unsigned variant, std::optional<unsigned> priority) {
    stage.recording.gigabits = variant == 2 ? 0 : 1 + variant;
    unsigned number = 0;
    traffic(stage, number, priority);
    for (unsigned i = 0; i < 110 + 40 * variant; ++i) {
        ask(stage, priority, 0xffff);
        stage.wait(kAMillisecond);
        if (variant == 1 && i % 20 == 10) send(stage, number++, priority);
    }
    ask(stage, priority, 0);
    traffic(stage, number, priority);
}

void pause(Stage& stage, unsigned variant, std::optional<unsigned> priority) {
    stage.recording.gigabits = variant == 0 ? 10 : variant == 1 ? 100 : 0;
    unsigned number = 0;
    traffic(stage, number, priority);
    for (unsigned i = 0; i < 3 + variant; ++i) {
        ask(stage, priority, variant == 0 ? 0xffff : 0x1000);
        stage.wait((150 + 100 * i) * kAMicrosecond);
        if (i != 1) ask(stage, priority, 0);
        stage.wait(40 * kAMillisecond);  // more than any pause without end
        traffic(stage, number, priority);
    }
}

void pfc_storm(Stage& stage, unsigned variant) { storm(stage, variant, 3 + variant); }
void link_storm(Stage& stage, unsigned variant) { storm(stage, variant, {}); }
void pfc_pause(Stage& stage, unsigned variant) { pause(stage, variant, 3 + variant); }
void link_pause(Stage& stage, unsigned variant) { pause(stage, variant, {}); }

constexpr std::array kPauseScenes{
    Scene{"pfc-storm", pfc_storm},
    Scene{"pfc-pause", pfc_pause},
    Scene{"link-pause", link_pause},
    Scene{"link-pause-storm", link_storm},
};

}  // namespace

}  // namespace scenes

std::span<const Scene> pause_scenes() { return scenes::kPauseScenes; }

}  // namespace qps::court
