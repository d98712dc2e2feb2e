// Which message a packet belongs to: the same as the packets of each message.
#include <tests/support/catch.hpp>
#include <tests/support/sample_captures.hpp>
#include <transport-replay/index/indexer.hpp>
#include <transport-replay/index/message_frames.hpp>
#include <transport-replay/index/named_sets.hpp>

#include <algorithm>
#include <filesystem>
#include <map>

using namespace qps::dissect;
using namespace qps::transport;

TEST_CASE("every packet knows its message, and every message its packets") {
    const std::string spool = std::filesystem::temp_directory_path().string();
    for (const std::string sample :
         {"loss_write", "loss_read", "read_8k", "write_8k", "multi_qp", "err_mixed", "err_rnr", "atomic_cas",
          "ud_pingpong", "uc_pingpong", "iwarp_write", "bridging"}) {
        INFO(sample);
        const std::filesystem::path folder = qps::tests::kSampleFolder / sample;
        const bool old = std::filesystem::exists(folder / "capture.pcap");
        CaptureIndex index;
        static_cast<void>(build_index(index,
                                      {.files = {(folder / (old ? "capture.pcap" : "capture.pcapng")).string()},
                                       .jobs = {1},
                                       .spool_folder = spool},
                                      {}));
        const MessageFrames frames(index);
        std::map<std::uint64_t, std::uint64_t> last;
        for (std::uint64_t message = 1; message <= index.messages.size(); ++message) {
            INFO(message);
            std::vector<std::uint32_t> expected;
            for (const FrameIndex frame : message_packets(index, message)) {
                expected.push_back(static_cast<std::uint32_t>(std::to_underlying(frame)));
                last[expected.back()] = message;
            }
            CHECK(std::ranges::equal(frames.frames_of(message), expected));
        }
        for (std::uint64_t frame = 1; frame <= index.packets.size(); ++frame)
            CHECK(frames.message_of(FrameIndex{frame}) == (last.contains(frame) ? last[frame] : 0));
        CHECK(frames.message_of(FrameIndex{}) == 0);
        CHECK(frames.message_of(FrameIndex{index.packets.size() + 1}) == 0);
        CHECK(frames.frames_of(0).empty());
        CHECK(frames.frames_of(index.messages.size() + 1).empty());
    }
}
