// The rate of a queue pair under congestion notifications, and how often those go out.
#include <tests/support/catch.hpp>
#include <transport-replay/live/verbs/dcqcn.hpp>

#include <utility>

using namespace qps;
using namespace qps::transport;
using namespace qps::transport::verbs;

namespace {

constexpr std::uint64_t kLine = 10'000'000'000;
constexpr dissect::Instant at(std::int64_t micro) { return dissect::Instant{1'000'000'000 + micro * 1000}; }
std::uint64_t bits(dissect::BitsPerSecond rate) { return std::to_underlying(rate); }

DcqcnSettings settings() { return {.line_rate = dissect::BitsPerSecond{kLine}}; }

}  // namespace

TEST_CASE("without a notification nothing is limited") {
    Dcqcn rate(settings());
    CHECK_FALSE(rate.limited());
    CHECK(bits(rate.rate()) == kLine);
    rate.on_sent(1 << 20, at(0));
    rate.advance(at(1'000'000));
    CHECK(rate.next_send() < at(0));
    CHECK_FALSE(rate.limited());
}

TEST_CASE("the first notification halves the rate, the next ones cut by alpha") {
    Dcqcn rate(settings());
    rate.on_cnp(at(0));
    CHECK(rate.limited());
    CHECK(bits(rate.rate()) == kLine / 2);
    CHECK(bits(rate.target()) == kLine);
    CHECK(rate.alpha() == Dcqcn::kAlphaOne);
    SECTION("those too close to the last count no more") {
        rate.on_cnp(at(49));
        CHECK(bits(rate.rate()) == kLine / 2);
        CHECK(rate.cuts() == 1);
        rate.on_cnp(at(50));
        CHECK(bits(rate.rate()) == kLine / 4);
        CHECK(bits(rate.target()) == kLine / 2);
        CHECK(rate.cuts() == 2);
    }
    SECTION("a storm stops at the least rate") {
        for (int i = 1; i < 1000; ++i) rate.on_cnp(at(i * 50));
        CHECK(bits(rate.rate()) == 10'000'000);
        CHECK(rate.limited());
    }
    SECTION("silence lets alpha decay by g each period") {
        rate.advance(at(54));
        CHECK(rate.alpha() == Dcqcn::kAlphaOne);
        rate.advance(at(55));
        CHECK(rate.alpha() == Dcqcn::kAlphaOne - Dcqcn::kAlphaOne / 256);
        rate.advance(at(110));
        CHECK(rate.alpha() == Dcqcn::kAlphaOne / 256 * 255 - Dcqcn::kAlphaOne / 256 * 255 / 256);
    }
}

TEST_CASE("fast recovery halves the distance five times, then the target rises, too") {
    Dcqcn rate(settings());
    rate.on_cnp(at(0));
    rate.on_cnp(at(50));  // 2.5 of 5 Gbit/s
    std::uint64_t expected = kLine / 4;
    for (int raise = 1; raise <= 5; ++raise) {
        rate.advance(at(50 + raise * 55));
        expected += (kLine / 2 - expected + 1) / 2;
        CHECK(bits(rate.rate()) == expected);
        CHECK(bits(rate.target()) == kLine / 2);
    }
    rate.advance(at(50 + 6 * 55));  // additive
    CHECK(bits(rate.target()) == kLine / 2 + 40'000'000);
    rate.advance(at(50 + 7 * 55));
    CHECK(bits(rate.target()) == kLine / 2 + 80'000'000);
}

TEST_CASE("bytes raise the rate as time does, and both together raise it most") {
    DcqcnSettings quick = settings();
    quick.bytes_per_raise = 1000;
    Dcqcn rate(quick);
    rate.on_cnp(at(0));
    rate.on_cnp(at(50));
    rate.on_sent(1000, at(51));
    CHECK(bits(rate.rate()) == kLine / 4 + kLine / 8);
    rate.on_sent(999, at(52));
    CHECK(bits(rate.rate()) == kLine / 4 + kLine / 8);
    for (int i = 0; i < 4; ++i) rate.on_sent(1000, at(52));
    CHECK(bits(rate.target()) == kLine / 2);
    rate.on_sent(1000, at(52));  // beyond fast recovery by bytes alone: additive
    CHECK(bits(rate.target()) == kLine / 2 + 40'000'000);
    rate.advance(at(50 + 5 * 55));  // by time still fast: additive, by the one that is ahead
    CHECK(bits(rate.target()) == kLine / 2 + 6 * 40'000'000);
    rate.advance(at(50 + 6 * 55));  // both beyond: hyper
    CHECK(bits(rate.target()) == kLine / 2 + 6 * 40'000'000 + 400'000'000);
}

TEST_CASE("time heals: at line rate nothing is limited any more, however long the silence was") {
    Dcqcn rate(settings());
    for (int i = 0; i < 100; ++i) rate.on_cnp(at(i * 50));
    std::uint64_t before = bits(rate.rate());
    for (int i = 0; i < 2000 && rate.limited(); ++i) {
        rate.advance(at(5000 + i * 55));
        CHECK(bits(rate.rate()) >= before);
        CHECK(bits(rate.rate()) <= kLine);
        before = bits(rate.rate());
    }
    CHECK_FALSE(rate.limited());
    CHECK(bits(rate.rate()) == kLine);
    rate.on_cnp(at(1'000'000));
    rate.advance(dissect::Instant{std::int64_t{1} << 60});  // 36 years
    CHECK_FALSE(rate.limited());
}

TEST_CASE("frames leave at the rate, with little saved in silence") {
    Dcqcn rate(settings());
    rate.on_cnp(at(0));  // 5 Gbit/s: 1000 bytes in 1.6 us
    CHECK(rate.next_send() == at(0));
    rate.on_sent(1000, at(0));
    CHECK(rate.next_send() == dissect::Instant{std::to_underlying(at(0)) + 1600});
    rate.on_sent(1000, rate.next_send());
    CHECK(rate.next_send() == dissect::Instant{std::to_underlying(at(0)) + 3200});
    rate.on_sent(1000, at(50));  // 46.8 us of silence are worth 10
    CHECK(rate.next_send() == dissect::Instant{std::to_underlying(at(40)) + 1600});
}

TEST_CASE("settings that cannot be do no harm") {
    Dcqcn rate(DcqcnSettings{.line_rate = dissect::BitsPerSecond{0},
                             .min_rate = dissect::BitsPerSecond{0},
                             .alpha_period = dissect::Duration{0},
                             .rate_period = dissect::Duration{-5},
                             .bytes_per_raise = 0,
                             .gain_shift = 99});
    rate.on_cnp(at(0));
    rate.on_sent(1 << 20, at(1));
    rate.advance(at(1'000'000'000));
    CHECK(bits(rate.rate()) >= 1);
}

TEST_CASE("one CNP in a gap") {
    CnpPacer pacer;
    CHECK(pacer.allow(at(0)));
    CHECK_FALSE(pacer.allow(at(0)));
    CHECK_FALSE(pacer.allow(at(49)));
    CHECK(pacer.allow(at(50)));
    CHECK_FALSE(pacer.allow(at(99)));
    CHECK(pacer.allow(at(1000)));
}
