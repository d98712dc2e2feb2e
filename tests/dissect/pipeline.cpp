// The parallel way through a capture gives what one thread gives, in order, and stops when told; censuses add up.
#include <dissect/packet/census.hpp>
#include <dissect/packet/pipeline.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/packets.hpp>

#include <atomic>

using namespace qps::dissect;

namespace {

// A source of `batches` batches of numbered frames.
struct Numbers {
    std::uint64_t batches;
    std::uint64_t made = 0;

    bool read(Batch& batch) {
        batch.frames.clear();
        if (made == batches) return false;
        for (std::uint64_t i = 0; i < 1 + made % 5; ++i) {
            Frame frame;
            frame.index = FrameIndex{made};
            batch.frames.push_back(frame);
        }
        ++made;
        return true;
    }
};

std::vector<std::uint64_t> order_of(std::uint64_t batches, std::size_t jobs, std::uint64_t stop_after) {
    Numbers numbers{batches};
    const Jobs how{jobs};
    std::vector<std::uint64_t> slots(how.slots());
    std::vector<std::uint64_t> order;
    run({[&](Batch& batch) { return numbers.read(batch); },
         [&](std::size_t slot, const Batch& batch) { slots[slot] = std::to_underlying(batch.frames.at(0).index); },
         [&](std::size_t slot) {
             order.push_back(slots[slot]);
             return order.size() < stop_after;
         }},
        how);
    return order;
}

}  // namespace

TEST_CASE("batches are consumed in order, whatever the number of threads") {
    for (const std::size_t jobs : {1U, 2U, 3U, 8U})
        for (const std::uint64_t batches : {0U, 1U, 2U, 7U, 500U}) {
            const auto order = order_of(batches, jobs, ~std::uint64_t{0});
            REQUIRE(order.size() == batches);
            for (std::uint64_t i = 0; i < batches; ++i) CHECK(order[i] == i);
        }
}

TEST_CASE("a run stops when the consumer says so") {
    for (const std::size_t jobs : {1U, 2U, 4U}) CHECK(order_of(1000, jobs, 3) == std::vector<std::uint64_t>{0, 1, 2});
}

TEST_CASE("the census of two chunks is that of the whole") {
    std::vector<qps::tests::Decoded> packets;
    std::int64_t time = 1000;
    for (std::size_t code = 0; code < kOpcodes.size(); ++code) {
        const Network network = kNetworks[code % kNetworks.size()];
        PacketSpec spec = transport_packet(static_cast<Opcode>(code), network);
        if (code % 7 == 0) spec.icrc = 1;
        packets.emplace_back(spec, code % 11 == 0 ? 60 : std::dynamic_extent);
        time += code % 13 == 0 ? -500 : 100;
        packets.back().packet.frame.time = Instant{time};
    }
    Census whole;
    for (const auto& decoded : packets) count(whole, decoded.packet);
    for (std::size_t split = 0; split <= packets.size(); split += 17) {
        Census first;
        Census second;
        for (std::size_t i = 0; i < packets.size(); ++i) count(i < split ? first : second, packets[i].packet);
        add(first, second);
        INFO("split at " << split);
        CHECK(first.packets == whole.packets);
        CHECK(first.bytes == whole.bytes);
        CHECK(first.cut == whole.cut);
        CHECK(first.backwards == whole.backwards);
        CHECK(first.icrc == whole.icrc);
        CHECK(first.icrc_reasons == whole.icrc_reasons);
        CHECK(first.opcodes == whole.opcodes);
        CHECK(first.faults == whole.faults);
        REQUIRE(first.time);
        CHECK(first.time->first == whole.time->first);
        CHECK(first.time->last == whole.time->last);
    }
    CHECK(whole.backwards == 19);  // every thirteenth but the first, which has no predecessor
    CHECK(whole.icrc[std::to_underlying(CrcStatus::bad)] > 0);
}
