// What messages of iWARP carried: every byte of the samples, each once, through loss and disorder; and nothing that is
// not there.
#include <dissect/capture/capture_file.hpp>
#include <tests/support/catch.hpp>
#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/iwarp/followed_stream.hpp>
#include <transport-replay/model/timeline.hpp>

#include <filesystem>

using namespace qps::dissect;
using namespace qps::transport;

namespace {

struct Carried {
    Message message;
    MessagePayload payload;
};

// Of connection 1, with frames cut to `length`.
std::vector<Carried> carried(const std::string& path, std::size_t length = SIZE_MAX) {
    FollowedStream stream(PayloadStore::kMost);
    std::vector<Carried> all;
    std::vector<std::pair<End, Message>> ended;  // told while the packet is looked at that ended them
    AnalysisSettings settings;
    settings.message = [&](ConnectionId connection, End requester, const Message& message) {
        if (connection == ConnectionId{1}) ended.emplace_back(requester, message);
    };
    const auto take = [&] {
        for (const auto& [requester, message] : ended) all.push_back({message, stream.take(requester, message)});
        ended.clear();
    };
    Analysis analysis(std::move(settings));
    auto file = CaptureFile::open(path);
    REQUIRE(file.has_value());
    Batch batch;
    Packet packet;
    Observation seen;
    while (file->read(batch))
        for (Frame frame : batch.frames) {
            frame.bytes = slice(frame.bytes, 0, length);
            decode(frame, packet);
            observe(packet, seen);
            const PacketRecord record = analysis.observe(seen);
            if (seen.kind == ObservationKind::stream) stream.observe(seen, record.connection == ConnectionId{1});
            take();
        }
    static_cast<void>(analysis.finish());
    take();
    return all;
}

std::vector<std::string> samples() {
    std::vector<std::string> paths;
    for (const auto& folder : std::filesystem::directory_iterator(std::string(QPSCOPE_SOURCE_DIR) + "/captures"))
        if (folder.path().filename().string().starts_with("iwarp_"))
            for (const auto& one : std::filesystem::directory_iterator(folder.path()))
                if (one.path().filename().string().starts_with("capture.pcap")) paths.push_back(one.path().string());
    std::ranges::sort(paths);
    return paths;
}

}  // namespace

TEST_CASE("messages of iWARP have all the bytes that they carried") {
    REQUIRE(samples().size() >= 5);
    std::uint64_t messages = 0;
    for (const std::string& path : samples())
        for (const auto& [message, payload] : carried(path)) {
            const bool has_payload =
                message.verb == Verb::send || message.verb == Verb::write || message.verb == Verb::read_request;
            if (!has_payload || message.outcome != Outcome::completed || message.missing != 0) continue;
            INFO(path << " FPDU " << message.first.value());
            CHECK(payload.bytes.size() == message.bytes);
            CHECK(payload.missing_bytes == 0);
            CHECK(payload.cut_bytes == 0);
            ++messages;
        }
    CHECK(messages > 100);
}

TEST_CASE("bytes of a message of iWARP that are not there are counted, not made up") {
    StreamPayloads payloads(1 << 20);
    const std::vector<std::byte> bytes(100, std::byte{7});
    const auto segment = [&](std::uint64_t offset, std::uint32_t length) {
        return StreamPayload{.requester = End::a,
                             .message = Psn(3),
                             .offset = offset,
                             .length = length,
                             .bytes = Bytes(bytes).first(std::min<std::size_t>(length, 100)),
                             .frame = FrameIndex{1}};
    };
    Message message;
    message.service = Service::iwarp;
    message.verb = Verb::read_request;
    message.first = Psn(3);
    message.access = RemoteAccess{.address = 0, .key = {}, .length = 500};
    payloads.keep(segment(150, 120));  // 20 of them cut off
    payloads.keep(segment(0, 100));
    payloads.keep(segment(0, 100));  // again
    const MessagePayload payload = payloads.take(End::a, message);
    CHECK(payload.bytes.size() == 200);
    CHECK(payload.cut_bytes == 20);
    CHECK(payload.missing_bytes == 50 + 230);
    CHECK(payloads.take(End::a, message).bytes.empty());
    CHECK(payloads.take(End::b, message).missing_bytes == 500);
}

TEST_CASE("messages of iWARP that wait for their end are let go in time") {
    StreamPayloads payloads(10'000);
    const std::vector<std::byte> bytes(100, std::byte{7});
    for (std::uint32_t i = 0; i < 1000; ++i)
        payloads.keep({.requester = End::a,
                       .message = Psn(i),
                       .offset = 0,
                       .length = 100,
                       .bytes = bytes,
                       .frame = FrameIndex{i + 1}});
    CHECK(payloads.let_go() > 90'000);
    Message message;
    message.verb = Verb::send;
    message.first = Psn(999);
    CHECK(payloads.take(End::a, message).bytes.size() == 100);
}
