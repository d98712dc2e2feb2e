// Whose turn it is: lanes, times, and the fairness of an adapter with many queue pairs.
#include <tests/support/catch.hpp>
#include <tests/support/verbs_pair.hpp>
#include <transport-replay/live/cm/management_datagram.hpp>
#include <transport-replay/live/verbs/schedule.hpp>

#include <map>
#include <random>

using namespace qps;
using namespace qps::transport;
using namespace qps::transport::verbs;
using namespace qps::tests;

namespace {

constexpr dissect::Instant instant(std::int64_t value) { return dissect::Instant{value}; }
}  // namespace

TEST_CASE("a lane serves in turn, and holds a slot once") {
    Schedule schedule;
    for (std::uint32_t i = 0; i < 4; ++i) schedule.add(Slot{i});
    for (const std::uint32_t i : {2U, 0U, 2U, 3U}) schedule.ready(Lane::requests, Slot{i});
    schedule.ready(Lane::responses, Slot{2});
    CHECK(schedule.take(Lane::requests) == Slot{2});
    schedule.ready(Lane::requests, Slot{2});
    schedule.remove(Slot{0});
    CHECK(schedule.take(Lane::requests) == Slot{3});
    CHECK(schedule.take(Lane::requests) == Slot{2});
    CHECK_FALSE(schedule.take(Lane::requests));
    CHECK(schedule.any(Lane::responses));
    schedule.remove(Slot{2});
    CHECK_FALSE(schedule.any(Lane::responses));
}

TEST_CASE("times come in order, whatever is changed and taken away meanwhile") {
    constexpr std::uint32_t kSlots = 200;
    Schedule schedule;
    for (std::uint32_t i = 0; i < kSlots; ++i) schedule.add(Slot{i});
    std::mt19937 numbers(3);
    const auto draw = [&] { return static_cast<std::uint32_t>(numbers()); };
    std::map<std::uint32_t, std::int64_t> model;
    for (int step = 0; step < 20'000; ++step) {
        const std::uint32_t slot = draw() % kSlots;
        const std::uint32_t what = draw() % 8;
        if (what < 5) {
            model[slot] = draw() % 1000;
            schedule.wake_at(Slot{slot}, instant(model[slot]));
        } else if (what == 5) {
            model.erase(slot);
            schedule.wake_never(Slot{slot});
        } else if (const auto due = schedule.due(instant(draw() % 1000))) {
            const std::int64_t time = model.at(std::to_underlying(*due));
            for (const auto& [other, at] : model) REQUIRE(time <= at);
            model.erase(std::to_underlying(*due));
        }
        const auto next = schedule.next_time();
        REQUIRE(next.has_value() == !model.empty());
    }
    std::int64_t last = -1;
    while (const auto due = schedule.due(instant(1000))) {
        REQUIRE(model.at(std::to_underlying(*due)) >= last);
        last = model.at(std::to_underlying(*due));
        model.erase(std::to_underlying(*due));
    }
    CHECK(model.empty());
}

TEST_CASE("what has a priority that is held stays, all else goes, and nothing asks to be called for it") {
    AdapterSettings settings;
    settings.tagged = true;
    VerbsPair pair(settings);
    AddressHandle third = handle_to(v4(2)), fourth = handle_to(v4(2));
    third.sl = 3;
    fourth.sl = 4;
    const dissect::Qpn held = pair.pair(QpType::rc, {.address = third}).first;
    const dissect::Qpn free = pair.pair(QpType::rc, {.address = fourth}).first;
    for (const dissect::Qpn ours : {held, free})
        REQUIRE(pair.a.send(ours, 0, 1024, {.opcode = WrOpcode::rdma_write, .remote = at(pair.b, 0)}));
    pair.a.adapter.hold(1U << 3);
    std::map<std::uint32_t, int> sent;
    while (const auto out = pair.a.adapter.poll(pair.now)) ++sent[std::to_underlying(out->from)];
    CHECK(sent == std::map<std::uint32_t, int>{{std::to_underlying(free), 4}});
    // The timer of what went is all there is to wait for; work that is posted now waits too.
    REQUIRE(pair.a.send(held, 0, 256, {.opcode = WrOpcode::rdma_write, .remote = at(pair.b, 0)}));
    REQUIRE(pair.a.adapter.poll_at());
    CHECK(*pair.a.adapter.poll_at() > pair.now);
    CHECK_FALSE(pair.a.adapter.poll(pair.now));
    pair.a.adapter.hold(0xff);
    CHECK_FALSE(pair.a.adapter.poll_at());  // nor is a timer looked at that could send nothing
    const live::ManagementDatagram datagram{.remote = v4(2), .local = v4(1)};
    REQUIRE(pair.a.adapter.send_datagram(datagram));
    CHECK_FALSE(pair.a.adapter.poll_at());
    pair.a.adapter.hold(0xff & ~1U);  // management datagrams have priority 0
    CHECK(pair.a.adapter.poll_at() == kAtOnce);
    const auto out = pair.a.adapter.poll(pair.now);
    REQUIRE(out);
    CHECK(out->from == dissect::kGsiQpn);
    CHECK_FALSE(pair.a.adapter.poll(pair.now));
    pair.a.adapter.hold(0);
    sent.clear();
    while (const auto each = pair.a.adapter.poll(pair.now)) ++sent[std::to_underlying(each->from)];
    CHECK(sent == std::map<std::uint32_t, int>{{std::to_underlying(held), 5}});
}

TEST_CASE("of datagrams the priority is that of the next one") {
    AdapterSettings settings;
    settings.tagged = true;
    VerbsPair pair(settings);
    const dissect::Qpn qp = VerbsPair::datagram_qp(pair.a, dissect::Qkey{7});
    const auto post = [&](std::uint8_t sl) {
        AddressHandle to = handle_to(v4(2));
        to.sl = sl;
        const UdTarget target{.ah = to, .remote_qpn = dissect::Qpn{9}, .remote_qkey = dissect::Qkey{7}};
        REQUIRE(pair.a.send(qp, 0, 64, {.opcode = WrOpcode::send, .ud = target}));
    };
    for (const std::uint8_t sl : {std::uint8_t{4}, std::uint8_t{3}, std::uint8_t{4}}) post(sl);
    pair.a.adapter.hold(1U << 3);
    const auto first = pair.a.adapter.poll(pair.now);
    REQUIRE(first);
    CHECK(first->to.sl == 4);
    CHECK_FALSE(pair.a.adapter.poll(pair.now));  // they keep their order
    CHECK_FALSE(pair.a.adapter.poll_at());
    pair.a.adapter.hold(1U << 4);
    const auto second = pair.a.adapter.poll(pair.now);
    REQUIRE(second);
    CHECK(second->to.sl == 3);
    CHECK_FALSE(pair.a.adapter.poll(pair.now));
    pair.a.adapter.hold(0);
    CHECK(pair.a.adapter.poll(pair.now));
}

TEST_CASE("a thousand queue pairs take turns by packets") {
    constexpr std::size_t kPairs = 1000;
    VerbsPair pair;
    std::map<std::uint32_t, int> sent;
    std::vector<dissect::Qpn> ours;
    for (std::size_t i = 0; i < kPairs; ++i) {
        const auto [qa, qb] = pair.pair();
        ours.push_back(qa);
        REQUIRE(pair.a.send(qa, 0, i == 0 ? 20'000 : 1024, {.opcode = WrOpcode::rdma_write, .remote = at(pair.b, 0)}));
    }
    int least = 0, most = 0;
    for (int round = 1; round <= 4; ++round) {  // the big message of one is no reason to wait for the others
        for (std::size_t i = 0; i < kPairs; ++i) {
            const auto out = pair.a.adapter.poll(pair.now);
            REQUIRE(out);
            ++sent[static_cast<std::uint32_t>(out->from)];
        }
        least = most = sent.begin()->second;
        for (const auto& [qp, count] : sent) least = std::min(least, count), most = std::max(most, count);
        CHECK(sent.size() == kPairs);
        CHECK(least == round);
        CHECK(most == round);
    }
    std::size_t rest = 0;
    while (pair.a.adapter.poll(pair.now)) ++rest;
    CHECK(rest == (20'000 + 255) / 256 - 4);
    REQUIRE(pair.a.adapter.poll_at());
    CHECK(*pair.a.adapter.poll_at() > pair.now);
}

TEST_CASE("responses go before requests, but a peer's endless READs starve nobody") {
    VerbsPair pair;
    const auto [qa, qb] = pair.pair();
    REQUIRE(pair.a.send(qa, 0, 60'000, {.opcode = WrOpcode::rdma_read, .remote = at(pair.b, 0)}));
    {
        const auto out = pair.a.adapter.poll(pair.now);
        REQUIRE(out);
        pair.carry(flying(*out), true);
    }
    REQUIRE(pair.b.send(qb, 0, 512, {.opcode = WrOpcode::rdma_write, .remote = at(pair.a, 0)}));
    std::vector<bool> responses;
    while (const auto out = pair.b.adapter.poll(pair.now))
        responses.push_back(!dissect::info(out->packet.opcode).request);
    REQUIRE(responses.size() == 235 + 2);
    CHECK(std::ranges::count(responses, false) == 2);
    CHECK(std::ranges::find(responses, false) - responses.begin() == kResponsesInARow);
}

TEST_CASE("management datagrams are sent in order, with the number and key of QP 1") {
    VerbsPair pair;
    live::ManagementDatagram datagram{.remote = v4(2)};
    for (std::uint8_t i = 0; i < 3; ++i) {
        datagram.bytes[0] = std::byte{i};
        REQUIRE(pair.a.adapter.send_datagram(datagram));
    }
    CHECK(pair.a.adapter.poll_at() == kAtOnce);
    pair.converse();
    const auto arrived = pair.b.adapter.take_datagrams();
    REQUIRE(arrived.size() == 3);
    for (std::uint8_t i = 0; i < 3; ++i) CHECK(arrived[i].bytes[0] == std::byte{i});
    CHECK(arrived[0].remote == v4(1));
    CHECK(arrived[0].local == v4(2));
    CHECK(arrived[0].remote_qp == dissect::kGsiQpn);
    CHECK(pair.b.adapter.take_datagrams().empty());
    CHECK_FALSE(pair.a.adapter.poll_at());

    CHECK(pair.a.adapter.send_datagram({}).error() == VerbsError::invalid_request);
    for (std::size_t i = 0; i < kMaxDatagrams; ++i) REQUIRE(pair.a.adapter.send_datagram(datagram));
    CHECK(pair.a.adapter.send_datagram(datagram).error() == VerbsError::queue_full);
}

TEST_CASE("thousands of idle queue pairs cost nothing, slots and numbers are used again") {
    VerbsPair pair;
    std::vector<dissect::Qpn> idle;
    while (idle.size() < 5000) idle.push_back(*pair.a.adapter.create_qp(pair.a.init()));
    for (const auto qp : idle) REQUIRE(pair.a.adapter.destroy_qp(qp));
    const auto again = *pair.a.adapter.create_qp(pair.a.init());
    CHECK(std::ranges::find(idle, again) == idle.end());  // no old packet reaches a new queue pair
    for (std::size_t made = 1; made < kMaxQps; ++made) REQUIRE(pair.a.adapter.create_qp(pair.a.init()));
    CHECK(pair.a.adapter.create_qp(pair.a.init()).error() == VerbsError::too_many);
}
