// What the mutators make of real captures: packets whose checksums hold, captures that can be read, and a share of both
// that is wrong.
#include <dissect/base/packet.hpp>
#include <dissect/capture/capture_file.hpp>
#include <tests/fuzz/mutators/sealed.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/mutation.hpp>

#include <fstream>
#include <iterator>

using namespace qps;
using namespace qps::dissect;

namespace {

constexpr unsigned kTimes = 4000;
constexpr std::size_t kRoom = 4096;  // that an input may grow by

std::vector<std::uint8_t> file_bytes(const std::string& name) {
    std::ifstream file(std::string(QPSCOPE_SOURCE_DIR) + "/captures/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

struct Seen {
    std::size_t good = 0, bad = 0, other = 0;
};

CrcStatus icrc_of(Bytes bytes, LinkType link) {
    Frame frame;
    frame.bytes = bytes;
    frame.wire_length = static_cast<std::uint32_t>(bytes.size());
    frame.link = link;
    Packet packet;
    decode(frame, packet);
    return packet.icrc.status;
}

}  // namespace

TEST_CASE("a packet that was changed and sealed has the right lengths and ICRC, and some are left wrong") {
    const auto capture = tests::sample("loss_write");
    Seen seen;
    for (unsigned seed = 0; seed < kTimes; ++seed) {
        const tests::RecordedFrame& recorded = capture.frames[seed % capture.frames.size()];
        std::vector<std::uint8_t> input(3);
        while (kLinkTypeNames[input[0] % kLinkTypeNames.size()].link != recorded.link) ++input[0];
        for (const std::byte byte : recorded.bytes) input.push_back(std::to_integer<std::uint8_t>(byte));
        const std::size_t before = input.size();
        input.resize(before + kRoom);
        const std::size_t size = fuzz::mutate_packet(input.data(), before, input.size(), seed, 3);
        REQUIRE(size <= input.size());
        input.resize(size);
        const LinkType link = kLinkTypeNames[input[0] % kLinkTypeNames.size()].link;
        if (link != recorded.link) continue;
        const CrcStatus status = icrc_of(std::as_bytes(std::span(input)).subspan(3), link);
        ++(status == CrcStatus::good ? seen.good : status == CrcStatus::bad ? seen.bad : seen.other);
    }
    // Bytes of the Ethernet, IP and UDP headers were changed too: such a packet may be none of RoCE any more.
    CHECK(seen.good > kTimes * 7 / 10);
    CHECK(seen.bad > kTimes / 50);
}

TEST_CASE("a capture that was changed is read to its end, and its packets verify") {
    for (const char* name : {"loss_write/capture.pcap", "rsockets/capture.pcapng"}) {
        const auto whole = file_bytes(name);
        REQUIRE_FALSE(whole.empty());
        INFO(name);
        Seen seen;
        std::size_t readable = 0, times = 0;
        std::vector<std::uint8_t> input = whole;
        for (unsigned seed = 1; seed < 300; ++seed) {
            if (seed % 10 == 0) input = whole;
            const std::size_t before = input.size();
            input.resize(before + kRoom);
            const std::size_t size = fuzz::mutate_capture(input.data(), before, input.size(), seed * 7919, 0);
            REQUIRE(size <= input.size());
            input.resize(size);
            if (seed * 7919 % 8 == 0) {  // any bytes
                input = whole;
                continue;
            }
            ++times;
            auto file = CaptureFile::from_memory(std::as_bytes(std::span(input)), name);
            REQUIRE(file.has_value());
            Batch batch;
            while (file->read(batch))
                for (const Frame& frame : batch.frames) {
                    const CrcStatus status = icrc_of(frame.bytes, frame.link);
                    ++(status == CrcStatus::good ? seen.good : status == CrcStatus::bad ? seen.bad : seen.other);
                }
            if (file->problem().kind == InputProblemKind::none) ++readable;
        }
        CHECK(readable == times);
        CHECK(seen.good > 50 * seen.bad);
        CHECK(seen.bad > 0);
    }
}
