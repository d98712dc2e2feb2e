// The pace of a replay, under virtual time.
#include <tests/devices/pair.hpp>
#include <tests/support/catch.hpp>
#include <transport-replay/live/device/null_device.hpp>
#include <transport-replay/live/device/sim_device.hpp>
#include <transport-replay/live/replay/replayer.hpp>

using namespace qps::transport;
using namespace qps::transport::live;
using namespace qps::dissect;

namespace {

constexpr Instant kNow{1'800'000'000'000'000'000};

struct Recording {
    std::vector<std::byte> bytes = std::vector<std::byte>(100, std::byte{7});
    [[nodiscard]] Frame at(std::int64_t nanoseconds) const {
        Frame frame;
        frame.bytes = bytes;
        frame.wire_length = 100;
        frame.time = Instant{1'700'000'000'000'000'000 + nanoseconds};
        return frame;
    }
};

// Nanoseconds from the start of the replay to when it lets the frame go.
std::int64_t goes_at(Replayer& replayer, const Frame& frame, Instant& now) {
    while (!replayer.offer(frame, now)) {
        REQUIRE(replayer.poll_at() > now);
        now = replayer.poll_at();
    }
    return static_cast<std::int64_t>(now) - static_cast<std::int64_t>(kNow);
}

}  // namespace

TEST_CASE("frames go at their times, scaled, and never back in time") {
    const Recording recording;
    const double speed = GENERATE(1.0, 2.0, 0.25);
    Replayer replayer(NullDevice(), {.speed = speed}, {});
    Instant now = kNow;
    for (const std::int64_t at : {0LL, 1000LL, 1'000'000LL, 999'000LL, 3'600'000'000'000LL}) {
        const std::int64_t expected = at == 999'000 ? 1'000'000 : at;
        CHECK(goes_at(replayer, recording.at(at), now) ==
              static_cast<std::int64_t>(static_cast<double>(expected) / speed));
    }
    replayer.begin_again();  // the next loop begins where this one ended
    const std::int64_t end = static_cast<std::int64_t>(now) - static_cast<std::int64_t>(kNow);
    CHECK(goes_at(replayer, recording.at(0), now) == end);
    CHECK(goes_at(replayer, recording.at(1000), now) == end + static_cast<std::int64_t>(1000 / speed));
    CHECK(replayer.counts().frames == 7);
    CHECK(replayer.counts().late == 0);
}

TEST_CASE("as fast as it goes, what has no time goes at once, hostile times do no harm") {
    const Recording recording;
    Replayer fast(NullDevice(), {.fast = true}, {});
    CHECK(fast.offer(recording.at(0), kNow));
    CHECK(fast.offer(recording.at(1'000'000'000), kNow));
    Replayer timed(NullDevice(), {.speed = 1e6}, {});
    Frame frame = recording.at(0);
    CHECK(timed.offer(frame, kNow));
    frame.has_time = false;
    frame.time = {};
    CHECK(timed.offer(frame, kNow));
    frame.has_time = true;
    frame.time = Instant{std::numeric_limits<std::int64_t>::max()};
    CHECK_FALSE(timed.offer(frame, kNow));
    frame.time = Instant{std::numeric_limits<std::int64_t>::min()};
    CHECK(timed.offer(frame, kNow));
}

TEST_CASE("frames that are late are counted, and how late") {
    const Recording recording;
    Replayer replayer(NullDevice(), {}, {});
    CHECK(replayer.offer(recording.at(0), kNow));
    CHECK(replayer.offer(recording.at(1000), kNow + microseconds(1000)));
    CHECK(replayer.offer(recording.at(2000), kNow + microseconds(1002)));
    CHECK(replayer.offer(recording.at(3000), kNow + microseconds(5003)));
    CHECK(replayer.counts().late == 2);
    CHECK(replayer.counts().latest == microseconds(5000));
}

TEST_CASE("frames that cannot go are left out and counted") {
    Recording recording;
    Replayer replayer(NullDevice(), {}, {});
    Frame frame = recording.at(0);
    frame.wire_length = 101;
    CHECK(replayer.offer(frame, kNow));
    frame = recording.at(0);
    frame.link = LinkType::infiniband;
    CHECK(replayer.offer(frame, kNow));
    frame = recording.at(0);
    frame.bytes = slice(frame.bytes, 0, 13);
    frame.wire_length = 13;
    CHECK(replayer.offer(frame, kNow));
    const std::vector<std::byte> huge(kLongestFrame + 1);
    frame.bytes = huge;
    frame.wire_length = static_cast<std::uint32_t>(huge.size());
    CHECK(replayer.offer(frame, kNow));
    const ReplayCounts& counts = replayer.counts();
    CHECK(counts.frames == 0);
    CHECK(counts.cut == 1);
    CHECK(counts.foreign == 1);
    CHECK(counts.misfits == 2);
    CHECK(counts.left_out() == 4);
}

TEST_CASE("a device without room is asked again, nothing is lost") {
    const Recording recording;
    const auto wire = make_wire({}, {}, kNow);
    Device far = open_sim_device(wire, End::b);
    Replayer replayer(open_sim_device(wire, End::a), {.fast = true}, {});
    Instant now = kNow;
    std::size_t arrived = 0;
    constexpr std::size_t kFrames = 2000;
    for (std::size_t i = 0; i < kFrames; ++i) {
        while (!replayer.offer(recording.at(0), now)) {
            replayer.flush(now);
            now = replayer.poll_at();
        }
        replayer.flush(now);
        arrived += far.receive(now).size();
    }
    now = now + microseconds(100);
    for (std::size_t batch = 1; batch > 0;) arrived += batch = far.receive(now).size();
    CHECK(arrived == kFrames);
    CHECK(static_cast<std::int64_t>(now) - static_cast<std::int64_t>(kNow) >
          2000 * 39 - 10'000);  // 124 bytes at 25 Gbit/s
    CHECK(replayer.device().counts().sent == kFrames);
}
