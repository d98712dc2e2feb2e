// Packet delivery contexts of Ultra Ethernet in the tables of all others: what is a loss, what is none, and what nobody
// can tell.
#include <dissect/base/types.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/uet_exchange.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <random>
#include <set>
#include <string>

using namespace qps;
using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::tests;

namespace {

constexpr End a = End::a, b = End::b;

std::set<std::string_view> findings(const Followed& followed) {
    std::set<std::string_view> ids;
    for (const Finding& finding : followed.timeline.findings) ids.insert(finding.id);
    ids.erase("clock-coarse");
    return ids;
}
const Finding& finding(const Followed& followed, std::string_view id) {
    const auto found = std::ranges::find(followed.timeline.findings, id, &Finding::id);
    REQUIRE(found != followed.timeline.findings.end());
    return *found;
}
const Connection& only(const Followed& followed) {
    REQUIRE(followed.timeline.connections.size() == 1);
    return followed.timeline.connections.front();
}
const transport::UetWay& requests(const Followed& followed) {
    REQUIRE(followed.timeline.uet.conversations.size() == 1);
    return followed.timeline.uet.conversations.front().way(a);
}
UetExchange writes(std::uint32_t count) {
    UetExchange exchange;
    for (std::uint32_t i = 0; i < count; ++i) exchange.write(4 * i, 4, static_cast<std::uint16_t>(i + 1), i == 0);
    return exchange;
}

}  // namespace

TEST_CASE("a context of Ultra Ethernet is a connection, and its requests are messages") {
    const Followed followed = follow(writes(5).frames);
    const Connection& connection = only(followed);
    CHECK(connection.service == Service::uet);
    CHECK(text(connection.ends[0]) == "192.0.2.1:257");
    CHECK(text(connection.ends[1]) == "192.0.2.2:514");
    CHECK(connection.way(a).requests == 20);
    CHECK(connection.way(b).acks == 20);
    CHECK(connection.way(a).completed == 5);
    CHECK(connection.way(a).message_bytes == 5 * 4 * 64);
    CHECK(followed.count(Verb::write, Outcome::completed) == 5);
    CHECK(followed.messages[0].message.packets == 4);
    CHECK(std::to_underlying(followed.messages[0].message.answer_time) -
              std::to_underlying(followed.messages[0].message.first_time) ==
          7000);
    CHECK(requests(followed).paths.size() == 4);
    CHECK(requests(followed).paths[0].packets == 5);
    CHECK(requests(followed).paths[0].delay.count == 5);
    CHECK(requests(followed).paths[0].delay.mean() == Duration{4000});
    CHECK(findings(followed).empty());
}

TEST_CASE("packets of a context come in any order, and nothing is said of it") {
    std::mt19937 draws(7);
    for (int round = 0; round < 20; ++round) {
        INFO("round " << round);
        UetExchange exchange;
        for (std::uint32_t i = 0; i < 40; ++i)
            exchange.send({.number = i,
                           .entropy = static_cast<std::uint16_t>(0xc000 + i % 8),
                           .opens = i < 4,
                           .message = static_cast<std::uint16_t>(i / 4),
                           .place = i % 4,
                           .pieces = 4});
        std::ranges::shuffle(exchange.frames, draws);
        std::vector<std::uint32_t> order(40);
        for (std::uint32_t i = 0; i < 40; ++i) order[i] = i;
        std::ranges::shuffle(order, draws);
        std::set<std::uint32_t> here;
        std::uint32_t next = 0;
        for (const std::uint32_t each : order) {
            here.insert(each);
            while (here.contains(next)) ++next;
            std::uint64_t sack = 0;
            for (const std::uint32_t one : here)
                if (one >= next) sack |= std::uint64_t{1} << (one - next);
            exchange.acknowledge({.number = each, .cumulative = next - 1, .sack = sack});
        }
        const Followed followed = follow(exchange.frames);
        CHECK(findings(followed).empty());
        CHECK(only(followed).way(a).incidents->retransmitted == 0);
        CHECK(followed.count(Verb::write, Outcome::completed) == 10);
        CHECK(followed.messages.size() == 10);
        // Answers overtake each other, too.
        std::shuffle(exchange.frames.begin() + 40, exchange.frames.end(), draws);
        const Followed again = follow(exchange.frames);
        CHECK(findings(again).empty());
        CHECK(again.count(Verb::write, Outcome::completed) == 10);
    }
}

TEST_CASE("a packet is retransmitted where its sender says so, and the same PSN again without it is a copy") {
    UetExchange exchange = writes(2);
    exchange.send({.number = 8, .message = 9, .place = 0, .pieces = 2});
    exchange.send({.number = 9, .entropy = 0xc002, .message = 9, .place = 1, .pieces = 2});
    exchange.acknowledge({.number = 8, .cumulative = 8});
    SECTION("again, with the flag") {
        exchange.send({.number = 9, .entropy = 0xc003, .again = true, .message = 9, .place = 1, .pieces = 2});
        exchange.acknowledge({.number = 9, .cumulative = 9, .again = true});
        const Followed followed = follow(exchange.frames);
        CHECK(findings(followed) == std::set<std::string_view>{"uet-retransmitted"});
        CHECK(finding(followed, "uet-retransmitted").party == Party::fabric);
        CHECK(finding(followed, "uet-retransmitted").summary ==
              "192.0.2.1 retransmitted 1 of 11 packets to 192.0.2.2.");
        const auto lossy = std::ranges::find(requests(followed).paths, 0xc002, &UetPath::entropy);
        CHECK(lossy->resent == 1);
        CHECK(followed.messages.back().message.retransmissions == 1);
        CHECK(followed.messages.back().message.outcome == Outcome::completed);
        CHECK(followed.episodes[followed.episodes.size() - 2].retransmission);
    }
    SECTION("again, without it") {
        exchange.frames.push_back(exchange.frames[exchange.frames.size() - 2]);
        exchange.acknowledge({.number = 9, .cumulative = 9});
        const Followed followed = follow(exchange.frames);
        CHECK(findings(followed).empty());
        CHECK(only(followed).way(a).incidents->retransmitted == 0);
        CHECK(only(followed).way(a).incidents->duplicated == 1);
        CHECK(followed.timeline.totals.duplicated_packets == 0);
    }
    SECTION("every frame twice") {
        exchange.send({.number = 9, .entropy = 0xc003, .again = true, .message = 9, .place = 1, .pieces = 2});
        exchange.acknowledge({.number = 9, .cumulative = 9, .again = true});
        std::vector<Block> twice;
        for (const Block& frame : exchange.frames) twice.insert(twice.end(), {frame, frame});
        const Followed followed = follow(twice);
        CHECK(only(followed).way(a).incidents->retransmitted <= 1);
        CHECK(only(followed).way(a).requests - only(followed).way(a).incidents->duplicated == 11);
        CHECK(followed.messages.size() == 3);
        CHECK(followed.count(Verb::write, Outcome::completed) == 3);
    }
    SECTION("after it was acknowledged") {
        exchange.acknowledge({.number = 9, .cumulative = 9});
        exchange.send({.number = 9, .again = true, .message = 9, .place = 1, .pieces = 2});
        const Followed followed = follow(exchange.frames);
        CHECK(finding(followed, "uet-retransmitted").party == Party::requester);
        CHECK(requests(followed).needless == 1);
        CHECK(followed.messages.size() == 3);
    }
}

TEST_CASE("NACKs are told by their codes, and those of trimmed packets as trimming") {
    UetExchange exchange = writes(1);
    exchange.send({.number = 4, .entropy = 0xc002, .message = 5});
    SECTION("no buffer") {
        exchange.refuse(4, 7);
        exchange.send({.number = 4, .again = true, .message = 5});
        exchange.acknowledge({.number = 4, .cumulative = 4, .again = true});
        const Followed followed = follow(exchange.frames);
        CHECK(findings(followed) == std::set<std::string_view>{"uet-nack", "uet-retransmitted"});
        CHECK(finding(followed, "uet-nack").party == Party::responder);
        CHECK(finding(followed, "uet-nack").severity == Severity::warning);
        CHECK(finding(followed, "uet-nack").summary ==
              "192.0.2.2 answered 1 packet of 192.0.2.1 with NACK NO_PKT_BUFFER.");
        CHECK(requests(followed).after_nack == 1);
        CHECK(finding(followed, "uet-retransmitted").party == Party::responder);
    }
    SECTION("lost, as the receiver says") {
        exchange.refuse(4, 0x1a);
        exchange.send({.number = 4, .again = true, .message = 5});
        exchange.acknowledge({.number = 4, .cumulative = 4, .again = true});
        CHECK(finding(follow(exchange.frames), "uet-retransmitted").party == Party::fabric);
    }
    SECTION("no buffer, and another one without a word") {
        exchange.refuse(4, 7);
        exchange.send({.number = 4, .again = true, .message = 5});
        exchange.send({.number = 5, .message = 6});
        exchange.send({.number = 5, .again = true, .message = 6});
        exchange.acknowledge({.number = 5, .cumulative = 5, .again = true});
        CHECK(finding(follow(exchange.frames), "uet-retransmitted").party == Party::fabric);
    }
    SECTION("trimmed, as the receiver says") {
        exchange.refuse(4, 2);
        exchange.send({.number = 4, .again = true, .message = 5});
        exchange.acknowledge({.number = 4, .cumulative = 4, .again = true});
        const Followed followed = follow(exchange.frames);
        CHECK(findings(followed) == std::set<std::string_view>{"uet-trimmed", "uet-retransmitted"});
        CHECK(finding(followed, "uet-trimmed").summary ==
              "192.0.2.2 reported 1 packet of 192.0.2.1 as trimmed (1 at the last hop).");
        CHECK(finding(followed, "uet-retransmitted").party == Party::congestion);
    }
    SECTION("the context is rejected, and nothing follows") {
        exchange.refuse(4, 0x0e);
        CHECK(finding(follow(exchange.frames), "uet-nack").severity == Severity::error);
    }
    SECTION("the context was being closed") {
        exchange.close(5);
        exchange.refuse(5, 0x0e);
        CHECK(finding(follow(exchange.frames), "uet-nack").severity == Severity::warning);
    }
    SECTION("the context is rejected, and goes on") {
        exchange.refuse(4, 0x0e);
        exchange.acknowledge({.number = 4, .cumulative = 4});
        CHECK(finding(follow(exchange.frames), "uet-nack").severity == Severity::warning);
    }
    SECTION("of many codes") {
        for (std::uint64_t code = 0; code < 256; ++code) exchange.refuse(4, code);
        const Followed followed = follow(exchange.frames);
        CHECK(requests(followed).nacks.size() <= kMostUetCodes);
        std::uint64_t sum = requests(followed).further_codes;
        for (const UetCode& code : requests(followed).nacks) sum += code.count;
        CHECK(sum == 256);
    }
}

TEST_CASE("a trimmed packet is one that UDP says more of than IP, and what the capture cut is none") {
    UetExchange exchange = writes(1);
    exchange.send({.number = 4, .message = 5, .trimmed = true});
    exchange.refuse(4, 1);
    exchange.send({.number = 4, .entropy = 0xc003, .again = true, .message = 5});
    exchange.acknowledge({.number = 4, .cumulative = 4, .again = true});
    const Followed followed = follow(exchange.frames);
    CHECK(requests(followed).trimmed == 1);
    CHECK(requests(followed).after_trimming == 1);
    CHECK(followed.count(Verb::write, Outcome::completed) == 2);
    CHECK(followed.messages.back().message.bytes == 64);
    CHECK(
        finding(followed, "uet-trimmed").summary ==
        "Switches trimmed 1 packet from 192.0.2.1 to 192.0.2.2; 192.0.2.2 reported 1 packet of 192.0.2.1 as trimmed.");
    for (const std::size_t cut : {96UL, 80UL, 64UL, 54UL}) {
        INFO("cut at " << cut);
        const Followed less = follow(writes(3).frames, cut);
        CHECK(less.timeline.uet.conversations.front().way(a).trimmed == 0);
        for (const std::string_view id : findings(less)) CHECK_FALSE(id.starts_with("uet-"));
        CHECK(less.count(Verb::write, Outcome::failed) == 0);
        if (cut == 96) CHECK(less.count(Verb::write, Outcome::completed) == 3);
    }
}

TEST_CASE("of one direction nothing is claimed that the other would have to tell") {
    UetExchange exchange = writes(6);
    exchange.send({.number = 24, .message = 40});
    exchange.send({.number = 24, .again = true, .message = 40});
    std::vector<Block> there, back;
    for (const Block& frame : exchange.frames) (frame[29] == std::byte{1} ? there : back).push_back(frame);
    const Followed requests_alone = follow(there);
    CHECK(only(requests_alone).way(a).incidents->retransmitted == 1);
    CHECK(finding(requests_alone, "uet-retransmitted").party == Party::undecided);
    CHECK(requests_alone.count(Verb::write, Outcome::open) == 7);
    CHECK(only(requests_alone).one_way());
    const Followed answers_alone = follow(back);
    CHECK(only(answers_alone).way(b).acks == 24);
    CHECK(only(answers_alone).ends[0].qpn == Qpn{0x101});
    for (const std::string_view id : findings(answers_alone)) CHECK_FALSE(id.starts_with("uet-"));
}

TEST_CASE("a capture may begin in the middle of a context") {
    const UetExchange exchange = writes(6);
    for (std::size_t skipped = 1; skipped < exchange.frames.size(); ++skipped) {
        INFO("without the first " << skipped);
        const std::vector<Block> rest(exchange.frames.begin() + static_cast<std::ptrdiff_t>(skipped),
                                      exchange.frames.end());
        const Followed followed = follow(rest);
        static_cast<void>(only(followed));
        CHECK(only(followed).way(a).incidents->retransmitted == 0);
        for (const std::string_view id : findings(followed)) CHECK_FALSE(id.starts_with("uet-"));
        CHECK(followed.count(Verb::write, Outcome::failed) == 0);
        CHECK(followed.messages.size() <= 6);
    }
}

TEST_CASE("numbers of contexts are used again: another first PSN, another context") {
    UetExchange exchange = writes(2);
    exchange.start += 0x2000'0000;
    exchange.target = 0x0333;
    exchange.write(0, 4, 1, true);
    exchange.write(4, 4, 2);
    const Followed followed = follow(exchange.frames);
    REQUIRE(followed.timeline.connections.size() == 2);
    CHECK(followed.timeline.uet.conversations.size() == 2);
    CHECK(followed.timeline.connections[1].ends[1].qpn == Qpn{0x333});
    CHECK(followed.timeline.connections[1].way(a).completed == 2);
    CHECK(findings(followed).empty());
}

TEST_CASE("a READ ends with its data, a refused request fails") {
    UetExchange exchange = writes(1);
    exchange.send({.number = 4, .message = 77, .operation = 2});
    const auto response = [](std::uint64_t code, std::uint64_t length) {
        return UetHeader{kind::ses_response_data,
                         {{"uet.ses.rsp.opcode", 2},
                          {"uet.ses.rsp.return_code", code},
                          {"uet.ses.rsp.job_id", 0xabc},
                          {"uet.ses.rsp.read_req_message_id", 77},
                          {"uet.ses.rsp.payload_length", length},
                          {"uet.ses.rsp.mod_length", length}}};
    };
    SECTION("data in the ACK") {
        exchange.acknowledge({.number = 4, .cumulative = 4, .semantics = {response(1, 64)}, .form = 5, .data = 64});
        const Followed followed = follow(exchange.frames);
        CHECK(followed.count(Verb::read_request, Outcome::completed) == 1);
        CHECK(followed.messages.back().message.bytes == 64);
        CHECK(findings(followed).empty());
    }
    SECTION("an ACK without data leaves it open") {
        exchange.acknowledge({.number = 4, .cumulative = 4});
        CHECK(follow(exchange.frames).count(Verb::read_request, Outcome::open) == 1);
    }
    SECTION("refused") {
        const UetHeader bad{kind::ses_response,
                            {{"uet.ses.rsp.opcode", 1},
                             {"uet.ses.rsp.return_code", 0x1c},
                             {"uet.ses.rsp.message_id", 77},
                             {"uet.ses.rsp.job_id", 0xabc}}};
        exchange.acknowledge({.number = 4, .cumulative = 4, .semantics = {bad}, .form = 4});
        const Followed followed = follow(exchange.frames);
        CHECK(followed.count(Verb::read_request, Outcome::failed) == 1);
        CHECK(findings(followed) == std::set<std::string_view>{"uet-refused"});
        CHECK(finding(followed, "uet-refused").summary ==
              "192.0.2.2 answered 1 request of 192.0.2.1 with return code BAD_MKEY.");
    }
}

TEST_CASE("one path that loses, or is slow, is told apart from chance") {
    const auto lossy = [](std::uint32_t losses, std::uint32_t elsewhere) {
        UetExchange exchange;
        for (std::uint32_t i = 0; i < 200; ++i) {
            const auto entropy = static_cast<std::uint16_t>(0xc000 + i % 4);
            exchange.send({.number = i, .entropy = entropy, .opens = i == 0, .message = static_cast<std::uint16_t>(i)});
            const bool lost = (i % 4 == 2 && i / 4 < losses) || (i % 4 == 1 && i / 4 < elsewhere);
            if (lost)
                exchange.send(
                    {.number = i, .entropy = 0xc000, .again = true, .message = static_cast<std::uint16_t>(i)});
            exchange.acknowledge({.number = i, .cumulative = i, .again = lost});
        }
        return findings(follow(exchange.frames));
    };
    CHECK(lossy(12, 1).contains("uet-path-loss"));
    CHECK_FALSE(lossy(12, 12).contains("uet-path-loss"));
    CHECK_FALSE(lossy(5, 0).contains("uet-path-loss"));
}
