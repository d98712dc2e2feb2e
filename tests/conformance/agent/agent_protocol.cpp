// The agent's protocol: every verb and key written and read again, and lines that nobody would write.
#include <tests/support/catch.hpp>
#include <transport-replay/conformance/agent/agent_client.hpp>
#include <transport-replay/conformance/agent/pattern.hpp>

#include <algorithm>
#include <fstream>
#include <random>
#include <sstream>

#include <fmt/ranges.h>

using namespace qps::transport::conformance::agent;

namespace {

// A value within the bounds of its use: the greatest, or the least.
Field extreme(const Use& use, bool greatest) {
    const KeyRow& row = row_of(use.key);
    Field field{.key = use.key};
    if (row.type == KeyType::hex || row.type == KeyType::text) {
        const std::uint64_t length =
            std::min<std::uint64_t>(greatest ? use.most : std::max<std::uint64_t>(use.least, 1), 300);
        for (std::uint64_t i = 0; i < length; ++i) field.text += static_cast<char>(i * 7);
        return field;
    }
    std::uint64_t most = use.most;
    if (row.type == KeyType::word) most = std::min<std::uint64_t>(most, row.words.size() - 1);
    if (row.type == KeyType::words) most = std::min<std::uint64_t>(most, (std::uint64_t{1} << row.words.size()) - 1);
    field.number = greatest ? most : use.least;
    return field;
}

Fields all_of(std::span<const Use> uses, bool greatest) {
    Fields fields;
    for (const Use& use : uses) {
        fields.add(extreme(use, greatest));
        if (use.need == Need::repeated) fields.add(extreme(use, greatest));
    }
    return fields;
}

std::string keys_of(std::span<const Use> uses) {
    std::string all;
    for (const Use& use : uses) {
        const std::string name(row_of(use.key).name);
        all += all.empty() ? "" : " ";
        all += use.need == Need::required ? name : use.need == Need::optional ? "[" + name + "]" : "[" + name + "...]";
    }
    return all;
}

}  // namespace

TEST_CASE("the manual of the agent has every verb with its keys, and every word") {
    std::ifstream file(QPSCOPE_SOURCE_DIR "/agent/README.md");
    std::stringstream manual;
    manual << file.rdbuf();
    const std::string text = manual.str();
    for (const VerbRow& row : kVerbs) {
        std::string line = fmt::format("| `{}` | {}", row.name, row.meaning);
        if (!row.asks.empty()) line += fmt::format("{}`{}`", row.meaning.empty() ? "" : ": ", keys_of(row.asks));
        line += row.answers.empty() ? " |  |\n" : fmt::format(" | `{}` |\n", keys_of(row.answers));
        INFO(line);
        CHECK(text.contains(line));
    }
    for (const KeyRow& row : kKeys) {
        if (row.words.empty()) continue;
        const std::string line = fmt::format("| `{}`, {} | `{}` |\n", row.name, row.meaning, fmt::join(row.words, " "));
        INFO(line);
        CHECK(text.contains(line));
    }
    CHECK(text.contains(fmt::format("`{}`", fmt::join(kStatusWords, " "))));
    CHECK(text.contains(fmt::format("`{}`", fmt::join(kDoneWords, " "))));
    CHECK(text.contains(fmt::format("port {}", kAgentPort)));
}

TEST_CASE("what is asked and answered by any verb is read as it was written") {
    for (const VerbRow& row : kVerbs)
        for (const bool greatest : {false, true}) {
            INFO(row.name);
            const Request request{row.verb, all_of(row.asks, greatest)};
            const std::string line = write_request(77, request);
            const ParsedRequest parsed = parse_request(line);
            INFO(line << kFaultWords[static_cast<std::size_t>(parsed.fault)] << " " << parsed.where);
            REQUIRE(parsed.request);
            CHECK(parsed.sequence == 77);
            CHECK(*parsed.request == request);
            const Fields fields = all_of(row.answers, greatest);
            const ParsedAnswer answer = parse_answer(row.verb, write_answer(78, fields));
            CHECK(answer.ok);
            CHECK(answer.sequence == 78);
            CHECK(answer.fields == fields);
        }
}

TEST_CASE("every key of the agent's protocol is some verb's, and has a meaning") {
    for (const KeyRow& row : kKeys) {
        INFO(row.name);
        CHECK(std::ranges::any_of(kVerbs, [&](const VerbRow& verb) {
            return find_use(verb.asks, row.key) != nullptr || find_use(verb.answers, row.key) != nullptr;
        }));
        CHECK_FALSE(row.meaning.empty());
        CHECK((row.type == KeyType::word || row.type == KeyType::words) != row.words.empty());
    }
}

TEST_CASE("a line that is none of the protocol is refused by its fault, with the number it has") {
    struct Row {
        std::string line;
        std::uint32_t sequence;
        Fault fault;
        std::string where;
    };
    for (const Row& row : std::vector<Row>{
             {"", 0, Fault::sequence, ""},
             {"hello", 0, Fault::sequence, "hello"},
             {"-1 hello", 0, Fault::sequence, "-1"},
             {"0x5 hello", 0, Fault::sequence, "0x5"},
             {"4294967296 hello", 0, Fault::sequence, "4294967296"},
             {"5", 5, Fault::verb, ""},
             {"5 Hello", 5, Fault::verb, "Hello"},
             {"5 hello again=1", 5, Fault::key, "again"},
             {"5 mr len", 5, Fault::value, "len"},
             {"5 mr", 5, Fault::missing, "len"},
             {"5 mr len=", 5, Fault::value, "len"},
             {"5 mr len=-1", 5, Fault::value, "len"},
             {"5 mr len=+1", 5, Fault::value, "len"},
             {"5 mr len=1x", 5, Fault::value, "len"},
             {"5 mr len=0x", 5, Fault::value, "len"},
             {"5 mr len=67108865", 5, Fault::value, "len"},
             {"5 mr len=18446744073709551616", 5, Fault::value, "len"},
             {"5 mr len=1 len=1", 5, Fault::twice, "len"},
             {"5 mr len=1 access=fly", 5, Fault::value, "access"},
             {"5 mr len=1 access=read,", 5, Fault::value, "access"},
             {"5 qp kind=rc,uc", 5, Fault::value, "kind"},
             {"5 set mr=1 data=123", 5, Fault::value, "data"},
             {"5 set mr=1 data=zz", 5, Fault::value, "data"},
             {"5 attach qp=1 group=%4", 5, Fault::value, "group"},
             {"5 attach qp=1 group=" + std::string(65, 'a'), 5, Fault::value, "group"},
             {"5 poll qp=1 wait=10001", 5, Fault::value, "wait"},
             {"5 poll qp=1 max=0", 5, Fault::value, "max"},
             {"5 ping" + std::string(kMostLine, ' '), 0, Fault::line, ""},
         }) {
        INFO(row.line.substr(0, 80));
        const ParsedRequest parsed = parse_request(row.line);
        CHECK_FALSE(parsed.request);
        CHECK(parsed.sequence == row.sequence);
        CHECK(parsed.fault == row.fault);
        CHECK(parsed.where == row.where);
        CHECK(write_refusal(parsed).starts_with(std::to_string(row.sequence) + " error "));
    }
    CHECK(parse_request("  5   mr  len=0x10  access=  \r\n").request->fields.number(Key::len) == 16);
}

TEST_CASE("a refusal is one line whatever is in it, and an answer has no more than has room") {
    const std::string line = write_refusal(3, "EINVAL", "a\nb\x7f c");
    CHECK(line == "3 error EINVAL a b  c\n");
    const ParsedAnswer answer = parse_answer(Verb::mr, line);
    CHECK(answer.fault == Fault::none);
    CHECK_FALSE(answer.ok);
    CHECK(answer.error == "EINVAL");
    CHECK(answer.text == "a b  c");
    Fields many;
    for (int i = 0; i < 400; ++i)
        many.add(Key::counter, std::string_view("a_counter_with_a_rather_long_name_so_that_it_does_not_fit:123"));
    const std::string counters = write_answer(1, many);
    CHECK(counters.size() <= kMostLine);
    CHECK(parse_answer(Verb::counters, counters).ok);
}

TEST_CASE("completions are read as they were written, and nothing else is one") {
    const Completion done{
        .wr = 9, .status = 10, .done = 9, .flags = 3, .length = 552, .imm = 0xffffffff, .qpn = 17, .source_qp = 18};
    CHECK(text(done) == "9:rem_access_err:recv:grh,imm:552:0xffffffff:17:18");
    CHECK(parse_completion(text(done)) == done);
    for (const char* wrong :
         {"", ":::::::", "1:success:send::0:0x0:17", "1:success:send::0:0x0:17:18:19", "1:fine:send::0:0x0:17:18"})
        CHECK_FALSE(parse_completion(wrong));
}

TEST_CASE("the pattern says where every byte belongs") {
    std::vector<std::byte> memory(1000);
    fill_pattern(memory, 7, 100);
    CHECK(compare_pattern(memory, 7, 100).wrong == 0);
    CHECK(compare_pattern(std::span(memory).subspan(13), 7, 113).wrong == 0);
    CHECK(compare_pattern(memory, 7, 99).wrong > 900);
    CHECK(compare_pattern(memory, 8, 100).wrong > 900);
    memory[500] = static_cast<std::byte>(~std::to_integer<unsigned>(memory[500]));
    CHECK(compare_pattern(memory, 7, 100).wrong == 1);
    CHECK(compare_pattern(memory, 7, 100).first == 500);
}

TEST_CASE("no bytes are too much for who reads requests and answers") {
    std::mt19937 draw(5);
    const std::string_view alphabet = "0123456789 =,:%x\nabcdefgh mr qp len access error ok";
    for (int round = 0; round < 20'000; ++round) {
        std::string line = round % 2 == 0 ? "1 " : "";
        if (round % 4 == 0) line += row_of(static_cast<Verb>(draw() % kVerbCount)).name;
        for (std::size_t left = draw() % 60; left > 0; --left)
            line += round % 3 == 0 ? static_cast<char>(draw()) : alphabet[draw() % alphabet.size()];
        const ParsedRequest parsed = parse_request(line);
        REQUIRE(parsed.request.has_value() == (parsed.fault == Fault::none));
        if (parsed.request)
            REQUIRE(*parse_request(write_request(parsed.sequence, *parsed.request)).request == *parsed.request);
        const ParsedAnswer answer = parse_answer(static_cast<Verb>(draw() % kVerbCount), line);
        if (answer.ok) REQUIRE(answer.fault == Fault::none);
        static_cast<void>(parse_completion(line));
    }
}

TEST_CASE("a client believes answers in the order of its requests, and nothing else") {
    const auto heard = [](AgentClient& client, std::string_view text) {
        client.process(std::as_bytes(std::span(text)));
    };
    AgentClient client;
    const auto first = client.ask({Verb::ping, {}});
    const auto second = client.ask({Verb::qp_free, Fields{}.add(Key::qp, 4)});
    const auto out = client.take_output();
    CHECK(std::string(reinterpret_cast<const char*>(out.data()), out.size()) == "1 ping\n2 qp_free qp=4\n");
    CHECK(client.take_output().empty());
    heard(client, "1 o");
    CHECK_FALSE(client.take_answer(first));
    heard(client, "k\n2 error ENOENT no such qp\n");
    REQUIRE(client.take_answer(second)->error == "ENOENT");
    REQUIRE(client.take_answer(first)->ok);
    CHECK_FALSE(client.take_answer(first));
    CHECK(client.problem().empty());
    for (const char* wrong :
         {"3 ok\n", "2 ok\n", "1 ok\n", "0 error EBUSY another\n", "1 ok mr=1\n", "nonsense\n", "1 error\n"}) {
        INFO(wrong);
        AgentClient other;
        const auto asked = other.ask({Verb::mr_free, Fields{}.add(Key::mr, 1)});
        heard(other, wrong);
        CHECK(other.problem().empty() == (wrong == std::string_view("1 ok\n")));
        CHECK(other.take_answer(asked).has_value() == other.problem().empty());
        if (!other.problem().empty()) CHECK(other.ask({Verb::ping, {}}) == 0);
    }
    AgentClient endless;
    for (int i = 0; i < 5; ++i) heard(endless, std::string(4096, 'x'));
    CHECK(endless.problem() == "unterminated line from the agent");
    AgentClient eager;
    for (std::size_t i = 0; i < kMostAsked; ++i) REQUIRE(eager.ask({Verb::ping, {}}) != 0);
    CHECK(eager.ask({Verb::ping, {}}) == 0);
}
