// Taps learned from recordings of the same packets: what proves them, and what does not.
#include <tests/support/catch.hpp>
#include <tests/support/durations.hpp>
#include <transport-replay/tracking/copy_filter.hpp>
#include <transport-replay/tracking/copy_sampler.hpp>

#include <random>
#include <vector>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::tests;

namespace {

const Address kA{{0, 0xffff'0a00'0001}, AddressSpace::roce_v2};
const Address kB{{0, 0xffff'0a00'0002}, AddressSpace::roce_v2};
constexpr Opcode kWriteOnly{0x0a}, kAcknowledgeOpcode{0x11};

Observation packet(std::uint32_t psn, std::int64_t time, std::uint16_t ip_id, bool answer = false) {
    Observation seen;
    seen.kind = ObservationKind::transport;
    seen.flow = answer ? FlowKey{kB, kA, Qpn{2}, {}} : FlowKey{kA, kB, Qpn{1}, {}};
    seen.opcode = answer ? kAcknowledgeOpcode : kWriteOnly;
    seen.psn = Psn(psn);
    seen.time = Instant{time};
    seen.ip_id = ip_id;
    seen.hops = 64;
    seen.packet_hash = mix(std::uint64_t{psn} << 32 | std::uint64_t{ip_id} << 1 | (answer ? 1U : 0U));
    return seen;
}

// Requests every 100 us, each answered 10 us later; in the order of time.
std::vector<Observation> conversation(std::uint32_t messages, bool identified) {
    std::vector<Observation> all;
    for (std::uint32_t i = 0; i < messages; ++i) {
        const std::int64_t time = kSecond + 100 * kMicrosecond * i;
        all.push_back(packet(i, time, identified ? static_cast<std::uint16_t>(i + 1) : std::uint16_t{0}));
        all.push_back(packet(i, time + 10 * kMicrosecond,
                             identified ? static_cast<std::uint16_t>(i + 7) : std::uint16_t{0}, true));
    }
    return all;
}

std::vector<Observation> with_copies(std::vector<Observation> all, std::int64_t later) {
    const std::size_t once = all.size();
    for (std::size_t i = 0; i < once; ++i) {
        all.push_back(all[i]);
        all.back().time = all[i].time + Duration{later};
    }
    std::ranges::stable_sort(all, {}, &Observation::time);
    return all;
}

CaptureTraits learn(const std::vector<Observation>& all) {
    CopySampler sampler;
    for (const Observation& one : all) sampler.observe(one);
    return learn_taps(sampler.sampled());
}

std::size_t copies(const CaptureTraits& traits, const std::vector<Observation>& all) {
    CopyFilter filter(traits);
    return static_cast<std::size_t>(
        std::ranges::count_if(all, [&](const Observation& one) { return filter.is_copy(one); }));
}

}  // namespace

TEST_CASE("everything twice after the same time is two taps") {
    for (const bool identified : {true, false})
        for (const std::int64_t later : {3 * kMicrosecond, 2 * kMillisecond, 5 * kSecond}) {
            const auto all = with_copies(conversation(200, identified), later);
            const CaptureTraits traits = learn(all);
            INFO((identified ? "identified" : "identification 0") << ", " << later << " ns");
            REQUIRE(traits.twice.size() == 1);
            CHECK(traits.vantage.taps == 2);
            CHECK(magnitude(traits.vantage.offset.middle() - Duration{later}) < Duration{kMicrosecond});
            CHECK(copies(traits, all) == all.size() / 2);
        }
}

TEST_CASE("answers that were lost between two taps do not hide that all requests came twice") {
    auto all = with_copies(conversation(20, true), 5 * kSecond);
    std::size_t seen = 0;
    std::erase_if(all, [&](const Observation& one) { return one.flow.source == kB && ++seen > 20; });
    const CaptureTraits traits = learn(all);
    REQUIRE(traits.twice.size() == 1);
    CHECK(copies(traits, all) == 20);
}

TEST_CASE("what the second tap alone recorded goes with the rest of it") {
    auto all = with_copies(conversation(200, true), 10 * kMillisecond);
    const auto alone = [](const Observation& one) { return one.psn == Psn(77) && one.flow.source == kA; };
    all.erase(std::ranges::find_if(all, alone));  // lost before the tap that is ahead of the other
    const CaptureTraits traits = learn(all);
    CHECK(copies(traits, all) == 400);  // of 799 packets
    CopyFilter filter(traits);
    for (const Observation& one : all)
        if (alone(one)) CHECK(filter.is_copy(one));
        else static_cast<void>(filter.is_copy(one));

    // As long as the taps are so near that the network may have delayed it, it is followed.
    auto near = with_copies(conversation(200, true), 200 * kMicrosecond);
    near.erase(std::ranges::find_if(near, alone));
    CHECK(copies(learn(near), near) == 399);
}

TEST_CASE("before the second tap recorded anything a packet that is far behind is the first tap's") {
    auto all = conversation(200, true);
    const auto late = [](const Observation& one) { return one.psn == Psn(4) && one.flow.source == kA; };
    const auto delayed = std::ranges::find_if(all, late);
    Observation original = *delayed;
    all.erase(delayed);
    original.time = original.time + Duration{4'130 * kMicrosecond};  // forty requests later
    all.push_back(original);
    std::ranges::stable_sort(all, {}, &Observation::time);
    all = with_copies(all, 10 * kMillisecond);
    CopyFilter filter(learn(all));
    std::size_t seen = 0;
    for (const Observation& one : all) {
        const bool copy = filter.is_copy(one);
        if (late(one)) CHECK(copy == (seen++ != 0));
    }
}

TEST_CASE("a sender that counts passes 0, and begins with it") {
    auto all = conversation(200, true);
    for (Observation& one : all) {
        one.ip_id = static_cast<std::uint16_t>(one.ip_id - 1);  // of requests: from 0 on
        one.packet_hash = mix(one.packet_hash + 1);
    }
    all = with_copies(all, 2 * kMillisecond);
    const auto alone = [](const Observation& one) { return one.psn == Psn(1) && one.flow.source == kA; };
    all.erase(std::ranges::find_if(all, alone));  // lost before the tap that is ahead of the other
    CopyFilter filter(learn(all));
    for (const Observation& one : all) {
        const bool copy = filter.is_copy(one);
        if (alone(one)) CHECK(copy);
    }
}

TEST_CASE("a packet that is sent a dozen times before its copies come has its copies") {
    auto all = conversation(100, false);
    for (std::int64_t again = 1; again < 14; ++again)
        for (std::uint32_t psn = 40; psn < 60; ++psn)
            all.push_back(packet(psn, kSecond + 30 * kMillisecond + again * 200 * kMicrosecond + psn, 0));
    std::ranges::stable_sort(all, {}, &Observation::time);
    all = with_copies(all, 5 * kMillisecond);
    const CaptureTraits traits = learn(all);
    REQUIRE(traits.twice.size() == 1);
    CHECK(copies(traits, all) == all.size() / 2);
}

TEST_CASE("without an identification a retransmission has the bytes of its original: not everything comes twice") {
    auto all = conversation(200, false);
    const std::size_t once = all.size();
    std::mt19937_64 random(7);
    for (std::size_t i = 0; i < once; ++i)
        if (random() % 2 == 0) {
            all.push_back(all[i]);
            all.back().time = all[i].time + Duration{static_cast<std::int64_t>(67 * kMillisecond + random() % 1000)};
        }
    std::ranges::stable_sort(all, {}, &Observation::time);
    CHECK_FALSE(learn(all).has_copies());
}

namespace {

void count_messages(std::vector<Observation>& all) {
    for (Observation& one : all)
        if (one.opcode == kAcknowledgeOpcode)
            one.acknowledgment = Acknowledgment{.syndrome = 0, .msn = Msn{one.psn.value() + 1}};
}

}  // namespace

TEST_CASE("answers of a responder that goes back are another tap's, whatever was lost between the taps") {
    auto all = conversation(60, false);
    count_messages(all);
    all = with_copies(all, 5 * kSecond);
    std::size_t seen = 0;
    std::erase_if(all, [&](const Observation&) { return ++seen % 9 == 0; });
    const CaptureTraits traits = learn(all);
    REQUIRE(traits.twice.size() == 1);
    CHECK(traits.twice.front().doubtful_way == 0);
    CHECK(traits.vantage.taps == 2);

    for (Observation& one : all)  // all of one message: what is asked for again is answered again
        if (one.acknowledgment) one.acknowledgment->msn = Msn{7};
    CHECK_FALSE(learn(all).has_copies());
}

TEST_CASE("packets sent again at both taps do not hide how far the clocks are apart") {
    auto all = conversation(60, false);
    count_messages(all);
    const std::size_t once = all.size();
    for (std::size_t i = 0; i < once; i += 2) {  // requests
        all.push_back(all[i]);
        all.back().time = all[i].time + Duration{67 * kMillisecond};
    }
    std::ranges::stable_sort(all, {}, &Observation::time);
    CHECK(learn(all).vantage.taps == 1);
    all = with_copies(all, 2 * kSecond);
    std::size_t seen = 0;
    std::erase_if(all, [&](const Observation&) { return ++seen % 12 == 0; });
    const CaptureTraits traits = learn(all);
    REQUIRE(traits.twice.size() == 1);
    CHECK(traits.twice.front().doubtful_way == 0);
    CHECK(magnitude(traits.vantage.offset.middle() - Duration{2 * kSecond}) < Duration{kMicrosecond});
}

TEST_CASE("of one way alone that came twice nothing is known, unless its sender counts its packets") {
    for (const bool identified : {false, true}) {
        auto all = conversation(8, identified);
        const std::size_t once = all.size();
        for (std::size_t i = 0; i < once; i += 2) {  // requests, whose answers were lost between the taps
            all.push_back(all[i]);
            all.back().time = all[i].time + Duration{50 * kMillisecond};
        }
        std::ranges::stable_sort(all, {}, &Observation::time);
        const CaptureTraits traits = learn(all);
        REQUIRE(traits.twice.size() == 1);
        CHECK((traits.twice.front().doubtful_way == 0) == identified);
        CHECK(traits.vantage.taps == (identified ? 2 : 1));
        CHECK(copies(traits, all) == (identified ? 8U : 0U));
        CopyFilter filter(traits);
        CHECK(filter.active() == identified);
        std::size_t doubtful = 0;
        for (const Observation& one : all) doubtful += filter.look(one) == CopyFilter::Copy::perhaps ? 1U : 0U;
        CHECK(doubtful == (identified ? 0U : 8U));
    }
    // What is sent again at equal times is its timer's.
    auto all = conversation(8, false);
    const std::size_t once = all.size();
    for (std::int64_t round = 1; round <= 3; ++round)
        for (std::size_t i = 0; i < once; i += 2) {
            all.push_back(all[i]);
            all.back().time = all[i].time + Duration{50 * kMillisecond * round};
        }
    std::ranges::stable_sort(all, {}, &Observation::time);
    CHECK_FALSE(learn(all).has_copies());
}

TEST_CASE("a datagram that the network doubled does not tell how far the second tap has come") {
    auto all = with_copies(conversation(200, true), 10 * kMillisecond);
    const auto alone = [](const Observation& one) { return one.psn == Psn(20) && one.flow.source == kA; };
    all.erase(std::ranges::find_if(all, alone));
    Observation doubled =
        *std::ranges::find_if(all, [](const Observation& one) { return one.psn == Psn(95) && one.flow.source == kA; });
    doubled.time = doubled.time + Duration{3 * kMicrosecond};
    all.push_back(doubled);
    std::ranges::stable_sort(all, {}, &Observation::time);
    CopyFilter filter(learn(all));
    for (const Observation& one : all)
        if (alone(one)) CHECK(filter.is_copy(one));
        else static_cast<void>(filter.is_copy(one));
}

TEST_CASE("one window sent twice because nobody heard its answers is no second tap") {
    std::vector<Observation> all;
    for (std::uint32_t round = 0; round < 2; ++round)
        for (std::uint32_t i = 0; i < 64; ++i)
            all.push_back(packet(i, kSecond + round * 67 * kMillisecond + i * kMicrosecond, 0));
    CHECK_FALSE(learn(all).has_copies());
    all.push_back(packet(63, kSecond + 100 * kMicrosecond, 0, true));  // an answer that was lost behind the tap
    all.push_back(packet(63, kSecond + 67 * kMillisecond + 100 * kMicrosecond, 0, true));
    CHECK_FALSE(learn(all).has_copies());
}

TEST_CASE(
    "without identifications a request between copies, far behind the first tap, is perhaps the second one's alone") {
    auto all = with_copies(conversation(200, false), 10 * kMillisecond);
    const auto alone = [](const Observation& one) { return one.psn == Psn(77) && one.flow.source == kA; };
    all.erase(std::ranges::find_if(all, alone));
    Observation again =
        *std::ranges::find_if(all, [](const Observation& one) { return one.psn == Psn(120) && one.flow.source == kA; });
    again.time = again.time + Duration{4 * kMillisecond};  // sent again, and lost before the second tap
    all.push_back(again);
    std::ranges::stable_sort(all, {}, &Observation::time);
    CopyFilter filter(learn(all));
    for (const Observation& one : all) {
        const CopyFilter::Copy copy = filter.look(one);
        if (alone(one)) CHECK(copy == CopyFilter::Copy::perhaps);
        else CHECK(copy != CopyFilter::Copy::perhaps);
    }
}

TEST_CASE(
    "a packet whose identification is the 0 that its sender counts from does not hide how far the taps have come") {
    std::vector<Observation> all;
    for (std::uint32_t i = 0; i < 90; ++i) {  // a burst, and another one after its copies
        const std::int64_t time = kSecond + i * kMicrosecond + (i < 60 ? 0 : 4 * kMillisecond);
        all.push_back(packet(i, time, static_cast<std::uint16_t>(i)));
        all.push_back(packet(i, time + 500, static_cast<std::uint16_t>(i + 7), true));
    }
    all = with_copies(all, 2 * kMillisecond);
    CHECK(copies(learn(all), all) == all.size() / 2);
}

TEST_CASE("a network that doubles a tenth of the packets is no second tap") {
    auto all = conversation(300, true);
    const std::size_t once = all.size();
    for (std::size_t i = 0; i < once; i += 10) {
        all.push_back(all[i]);
        all.back().time = all[i].time + Duration{kMicrosecond};
    }
    std::ranges::stable_sort(all, {}, &Observation::time);
    CHECK_FALSE(learn(all).has_copies());
}

TEST_CASE("clocks that drift through each other: the same tap is followed both ways") {
    const auto here = conversation(2000, true);
    auto all = here;
    for (const Observation& one : here) {
        all.push_back(one);
        const std::int64_t gone = std::to_underlying(one.time) - kSecond;
        const bool answer = one.opcode == kAcknowledgeOpcode;
        all.back().time = one.time + Duration{gone / 1000 - 100 * kMicrosecond + (answer ? -2000 : 2000)};
        all.back().hops = 63;
    }
    for (Observation& one : all)  // a router between them: an answer has more hops to go at the second tap
        if (one.opcode == kAcknowledgeOpcode) one.hops = one.hops == 64 ? 63 : 64;
    std::ranges::stable_sort(all, {}, &Observation::time);
    const CaptureTraits traits = learn(all);
    CopyFilter filter(traits);
    std::size_t followed = 0;
    std::vector<std::int64_t> offsets;
    for (const Observation& one : all) {
        if (filter.is_copy(one)) continue;
        ++followed;
        const auto original =
            std::ranges::find_if(here, [&](const Observation& other) { return other.packet_hash == one.packet_hash; });
        offsets.push_back(one.time == original->time ? 0 : 1);
    }
    CHECK(followed == here.size());
    CHECK(std::ranges::all_of(offsets, [&](std::int64_t tap) { return tap == offsets.front(); }));
}

TEST_CASE("the sample is bounded, and has all recordings of what is in it") {
    CopySampler sampler;
    std::mt19937_64 random(4711);
    std::vector<std::uint64_t> hashes(50'000);
    for (std::uint64_t& hash : hashes) hash = random();
    for (int recording = 0; recording < 2; ++recording)
        for (const std::uint64_t hash : hashes) {
            Observation seen = packet(1, kSecond, 7);
            seen.packet_hash = hash;
            sampler.observe(seen);
        }
    CHECK(sampler.sampled().size() <= CopySampler::kMostSampled);
    CHECK(sampler.sampled().size() > CopySampler::kMostSampled / 4);
    CHECK(std::ranges::all_of(sampler.sampled(), [](const SampledPacket& one) { return one.recorded == 2; }));

    CopySampler flooded;  // by hashes that end in zeros
    for (std::uint64_t i = 0; i < 100'000; ++i) {
        Observation seen = packet(1, kSecond, 7);
        seen.packet_hash = i << 40;
        flooded.observe(seen);
    }
    CHECK(flooded.sampled().size() <= CopySampler::kMostSampled);
}

TEST_CASE("packets that are displaced before their copy comes are counted") {
    CaptureTraits traits;
    traits.twice.push_back(
        {hosts_of(packet(0, 0, 1).flow).both,
         {.parts = {{{Instant{0}, Duration{kMillisecond}}}}, .used = 1, .tolerance = Duration{1000}}});
    CopyFilter filter(traits);
    for (std::uint32_t i = 0; i < 20'000; ++i) CHECK_FALSE(filter.is_copy(packet(i, kSecond + i, 1)));
    CHECK(filter.displaced() > 10'000);
}
