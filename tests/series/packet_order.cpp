// Packets sorted by numbers and by texts: the order, ties, packets that a filter shows, bounds, and that it can be
// stopped.
#include <tests/support/catch.hpp>
#include <transport-replay/series/packet_order.hpp>

#include <algorithm>
#include <numeric>
#include <thread>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::transport::series;

namespace {

std::uint64_t number_of(FrameIndex frame) { return std::to_underlying(frame); }
// Some value that many packets share.
std::uint64_t mixed(FrameIndex frame) { return number_of(frame) * 2654435761U % 1000; }

OrderBy by_number(std::uint64_t (*key)(FrameIndex), bool descending = false) {
    return {.number = [key] { return [key](FrameIndex frame) { return key(frame); }; }, .descending = descending};
}

OrderBy by_text(std::function<std::string(FrameIndex)> key, bool descending = false) {
    return {.text = [key] { return [key](FrameIndex frame, std::string& text) { text = key(frame); }; },
            .descending = descending};
}

std::vector<std::uint64_t> places_of(const PacketOrder& order) {
    std::vector<std::uint64_t> places;
    for (std::uint64_t at = 0; at < order.size(); ++at) places.push_back(order.place(at));
    return places;
}

}  // namespace

TEST_CASE("packets are sorted by numbers, and those alike stay in the order of the capture", "[series]") {
    constexpr std::uint64_t kPackets = 5 * RowSet::kPieceRows + 17;  // several pieces and merges
    for (const bool descending : {false, true}) {
        const auto order = order_packets(kPackets, nullptr, by_number(mixed, descending), {});
        REQUIRE(order);
        std::vector<std::uint64_t> expected(kPackets);
        std::iota(expected.begin(), expected.end(), 0U);
        std::ranges::stable_sort(expected, [&](std::uint64_t one, std::uint64_t other) {
            const auto left = mixed(FrameIndex{one + 1}), right = mixed(FrameIndex{other + 1});
            return descending ? left > right : left < right;
        });
        CHECK(places_of(*order) == expected);
        for (std::uint64_t at = 0; at < kPackets; ++at)
            if (order->position(order->place(at)) != at) FAIL("not the inverse at " << at);
    }
    CHECK(order_packets(0, nullptr, by_number(mixed), {})->size() == 0);
}

TEST_CASE("packets that a filter shows are sorted by texts, in which digits are numbers", "[series]") {
    RowSet shown;
    for (const std::uint64_t frame : {2U, 3U, 5U, 40'000U, 70'000U}) shown.set(FrameIndex{frame}, true);
    const auto host = [](FrameIndex frame) {
        switch (number_of(frame)) {
            case 2: return std::string("10.0.0.10");
            case 3: return std::string("10.0.0.2");
            case 5: return std::string();
            case 40'000: return std::string("10.0.0.2");
            default: return std::string("10.0.0.1");
        }
    };
    const auto order = order_packets(100'000, &shown, by_text(host), {});
    REQUIRE(order);
    CHECK(places_of(*order) == std::vector<std::uint64_t>{2, 4, 1, 3, 0});
    const auto down = order_packets(100'000, &shown, by_text(host, true), {});
    REQUIRE(down);
    CHECK(places_of(*down) == std::vector<std::uint64_t>{0, 1, 3, 4, 2});
    CHECK(comes_before("a", "b"));
    CHECK_FALSE(comes_before("a", "a"));
    CHECK(comes_before("a", "ab"));
    CHECK(comes_before("qp 9", "qp 000010"));
    CHECK_FALSE(comes_before("qp 000010", "qp 10"));
    CHECK_FALSE(comes_before("qp 10", "qp 000010"));
    CHECK(comes_before("99999999999999999999999", "100000000000000000000000"));
}

TEST_CASE("texts that are all different are sorted, more of them with more memory", "[series]") {
    constexpr std::uint64_t kPackets = 4 * RowSet::kPieceRows + 5;
    // As Info has them: alike at the beginning, with numbers of different lengths, and not a few the same.
    const auto info = [](FrameIndex frame) {
        const std::uint64_t mix = number_of(frame) * 0x9e3779b97f4a7c15U;
        return "RC SEND_ONLY, QP " + std::to_string(mix % 7) + ", PSN " + std::string(mix % 3, '0') +
               std::to_string(mix % 50'000) + (mix % 2 == 0 ? " \xc3\xa4" : "");
    };
    std::atomic<std::uint64_t> done = 0;
    for (const bool descending : {false, true}) {
        const auto order = order_packets(kPackets, nullptr, by_text(info, descending), {.done = &done});
        REQUIRE(order);
        std::vector<std::uint64_t> expected(kPackets);
        std::iota(expected.begin(), expected.end(), 0U);
        std::ranges::stable_sort(expected, [&](std::uint64_t one, std::uint64_t other) {
            const std::string left = info(FrameIndex{one + 1}), right = info(FrameIndex{other + 1});
            return descending ? comes_before(right, left) : comes_before(left, right);
        });
        CHECK(places_of(*order) == expected);
        CHECK(done <= steps_of_sort(kPackets));
        CHECK(done >= pieces_of(kPackets));
    }
    const auto few = order_packets(kPackets, nullptr, by_text(info), {}, 12 * kPackets);
    REQUIRE_FALSE(few);
    CHECK(few.error() == NoOrder::too_many_texts);
    const std::uint64_t threads = std::clamp(std::thread::hardware_concurrency(), 1U, 8U);
    constexpr std::uint64_t kOfThread =
        80 * RowSet::kPieceRows / 2;  // texts of a piece one after the other, and their order
    CHECK(order_packets(kPackets, nullptr, by_text(info), {}, 40 * kPackets + threads * kOfThread).has_value());
    // Every other character a digit: no text is too long to be kept.
    std::string zebra;
    for (std::size_t i = 0; i < kLongestSortedText; ++i) zebra += i % 2 == 0 ? '1' : 'a';
    const auto same = order_packets(
        3, nullptr, by_text([&](FrameIndex frame) { return zebra + std::to_string(9 - number_of(frame)); }), {});
    REQUIRE(same);
    CHECK(places_of(*same) == std::vector<std::uint64_t>{0, 1, 2});  // what comes behind does not count
}

TEST_CASE("what is too much to sort is told, and a sort can be stopped", "[series]") {
    const auto number = order_packets(most_sorted_by_number(kUsualSortMemory) + 1, nullptr, by_number(mixed), {});
    REQUIRE_FALSE(number);
    CHECK(number.error() == NoOrder::too_many_packets);
    const auto text = order_packets(most_sorted_by_text(kUsualSortMemory) + 1, nullptr,
                                    by_text([](FrameIndex) { return std::string(); }), {});
    REQUIRE_FALSE(text);
    CHECK(text.error() == NoOrder::too_many_packets);
    std::atomic<int> asked = 0;
    const auto stopped = order_packets(most_sorted_by_number(kUsualSortMemory), nullptr, by_number(mixed),
                                       {.stopped = [&] { return ++asked > 100; }});
    REQUIRE_FALSE(stopped);
    CHECK(stopped.error() == NoOrder::stopped);
}
