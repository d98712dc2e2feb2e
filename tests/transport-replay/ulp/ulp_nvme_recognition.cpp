// How NVMe over RDMA is recognised, and where it must not be; and all of a real capture.
#include <dissect/filter/filter.hpp>
#include <tests/support/nvme_queue_pair.hpp>
#include <tests/support/observations.hpp>
#include <tests/support/sample_captures.hpp>
#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/analysis/annotator.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/ulp/nvme_protocol.hpp>

#include <map>
#include <random>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::tests;

namespace {

CmAttempt attempt_with(std::initializer_list<std::uint8_t> private_data, std::uint16_t port) {
    CmAttempt attempt;
    attempt.uid = 7;
    attempt.ip =
        CmIpService{.protocol = 6, .port = port, .addressed = true, .source_port = 0, .source = {}, .destination = {}};
    PrivateData& data = attempt.active.private_data;
    data.room = 56;
    for (const std::uint8_t byte : private_data) {
        data.first[data.used++] = std::byte{byte};
    }
    while (data.used > 0 && data.first[data.used - 1U] == std::byte{}) --data.used;
    return attempt;
}

constexpr std::uint16_t kPort = 4420;

}  // namespace

TEST_CASE("private data of CM tells the protocol, and the queue before its first message") {
    const std::initializer_list<std::uint8_t> kGood{0, 0, 2, 0, 128, 0, 127, 0, 1, 0};
    CHECK(nvme::is_own(attempt_with(kGood, kPort)));
    CHECK(nvme::is_own(attempt_with(kGood, 8009)));
    CHECK(nvme::is_own(attempt_with(kGood, 1)));                                // sizes as every host chooses them
    CHECK(nvme::is_own(attempt_with({0, 0, 0, 0, 0x40, 0, 0x20}, kPort)));      // others on a port of NVMe alone
    CHECK_FALSE(nvme::is_own(attempt_with({0, 0, 0, 0, 0x40, 0, 0x20}, 1)));    //
    CHECK_FALSE(nvme::is_own(attempt_with({}, kPort)));                         // nothing there
    CHECK_FALSE(nvme::is_own(attempt_with({1, 0, 0, 0, 128, 0, 127}, kPort)));  // another format
    CHECK_FALSE(nvme::is_own(attempt_with({0, 0, 0, 0, 16, 0, 127}, kPort)));   // more to send than to receive
    CHECK_FALSE(nvme::is_own(attempt_with({0, 0, 2, 0, 128, 0, 127, 0, 1, 0, 9}, 1)));  // reserved bytes are used

    NvmeQueuePair queue;
    queue.ulp.connected(kQueue, attempt_with(kGood, kPort), queue.tracker, queue.sink);
    CHECK(nvme_queue(queue.ulp.hint(kQueue, kHost).detail) == NvmeQueue::unknown);  // of no packet yet
    queue.connect(2);
    CHECK(queue.ulp.hint(kQueue, kHost).detail == nvme_detail(NvmeQueue::io, NvmeAnswered::connect));
    CHECK(queue.ulp.hint(kQueue, kHost).from_active);
    const UlpReport report = queue.finish();
    CHECK(report.conversations.at(0).basis == UlpBasis::private_data);
    CHECK(report.conversations.at(0).certainty == 100);
    CHECK(report.conversations.at(0).fact("queue") == "I/O 2");
}

TEST_CASE("a refusal is told in NVMe's words") {
    const auto refused = [](std::initializer_list<std::uint8_t> said, bool by_active) {
        CmReport cm;
        CmAttempt attempt = attempt_with({0, 0, 2, 0, 128, 0, 127}, kPort);
        attempt.rejection.emplace();
        attempt.rejection->reason = 28;
        attempt.rejection->by_active = by_active;
        for (const std::uint8_t byte : said)
            attempt.rejection->private_data.first[attempt.rejection->private_data.used++] = std::byte{byte};
        cm.attempts.push_back(attempt);
        NvmeQueuePair queue;
        return queue.finish(cm).events;
    };
    const auto events = refused({0, 0, 6}, false);
    REQUIRE(events.size() == 1);
    CHECK(events[0].kind == UlpEventKind::refused);
    CHECK(events[0].protocol == UlpProtocol::nvme);
    CHECK(events[0].cm_attempt == 7U);
    CHECK(events[0].number == 6);
    CHECK(events[0].words == "no resources");
    CHECK(refused({0, 0, 99}, false).at(0).words == "status 99");
    CHECK(refused({}, false).empty());
    CHECK(refused({0, 0, 6}, true).empty());
    CHECK(refused({1, 0, 6}, false).empty());
}

TEST_CASE("a queue in the middle is recognised by the shape of its commands, with less certainty") {
    NvmeQueuePair queue;
    for (std::uint16_t i = 0; i < 40; ++i) {
        queue.controller(nvme_response(static_cast<std::uint16_t>(100 + i)));  // of commands before the capture
        queue.host(nvme_blocks_entry(2, i, i * 8U, 8, {0x10000U + i * 4096U, 7}));
        if (i >= 20) queue.controller(nvme_response(static_cast<std::uint16_t>(i - 20)));
    }
    const UlpReport report = queue.finish();
    REQUIRE(report.conversations.size() == 1);
    CHECK(report.conversations[0].certainty == 60);
    CHECK(report.conversations[0].active == kHost);
    CHECK(report.conversations[0].unread == 0);
    CHECK(report.conversations[0].operations == 40);
    REQUIRE(sum_of(report, NvmeSet::io, 2) != nullptr);
    CHECK(sum_of(report, NvmeSet::io, 2)->count == 40);
}

TEST_CASE("plain data is no NVMe") {
    std::mt19937 draws(4711);
    const auto random = [&](std::size_t size) {
        Capsule bytes(size);
        for (std::byte& byte : bytes) byte = static_cast<std::byte>(draws());
        return bytes;
    };
    const auto counting = [](std::size_t size) {
        Capsule bytes(size);
        for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i);
        return bytes;
    };
    const auto text = [](std::size_t size) {
        Capsule bytes(size);
        for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>("GET / HTTP/1.1\r\n"[i % 16]);
        return bytes;
    };
    for (const std::size_t size : {16UL, 64UL, 80UL, 1088UL, 4096UL}) {
        INFO(size);
        NvmeQueuePair zeros, noise, numbers, words;
        for (int i = 0; i < 40; ++i) {
            const End from = i % 2 == 0 ? End::a : End::b;
            zeros.deliver(Capsule(size), from);
            noise.deliver(random(size), from);
            numbers.deliver(counting(size), from);
            words.deliver(text(size), from);
        }
        CHECK(zeros.finish().conversations.empty());
        CHECK(noise.finish().conversations.empty());
        CHECK(numbers.finish().conversations.empty());
        CHECK(words.finish().conversations.empty());
    }
}

TEST_CASE("messages that are nearly NVMe are not") {
    const auto likeness = [](const Capsule& bytes) {
        UlpMessage message;
        message.bytes = bytes;
        message.length = bytes.size();
        return nvme::likeness(message).percent;
    };
    CHECK(likeness(nvme_connect(0, 1)) >= kSure);
    CHECK(likeness(nvme_blocks_entry(2, 1, 0, 8)) >= kPlausible);
    CHECK(likeness(nvme_blocks_entry(2, 1, 0, 8)) < kSure);
    CHECK(likeness(nvme_response(1)) < kPlausible);
    CHECK(likeness(nvme_response(1, 0x7ab)) == 0);
    const auto broken = [&](Capsule entry, std::size_t at, std::uint8_t value) {
        entry[at] = std::byte{value};
        return likeness(entry);
    };
    CHECK(broken(nvme_connect(0, 1), 44, 0) == 0);                // a queue of one
    CHECK(broken(nvme_connect(0, 1), 40, 1) == 0);                // another record format
    CHECK(broken(nvme_connect(0, 1), 33, 3) == 0);                // other data
    CHECK(broken(nvme_connect(0, 1), 6, 1) == 0);                 // reserved
    CHECK(broken(nvme_blocks_entry(2, 1, 0, 8), 0, 0x33) == 0);   // no opcode
    CHECK(broken(nvme_blocks_entry(2, 1, 0, 8), 1, 0x44) == 0);   // reserved flags
    CHECK(broken(nvme_blocks_entry(2, 1, 0, 8), 1, 0x00) == 0);   // PRPs
    CHECK(broken(nvme_blocks_entry(2, 1, 0, 8), 39, 0x60) == 0);  // no such descriptor
    CHECK(broken(nvme_blocks_entry(2, 1, 0, 8), 12, 1) == 0);     // dword 3
    Capsule longer = nvme_blocks_entry(2, 1, 0, 8);
    longer.push_back({});
    CHECK(likeness(longer) == 0);
    CHECK(likeness(in_capsule(nvme_blocks_entry(1, 1, 0, 8), 4096)) >= kPlausible);
    for (std::size_t size = 0; size < kNvmeCommand; ++size)
        if (size != kNvmeCompletion) CHECK(likeness(Capsule(size)) == 0);
}

TEST_CASE("a guess that turns out wrong is given up") {
    NvmeQueuePair queue;
    for (std::uint16_t i = 0; i < 4; ++i) queue.host(nvme_blocks_entry(2, i, 0, 8));
    for (int i = 0; i < 20; ++i) queue.controller(Capsule(100, std::byte{0x55}));
    CHECK(queue.finish().conversations.empty());
}

TEST_CASE("zeros in the place of commands, as an anonymised capture has them, are none that nobody answered") {
    NvmeQueuePair queue;
    queue.ulp.connected(kQueue, attempt_with({}, kPort), queue.tracker, queue.sink);
    for (int i = 0; i < 11; ++i) queue.host(Capsule(kNvmeCommand));
    (void)queue.finish();
    CHECK(queue.ended.empty());
}

// As tshark lists the commands of that capture.
TEST_CASE("the commands of a real discovery, connect and I/O are all there") {
    Analysis analysis;
    std::map<std::string, std::uint64_t> counts;
    for_each_observation("nvme_rdma", [&](const Observation& observation) { analysis.observe(observation); });
    const Timeline timeline = analysis.finish();
    for (const OperationSum& sum : timeline.ulp.sums) {
        counts[std::string(nvme::operation_name(sum.code))] += sum.count;
        CHECK(sum.failed == 0);
        CHECK(sum.unanswered == 0);
    }
    const std::map<std::string, std::uint64_t> expected{{"Connect", 3},      {"Property Get", 12},
                                                        {"Property Set", 6}, {"Identify", 12},
                                                        {"Set Features", 3}, {"Get Log Page", 6},
                                                        {"Keep Alive", 1},   {"Read", 11},
                                                        {"Write", 4},        {"Asynchronous Event Request", 2}};
    CHECK(counts == expected);
    const OperationSum* writes = sum_of(timeline.ulp, NvmeSet::io, 1);
    REQUIRE(writes != nullptr);
    CHECK(writes->bytes == 4 * 65536);
    REQUIRE(timeline.ulp.conversations.size() == 3);
    CHECK(timeline.ulp.events.empty());
    const UlpConversation& discovery = timeline.ulp.conversations[0];
    CHECK(discovery.basis == UlpBasis::private_data);
    CHECK(discovery.fact("subsystem") == "nqn.2014-08.org.nvmexpress.discovery");
    CHECK(discovery.fact("discovery entries") == "2");
    CHECK(discovery.fact("discovered 2") == "nqn.lab at RDMA 10.77.0.12 port 4420");
    const UlpConversation& admin_queue = timeline.ulp.conversations[1];
    CHECK(admin_queue.fact("model") == "Linux");
    CHECK(admin_queue.fact("namespace") == "1: 2097152 blocks of 512 bytes");
    CHECK(timeline.ulp.conversations[2].fact("queue") == "I/O 1");
    CHECK(timeline.ulp.conversations[2].fact("queue size") == "128");
}

TEST_CASE("packets of a real capture have the fields of NVMe once their connection is followed") {
    Annotator annotator;
    std::map<std::string, unsigned> matched;
    const std::array<std::string, 9> filters{"nvme.cmd.opc == 2",
                                             "nvme.cmd.slba",
                                             "nvme.cmd.nlb == 128",
                                             "nvme.fabrics.cmd.connect.data.subnqn",
                                             "nvme.cmd.identify.ctrl.mn",
                                             "nvme.cmd.get_logpage.identify.rcrd.traddr",
                                             "nvme.fabrics.prop_get_set.csts.rdy == 1",
                                             "nvme-rdma.cm.req.qid == 1",
                                             "nvme.cqe.status == 0"};
    std::vector<Filter> compiled;
    for (const std::string& text : filters) {
        auto filter = Filter::compile(text);
        INFO(text);
        REQUIRE(filter);
        compiled.push_back(std::move(*filter));
    }
    for_each_packet(QPSCOPE_SOURCE_DIR "/captures/nvme_rdma/capture.pcap", [&](Packet& packet) {
        annotator.annotate(packet);
        for (std::size_t i = 0; i < filters.size(); ++i)
            if (compiled[i].matches(packet)) ++matched[filters[i]];
    });
    const std::map<std::string, unsigned> expected{{filters[0], 17}, {filters[1], 15}, {filters[2], 4},
                                                   {filters[3], 3},  {filters[4], 3},  {filters[5], 1},
                                                   {filters[6], 2},  {filters[7], 1},  {filters[8], 58}};
    CHECK(matched == expected);
}

TEST_CASE("no other sample capture has a conversation of NVMe") {
    for (const std::string& path : sample_captures()) {
        if (path.contains("/nvme") || path.contains("/iwarp_nvme")) continue;
        Analysis analysis;
        Observation observation;
        for_each_packet(path, [&](const Packet& packet) {
            observe(packet, observation);
            analysis.observe(observation);
        });
        for (const UlpConversation& conversation : analysis.finish().ulp.conversations) {
            INFO(path);
            CHECK(conversation.protocol != UlpProtocol::nvme);
        }
    }
}
