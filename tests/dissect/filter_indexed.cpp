// Filters asked of rows: never another answer than the packet's, and an answer wherever the rows know enough.
#include <dissect/filter/indexed.hpp>
#include <tests/dissect/filter_packets.hpp>
#include <tests/support/sample_captures.hpp>

#include <random>

using namespace qps::dissect;
using qps::tests::for_each_packet;
using qps::tests::sample_captures;

namespace {

struct Row {
    std::uint64_t number = 0;
    std::uint32_t length = 0;
    std::optional<std::uint8_t> opcode{};
    std::uint32_t psn = 0;
    std::uint32_t dest_qp = 0;
    std::optional<std::uint8_t> syndrome{};
    std::optional<std::uint8_t> icrc{};
    bool icrc_looked_at = true;
    bool infiniband = false;
};

std::optional<std::uint64_t> number_of(const Packet& packet, LayerKind kind, std::string_view name) {
    const Layer* const layer = find(packet, kind);
    if (layer == nullptr) return std::nullopt;
    for (const Field& field : header(kind).fields)
        if (field.name == name)
            if (const auto value = value_of(packet, *layer, field)) return value->number;
    return std::nullopt;
}

Row row_of(const Packet& packet) {
    Row row{.number = std::to_underlying(packet.frame.index), .length = packet.frame.wire_bytes()};
    row.infiniband = std::ranges::any_of(packet.layers(),
                                         [](const Layer& l) { return header(l.kind).name.starts_with("infiniband."); });
    if (packet.has_transport()) {
        row.opcode = std::to_underlying(packet.opcode);
        row.psn = packet.psn.value();
        row.dest_qp = std::to_underlying(packet.dest_qp);
    }
    if (const auto syndrome = number_of(packet, LayerKind::aeth, "infiniband.aeth.syndrome"))
        row.syndrome = static_cast<std::uint8_t>(*syndrome);
    if (const auto icrc = number_of(packet, LayerKind::rdma, "rdma.icrc.status"))
        row.icrc = static_cast<std::uint8_t>(*icrc);
    return row;
}

template <auto kMember> void read_member(const Row& row, RowValues& values) {
    if (row.opcode) values.add(row.*kMember);
}
void read_number(const Row& row, RowValues& values) { values.add(row.number); }
void read_length(const Row& row, RowValues& values) { values.add(row.length); }
void read_opcode(const Row& row, RowValues& values) {
    if (row.opcode) values.add(*row.opcode);
}
void read_syndrome(const Row& row, RowValues& values) {
    if (row.syndrome) values.add(*row.syndrome);
}
void read_icrc(const Row& row, RowValues& values) {
    if (!row.icrc_looked_at) values.set_incomplete();
    else if (row.icrc) values.add(*row.icrc);
}
void read_infiniband(const Row& row, RowValues& values) {
    if (row.infiniband) values.add(1);
}

constexpr std::array kKnown{
    indexed<Row, read_number>("frame.number"),
    indexed<Row, read_length>("frame.len"),
    indexed<Row, read_opcode>("infiniband.bth.opcode"),
    indexed<Row, read_member<&Row::psn>>("infiniband.bth.psn"),
    indexed<Row, read_member<&Row::dest_qp>>("infiniband.bth.destqp"),
    indexed<Row, read_syndrome>("infiniband.aeth.syndrome"),
    indexed<Row, read_icrc>("rdma.icrc.status"),
    indexed<Row, read_infiniband>("infiniband"),
    indexed<Row, read_opcode>("infiniband.bth"),
    indexed<Row, read_syndrome>("infiniband.aeth"),
};

Filter compiled(std::string_view text) {
    auto filter = Filter::compile(text);
    INFO(text);
    if (!filter) FAIL(explain(text, filter.error()));
    return *filter;
}

IndexedFilter bound(std::string_view text) { return IndexedFilter(compiled(text), kKnown); }

constexpr std::string_view kOfRowsAlone[] = {
    "",
    "frame.number == 5",
    "frame.number != 5",
    "frame.number in {1..10, 20, 30..35}",
    "frame.number not in {1..10}",
    "frame.number in {1,3,5,7,9,11,13,15,17,19,21,23}",
    "frame.len > 1000",
    "frame.len >= 100 and frame.len < 1000",
    "!frame.len",
    "frame.number & 1",
    "frame.number & 0x3 == 2",
    "infiniband",
    "not infiniband",
    "infiniband.bth",
    "!infiniband.bth and frame.number < 100",
    "infiniband.aeth",
    "infiniband.bth.psn",
    "infiniband.bth.opcode == RC_ACKNOWLEDGE",
    "infiniband.bth.opcode == 17 || infiniband.bth.opcode == 4",
    "infiniband.bth.opcode in {RC_SEND_ONLY, RC_SEND_FIRST..RC_SEND_LAST}",
    "infiniband.bth.opcode matches \"send\"",
    "infiniband.bth.opcode contains \"READ\"",
    "infiniband.bth.opcode & 0xe0 == 0x60",
    "infiniband.bth.psn > 0x800000",
    "infiniband.bth.psn !== 7",
    "infiniband.bth.psn != 7",
    "infiniband.bth.psn === 7",
    "all infiniband.bth.psn >= 7",
    "any infiniband.bth.psn != 7",
    "not infiniband.bth.psn > 5",
    "infiniband.bth.destqp == 1",
    "infiniband.bth.destqp != 1 and infiniband.bth",
    "infiniband.aeth.syndrome >= 0x60",
    "infiniband.aeth.syndrome & 0x60 == 0x20",
    "infiniband.aeth and not infiniband.aeth.syndrome == 0x1f",
    "rdma.icrc.status == good",
    "rdma.icrc.status == bad or rdma.icrc.status == not_checkable",
    "rdma.icrc.status != good",
    "rdma.icrc.status contains \"check\"",
    "infiniband.bth.opcode == RC_ACKNOWLEDGE xor frame.number & 1",
    "(infiniband.bth.psn < 100 or infiniband.aeth) and (frame.len < 90 or not infiniband.bth.destqp == 17)",
    "!(frame.len > 80 && infiniband.bth) ^^ (infiniband.aeth || frame.number == 3)",
};

constexpr std::string_view kOfMore[] = {
    "ip.src == 192.168.1.1",
    "ip",
    "udp.dstport == 4791",
    "infiniband.bth.p_key == 0xffff",
    "infiniband.bth#1",
    "infiniband.bth.psn#1 > 5",
    "infiniband.bth[0] == 04",
    "infiniband.bth.psn == infiniband.bth.destqp",
    "infiniband.payload contains \"a\"",
    "infiniband.mad",
    "frame.comment matches \"a\"",
    "frame contains 00:00",
    "ip and infiniband",
    "infiniband.bth.psn > 100 and udp.srcport > 49152",
    "infiniband.bth.psn > 100 or udp.srcport > 49152",
    "not (infiniband.aeth and ip.ttl == 64)",
    "infiniband.bth.a == 1 or frame.number < 10",
    "infiniband.bth.a == 1 and frame.number < 10",
    "frame.number < 10 and infiniband.bth.a == 1",
    "infiniband.bth.a xor frame.number < 10",
    "(ip.ttl == 64 and frame.number < 10) or (ip.ttl < 64 and frame.number >= 10)",
    "frame.number < 50 and (ip or (eth and (infiniband.aeth or !infiniband.bth.m))) and infiniband.bth.psn",
    "!!(udp and !(infiniband.bth.opcode == RC_ACKNOWLEDGE and tcp))",
    "rdma.icrc.status == good and rdma.icrc.expected",
};

}  // namespace

TEST_CASE("rows answer as packets do, and always where they know all") {
    struct Asked {
        std::string_view text;
        bool rows_suffice;
        Filter filter;
        IndexedFilter of_rows;
    };
    std::vector<Asked> asked;
    for (const std::string_view text : kOfRowsAlone) asked.push_back({text, true, compiled(text), bound(text)});
    for (const std::string_view text : kOfMore) asked.push_back({text, false, compiled(text), bound(text)});
    REQUIRE(asked.size() >= 60);
    for (const Asked& a : asked) CHECK(a.of_rows.complete() == a.rows_suffice);

    std::array<std::size_t, 3> counts{};
    std::array<std::size_t, 3> mixed{};
    const auto check = [&](const Packet& packet) {
        const Row row = row_of(packet);
        Row unlooked = row;
        unlooked.icrc_looked_at = false;
        for (const Asked& a : asked) {
            const bool truth = a.filter.matches(packet);
            const Verdict said = a.of_rows.judge(&row);
            const Verdict with_less = a.of_rows.judge(&unlooked);
            const bool right = said == verdict(truth) || (said == Verdict::unknown && !a.rows_suffice);
            const bool still = with_less == said || (with_less == Verdict::unknown && a.text.contains("icrc"));
            if (!right || !still)
                FAIL_CHECK(a.text << " of frame " << row.number << ": " << truth << " " << static_cast<int>(said) << " "
                                  << static_cast<int>(with_less));
            ++(a.rows_suffice ? counts : mixed)[std::to_underlying(said)];
        }
    };
    for (const std::string& path : sample_captures()) for_each_packet(path, check);
    for (const auto& e : qps::test::exhibits()) check(e.packet);
    CHECK(counts[std::to_underlying(Verdict::yes)] > 10'000);
    CHECK(counts[std::to_underlying(Verdict::no)] > 10'000);
    CHECK(counts[std::to_underlying(Verdict::unknown)] == 0);
    for (const std::size_t count : mixed) CHECK(count > 1000);
}

TEST_CASE("a test that rows cannot answer leaves the filter open only where it decides") {
    const Row row{.number = 5, .length = 100};
    const auto judged = [&](std::string_view text) { return bound(text).judge(&row); };
    CHECK(judged("ip") == Verdict::unknown);
    CHECK(judged("not ip") == Verdict::unknown);
    CHECK(judged("frame.number == 5 and ip") == Verdict::unknown);
    CHECK(judged("frame.number == 6 and ip") == Verdict::no);
    CHECK(judged("ip and frame.number == 6") == Verdict::no);
    CHECK(judged("ip or frame.number == 5") == Verdict::yes);
    CHECK(judged("ip or frame.number == 6") == Verdict::unknown);
    CHECK(judged("ip xor frame.number == 5") == Verdict::unknown);
    CHECK(judged("ip and tcp and udp and frame.len == 1") == Verdict::no);
    CHECK(judged("not (ip and frame.len == 1)") == Verdict::yes);
    CHECK(judged("(ip or tcp) and (frame.len == 1 or frame.len == 2)") == Verdict::no);
    CHECK(judged("infiniband.aeth") == Verdict::no);
}

namespace {

// Expressions over three names whose presence a row knows or not, written down and worked out side by side.
struct Three {
    std::array<Verdict, 3> of{};
};
template <std::size_t kWhich> void read_one(const Three& row, RowValues& values) {
    if (row.of[kWhich] == Verdict::yes) values.add(1);
    if (row.of[kWhich] == Verdict::unknown) values.set_incomplete();
}
constexpr std::array<std::string_view, 3> kThreeNames{"frame.number", "frame.len", "frame.cap_len"};
constexpr std::array kThree{indexed<Three, read_one<0>>(kThreeNames[0]), indexed<Three, read_one<1>>(kThreeNames[1]),
                            indexed<Three, read_one<2>>(kThreeNames[2])};

struct Expression {
    std::string text;
    std::array<Verdict, 27> values;  // for every state of the three
};

Three state(std::size_t i) { return {{Verdict(i % 3), Verdict(i / 3 % 3), Verdict(i / 9)}}; }

// On the scale no = 0, unknown = 1, yes = 2: "and" is the smaller, "or" the larger.
int height(Verdict v) { return v == Verdict::no ? 0 : v == Verdict::yes ? 2 : 1; }
Verdict at_height(int h) { return h == 0 ? Verdict::no : h == 2 ? Verdict::yes : Verdict::unknown; }

Expression random_expression(std::mt19937& random, int depth) {
    const auto kind = depth == 0 ? 0 : random() % 6;
    if (kind == 0) {
        const std::size_t which = random() % 3;
        Expression leaf{std::string(kThreeNames[which]), {}};
        for (std::size_t i = 0; i < 27; ++i) leaf.values[i] = state(i).of[which];
        return leaf;
    }
    if (kind == 1) {
        Expression inner = random_expression(random, depth - 1);
        for (Verdict& v : inner.values) v = at_height(2 - height(v));
        return {"!(" + inner.text + ")", inner.values};
    }
    const Expression a = random_expression(random, depth - 1);
    const Expression b = random_expression(random, depth - 1);
    const std::string_view name = kind == 2 || kind == 3 ? " and " : kind == 4 ? " or " : " xor ";
    Expression both{"(" + a.text + ")" + std::string(name) + "(" + b.text + ")", {}};
    for (std::size_t i = 0; i < 27; ++i) {
        const int x = height(a.values[i]);
        const int y = height(b.values[i]);
        if (kind <= 3) both.values[i] = at_height(std::min(x, y));
        else if (kind == 4) both.values[i] = at_height(std::max(x, y));
        else both.values[i] = x == 1 || y == 1 ? Verdict::unknown : verdict(x != y);
    }
    return both;
}

}  // namespace

TEST_CASE("and, or, xor and not are those of Kleene, however they nest") {
    std::mt19937 random(1952);
    for (int round = 0; round < 2000; ++round) {
        const Expression expression = random_expression(random, 1 + round % 6);
        const IndexedFilter filter(compiled(expression.text), kThree);
        for (std::size_t i = 0; i < 27; ++i) {
            const Three row = state(i);
            if (filter.judge(&row) != expression.values[i]) FAIL_CHECK(expression.text << " of state " << i);
        }
    }
}

TEST_CASE("chains without parentheses and the deepest of them are judged too") {
    std::string chain = "frame.number";
    for (int i = 0; i < 1000; ++i) chain += i % 3 == 0 ? " or frame.len" : " and frame.cap_len";
    std::string deep = "frame.number";
    for (std::size_t i = 0; i < filter_language::kMaxNesting; ++i)
        deep = "frame.number or frame.len and frame.cap_len xor frame.len and (" + deep + ")";
    for (const std::string& text : {chain, deep}) {
        const IndexedFilter filter(compiled(text), kThree);
        for (std::size_t i = 0; i < 27; ++i) {
            // What is unknown is one or the other: where both give the same, so would a packet.
            std::size_t yes = 0;
            std::size_t no = 0;
            for (std::size_t j = 0; j < 8; ++j) {
                Three sure = state(i);
                for (std::size_t k = 0; k < 3; ++k)
                    if (sure.of[k] == Verdict::unknown) sure.of[k] = verdict((j >> k & 1) != 0);
                ++(filter.judge(&sure) == Verdict::yes ? yes : no);
            }
            const Three row = state(i);
            const Verdict said = filter.judge(&row);
            if (said == Verdict::yes) CHECK(no == 0);
            if (said == Verdict::no) CHECK(yes == 0);
            if (i % 3 != 2 && i / 3 % 3 != 2 && i / 9 != 2) CHECK(said != Verdict::unknown);
        }
    }
}

TEST_CASE("names that stand for several fields are answered by those they stand for") {
    struct Ports {
        std::uint64_t from, to;
    };
    constexpr auto from =
        indexed<Ports, [](const Ports& row, RowValues& values) { values.add(row.from); }>("udp.srcport");
    constexpr auto to = indexed<Ports, [](const Ports& row, RowValues& values) { values.add(row.to); }>("udp.dstport");
    const Ports row{50'000, 4791};
    const auto judged = [&](std::string_view text, std::vector<IndexedField> known) {
        return IndexedFilter(compiled(text), known).judge(&row);
    };
    CHECK(judged("udp.port == 4791", {from, to}) == Verdict::yes);
    CHECK(judged("udp.port == 4792", {from, to}) == Verdict::no);
    CHECK(judged("all udp.port > 4791", {from, to}) == Verdict::no);
    CHECK(judged("all udp.port >= 4791", {from, to}) == Verdict::yes);
    CHECK(judged("udp.port == 50000", {from}) == Verdict::yes);  // one of them is enough
    CHECK(judged("udp.port == 4791", {from}) == Verdict::unknown);
    CHECK(judged("udp.port != 50000", {from}) == Verdict::no);
    CHECK(judged("udp.port != 4791", {from}) == Verdict::unknown);
    CHECK(judged("udp.port == 4791", {from, from}) == Verdict::unknown);
    CHECK(judged("udp.srcport == 4791", {{"udp.prot", from.read}, from}) == Verdict::no);
}

TEST_CASE("more values than a row can tell leave it open") {
    struct Nothing {};
    constexpr auto many = indexed<Nothing, [](const Nothing&, RowValues& values) {
        for (std::size_t i = 0; i <= RowValues::kMost; ++i) values.add(i);
    }>("vlan.id");
    const Nothing row;
    CHECK(IndexedFilter(compiled("vlan.id == 3"), {{many}}).judge(&row) == Verdict::yes);
    CHECK(IndexedFilter(compiled("vlan.id == 100"), {{many}}).judge(&row) == Verdict::unknown);
}
