// NVMe over RDMA followed: what its operations, their phases, failures and facts are.
#include <tests/support/nvme_queue_pair.hpp>
#include <transport-replay/ulp/nvme_protocol.hpp>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::tests;

namespace {

constexpr std::uint16_t kAnyCid = 0x1007;

Capsule admin(std::uint8_t opcode, std::uint16_t cid, std::uint32_t length, std::uint32_t dword10,
              std::uint32_t space = 0) {
    Capsule entry = nvme_entry(opcode, cid, length);
    put(entry, 0, kind::nvme_command, "nvme.cmd.nsid", space);
    put(entry, kArgumentsAt, kind::nvme_arguments, "nvme.cmd.dword10", dword10);
    return entry;
}

Capsule property(std::uint8_t type, std::uint16_t cid, std::uint32_t offset) {
    Capsule entry = nvme_entry(kNvmeFabrics, cid, 0);
    entry[4] = std::byte{type};
    put(entry, kNvmeCommandHead, kind::nvme_property, "nvme.fabrics.cmd.prop_get_set.offset", offset);
    return entry;
}

}  // namespace

TEST_CASE("Connect tells that it is NVMe, and which queue of which subsystem") {
    NvmeQueuePair queue;
    queue.connect(3, 5000);
    const UlpReport report = queue.finish();
    REQUIRE(report.conversations.size() == 1);
    const UlpConversation& conversation = report.conversations[0];
    CHECK(conversation.protocol == UlpProtocol::nvme);
    CHECK(conversation.basis == UlpBasis::content);
    CHECK(conversation.certainty == 90);
    CHECK(conversation.active == kHost);
    CHECK(conversation.unread == 0);
    CHECK(conversation.fact("queue") == "I/O 3");
    CHECK(conversation.fact("queue size") == "32");
    CHECK(conversation.fact("host") == "nqn.host");
    CHECK(conversation.fact("subsystem") == "nqn.subsystem");
    CHECK(conversation.fact("controller ID") == "5");
    CHECK(conversation.fact("keep-alive timeout") == "5000 ms");
    REQUIRE(queue.ended.size() == 1);
    CHECK(queue.ended[0].read == 1024);
    CHECK(queue.ended[0].outcome == OperationOutcome::done);
    CHECK(nvme::describe(queue.ended[0]) == "I/O queue 3");
}

TEST_CASE("a read has the phases capsule, data and response") {
    NvmeQueuePair queue;
    queue.connect(1);
    const NvmeKey key{0x10000, 77};
    queue.host(nvme_blocks_entry(2, kAnyCid, 4096, 8, key));
    queue.moved(false, key, Capsule(4096), 20);
    queue.clock += 30 * kMicrosecond;
    queue.controller(nvme_response(kAnyCid));
    const UlpReport report = queue.finish();
    REQUIRE(queue.ended.size() == 2);
    const UlpOperation& read = queue.ended[1];
    CHECK(read.code == nvme_code(NvmeSet::io, 2));
    CHECK(read.tag == kAnyCid);
    CHECK(read.bytes == 4096);
    CHECK(read.written == 4096);
    CHECK(read.transfers == 1);
    CHECK(nvme::operation_name(read.code) == "Read");
    CHECK(nvme::describe(read) == "namespace 1, LBA 4096, 8 blocks");
    const OperationSum* sum = sum_of(report, NvmeSet::io, 2);
    REQUIRE(sum != nullptr);
    CHECK(sum->count == 1);
    CHECK(sum->until_data.sum == Duration{1 * kMicrosecond});
    CHECK(sum->data.sum == Duration{20 * kMicrosecond});
    CHECK(sum->to_answer.sum == Duration{31 * kMicrosecond});
    CHECK(sum->latency.sum == Duration{52 * kMicrosecond});
}

TEST_CASE("a write has its data in the capsule, or by READ, in any order of answers") {
    NvmeQueuePair queue;
    queue.connect(1);
    queue.host(in_capsule(nvme_blocks_entry(1, 1, 0, 8), 4096));
    queue.host(nvme_blocks_entry(1, 2, 8, 8, {0x10000, 2}));
    queue.host(nvme_blocks_entry(1, 3, 16, 8, {0x10000, 3}));
    queue.moved(true, {0x10000, 3}, Capsule(4096));
    queue.moved(true, {0x10000, 2}, Capsule(4096));
    queue.controller(nvme_response(3));
    queue.controller(nvme_response(2));
    queue.controller(nvme_response(1));
    const UlpReport report = queue.finish();
    REQUIRE(queue.ended.size() == 4);
    CHECK(queue.ended[1].tag == 3);
    CHECK(queue.ended[1].read == 4096);
    CHECK(queue.ended[2].read == 4096);
    CHECK(queue.ended[3].in_message == 4096);
    CHECK(queue.ended[3].read == 0);
    CHECK(queue.ended[3].bytes == 4096);
    CHECK(report.conversations[0].most_outstanding == 3);
    CHECK(report.conversations[0].unanswered == 0);
}

TEST_CASE("what failed has its status in words") {
    NvmeQueuePair queue;
    queue.connect(1);
    queue.host(nvme_blocks_entry(2, 1, 0, 8));
    queue.controller(nvme_response(1, 0x4080));
    const UlpReport report = queue.finish();
    REQUIRE(report.failures.size() == 1);
    CHECK(report.failures[0].status == 0x4080);
    CHECK(queue.ended.back().outcome == OperationOutcome::failed);
    CHECK(nvme::status(queue.ended.back()) == "LBA out of range, do not retry");
    CHECK(report.conversations[0].failed == 1);
    UlpOperation unknown;
    unknown.code = nvme_code(NvmeSet::io, 2);
    unknown.status = 0x7c1;
    CHECK(nvme::status(unknown) == "status type 7, code 0xc1");
}

TEST_CASE("a Connect that fails is a login that failed, and says because of what") {
    const auto words = [](std::uint32_t status, std::uint64_t result) {
        NvmeQueuePair queue;
        queue.host(nvme_connect(0, 0));
        queue.controller(nvme_response(0, status, result));
        const UlpReport report = queue.finish();
        REQUIRE(report.events.size() == 1);
        CHECK(report.events[0].kind == UlpEventKind::login_failed);
        CHECK(report.events[0].connection == kQueue);
        CHECK_FALSE(report.events[0].by_active);
        return report.events[0].words;
    };
    CHECK(words(0x4184, 0) == "connect invalid host, do not retry");
    CHECK(words(0x182, 0x10100) == "connect invalid parameters: subsystem NQN");
    CHECK(words(0x182, 42) == "connect invalid parameters: queue ID");
    CHECK(words(0x182, 43) == "connect invalid parameters");
    CHECK(words(0x191, 0) == "authentication required");
}

TEST_CASE("asynchronous event requests wait for ever, and are not unanswered") {
    NvmeQueuePair queue;
    queue.connect(0);
    queue.host(nvme_entry(0x0c, 31, 0));
    queue.host(nvme_entry(0x0c, 30, 0));
    queue.host(admin(0x06, 1, 4096, 1));
    queue.controller(nvme_response(1));
    queue.controller(nvme_response(31, 0, 0x00700000 | 0xf0 << 8 | 2));  // notice: discovery log changed
    queue.controller(nvme_response(30, 0, 0x00020000 | 0x01 << 8 | 1));  // health: temperature
    const UlpReport report = queue.finish();
    const UlpConversation& conversation = report.conversations.at(0);
    CHECK(conversation.unread == 0);
    CHECK(conversation.unanswered == 0);
    CHECK(conversation.most_outstanding == 1);
    CHECK(conversation.fact("asynchronous event") == "discovery log changed");
    REQUIRE(report.events.size() == 1);
    CHECK(report.events[0].kind == UlpEventKind::error_message);
    CHECK(report.events[0].words == "temperature threshold crossed");
    const OperationSum* sum = sum_of(report, NvmeSet::admin, 0x0c);
    REQUIRE(sum != nullptr);
    CHECK(sum->count == 2);
    CHECK(sum->unanswered == 0);
    CHECK(sum->latency.count == 0);
}

TEST_CASE("a gap between keep-alives longer than their timeout is told once") {
    const auto events_after = [](std::int64_t gap_ms, bool traffic_keeps_alive) {
        NvmeQueuePair queue;
        queue.connect(0, 5000);
        Capsule structure(kNvmeStructure);
        structure[96] = traffic_keeps_alive ? std::byte{0x40} : std::byte{};
        queue.host(admin(0x06, 1, 4096, 1));
        queue.moved(false, {}, structure);
        queue.controller(nvme_response(1));
        for (int i = 0; i < 3; ++i) {
            queue.clock += 2'500 * kMillisecond;
            queue.host(nvme_entry(0x18, 2, 0));
            queue.controller(nvme_response(2));
        }
        queue.clock += gap_ms * kMillisecond;
        queue.host(admin(0x06, 1, 4096, 1));
        queue.controller(nvme_response(1));
        queue.host(nvme_entry(0x18, 2, 0));
        queue.controller(nvme_response(2));
        return queue.finish().events;
    };
    CHECK(events_after(4'900, false).empty());
    CHECK(events_after(9'000, true).empty());
    const auto events = events_after(6'000, false);
    REQUIRE(events.size() == 1);
    CHECK(events[0].kind == UlpEventKind::keep_alive_late);
    CHECK(events[0].number == 6'000);
    CHECK(events[0].by_active);
    CHECK(events[0].words == "no keep-alive for 6000 ms, the timeout is 5000 ms");
}

TEST_CASE("a keep-alive that is answered after its timeout came too late") {
    const auto events_after = [](std::int64_t answer_ms, std::uint32_t timeout) {
        NvmeQueuePair queue;
        queue.connect(0, timeout);
        queue.host(nvme_entry(0x18, 2, 0));
        queue.clock += answer_ms * kMillisecond;
        queue.controller(nvme_response(2));
        return queue.finish().events;
    };
    CHECK(events_after(1'900, 2'000).empty());
    CHECK(events_after(60'000, 0).empty());
    const auto events = events_after(11'579, 2'000);
    REQUIRE(events.size() == 1);
    CHECK(events[0].kind == UlpEventKind::keep_alive_late);
    CHECK(events[0].number == 11'579);
    CHECK_FALSE(events[0].by_active);
    CHECK(events[0].words == "a keep-alive was answered after 11579 ms, the timeout is 2000 ms");
}

TEST_CASE("an opcode of fabrics on an I/O queue is no login, whatever comes of it") {
    NvmeQueuePair queue;
    queue.connect(1);
    Capsule stray = nvme_entry(kNvmeFabrics, 9, 0);
    stray[4] = std::byte{1};  // namespace 1
    queue.host(stray);
    queue.controller(nvme_response(9, 0x4001));
    queue.host(nvme_blocks_entry(2, 10, 0, 8));
    queue.controller(nvme_response(10));
    const UlpReport report = queue.finish();
    CHECK(report.events.empty());
    CHECK(report.conversations.at(0).failed == 1);
    CHECK(report.conversations.at(0).fact("queue") == "I/O 1");
    CHECK(queue.ended.back().code == nvme_code(NvmeSet::io, 2));
}

TEST_CASE("Identify and logs are facts") {
    NvmeQueuePair queue;
    queue.connect(0);
    Capsule controller(kNvmeStructure);
    put_text(controller, 24, "A model                                 ");
    put_text(controller, 4, "S/N 1");
    put_text(controller, 64, "fw 2    ");
    put_text(controller, 768, "nqn.other");
    controller[111] = std::byte{1};
    queue.host(admin(0x06, 1, kNvmeStructure, 1));
    queue.moved(false, {}, controller);
    queue.controller(nvme_response(1));

    Capsule space(kNvmeStructure);
    put(space, 0, kind::nvme_namespace, "nvme.cmd.identify.ns.nsze", 1000);
    put(space, 0, kind::nvme_namespace, "nvme.cmd.identify.ns.flbas", 1);
    space[128 + 4 + 2] = std::byte{12};
    queue.host(admin(0x06, 2, kNvmeStructure, 0, 5));
    queue.moved(false, {}, space);
    queue.controller(nvme_response(2));

    Capsule smart(kNvmeSmart);
    put(smart, 0, kind::nvme_smart, "nvme.cmd.get_logpage.smart.cw", 4);
    put(smart, 0, kind::nvme_smart, "nvme.cmd.get_logpage.smart.ct", 310);
    queue.host(admin(0x02, 3, kNvmeSmart, 2));
    queue.moved(false, {}, smart);
    queue.controller(nvme_response(3));

    queue.host(property(4, 4, 0x08));
    queue.controller(nvme_response(4, 0, 0x20000));
    queue.host(property(4, 5, 0x1c));
    queue.controller(nvme_response(5, 0, 3));

    const UlpReport report = queue.finish();
    const UlpConversation& conversation = report.conversations.at(0);
    CHECK(conversation.fact("model") == "A model");
    CHECK(conversation.fact("serial number") == "S/N 1");
    CHECK(conversation.fact("firmware") == "fw 2");
    CHECK(conversation.fact("subsystem") == "nqn.subsystem");  // Connect said so first
    CHECK(conversation.fact("controller type") == "I/O");
    CHECK(conversation.fact("namespace") == "5: 1000 blocks of 4096 bytes");
    CHECK(conversation.fact("health") == "warnings 0x04, 310 K, 0 % spare, 0 % used");
    CHECK(conversation.fact("version") == "2.0.0");
    CHECK(nvme::describe(queue.ended.at(1)) == "Controller");
    CHECK(nvme::describe(queue.ended.at(2)) == "Namespace, namespace 5");
    CHECK(nvme::describe(queue.ended.at(3)) == "SMART");
    CHECK(nvme::describe(queue.ended.at(4)) == "Version: 0x20000");
    REQUIRE(report.events.size() == 1);
    CHECK(report.events[0].words == "controller fatal status");
}

TEST_CASE("the discovery log is told entry by entry, as far as it came and as facts have room") {
    const auto facts_of = [](std::size_t entries, std::size_t came) {
        NvmeQueuePair queue;
        queue.connect(0);
        Capsule log((came + 1) * kNvmeDiscoveryPart);
        put(log, 0, kind::nvme_discovery, "nvme.cmd.get_logpage.identify.numrec", entries);
        for (std::size_t i = 1; i <= came; ++i) {
            log[i * kNvmeDiscoveryPart] = std::byte{1};
            put_text(log, i * kNvmeDiscoveryPart + 32, "4420 ");
            put_text(log, i * kNvmeDiscoveryPart + 256, "nqn." + std::to_string(i));
            put_text(log, i * kNvmeDiscoveryPart + 512, "192.0.2.1");
        }
        queue.host(admin(0x02, 1, static_cast<std::uint32_t>(log.size()), 0x70));
        queue.moved(false, {}, log);
        queue.controller(nvme_response(1));
        return queue.finish().conversations.at(0);
    };
    const UlpConversation two = facts_of(2, 2);
    CHECK(two.fact("discovery entries") == "2");
    CHECK(two.fact("discovered 1") == "nqn.1 at RDMA 192.0.2.1 port 4420");
    CHECK(two.fact("discovered 2") == "nqn.2 at RDMA 192.0.2.1 port 4420");
    CHECK(facts_of(0, 0).fact("discovery entries") == "0");
    CHECK(facts_of(2, 0).fact("discovery entries").empty());  // the head alone, to know the length
    CHECK(facts_of(3, 1).fact("discovered 2").empty());
    const UlpConversation many = facts_of(100, 100);
    CHECK(many.fact("discovery entries") == "100");
    CHECK(many.facts.size() <= kMaxFacts);
    CHECK(facts_of(~std::size_t{0}, 1).fact("discovered 1").starts_with("nqn.1"));
}

TEST_CASE("commands that nobody answers, events without end and names without end have bounds") {
    NvmeQueuePair queue;
    queue.connect(0);
    constexpr unsigned kMany = 70'000;
    for (unsigned i = 0; i < kMany; ++i) {
        queue.host(nvme_blocks_entry(2, static_cast<std::uint16_t>(i), i, 8, {i * 4096ULL, i}));
        queue.host(nvme_entry(0x0c, static_cast<std::uint16_t>(i), 0));
    }
    for (unsigned i = 0; i < 2 * NvmeMachine::kMaxStrangers; ++i)
        queue.controller(nvme_response(static_cast<std::uint16_t>(i), 0, 1));
    const UlpReport report = queue.finish();
    REQUIRE(report.conversations.size() == 1);
    CHECK(report.conversations[0].operations == 2 * kMany + 1);
    CHECK(report.events.size() <= kMaxUlpEvents);
    CHECK(report.conversations[0].facts.size() <= kMaxFacts);
}

TEST_CASE("a message cut by the capture is no contradiction") {
    NvmeQueuePair queue;
    queue.connect(1);
    const Capsule bytes = nvme_blocks_entry(2, 1, 0, 8);
    for (std::size_t captured = 0; captured < bytes.size(); ++captured) {
        UlpMessage message;
        message.connection = kQueue;
        message.from = kHost;
        message.bytes = std::span(bytes).first(captured);
        message.length = bytes.size();
        message.time = Instant{queue.clock += kMicrosecond};
        message.first_frame = FrameIndex{++queue.frame};
        queue.ulp.deliver(message, queue.tracker, queue.sink);
    }
    const UlpReport report = queue.finish();
    REQUIRE(report.conversations.size() == 1);
    CHECK(report.conversations[0].unread == 0);
    CHECK(report.conversations[0].operations == 1);
}

TEST_CASE("every operation has a name, and is described whatever it is about") {
    for (unsigned code = 0; code < 0x800; ++code) {
        UlpOperation operation;
        operation.code = OperationCode{static_cast<std::uint16_t>(code)};
        operation.subject = {~std::uint64_t{0}, ~std::uint64_t{0}};
        INFO(code);
        CHECK_FALSE(nvme::operation_name(operation.code).empty());
        CHECK(nvme::describe(operation).size() < 120);
    }
    CHECK(nvme::operation_name(nvme_code(NvmeSet::admin, 0xc0)) == "Admin Command");
    CHECK(nvme::operation_name(nvme_code(NvmeSet::io, 0x90)) == "I/O Command");
}

TEST_CASE("an access that was refused is compared with the memory that open commands named") {
    NvmeQueuePair queue;
    queue.connect(3);
    const NvmeKey key;
    Fatality fatality;
    fatality.connection = kQueue;
    fatality.requester = other(kHost);
    fatality.frame = FrameIndex{90};
    fatality.request.emplace().access = RemoteAccess{key.address, Rkey{key.key}, 64};
    queue.ulp.refused(fatality);               // nothing is open: nothing is said
    queue.host(nvme_entry(2, kAnyCid, 4096));  // READ, into memory of the host
    fatality.request->access = RemoteAccess{key.address + 4000, Rkey{key.key}, 97};
    queue.ulp.refused(fatality);
    fatality.request->access = RemoteAccess{key.address, Rkey{key.key + 1}, 64};
    queue.ulp.refused(fatality);
    fatality.request.reset();  // not captured
    queue.ulp.refused(fatality);
    const UlpReport report = queue.finish();
    REQUIRE(report.refused.size() == 2);
    CHECK(report.refused[0].verdict == RefusedAccess::Verdict::outside);
    CHECK(report.refused[0].offer == RemoteAccess{key.address, Rkey{key.key}, 4096});
    CHECK(report.refused[1].verdict == RefusedAccess::Verdict::other_key);
    CHECK(report.refused[1].offers == 1);
}
