// Parts of captures that nobody recorded: samples changed by the fuzzers' mutator, and CM messages with as much private
// data as fits. What a part is written from is what its reader demands, and joined the parts say what the whole does.
#include <dissect/base/packet.hpp>
#include <dissect/capture/capture_file.hpp>
#include <tests/fuzz/mutators/sealed.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/cluster_traffic.hpp>
#include <tests/support/compared_parts.hpp>
#include <tests/support/mutation.hpp>
#include <tests/support/sample_captures.hpp>
#include <tests/support/sanitized.hpp>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

using namespace qps::transport;
using namespace qps::dissect;
using qps::tests::RecordedCapture;
using qps::tests::RecordedFrame;

namespace {

constexpr std::array<std::uint32_t, 3> kSplits{1, 2, 3};

using File = std::vector<std::uint8_t>;

File bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// As far as it can be read.
ClusterTraffic traffic_of(const File& bytes) {
    ClusterTraffic traffic;
    auto file = CaptureFile::from_memory(std::as_bytes(std::span(bytes)), "mutated");
    if (!file) return traffic;
    Batch batch;
    Packet packet;
    while (file->read(batch))
        for (const Frame& frame : batch.frames) {
            decode(frame, packet);
            traffic.add(packet);
        }
    return traffic;
}

void mutate(File& file, unsigned seed) {
    constexpr std::size_t kMayGrow = 4096;
    const std::size_t before = file.size();
    file.resize(before + kMayGrow);
    file.resize(qps::fuzz::mutate_capture(file.data(), before, file.size(), seed, 0));
}

// The private data of its CM message: so many bytes that are not zero, from the beginning on.
void fill_private_data(RecordedFrame& frame, std::size_t used) {
    Packet packet;
    decode(frame.frame(1), packet);
    for (const Layer& layer : packet.layers())
        for (const Field& field : header(layer.kind).fields) {
            if (!field.name.starts_with("infiniband.cm.") || !field.name.ends_with(".private") || field.computed())
                continue;
            const std::size_t begin = layer.offset + field.bit / 8U, room = field.width / 8U;
            for (std::size_t i = 0; i < room && begin + i < frame.bytes.size(); ++i)
                frame.bytes[begin + i] = i < used ? static_cast<std::byte>(0xa0 + i % 32) : std::byte{0};
        }
    qps::tests::seal_icrc(frame);
}

ClusterTraffic traffic_of(const RecordedCapture& capture) {
    ClusterTraffic traffic;
    Packet packet;
    for (std::size_t i = 0; i < capture.frames.size(); ++i) {
        decode(capture.frames[i].frame(i + 1), packet);
        traffic.add(packet);
    }
    return traffic;
}

}  // namespace

TEST_CASE("parts make no difference: as much private data as CM messages have room for") {
    for (const char* name : {"rping_v4", "cm_reject_noport", "ucmatose"})
        for (const std::size_t used : {0U, 1U, 63U, 64U, 65U, 92U, 136U, 148U, 196U, 216U}) {
            INFO(name << ", " << used << " bytes");
            RecordedCapture capture = qps::tests::sample(name);
            for (RecordedFrame& frame : capture.frames) fill_private_data(frame, used);
            const ClusterTraffic traffic = traffic_of(capture);
            CaptureTraits traits;
            if (used > 64) CHECK_THAT(whole_report(traffic, traits), Catch::Matchers::Contains("a0a1a2a3"));
            compare_parts(traffic, used, kSplits);
        }
}

TEST_CASE("parts make no difference: mutated captures") {
    constexpr std::size_t kLargest = 96 << 10;  // bytes of a capture: many small ones say more than a few large ones
    constexpr unsigned kMutants = qps::tests::kSanitized ? 60 : 400;
    constexpr unsigned kDeepest = 8;  // changes, one upon the other
    std::vector<File> samples;
    for (const std::string& path : qps::tests::sample_captures())
        if (File file = bytes_of(path); file.size() <= kLargest) samples.push_back(std::move(file));
    REQUIRE(samples.size() > 20);
    std::size_t packets = 0;
    for (unsigned seed = 1; seed <= kMutants; ++seed) {
        INFO("seed " << seed);
        File file = samples[seed % samples.size()];
        for (unsigned change = 0; change <= seed % kDeepest; ++change) mutate(file, (seed * kDeepest + change) * 7919);
        const ClusterTraffic traffic = traffic_of(file);
        packets += traffic.observations.size();
        compare_parts(traffic, seed, kSplits);
    }
    CHECK(packets > kMutants * 10);  // most can be read
}
