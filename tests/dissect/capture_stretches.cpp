// A capture that is walked in stretches gives what reading it in order gives, whatever stands in it and however many
// are under way.
#include <tests/dissect/capture_bytes.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/sample_captures.hpp>
#include <tests/support/sanitized.hpp>

#include <algorithm>
#include <deque>
#include <fstream>
#include <iterator>
#include <random>
#include <utility>

using namespace qps::dissect;
using namespace qps::test;

namespace {

// How many batches came from stretches, and what they held.
struct WalkedStretches {
    Reading reading;
    std::uint64_t stretches = 0;
};

void keep(WalkedStretches& walked, const Batch& batch) {
    for (const Frame& frame : batch.frames) {
        Seen seen{frame,
                  {frame.bytes.begin(), frame.bytes.end()},
                  {frame.options.begin(), frame.options.end()},
                  std::string(comment(frame))};
        seen.frame.index = FrameIndex{std::to_underlying(frame.index) + batch.numbered_from.value_or(0)};
        walked.reading.frames.push_back(std::move(seen));
    }
    walked.stretches += batch.numbered_from ? 1U : 0U;
}

// As a run of the pipeline goes: stretches are reached as long as fewer than `ahead` are under way, then walked, the
// last one first.
WalkedStretches walk_all(Bytes content, std::size_t length, std::size_t ahead) {
    WalkedStretches walked;
    auto file = CaptureFile::from_memory(content, "stretches");
    REQUIRE(file);
    std::deque<Batch> under_way;
    for (;;) {
        while (under_way.size() < ahead) {
            Batch batch;
            if (!file->reach(batch, length)) break;
            under_way.push_back(std::move(batch));
        }
        if (under_way.empty()) {
            Batch batch;
            if (!file->read(batch)) break;
            keep(walked, batch);
            continue;
        }
        for (auto batch = under_way.rbegin(); batch != under_way.rend(); ++batch)
            if (batch->frames.empty()) file->walk(*batch);
        file->settle(under_way.front());
        keep(walked, under_way.front());
        under_way.pop_front();
    }
    walked.reading.problem = file->problem();
    walked.reading.interfaces.assign(file->interfaces().begin(), file->interfaces().end());
    walked.reading.drops = file->drops();
    walked.reading.skipped = file->skipped_blocks();
    return walked;
}

// The most batches that came from stretches.
std::uint64_t compare(Bytes content) {
    const Reading expected = read_bytes(content);
    std::uint64_t most = 0;
    for (const std::size_t length : {1U, 700U, 5000U, 0U})
        for (const std::size_t ahead : {1U, 3U, 9U}) {
            const WalkedStretches walked = walk_all(content, length, ahead);
            INFO("stretches of " << length << ", " << ahead << " ahead");
            REQUIRE(walked.reading.frames.size() == expected.frames.size());
            CHECK(walked.reading.frames == expected.frames);
            const auto number = [](const Seen& seen) { return seen.frame.index; };
            CHECK(std::ranges::equal(walked.reading.frames, expected.frames, {}, number, number));
            CHECK(walked.reading.problem.kind == expected.problem.kind);
            CHECK(walked.reading.problem.offset == expected.problem.offset);
            CHECK(walked.reading.problem.sentence == expected.problem.sentence);
            CHECK(walked.reading.interfaces.size() == expected.interfaces.size());
            CHECK(walked.reading.drops.dropped == expected.drops.dropped);
            CHECK(walked.reading.skipped.total() == expected.skipped.total());
            most = std::max(most, walked.stretches);
        }
    return most;
}

using Draw = std::mt19937;

std::size_t length_of(Draw& draw) {
    return std::uniform_int_distribution<std::size_t>(0, draw() % 20 == 0 ? 4000 : 200)(draw);
}

Content pcap_of(Draw& draw, ByteOrder order, std::uint32_t magic, std::size_t frames) {
    Maker out(order);
    pcap_header(out, magic);
    for (std::size_t i = 0; i < frames; ++i) {
        const std::size_t length = length_of(draw);
        pcap_record(out, 1'700'000'000 + static_cast<std::uint32_t>(i / 50),
                    static_cast<std::uint32_t>(draw() % 1'000'000), frame_bytes(length, static_cast<unsigned>(i)),
                    static_cast<std::uint32_t>(length + draw() % 3));
    }
    return out.content();
}

Content pcapng_of(Draw& draw, ByteOrder order, std::size_t frames, unsigned others_in_1000) {
    Maker out(order);
    section(out);
    interface_block(out);
    std::uint32_t interfaces = 1;
    for (std::size_t i = 0; i < frames; ++i) {
        if (draw() % 1000 < others_in_1000) {
            switch (draw() % 4) {
                case 0:
                    section(out);
                    interface_block(out);
                    interfaces = 1;
                    break;
                case 1:
                    interface_block(out, {.link = 101});
                    ++interfaces;
                    break;
                case 2: out.block(4, Maker(order).u32(0).content()); break;
                default:
                    out.block(5, Maker(order).u32(0).u64(0).option(5, Maker(order).u64(i).content()).content());
                    break;
            }
        }
        const std::size_t length = length_of(draw);
        packet_block(out, static_cast<std::uint32_t>(draw() % interfaces), 1'700'000'000'000'000 + i * 1000,
                     frame_bytes(length, static_cast<unsigned>(i)), static_cast<std::uint32_t>(length));
    }
    return out.content();
}

}  // namespace

TEST_CASE("stretches of pcap files hold what reading in order finds") {
    for (unsigned seed = 1; seed <= qps::tests::share(6); ++seed) {
        Draw draw(seed);
        const ByteOrder order = seed % 2 == 0 ? ByteOrder::big : ByteOrder::little;
        const Content content = pcap_of(draw, order, seed % 3 == 0 ? kPcapNanosecondMagic : kPcapMagic, 6000);
        CHECK(compare(content) > 100);
        Content cut = content;
        cut.resize(content.size() - 1 - draw() % 100);
        CHECK(compare(cut) > 100);
        Content damaged = content;
        for (std::size_t i = 0; i < 40; ++i) damaged[draw() % damaged.size()] = std::byte{0xff};
        compare(damaged);
    }
}

TEST_CASE("stretches of pcapng files hold what reading in order finds, with whatever stands among the packets") {
    for (unsigned seed = 1; seed <= qps::tests::share(6); ++seed) {
        Draw draw(seed);
        const ByteOrder order = seed % 2 == 0 ? ByteOrder::big : ByteOrder::little;
        CHECK(compare(pcapng_of(draw, order, 6000, 0)) > 100);
        CHECK(compare(pcapng_of(draw, order, 6000, 5)) > 10);
        compare(pcapng_of(draw, order, 6000, 300));  // in order after all
        Content damaged = pcapng_of(draw, order, 6000, 2);
        for (std::size_t i = 0; i < 20; ++i) damaged[draw() % damaged.size()] = std::byte{0x5a};
        compare(damaged);
    }
}

// A transfer of a capture: each record carries records, at every place.
TEST_CASE("captures in a capture mislead no stretch") {
    Draw draw(7);
    const Content inner = pcap_of(draw, ByteOrder::little, kPcapMagic, 6000);
    const Content inner_blocks = pcapng_of(draw, ByteOrder::little, 6000, 0);
    Maker out, blocks;
    pcap_header(out);
    section(blocks);
    interface_block(blocks);
    for (std::size_t at = 0; at + 2000 < std::min(inner.size(), inner_blocks.size()); at += 150) {
        pcap_record(out, 1'700'000'000, 5, Bytes(inner).subspan(at, 2000), 2000);
        packet_block(blocks, 0, 1'700'000'000'000'000, Bytes(inner_blocks).subspan(at, 2000), 2000);
    }
    compare(out.content());
    compare(blocks.content());
}

TEST_CASE("stretches of every sample hold what reading in order finds") {
    for (const std::string& path : qps::tests::sample_captures()) {
        INFO(path);
        std::ifstream file(path, std::ios::binary);
        const std::string text(std::istreambuf_iterator<char>(file), {});
        compare(std::as_bytes(std::span(text)));
    }
}

TEST_CASE("streams are not reached into") {
    Draw draw(3);
    const Content content = pcap_of(draw, ByteOrder::little, kPcapMagic, 1000);
    auto file = CaptureFile::from_memory(content, "stream", 4096);
    REQUIRE(file);
    Batch batch;
    REQUIRE(file->read(batch));
    CHECK_FALSE(file->reach(batch));
}
