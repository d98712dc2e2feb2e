// Faults to order and by chance, in a device around a simulated link that has none of its own; and the text that orders
// them.
#include <dissect/capture/writer.hpp>
#include <tests/devices/pair.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/temporary_file.hpp>
#include <transport-replay/live/device/capture_tap.hpp>
#include <transport-replay/live/device/fault_text.hpp>
#include <transport-replay/live/device/pause_frame.hpp>
#include <transport-replay/live/device/sim_device.hpp>
#include <transport-replay/live/device/tracer.hpp>

using namespace qps::transport;
using namespace qps::transport::live;
using namespace qps::dissect;
using qps::test::Pair;

namespace {

constexpr Instant kStart{1'700'000'000'000'000'000};

// The injector of these faults sits at end a, where it sends, and at end b, where it receives.
struct Injected {
    explicit Injected(std::string_view text) : pair(make(text)) {}
    Pair make(std::string_view text) {
        const auto settings = parse_faults(text);
        INFO(text << ": " << (settings ? "" : settings.error()));
        REQUIRE(settings);
        LinkSettings link;
        link.speed = BitsPerSecond{0};
        const auto wire = make_wire(link, {}, kStart);
        return {.a = inject_faults(open_sim_device(wire, End::a), *settings, &sender),
                .b = inject_faults(open_sim_device(wire, End::b), *settings, &receiver),
                .now = kStart};
    }
    // PSNs of what arrives of frames with the PSNs 0 to count-1, with the time since the start in microseconds.
    std::vector<std::pair<std::uint32_t, std::int64_t>> psns(std::size_t count, std::size_t rounds = 1) {
        for (std::size_t round = 0; round < rounds; ++round)
            for (std::size_t i = 0; i < count; ++i) pair.send(pair.frame(318, static_cast<std::uint32_t>(i)));
        pair.a.flush(pair.now);
        std::vector<std::pair<std::uint32_t, std::int64_t>> found;
        while (true) {
            for (const auto& frame : pair.b.receive(pair.now)) {
                Frame whole;
                whole.bytes = frame.bytes;
                whole.wire_length = static_cast<std::uint32_t>(frame.bytes.size());
                Packet packet;
                decode(whole, packet);
                found.emplace_back(packet.psn.value(),
                                   (static_cast<std::int64_t>(pair.now) - static_cast<std::int64_t>(kStart)) / 1000);
                damaged += packet.icrc.status == CrcStatus::bad ? 1 : 0;
                marked += read_bits(frame.bytes, 15 * 8 + 6, 2) == 3 ? 1 : 0;
            }
            std::optional<Instant> next = pair.a.poll_at();
            if (const auto other = pair.b.poll_at(); other && (!next || *other < *next)) next = other;
            if (!next) return found;
            pair.now = std::max(pair.now, *next);
            pair.a.flush(pair.now);
        }
    }
    std::array<InjectedCounts, 2> sender{}, receiver{};
    Pair pair;
    int damaged = 0, marked = 0;
};

std::vector<std::uint32_t> numbers(const std::vector<std::pair<std::uint32_t, std::int64_t>>& found) {
    std::vector<std::uint32_t> psns;
    for (const auto& [psn, time] : found) psns.push_back(psn);
    return psns;
}

}  // namespace

TEST_CASE("faults to order meet the packet they name, in the round they name") {
    CHECK(numbers(Injected("out:drop psn=1").psns(3)) == std::vector<std::uint32_t>{0, 2});
    CHECK(numbers(Injected("in:drop psn=1").psns(3)) == std::vector<std::uint32_t>{0, 2});
    CHECK(numbers(Injected("out:drop psn=1 round=2").psns(3, 3)) == std::vector<std::uint32_t>{0, 1, 2, 0, 2, 0, 1, 2});
    CHECK(numbers(Injected("out:drop psn=1 qp=0x11, out:drop psn=2 qp=0x12").psns(3)) ==
          std::vector<std::uint32_t>{0, 2});
    CHECK(numbers(Injected("drop psn=1 responses").psns(3)) == std::vector<std::uint32_t>{0, 1, 2});
    CHECK(numbers(Injected("out:duplicate psn=1").psns(3)) == std::vector<std::uint32_t>{0, 1, 1, 2});
    CHECK(numbers(Injected("in:duplicate psn=1").psns(3)) == std::vector<std::uint32_t>{0, 1, 1, 2});
    CHECK(Injected("out:delay psn=1 by=5ms").psns(3) ==
          std::vector<std::pair<std::uint32_t, std::int64_t>>{{0, 2}, {2, 2}, {1, 5002}});
    CHECK(Injected("in:delay psn=1 by=5ms").psns(3) ==
          std::vector<std::pair<std::uint32_t, std::int64_t>>{{0, 2}, {2, 2}, {1, 5002}});
    CHECK(numbers(Injected("out:reorder psn=0").psns(3)) == std::vector<std::uint32_t>{1, 2, 0});
    Injected altered("out:corrupt psn=0,in:mark psn=1");
    CHECK(altered.psns(3).size() == 3);
    CHECK(altered.damaged == 1);
    CHECK(altered.marked == 1);
    CHECK(altered.sender[0].corrupted == 1);
    CHECK(altered.receiver[1].marked == 1);
}

TEST_CASE("faults by chance: about as many as said, the same for the same seed") {
    constexpr std::size_t kFrames = 5000;
    Injected first("out:drop=10%,out:duplicate=5%,in:corrupt=0.1,in:mark=20%,seed=7"),
        again("out:drop=10%,out:duplicate=5%,in:corrupt=0.1,in:mark=20%,seed=7"),
        other("out:drop=10%,out:duplicate=5%,in:corrupt=0.1,in:mark=20%,seed=8");
    const auto found = first.psns(kFrames);
    CHECK(found == again.psns(kFrames));
    CHECK(first.damaged == again.damaged);
    CHECK(found != other.psns(kFrames));
    CHECK(first.sender[0].lost > 400);
    CHECK(first.sender[0].lost < 600);
    CHECK(first.sender[0].duplicated > 150);
    CHECK(first.sender[0].duplicated < 300);
    CHECK(found.size() == kFrames - first.sender[0].lost + first.sender[0].duplicated);
    // All that was damaged is seen as damaged: a flipped bit is always one that the ICRC covers.
    CHECK(static_cast<std::uint64_t>(first.damaged) == first.receiver[1].corrupted);
    CHECK(first.receiver[1].corrupted > found.size() / 14);
    CHECK(static_cast<std::uint64_t>(first.marked) >= first.receiver[1].marked);
    CHECK(first.receiver[1].marked > found.size() / 6);
}

TEST_CASE("every frame late, in order, with jitter out of it") {
    Injected late("out:delay=1ms");
    auto found = late.psns(200);
    REQUIRE(found.size() == 200);
    for (std::uint32_t i = 0; i < 200; ++i) CHECK(found[i] == std::pair<std::uint32_t, std::int64_t>(i, 1002));
    Injected spread("in:delay=1ms,in:jitter=200us");
    found = spread.psns(200);
    REQUIRE(found.size() == 200);
    CHECK_FALSE(std::ranges::is_sorted(numbers(found)));
    for (const auto& [psn, time] : found) CHECK((time >= 1002 && time <= 1202));
}

TEST_CASE("what is held back is bounded") {
    Injected stuck("in:delay=1s");
    std::size_t sent = 0;
    for (; sent < kMaxHeld + 100; ++sent) {
        stuck.pair.send(stuck.pair.frame(60, static_cast<std::uint32_t>(sent)));
        stuck.pair.a.flush(stuck.pair.now);
        stuck.pair.now = stuck.pair.now + microseconds(3);
        CHECK(stuck.pair.b.receive(stuck.pair.now).empty());
    }
    CHECK(stuck.receiver[1].overflowed == 100);
}

TEST_CASE("the text of faults") {
    const auto settings =
        parse_faults(" loss=3% , out:corrupt=0.005,in:delay=1.5ms,jitter=20us,reorder=1,reorder-by=50us,seed=0xff,"
                     "in:drop psn=0x11 qp=18 round=2 responses");
    REQUIRE(settings);
    FaultSettings expected;
    expected.seed = 255;
    expected.out.chances = {.loss = 0.03, .reordering = 1, .corruption = 0.005};
    expected.in.chances = {.loss = 0.03, .reordering = 1};
    expected.in.delay = microseconds(1500);
    expected.in.jitter = expected.out.jitter = microseconds(20);
    expected.reorder_by = microseconds(50);
    ExactFault exact;
    exact.from = End::b;
    exact.psn = Psn(0x11);
    exact.response = true;
    exact.transmission = 2;
    exact.destination_qp = Qpn{18};
    expected.exact = {exact};
    CHECK(*settings == expected);
    CHECK(parse_faults("drop psn=1")->exact.size() == 2);  // either way

    const std::vector<std::pair<std::string, std::string>> wrong{
        {"", "missing fault"},
        {"loss=3%,,seed=1", "invalid fault '': empty clause"},
        {"in:", "invalid fault 'in:': empty clause"},
        {"loss=130%", "invalid fault 'loss=130%': invalid probability '130%': expected 0 to 1, or 0% to 100%"},
        {"loss=-1", "invalid fault 'loss=-1': invalid probability '-1': expected 0 to 1, or 0% to 100%"},
        {"loss=nan", "invalid fault 'loss=nan': invalid probability 'nan': expected 0 to 1, or 0% to 100%"},
        {"loss=", "invalid fault 'loss=': invalid probability '': expected 0 to 1, or 0% to 100%"},
        {"delay=5", "invalid fault 'delay=5': invalid time '5': expected at most 60 s, in ns, us, ms or s"},
        {"delay=61s", "invalid fault 'delay=61s': invalid time '61s': expected at most 60 s, in ns, us, ms or s"},
        {"seed=x", "invalid fault 'seed=x': invalid seed 'x': expected a number"},
        {"colour=3%",
         "invalid fault 'colour=3%': unknown fault 'colour': expected one of drop (loss), duplicate, reorder, corrupt, mark, delay, jitter, "
         "reorder-by, pause, seed"},
        {"drop", "invalid fault 'drop': missing psn=N: which packet?"},
        {"drop psn=0x1000000",
         "invalid fault 'drop psn=0x1000000': invalid psn '0x1000000': expected a number of 24 bits"},
        {"drop psn=1 round=0", "invalid fault 'drop psn=1 round=0': invalid round '0': expected a number from 1"},
        {"drop psn=1 by=1ms", "invalid fault 'drop psn=1 by=1ms': by=TIME applies to delay and reorder only"},
        {"delay psn=1", "invalid fault 'delay psn=1': missing by=TIME"},
        {"drop psn=1 often",
         "invalid fault 'drop psn=1 often': unknown word 'often': expected psn=, qp=, round=, by=, requests or responses"},
        {"pause=65536", "invalid fault 'pause=65536': invalid quanta '65536': expected 0 to 65535"},
        {"pause=", "invalid fault 'pause=': invalid quanta '': expected 0 to 65535"},
        {"pause=x priority=3", "invalid fault 'pause=x priority=3': invalid quanta 'x': expected 0 to 65535"},
        {"pause=1 priority=8", "invalid fault 'pause=1 priority=8': invalid priority '8': expected 0 to 7"},
        {"pause=1 times=0", "invalid fault 'pause=1 times=0': invalid times '0': expected a number from 1"},
        {"pause=1 times=2", "invalid fault 'pause=1 times=2': missing every=TIME"},
        {"pause=1 every=0ns",
         "invalid fault 'pause=1 every=0ns': invalid time '0ns': expected at least 1 us and at most 60 s, in ns, us, ms or s"},
        {"pause=1 after=61s",
         "invalid fault 'pause=1 after=61s': invalid time '61s': expected at most 60 s, in ns, us, ms or s"},
        {"pause=1 often",
         "invalid fault 'pause=1 often': unknown word 'often': expected priority=, every=, times= or after="},
        {"in:pause=1", "invalid fault 'in:pause=1': pauses are sent, not received"},
        {"pause 1 every=1ms",
         "invalid fault 'pause 1 every=1ms': expected pause=QUANTA, with words behind it: pause=65535 every=1ms priority=3"},
        {"lose psn=1",
         "invalid fault 'lose psn=1': unknown fault 'lose': expected one of drop (loss), duplicate, reorder, corrupt, mark, delay, jitter, "
         "reorder-by, pause, seed"},
    };
    for (const auto& [text, sentence] : wrong) {
        const auto parsed = parse_faults(text);
        INFO(text);
        REQUIRE_FALSE(parsed);
        CHECK(parsed.error() == sentence);
    }
    std::string pauses;
    for (std::size_t i = 0; i < kMaxPauseFaults; ++i) pauses += "pause=1,";
    CHECK(parse_faults(pauses)->pauses.size() == kMaxPauseFaults);
    CHECK_FALSE(parse_faults(pauses + "pause=1"));
    std::string many;
    for (int i = 0; i < 200; ++i) many += "drop psn=1,";
    CHECK_FALSE(parse_faults(many));
}

TEST_CASE("pause frames to order: when, how many, for which priority") {
    const auto settings = parse_faults(
        " pause=0xffff every=1ms , out:pause=7  priority=3 after=2500us times=2 every=10us, pause=0 after=5ms");
    REQUIRE(settings);
    const PauseFault third{
        .quanta = 7, .priority = std::uint8_t{3}, .after = microseconds(2500), .every = microseconds(10), .times = 2};
    CHECK(settings->pauses == std::vector<PauseFault>{{.quanta = 0xffff, .every = microseconds(1000)},
                                                      third,
                                                      {.quanta = 0, .after = microseconds(5000)}});
    LinkSettings link;
    link.speed = BitsPerSecond{0};
    link.delay = Duration{};
    const auto wire = make_wire(link, {}, kStart);
    std::array<InjectedCounts, 2> counts{};
    FaultSettings faults = *settings;
    faults.pause_source = 0x0200'0000'0001;
    Pair pair{.a = inject_faults(open_sim_device(wire, End::a), faults, &counts),
              .b = open_sim_device(wire, End::b),
              .now = kStart};
    std::vector<std::pair<std::int64_t, PauseDemand>> came;
    while (pair.now <= kStart + microseconds(5500)) {
        pair.a.flush(pair.now);
        for (const ReceivedFrame& frame : pair.b.receive(pair.now)) {
            CHECK(frame.bytes.size() == 60);
            CHECK(is_mac_control(frame.bytes));
            const auto demand = read_pause(frame.bytes, 0x0200'0000'0002);
            REQUIRE(demand);
            CHECK(demand->source == 0x0200'0000'0001);
            came.emplace_back(std::to_underlying(pair.now - kStart) / 1000, *demand);
        }
        REQUIRE(pair.a.poll_at());
        pair.now = *pair.a.poll_at();
    }
    std::vector<std::int64_t> storm, priority, resume;
    for (const auto& [time, demand] : came) {
        if (!demand.whole_link) {
            CHECK(demand.priorities == 8);
            CHECK(demand.quanta[3] == 7);
            priority.push_back(time);
        } else {
            (demand.quanta[0] == 0 ? resume : storm).push_back(time);
        }
    }
    CHECK(storm == std::vector<std::int64_t>{0, 1000, 2000, 3000, 4000, 5000});
    CHECK(priority == std::vector<std::int64_t>{2500, 2510});
    CHECK(resume == std::vector<std::int64_t>{5000});
    CHECK(counts[0].pauses == 9);
    // Who was not called for a while makes up for nothing.
    pair.a.flush(kStart + microseconds(9900));
    CHECK(counts[0].pauses == 10);
    CHECK(pair.b.receive(kStart + microseconds(9900)).size() == 1);
    CHECK(pair.a.poll_at() == kStart + microseconds(10'900));
}

TEST_CASE("a tap writes both ways down, a tracer tells them") {
    const qps::test::TemporaryFolder folder;
    LinkSettings link;
    link.speed = BitsPerSecond{0};
    const auto wire = make_wire(link, {}, kStart);
    auto writer = CaptureWriter::open(folder.file("tap.pcapng"), WriterFormat::pcapng);
    REQUIRE(writer);
    std::vector<std::string> lines;
    const auto trace = [&](Way way, Instant, std::string_view line) {
        lines.push_back((way == Way::in ? "< " : "> ") + std::string(line));
    };
    Pair pair{
        .a = Tracer(CaptureTap(open_sim_device(wire, End::a), [&](const Frame& frame) { return writer->write(frame); }),
                    trace),
        .b = open_sim_device(wire, End::b),
        .now = kStart};
    pair.send(pair.frame(318, 7));
    pair.a.flush(pair.now);
    REQUIRE(pair.receive(1).size() == 1);
    const auto answer = pair.frame(62, 8);
    std::ranges::copy(answer, pair.b.reserve(pair.now).begin());
    pair.b.commit(answer.size(), pair.now);
    pair.b.flush(pair.now);
    pair.now = pair.now + microseconds(10);
    REQUIRE(pair.a.receive(pair.now).size() == 1);
    CHECK(lines == std::vector<std::string>{"> RC_SEND_ONLY qp=17 psn=7 len=260", "< RC_SEND_ONLY qp=17 psn=8 len=4"});
    REQUIRE(writer->close());

    auto file = CaptureFile::open(folder.file("tap.pcapng"));
    REQUIRE(file);
    Batch batch;
    REQUIRE(file->read(batch));
    REQUIRE(batch.frames.size() == 2);
    CHECK(read_le<std::uint32_t>(batch.frames[0].options, 4) == 2);  // outbound
    CHECK(read_le<std::uint32_t>(batch.frames[1].options, 4) == 1);  // inbound
    CHECK(batch.frames[0].time == kStart);
    CHECK(std::ranges::equal(batch.frames[1].bytes, answer));
    CHECK_FALSE(pair.a.problem());
    pair.send(pair.frame(318, 9));  // the file is closed
    REQUIRE(pair.a.problem());
    CHECK(pair.a.problem()->sentence == "file is closed");
}
