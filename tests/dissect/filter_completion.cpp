// What a half-typed filter offers.
#include <dissect/filter/completion.hpp>
#include <dissect/filter/filter.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/sanitized.hpp>

#include <array>
#include <random>

using namespace qps::dissect;

namespace {

// What is offered in a filter with the cursor at '@'.
Completions at_cursor(std::string text) {
    const std::size_t cursor = text.find('@');
    text.erase(cursor, 1);
    return completions(text, cursor);
}

std::vector<std::string> offered(const std::string& text) {
    std::vector<std::string> texts;
    for (const Completion& completion : at_cursor(text).list) texts.push_back(completion.text);
    return texts;
}

bool offers(const std::string& text, std::string_view wanted) {
    const auto texts = offered(text);
    return std::ranges::find(texts, wanted) != texts.end();
}

// The filter after taking what is offered first.
std::string taken(std::string text) {
    const Completions found = at_cursor(text);
    text.erase(text.find('@'), 1);
    return found.list.empty() ? text : text.replace(found.offset, found.length, found.list.front().text);
}

}  // namespace

TEST_CASE("Names are offered where a test begins, the shallow before the deep") {
    CHECK(offered("infini@").front() == "infiniband");
    CHECK(offered("infiniband.bth@").front() == "infiniband.bth.opcode");
    CHECK(offered("infiniband.bth.ps@") == std::vector<std::string>{"infiniband.bth.psn"});
    CHECK(offers("psn@", "infiniband.bth.psn"));
    CHECK(offers("ip and ud@", "udp.srcport"));
    CHECK(offers("!(ud@", "udp"));
    CHECK(offers("not INFINIBAND.BTH.PS@", "infiniband.bth.psn"));
    CHECK(offers("all infiniband.bth.ps@", "infiniband.bth.psn"));
    CHECK(offered("@").size() == kMaxCompletions);
    CHECK(offered("nothing.such@").empty());
    CHECK(offered("ud@").front() == "udp");
    CHECK_FALSE(offers("udp@", "udp"));
}

TEST_CASE("Names come with their meaning") {
    CHECK(at_cursor("infiniband.bth.ps@").list.front().meaning.starts_with("Packet sequence number"));
    CHECK(at_cursor("infiniband.bt@").list.front().meaning == "Base Transport Header");
    CHECK(at_cursor("ip.add@").list.front().meaning == "ip.src or ip.dst");
    CHECK(at_cursor("infiniban@").list.front().meaning == "Any header of infiniband");
}

TEST_CASE("Names of values are offered after a comparison and in a set") {
    CHECK(offers("infiniband.bth.opcode == @", "RC_SEND_FIRST"));
    CHECK(offered("infiniband.bth.opcode == RC_ACK@") == std::vector<std::string>{"RC_ACKNOWLEDGE", "XRC_ACKNOWLEDGE"});
    CHECK(at_cursor("infiniband.bth.opcode == RC_ACK@").list.front().meaning == "17");
    CHECK(offered("infiniband.bth.opcode == rc-ack@").front() == "RC_ACKNOWLEDGE");
    CHECK(offers("infiniband.bth.opcode != ACKNOW@", "RC_ACKNOWLEDGE"));
    CHECK(offers("infiniband.bth.opcode in {@", "RC_SEND_FIRST"));
    CHECK(offers("infiniband.bth.opcode not in {RC_SEND_FIRST, 4..RC_ACK@", "RC_ACKNOWLEDGE"));
    CHECK(offers("rdma.icrc.status == g@", "good"));
    CHECK(offered("infiniband.bth.a == @") == std::vector<std::string>{"true", "false"});
    CHECK(offered("infiniband.bth.psn == @").empty());
    CHECK(offered("ip.dsfield.ecn == EC@") == std::vector<std::string>{"\"ECT(1)\"", "\"ECT(0)\"", "Not-ECT"});
    CHECK(offered("ip.dsfield.ecn == \"EC@") == offered("ip.dsfield.ecn == EC@"));
    CHECK(offered("frame.comment contains @").empty());
}

TEST_CASE("Operators are offered after a field, connectors after a test") {
    CHECK(offered("infiniband.bth.psn @").front() == "==");
    CHECK_FALSE(offers("infiniband.bth.psn @", "contains"));
    CHECK(offers("infiniband.bth.psn @", "and"));
    CHECK(offers("infiniband.bth.opcode cont@", "contains"));
    CHECK(offered("infiniband @").front() == "contains");
    CHECK(offers("infiniband.bth.psn =@", "=="));
    CHECK(offers("infiniband.bth.psn !@", "!="));
    CHECK(offered("infiniband.bth.psn & 0xff @").front() == "==");
    CHECK(offers("eth.src[0:3] @", "=="));
    CHECK(offered("infiniband.bth.psn == 5 @").front() == "and");
    CHECK(offered("infiniband.bth.psn == 5 &@").front() == "&&");
    CHECK(offered("(ip and infiniband.bth.psn in {1 2}) o@").front() == "or");
    CHECK(offered("infiniband.bth.psn in @") == std::vector<std::string>{"{"});
    CHECK(offered("infiniband.bth.psn not @") == std::vector<std::string>{"in"});
}

TEST_CASE("What is taken replaces the word at the cursor") {
    CHECK(taken("ip and infiniband.bth.ps@ == 5") == "ip and infiniband.bth.psn == 5");
    CHECK(taken("ip and infiniband.bth.ps@zzz == 5") == "ip and infiniband.bth.psn == 5");
    CHECK(taken("rdma.icrc.status == go@") == "rdma.icrc.status == good");
    CHECK(taken("infiniband.bth.psn =@ 5") == "infiniband.bth.psn == 5");
    CHECK(taken("ip.dsfield.ecn == \"not@-ECT\" and ip") == "ip.dsfield.ecn == Not-ECT and ip");
    CHECK(taken("infiniband.bth.opcode in {4..RC_ACKN@}") == "infiniband.bth.opcode in {4..RC_ACKNOWLEDGE}");
}

TEST_CASE("Nothing is offered behind what is no filter, and a cursor may stand anywhere") {
    CHECK(offered("no.such.field == @").empty());
    CHECK(offered("5 == @").empty());
    CHECK(offered("infiniband.bth.psn[ @").empty());
    CHECK(offered("ip == == @").empty());
    CHECK(completions("ud", 1000).list.front().text == "udp");
    CHECK(completions("", 0).list.size() == kMaxCompletions);
    std::mt19937 random(7);
    constexpr std::array<std::string_view, 16> kPieces{
        "ip", " ",  "==",  "infiniband.bth.opcode", "{", "}", "\"", "..", "\\", "(", ")", "not", "&&",
        "in", "RC", "\xff"};
    for (std::uint64_t round = 0; round < qps::tests::share(3000); ++round) {
        std::string text;
        for (std::size_t i = 0; i < 1 + random() % 8; ++i) text += kPieces[random() % kPieces.size()];
        const std::size_t cursor = random() % (text.size() + 2);
        const Completions found = completions(text, cursor);
        CHECK(found.offset <= text.size());
        CHECK(found.length <= text.size() - found.offset);
        CHECK(found.list.size() <= kMaxCompletions);
    }
}

TEST_CASE("Every value that is offered for a field is one of it") {
    for (const NameEntry& entry : all_names()) {
        const std::string start = std::string(entry.name) + " == ";
        for (const Completion& completion : completions(start, start.size()).list) {
            INFO(start << completion.text);
            CHECK(Filter::compile(start + completion.text).has_value());
        }
    }
}
