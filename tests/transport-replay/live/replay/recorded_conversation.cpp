// Connections of the sample captures as conversations: messages, bytes, memory, what waits for what, where memory is
// told of.
#include <tests/support/conversations.hpp>
#include <tests/support/sample_captures.hpp>
#include <transport-replay/live/replay/conversation_part.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <cstring>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::transport::live;

namespace {

RecordedConversation sample(const std::string& name, std::uint32_t uid = 1, const std::string& file = "capture.pcap") {
    const std::string path = std::string(QPSCOPE_SOURCE_DIR "/captures/") + name + "/" + file;
    auto conversation = qps::tests::conversation_of([&](const auto& each) { qps::tests::for_each_packet(path, each); },
                                                    ConnectionId{uid});
    INFO(name);
    if (!conversation) FAIL(conversation.error());
    return std::move(*conversation);
}

std::string refusal(const std::string& name, std::uint32_t uid) {
    const std::string path = std::string(QPSCOPE_SOURCE_DIR "/captures/") + name + "/capture.pcap";
    auto conversation = qps::tests::conversation_of([&](const auto& each) { qps::tests::for_each_packet(path, each); },
                                                    ConnectionId{uid});
    return conversation ? std::string() : conversation.error();
}

ConversationPart part(const RecordedConversation& conversation, End ours) {
    auto part = part_of(conversation, ours);
    REQUIRE(part.has_value());
    return std::move(*part);
}

std::string text_of(Bytes bytes, std::size_t count) {
    return {reinterpret_cast<const char*>(bytes.data()), std::min(count, bytes.size())};
}

}  // namespace

TEST_CASE("a conversation of rping has its messages in order, with their bytes") {
    const RecordedConversation c = sample("rping_v4");
    REQUIRE(c.messages.size() == 24);
    CHECK(c.set_up);
    CHECK(c.port == 7174);
    CHECK(c.requester == End::a);
    CHECK(c.taken_down_by == End::a);
    CHECK_FALSE(c.gaps.any());
    CHECK(c.messages[0].from == End::a);
    CHECK(c.messages[0].message.verb == Verb::send);
    CHECK(c.messages[0].payload.bytes.size() == 16);
    const RecordedMessage& read = c.messages[1];
    CHECK(read.from == End::b);
    REQUIRE(read.message.verb == Verb::read_request);
    REQUIRE(read.payload.bytes.size() == 9000);
    CHECK(text_of(read.payload.bytes, 17) == "rdma-ping-0: ABCD");
    const RecordedMessage& write = c.messages[4];
    REQUIRE(write.message.verb == Verb::write);
    CHECK(write.payload.bytes == read.payload.bytes);
    CHECK(std::ranges::all_of(
        c.messages, [](const RecordedMessage& each) { return each.payload.holes.empty() && each.succeeded(); }));
    for (std::size_t i = 1; i < c.messages.size(); ++i)
        CHECK(c.messages[i - 1].message.first_frame < c.messages[i].message.first_frame);
}

TEST_CASE("memory that rping's client must have: what is read changes before the message that tells of it") {
    const RecordedConversation c = sample("rping_v4");
    const ConversationPart client = part(c, End::a);
    REQUIRE(client.memory.regions.size() == 2);
    const RecordedRegion* source =
        client.memory.find(c.messages[1].message.access->key, c.messages[1].message.access->address);
    const RecordedRegion* sink =
        client.memory.find(c.messages[4].message.access->key, c.messages[4].message.access->address);
    REQUIRE(source != nullptr);
    REQUIRE(sink != nullptr);
    CHECK(source->access.remote_read);
    CHECK_FALSE(source->access.remote_write);
    CHECK(sink->access.remote_write);
    const std::uint64_t at = source->range.offset - client.memory.blocks[source->block].address;
    CHECK(text_of(slice(client.memory.blocks[source->block].initial, at), 11) == "rdma-ping-0");
    // Each of the three later pings puts other letters there, before the SEND that shows the memory anew.
    REQUIRE_FALSE(client.memory.fills.empty());
    CHECK(client.fills.empty());
    for (const PlannedPost& post : client.posts)
        for (const std::uint32_t fill : post.fills) {
            CHECK(c.messages[post.message].message.first_frame > client.memory.fills[fill].after);
            CHECK(c.messages[post.message].message.first_frame < client.memory.fills[fill].before);
        }
    // Each WRITE is looked at before the client goes on, the last one in the end or before.
    std::size_t looks = client.last_touches.size();
    for (const PlannedPost& post : client.posts) looks += post.touches.size();
    CHECK(looks == 4);
    // The client tells of its memory in every SEND, and learns nothing of the server's.
    CHECK(client.learned.empty());
    REQUIRE(client.advertised.size() == 8);
    for (const Advertisement& place : client.advertised) {
        CHECK(place.big_endian);
        CHECK(place.key_offset == 8);
        CHECK(place.address_offset == 0);
    }
    for (const PlannedPost& post : client.posts) CHECK(post.advertises.size() == 1);
}

TEST_CASE("rping's server learns of all memory from the messages before") {
    const RecordedConversation c = sample("rping_v4");
    const ConversationPart server = part(c, End::b);
    CHECK(server.advertised.empty());
    CHECK(server.learned.size() == 8);
    CHECK(server.memory.regions.empty());
    std::uint32_t sends = 0;
    for (const PlannedPost& post : server.posts) {
        const Message& message = c.messages[post.message].message;
        CHECK(post.target.has_value() == message.access.has_value());
        if (!message.access) continue;
        const Advertisement& place = server.learned[*post.target];
        CHECK(place.key == message.access->key);
        CHECK(place.address == message.access->address);
        CHECK(place.message < post.message);
        ++sends;
        // The READ waits for the SEND that told of the memory.
        CHECK(post.due.after_peer == sends);
    }
    CHECK(server.receives.size() == 8);
    CHECK(std::ranges::all_of(server.receives, [](const PlannedReceive& each) { return !each.held && !each.never; }));
}

TEST_CASE("what waits for what is what was before it") {
    const RecordedConversation c = sample("rping_v4");
    const ConversationPart client = part(c, End::a);
    REQUIRE(client.posts.size() == 8);
    CHECK(client.posts[0].due == Due{0, 0, Duration{}});
    // The second SEND comes after the first was answered, and after the server's READ and SEND.
    CHECK(client.posts[1].due.after_own == 1);
    CHECK(client.posts[1].due.after_peer == 2);
    CHECK(client.posts[1].due.delay > Duration{});
    CHECK(client.posts[1].due.delay < Duration{10'000'000});
    for (std::size_t i = 1; i < client.posts.size(); ++i) {
        CHECK(client.posts[i].due.after_own == i);
        CHECK(client.posts[i].due.after_peer >= client.posts[i - 1].due.after_peer);
    }
}

TEST_CASE("all kinds of messages on one queue pair: what an ATOMIC found was there, what it left is") {
    const RecordedConversation c = sample("err_mixed");
    CHECK_FALSE(c.set_up);
    const ConversationPart responder = part(c, End::b);
    REQUIRE(responder.memory.regions.size() == 1);
    CHECK(responder.memory.regions[0].key == Rkey{0x3192});
    CHECK(responder.memory.regions[0].access.remote_atomic);
    CHECK(responder.posts.empty());
    CHECK(responder.learned.empty());
    const auto swap = std::ranges::find_if(
        c.messages, [](const RecordedMessage& each) { return each.message.verb == Verb::compare_swap; });
    REQUIRE(swap != c.messages.end());
    const auto touch = std::ranges::find(responder.memory.touches,
                                         static_cast<std::uint32_t>(swap - c.messages.begin()), &MemoryTouch::message);
    REQUIRE(touch != responder.memory.touches.end());
    std::uint64_t left = 0;
    REQUIRE(touch->value.size() == sizeof left);
    std::memcpy(&left, touch->value.data(), sizeof left);
    const Message& message = swap->message;
    CHECK(left ==
          (*message.atomic_result == message.atomic->compare ? message.atomic->swap_or_add : *message.atomic_result));
}

TEST_CASE("a peer that is never ready has no receive, one that was late posts it late") {
    const RecordedConversation never = sample("err_rnr");
    REQUIRE(never.messages.size() == 1);
    CHECK(never.messages[0].rnr_naks == 7);
    const ConversationPart responder = part(never, End::b);
    REQUIRE(responder.receives.size() == 1);
    CHECK(responder.receives[0].never);
    const RecordedConversation late = sample("rds", 2);
    std::size_t held = 0;
    for (const End end : {End::a, End::b})
        for (const PlannedReceive& receive : part(late, end).receives) held += receive.held ? 1U : 0U;
    CHECK(held == 1);
}

TEST_CASE("what was refused is refused again: no region, no right, no room") {
    const RecordedConversation bad_key = sample("err_bad_rkey");
    CHECK(part(bad_key, End::b).memory.regions.empty());
    CHECK(part(bad_key, End::b).memory.access.remote_write);
    const RecordedConversation no_right = sample("err_no_write_perm");
    CHECK_FALSE(part(no_right, End::b).memory.access.remote_write);
    CHECK(part(no_right, End::b).memory.access.remote_read);
    const RecordedConversation too_small = sample("err_recv_too_small");
    const ConversationPart responder = part(too_small, End::b);
    REQUIRE(responder.receives.size() == 1);
    CHECK(responder.receives[0].room == 1999);
}

TEST_CASE("storage protocols: keys are found where the protocol tells of them, and are invalidated") {
    for (const char* name : {"iser", "nfs_rdma"}) {
        const RecordedConversation c = sample(name);
        const ConversationPart target = part(c, End::b);
        std::size_t asked = 0;
        std::size_t found = 0;
        for (const PlannedPost& post : target.posts) {
            if (!c.messages[post.message].message.access) continue;
            ++asked;
            if (post.target && target.learned[*post.target].address_offset) ++found;
        }
        INFO(name << ": " << found << " of " << asked);
        CHECK(asked > 5);
        CHECK(found == asked);
        const ConversationPart initiator = part(c, End::a);
        CHECK(initiator.memory.regions.size() > 5);
        CHECK(std::ranges::any_of(initiator.memory.regions, &RecordedRegion::invalidated));
    }
}

TEST_CASE("what a capture lacks is padded, named and counted") {
    const RecordedConversation cut = sample("cut_128", 1);
    CHECK(cut.gaps.one_way);
    REQUIRE(cut.messages.size() == 1);
    REQUIRE(cut.messages[0].message.verb == Verb::send);
    const RecordedPayload& payload = cut.messages[0].payload;
    CHECK(payload.bytes.size() == 1024);
    CHECK(payload.missing() > 900);
    CHECK(cut.gaps.missing_bytes == payload.missing());
    CHECK(cut.gaps.incomplete == 1);
}

TEST_CASE("what cannot be replayed is refused with a sentence") {
    CHECK(refusal("ud_pingpong", 1) == "connection 1 is UD: only RC and UC connections can be replayed");
    CHECK(refusal("rping_v4", 2) == "no such connection 2");
    CHECK(refusal("cut_128", 4) == "connection 4 has no messages");
}

TEST_CASE("every RC or UC connection of the samples is a conversation with two parts, or is refused with a sentence") {
    std::size_t conversations = 0;
    for (const std::string& path : qps::tests::sample_captures()) {
        Analysis analysis;
        Observation observation;
        qps::tests::for_each_packet(path, [&](const Packet& packet) {
            observe(packet, observation);
            analysis.observe(observation);
        });
        const Timeline timeline = analysis.finish();
        const std::size_t count = std::min<std::size_t>(timeline.connections.size(), 5);
        for (std::size_t i = 0; i < count; ++i) {
            INFO(path << " connection " << i + 1);
            const auto c = qps::tests::conversation_of(
                [&](const auto& each) { qps::tests::for_each_packet(path, each); }, timeline.connections[i].uid);
            if (!c) {
                CHECK(c.error().find("connection ") != std::string::npos);
                continue;
            }
            ++conversations;
            std::size_t own = 0;
            for (const End end : {End::a, End::b}) {
                const auto part = part_of(*c, end);
                if (!part) {
                    CHECK(part.error().find("memory") != std::string::npos);
                    continue;
                }
                own += part->posts.size();
                for (const PlannedPost& post : part->posts) {
                    CHECK(post.due.after_own <= static_cast<std::size_t>(&post - part->posts.data()));
                    CHECK(post.due.after_peer <= part->peers.size());
                }
            }
            CHECK(own == c->messages.size());
        }
    }
    CHECK(conversations > 30);
}
