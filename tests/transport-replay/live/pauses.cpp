// PAUSE and PFC frames on a simulated link: an endpoint that is asked to stop stops for exactly as long, what was sent
// is right all the same, what is no such frame stops nobody; and our own analysis says of the capture what was done.
#include <tests/support/catch.hpp>
#include <tests/support/program_pair.hpp>
#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/findings/findings.hpp>
#include <transport-replay/live/link_pauses.hpp>
#include <transport-replay/live/peers/program.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <ranges>

using namespace qps;
using namespace qps::transport;
using namespace qps::transport::live;
using dissect::BitsPerSecond;
using dissect::Bytes;
using dissect::Duration;
using dissect::Instant;
using qps::tests::kServerAddress;
using qps::tests::ProgramPair;

namespace {

constexpr std::uint64_t kSwitch = 0x0200'0000'00aa, kOwnMac = 0x0200'0000'0002;  // the second is the client's
constexpr BitsPerSecond kTenGigabit{10'000'000'000}, kSimulatedSpeed{25'000'000'000};
constexpr Instant kPauseStart{1'700'000'000'000'000'000};

using PauseBytes = std::vector<std::byte>;

PauseBytes pause_bytes(const PauseDemand& demand) {
    PauseBytes frame(kPauseFrameBytes, std::byte{0xcc});
    write_pause(demand, frame);
    return frame;
}
PauseBytes pause_of(std::uint16_t quanta) {
    return pause_bytes({.whole_link = true, .quanta = {quanta}, .source = kSwitch});
}
PauseBytes pfc_of(std::uint8_t priority, std::uint16_t quanta) {
    PauseDemand demand{.priorities = static_cast<std::uint8_t>(1U << priority), .source = kSwitch};
    demand.quanta[priority] = quanta;
    return pause_bytes(demand);
}

Instant after(std::int64_t nanoseconds_later) { return kPauseStart + nanoseconds(nanoseconds_later); }

}  // namespace

TEST_CASE("a pause frame is as the standards have it") {
    CHECK(pause_of(0x1234).size() == 60);
    const PauseBytes pause = pause_of(0x1234);
    const std::vector<unsigned> head{0x01, 0x80, 0xc2, 0x00, 0x00, 0x01, 0x02, 0x00, 0x00, 0x00,
                                     0x00, 0xaa, 0x88, 0x08, 0x00, 0x01, 0x12, 0x34, 0x00};
    for (std::size_t i = 0; i < head.size(); ++i) CHECK(std::to_integer<unsigned>(pause[i]) == head[i]);
    CHECK(std::ranges::count(pause | std::views::drop(18), std::byte{0}) == 42);
    const PauseBytes pfc = pfc_of(5, 7);
    CHECK(dissect::read_be<std::uint16_t>(pfc, 14) == 0x0101);
    CHECK(dissect::read_be<std::uint16_t>(pfc, 16) == 0x0020);
    CHECK(dissect::read_be<std::uint16_t>(pfc, 18 + 2 * 5) == 7);
    PauseBytes too_short(59, std::byte{1});
    write_pause({}, too_short);
    CHECK(std::ranges::count(too_short, std::byte{1}) == 59);
}

TEST_CASE("a pause lasts for its quanta, not a nanosecond more or less") {
    struct Row {
        std::uint16_t quanta;
        BitsPerSecond speed;
        std::int64_t lasts;  // nanoseconds: quanta times 512 bits, rounded up
    };
    for (const Row& row : {Row{1, kTenGigabit, 52}, Row{65535, kTenGigabit, 3'355'392},
                           Row{65535, BitsPerSecond{1'000'000'000}, 33'553'920},
                           Row{1, BitsPerSecond{400'000'000'000}, 2}, Row{100, BitsPerSecond{}, 5120}}) {
        LinkPauses pauses(row.speed);
        pauses.take(pause_of(row.quanta), kOwnMac, kPauseStart);
        CHECK(pauses.running());
        CHECK(pauses.stopped(after(row.lasts - 1)) == 0xff);
        CHECK(pauses.ends_at() == after(row.lasts));
        CHECK(pauses.stopped(after(row.lasts)) == 0);
        CHECK_FALSE(pauses.running());
        CHECK_FALSE(pauses.ends_at());
        CHECK(pauses.paused(after(row.lasts + 1'000'000)) == nanoseconds(row.lasts));
        CHECK(pauses.timers()[kPriorities].periods == 1);
    }
}

TEST_CASE("a new pause frame replaces the timer, 0 quanta end it, each priority has its own") {
    LinkPauses pauses(kTenGigabit);
    pauses.take(pfc_of(3, 1000), kOwnMac, kPauseStart);  // 51.2 us
    CHECK(pauses.stopped(after(1)) == 0x08);
    pauses.take(pfc_of(3, 2000), kOwnMac, after(10'000));
    CHECK(pauses.stopped(after(112'399)) == 0x08);
    pauses.take(pfc_of(3, 1), kOwnMac, after(20'000));  // a shorter one, too
    CHECK(pauses.ends_at() == after(20'052));
    pauses.take(pfc_of(4, 1000), kOwnMac, after(20'010));
    CHECK(pauses.stopped(after(20'052)) == 0x10);
    pauses.take(pfc_of(3, 0), kOwnMac, after(20'060));  // of another priority: nothing
    CHECK(pauses.stopped(after(20'060)) == 0x10);
    pauses.take(pause_of(0), kOwnMac, after(20'065));  // of the whole link: nothing either
    CHECK(pauses.stopped(after(20'065)) == 0x10);
    pauses.take(pfc_of(4, 0), kOwnMac, after(20'070));
    CHECK(pauses.stopped(after(20'070)) == 0);
    const PauseTimer& third = pauses.timers()[3];
    CHECK(third.stops == 3);
    CHECK(third.resumes == 1);
    CHECK(third.periods == 1);
    CHECK(third.paused == nanoseconds(20'052));
    CHECK(third.longest == nanoseconds(20'052));
    CHECK(third.source == kSwitch);
    CHECK(pauses.timers()[4].paused == nanoseconds(60));

    // Several timers of one frame; one that is not in the vector does not count, nor does the reserved half of the
    // vector.
    PauseDemand several{.priorities = 0x81, .quanta = {10, 20, 30, 0, 0, 0, 0, 40}, .source = kSwitch};
    PauseBytes frame = pause_bytes(several);
    frame[16] = std::byte{0xff};
    pauses.take(frame, kOwnMac, after(30'000));
    CHECK(pauses.stopped(after(30'001)) == 0x81);
    CHECK(pauses.stopped(after(30'512)) == 0x80);
    CHECK(pauses.frames() == 8);
    CHECK(pauses.ignored() == 0);
}

TEST_CASE("what is nearly a pause frame stops nobody") {
    const auto changed = [](PauseBytes frame, std::size_t at, std::uint8_t byte) {
        frame[at] = std::byte{byte};
        return frame;
    };
    const auto cut = [](PauseBytes frame, std::size_t bytes) {
        frame.resize(bytes);
        return frame;
    };
    PauseBytes from_us = pause_of(100);
    dissect::write_bits(from_us, 48, 48, kOwnMac);
    for (const PauseBytes& frame :
         {changed(pause_of(100), 5, 2),   // the next of the reserved addresses
          changed(pause_of(100), 0, 3),   //
          changed(pause_of(100), 15, 2),  // another opcode
          changed(pfc_of(3, 100), 14, 0x02), cut(pause_of(100), 17), cut(pause_of(100), 15), cut(pause_of(100), 14),
          cut(pfc_of(3, 100), 33), from_us, changed(pfc_of(3, 100), 17, 0)}) {
        LinkPauses pauses(kTenGigabit);
        pauses.take(frame, kOwnMac, kPauseStart);
        CHECK(pauses.stopped(after(1)) == 0);
        CHECK(pauses.frames() + pauses.ignored() == 1);
    }
    LinkPauses pauses(kTenGigabit);
    pauses.take(cut(pause_of(100), 18), kOwnMac, kPauseStart);  // without its padding it is whole
    PauseBytes to_us = pfc_of(6, 100);
    dissect::write_bits(to_us, 0, 48, kOwnMac);
    pauses.take(to_us, kOwnMac, kPauseStart);
    CHECK(pauses.frames() == 2);
    CHECK(pauses.stopped(after(5'119)) == 0xff);

    CHECK_FALSE(is_mac_control(changed(pause_of(1), 13, 0x09)));
    CHECK_FALSE(is_mac_control(cut(pause_of(1), 13)));
    PauseBytes tagged = pause_of(1);  // 802.3: MAC control frames have no tag
    tagged.insert(tagged.begin() + 12, {std::byte{0x81}, std::byte{0}, std::byte{0x60}, std::byte{1}});
    CHECK_FALSE(is_mac_control(tagged));
}

TEST_CASE("the priority of a frame: its tag, else its DSCP") {
    const auto frame = [](std::initializer_list<unsigned> behind_addresses) {
        PauseBytes bytes(12);
        for (const unsigned byte : behind_addresses) bytes.push_back(static_cast<std::byte>(byte));
        return bytes;
    };
    CHECK(priority_of(frame({0x81, 0, 0x60, 5, 8, 0, 0x45, 0xe0})) == 3);
    CHECK(priority_of(frame({0x88, 0xa8, 0xe0, 5})) == 7);
    CHECK(priority_of(frame({8, 0, 0x45, 26 << 2 | 2})) == 3);
    CHECK(priority_of(frame({0x86, 0xdd, 0x60 | 26 >> 2, 0x80})) == 3);
    CHECK(priority_of(frame({0x89, 0x15, 0x60 | 46 >> 2, 0x80})) == 5);
    CHECK(priority_of(frame({8, 6, 0xff, 0xff})) == 0);
    CHECK(priority_of(frame({8, 0, 0x45})) == 0);
    CHECK_FALSE(priority_of(pause_of(1)));
    CHECK(verbs::priority_of({.dscp = 26, .sl = 5}, false) == 3);
    CHECK(verbs::priority_of({.dscp = 26, .sl = 5}, true) == 5);
}

namespace {

// A source that sends without end to a sink, and pause frames that are put on the wire to it.
class PausedSource {
public:
    explicit PausedSource(const qps::tests::PairSettings& settings = {}) : pair(settings) {
        sink_ = *find_program("sink")->make({});
        ProgramRequest request{.target = kServerAddress, .count = 1'000'000'000, .size = 1024};
        request.connect.ack_timeout = 14;  // 67 ms
        source_ = *find_program("source")->make(request);
        REQUIRE(sink_->begin(pair.server, pair.now));
        REQUIRE(source_->begin(pair.client, pair.now));
        while (source_->counts().messages < 100 && pair.now < kPauseStart + nanoseconds(100'000'000)) REQUIRE(turn());
        static_cast<void>(pair.wire->link.take_recording());
    }
    bool turn() { return pair.turn(&*sink_, &*source_); }
    void run_until(Instant end) {
        while (pair.now < end) {
            pair.server.poll(pair.now);
            sink_->poll(pair.server, pair.now);
            pair.client.poll(pair.now);
            source_->poll(pair.client, pair.now);
            Instant next = end;
            for (const auto& due : {pair.server.poll_at(), pair.client.poll_at(), sink_->poll_at(), source_->poll_at()})
                if (due) next = std::min(next, *due);
            pair.now = std::max(pair.now, next);
        }
    }
    // From the other end; when it arrives.
    Instant put(Bytes frame) {
        static_cast<void>(pair.wire->link.send(End::a, {.bytes = {frame.begin(), frame.end()}, .psn = {}}, pair.now));
        return pair.wire->link.free_at(End::a) + microseconds(2);
    }
    struct Departure {
        Instant time{};  // of its first bit
        std::size_t bytes = 0;
    };
    // Of the client, as the link carried them since the last call.
    std::vector<Departure> departures() {
        std::vector<Departure> all;
        for (const CapturedFrame& frame : pair.wire->link.take_recording()) {
            if (frame.bytes[11] != std::byte{2} || frame.bytes.size() < 60) continue;
            // The tap is at the other end: it sees the last bit, later by the delay.
            const std::uint64_t bits = (frame.bytes.size() + 24) * 8;
            const auto took = static_cast<std::int64_t>(bits * 1'000'000'000 / std::to_underlying(kSimulatedSpeed));
            all.push_back({frame.time - microseconds(2) - nanoseconds(took), frame.bytes.size()});
        }
        return all;
    }
    // When the first frame after that left; nothing: none did.
    std::optional<Instant> first_after(Instant time) {
        for (const Departure& each : departures())
            if (each.time > time) return each.time;
        return std::nullopt;
    }
    // The longest time from a frame to the next.
    static Duration longest_gap(const std::vector<Departure>& all) {
        Duration longest{};
        for (std::size_t i = 1; i < all.size(); ++i) longest = std::max(longest, all[i].time - all[i - 1].time);
        return longest;
    }
    [[nodiscard]] const PauseTimer& timer(std::size_t which) const { return pair.client.pauses().timers()[which]; }
    [[nodiscard]] std::uint64_t wrong() const {
        return sink_->counts().wrong + sink_->counts().failed + source_->counts().failed;
    }

    ProgramPair pair;

private:
    std::optional<Program> sink_, source_;
};

constexpr Duration kCalm = microseconds(30);  // no gap of traffic that flows is as long

}  // namespace

TEST_CASE("an endpoint that is paused stops, and goes on at the very nanosecond") {
    PausedSource source;
    const Instant arrives = source.put(pause_of(2000));
    const Instant ends = arrives + nanoseconds(40'960);  // 2000 quanta at 25 Gbit/s
    source.run_until(ends + microseconds(200));
    const auto departures = source.departures();
    // What had been given to the line before goes; then nothing until the end, and at the end at once.
    const auto next =
        std::ranges::find_if(departures, [&](const auto& each) { return each.time > arrives + kSendAhead; });
    REQUIRE(next != departures.end());
    CHECK(next->time == ends);
    CHECK(next != departures.begin());
    CHECK(departures.end() - next > 20);
    CHECK(source.timer(kPriorities).paused == nanoseconds(40'960));
    CHECK(source.pair.client.adapter().counts().departures > 100);
    CHECK(source.wrong() == 0);
}

TEST_CASE("0 quanta let an endpoint go on at once") {
    PausedSource source;
    const Instant arrives = source.put(pause_of(65535));
    source.run_until(arrives + microseconds(100));
    const Instant resumes = source.put(pause_of(0));
    source.run_until(resumes + microseconds(100));
    CHECK(source.first_after(arrives + kSendAhead) == resumes);
    CHECK(source.timer(kPriorities).resumes == 1);
    CHECK(source.wrong() == 0);
}

TEST_CASE("PFC stops one priority: that of the tag, else that of the DSCP") {
    struct Row {
        qps::tests::PairSettings settings;
        std::uint8_t priority;
    };
    for (const Row& row :
         {Row{{.vlan = std::uint16_t{5}, .priority = 3}, 3}, Row{{.dscp = 26}, 3}, Row{{.priority = 3}, 0},
          Row{{.vlan = std::uint16_t{5}, .dscp = 26}, 0}, Row{{.dscp = 46}, 5}}) {
        PausedSource source(row.settings);
        for (std::uint8_t other = 0; other < kPriorities; ++other)
            if (other != row.priority) static_cast<void>(source.put(pfc_of(other, 65535)));
        source.run_until(source.pair.now + microseconds(500));
        CHECK(PausedSource::longest_gap(source.departures()) < kCalm);
        INFO("priority " << int{row.priority} << ", DSCP " << int{row.settings.dscp});
        const Instant arrives = source.put(pfc_of(row.priority, 10'000));  // 204.8 us
        source.run_until(arrives + microseconds(400));
        CHECK(source.first_after(arrives + kSendAhead) == arrives + nanoseconds(204'800));
        CHECK(source.timer(row.priority).paused == nanoseconds(204'800));
        CHECK(source.wrong() == 0);
    }
}

TEST_CASE("an endpoint that ignores pauses, and frames that are none, go on") {
    PausedSource deaf({.obey_pauses = false});
    static_cast<void>(deaf.put(pause_of(65535)));
    deaf.run_until(deaf.pair.now + microseconds(300));
    CHECK(PausedSource::longest_gap(deaf.departures()) < kCalm);
    CHECK(deaf.timer(kPriorities).stops == 0);

    PausedSource source;
    PauseBytes elsewhere = pause_of(65535), opcode = pause_of(65535), cut = pfc_of(0, 65535), tagged = pause_of(65535);
    elsewhere[5] = std::byte{2};
    opcode[15] = std::byte{3};
    cut.resize(33);
    tagged.insert(tagged.begin() + 12, {std::byte{0x81}, std::byte{0}, std::byte{0}, std::byte{0}});
    for (const PauseBytes& frame : {elsewhere, opcode, cut, tagged}) static_cast<void>(source.put(frame));
    source.run_until(source.pair.now + microseconds(300));
    CHECK(PausedSource::longest_gap(source.departures()) < kCalm);
    CHECK(source.pair.client.pauses().ignored() == 3);  // the tagged one is no MAC control frame
    CHECK(source.pair.client.pauses().frames() == 0);
}

TEST_CASE("no retransmission timer runs for what a pause holds back, and one that ended meanwhile counts once") {
    PausedSource source;
    const Instant begins = source.pair.now;
    // For two seconds, renewed every millisecond: longer than an ACK timeout of 67 ms and 7 retries.
    while (source.pair.now < begins + nanoseconds(2'000'000'000)) {
        const Instant arrives = source.put(pause_of(65535));
        source.run_until(arrives + microseconds(1'000));
        if (source.pair.now < begins + microseconds(3'000)) static_cast<void>(source.departures());
    }
    CHECK(source.departures().empty());
    CHECK(source.timer(kPriorities).periods == 1);
    CHECK(source.timer(kPriorities).stops > 1900);
    source.run_until(source.pair.now + microseconds(10'000));
    CHECK(source.departures().size() > 100);
    std::uint64_t timeouts = 0;
    for (std::uint32_t qpn = 2; qpn < 1000; ++qpn)
        if (const auto status = source.pair.client.adapter().query_qp(dissect::Qpn{qpn}))
            timeouts += status->counts.timeouts;
    CHECK(timeouts <= 1);
    CHECK(source.wrong() == 0);
}

TEST_CASE("raw frames wait for their own priority alone") {
    PausedSource source;
    const Instant arrives = source.put(pfc_of(3, 10'000));
    source.run_until(arrives + nanoseconds(1));
    const auto raw = [](std::uint8_t tag) {
        PauseBytes frame(90);
        frame[11] = std::byte{2};
        dissect::write_bits(frame, 12 * 8, 16, 0x8100);
        frame[14] = std::byte{tag};
        return frame;
    };
    REQUIRE(source.pair.client.send_raw(raw(3 << 5)));
    REQUIRE(source.pair.client.send_raw(raw(4 << 5)));
    source.run_until(source.pair.now + microseconds(50));
    CHECK(source.pair.client.counts().raw_sent == 1);
    CHECK(source.pair.client.raw_waiting() == 1);
    source.run_until(source.pair.now + microseconds(200));
    CHECK(source.pair.client.raw_waiting() == 0);
    CHECK(source.wrong() == 0);
}

namespace {

Timeline analysed_pauses(const std::vector<CapturedFrame>& recording) {
    Analysis analysis;
    dissect::Packet packet;
    Observation observation;
    std::uint64_t index = 0;
    for (const CapturedFrame& captured : recording) {
        dissect::Frame frame;
        frame.bytes = captured.bytes;
        frame.wire_length = captured.wire_length;
        frame.index = dissect::FrameIndex{++index};
        frame.time = captured.time;
        frame.link_speed = kSimulatedSpeed;
        dissect::decode(frame, packet);
        observe(packet, observation);
        analysis.observe(observation);
    }
    Timeline timeline = analysis.finish();
    draw_findings(timeline);
    return timeline;
}

struct PlayedPauses {
    Timeline timeline;
    std::vector<PauseTimer> obeyed;  // by the client
    bool through = false;
    std::uint64_t wrong = 0;
};

PlayedPauses play_pauses(const qps::tests::PairSettings& settings) {
    ProgramPair pair(settings);
    auto sink = find_program("sink")->make({.clients = 1});
    auto source = find_program("source")->make({.target = kServerAddress, .count = 20'000, .size = 1024});
    PlayedPauses played;
    played.through = pair.run(*sink, *source);
    played.wrong = sink->counts().wrong + sink->counts().failed + source->counts().failed;
    played.obeyed.assign(pair.client.pauses().timers().begin(), pair.client.pauses().timers().end());
    played.timeline = analysed_pauses(pair.wire->link.take_recording());
    return played;
}

const PauseSummary* paused_by_server(const Timeline& timeline, std::uint8_t priority) {
    for (const PauseSummary& pause : timeline.congestion.pauses)
        if (pause.priority == priority && pause.sender.bits[1] == 0x0200'0000'0001) return &pause;
    return nullptr;
}

}  // namespace

TEST_CASE("the analysis says of a capture what one end asked for and the other did") {
    qps::tests::PairSettings settings{.vlan = std::uint16_t{7}, .priority = 3};
    settings.server_faults = "pause=5000 priority=3 after=1ms every=300us times=10";
    const auto played = play_pauses(settings);
    CHECK(played.through);
    CHECK(played.wrong == 0);
    const PauseTimer& obeyed = played.obeyed[3];
    CHECK(obeyed.stops == 10);
    CHECK(obeyed.paused == nanoseconds(10 * 102'400));
    const PauseSummary* seen = paused_by_server(played.timeline, 3);
    REQUIRE(seen != nullptr);
    CHECK(seen->stops == 10);
    CHECK(seen->periods == 10);
    CHECK(seen->paused == obeyed.paused);
    CHECK(seen->longest == nanoseconds(102'400));
    CHECK(seen->packets_to_it > 1000);
    CHECK(seen->late == 0);  // it obeyed
    CHECK(std::ranges::count(played.timeline.findings, std::string_view("pfc-pause"), &Finding::id) == 1);
    CHECK(std::ranges::count(played.timeline.findings, std::string_view("link-pause"), &Finding::id) == 0);

    settings.obey_pauses = false;
    const auto deaf = play_pauses(settings);
    CHECK(deaf.through);
    const PauseSummary* unheeded = paused_by_server(deaf.timeline, 3);
    REQUIRE(unheeded != nullptr);
    CHECK(unheeded->stops == 10);
    CHECK(unheeded->late > 10);
}

TEST_CASE("a storm of PAUSE frames stops an endpoint for as long as it lasts, and no longer") {
    const auto played = play_pauses({.server_faults = "pause=65535 after=1ms every=500us times=1000"});
    CHECK(played.through);
    CHECK(played.wrong == 0);
    const PauseTimer& obeyed = played.obeyed[kPriorities];
    CHECK(obeyed.stops == 1000);
    CHECK(obeyed.periods == 1);
    // 65535 quanta last 1.342 ms: to the last frame, and as long as that one asks for; what waited before the first may
    // move it a little.
    CHECK(magnitude(obeyed.paused - nanoseconds(999 * 500'000 + 1'342'157)) < microseconds(1));
    const PauseSummary* seen = paused_by_server(played.timeline, kWholeLink);
    REQUIRE(seen != nullptr);
    CHECK(seen->storms == 1);
    CHECK(magnitude(seen->paused - obeyed.paused) < microseconds(1));
    CHECK(seen->late == 0);
    CHECK(std::ranges::count(played.timeline.findings, std::string_view("link-pause-storm"), &Finding::id) == 1);
}
