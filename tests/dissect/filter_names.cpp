// The index of names, its guesses, and columns.
#include <dissect/filter/field_index.hpp>
#include <dissect/filter/filter.hpp>
#include <tests/dissect/filter_packets.hpp>
#include <tests/support/catch.hpp>

#include <set>
#include <string>

using namespace qps::dissect;

TEST_CASE("Every name of every header table is found, and every place of it") {
    std::size_t places = 0;
    for (std::size_t i = 0; i < kLayerKinds; ++i) {
        const auto kind = static_cast<LayerKind>(i);
        INFO(header(kind).name);
        if (header(kind).title.empty()) continue;
        CHECK(find_name(header(kind).name) != nullptr);
        for (const Field& field : header(kind).fields) {
            if (field.name.empty()) continue;
            const NameEntry* const entry = find_name(field.name);
            REQUIRE(entry != nullptr);
            CHECK(std::ranges::any_of(entry->fields,
                                      [&](const FieldPlace& p) { return p.kind == kind && p.field == &field; }));
            ++places;
        }
    }
    CHECK(places > 200);
}

TEST_CASE("Names are listed once, in the order of the headers") {
    std::set<std::string_view> seen;
    for (const NameEntry& entry : all_names()) {
        INFO(entry.name);
        CHECK(seen.insert(entry.name).second);
        CHECK((!entry.fields.empty() || !entry.layers.empty()));
    }
    CHECK(find_name("frame.number") < find_name("eth.src"));
    CHECK(find_name("eth.src") < find_name("infiniband.bth.psn"));
    CHECK(find_name("no.such.field") == nullptr);
    CHECK(find_name("") == nullptr);
}

TEST_CASE("Every field can be asked for, compared with itself, and be a column") {
    for (const NameEntry& entry : all_names()) {
        INFO(entry.name);
        CHECK(Filter::compile(entry.name));
        CHECK(column(entry.name).has_value() == !entry.fields.empty());
        if (!entry.fields.empty()) {
            const std::string self = std::string(entry.name) + " == " + std::string(entry.name);
            CHECK(qps::test::complaint(self).empty());
        }
    }
}

TEST_CASE("Every name of a value can be typed, bare or in quotes") {
    for (const NameEntry& entry : all_names()) {
        for (const FieldPlace& place : entry.fields) {
            for (const ValueName& value : place.field->names) {
                INFO(entry.name << " == \"" << value.name << '"');
                CHECK(Filter::compile(std::string(entry.name) + " == \"" + std::string(value.name) + '"'));
            }
        }
    }
}

TEST_CASE("One name for several headers, groups and aliases") {
    CHECK(find_name("infiniband.reth.va")->fields.size() == 2);
    CHECK(find_name("ip.addr")->fields.size() == 2);
    CHECK(find_name("ip.addr")->alias);
    CHECK(find_name("infiniband")->group);
    CHECK(find_name("infiniband")->layers.size() > 20);
    CHECK(find_name("infiniband.bth")->layers.size() == 1);
}

TEST_CASE("Misspelt names are guessed") {
    CHECK(nearest_name("infiniband.bth.dstqp") == "infiniband.bth.destqp");
    CHECK(nearest_name("infiniband.bth.pns") == "infiniband.bth.psn");
    CHECK(nearest_name("infiniband.reth.rkey") == "infiniband.reth.r_key");
    CHECK(nearest_name("ib.reth.va") == "infiniband.reth.va");
    CHECK(nearest_name("infiniband.aeth.syndrome.error") == "infiniband.aeth.syndrome.error_code");
    CHECK(nearest_name("udp.dport") == "udp.dstport");
    CHECK(nearest_name("bth") == "infiniband.bth");
    CHECK(nearest_name("ib.bth") == "infiniband.bth");
    CHECK(nearest_name("eht") == "eth");
    CHECK(nearest_name("infiniband.reth.remote_key") == "infiniband.reth.r_key");
    CHECK(nearest_name("_ws.expert") == "rdma.finding");
    CHECK(nearest_name("http") == "tcp.port == 80");
    CHECK(nearest_name("qwertyuiop").empty());
    CHECK(nearest_name("").empty());
    CHECK(nearest_name(std::string(100000, 'a')).empty());
}

TEST_CASE("Edits are counted up to a limit") {
    CHECK(edit_distance("psn", "psn", 0) == 0U);
    CHECK(edit_distance("PSN", "psn", 0) == 0U);
    CHECK(edit_distance("pns", "psn", 2) == 1U);
    CHECK(edit_distance("destqp", "dstqp", 2) == 1U);
    CHECK(edit_distance("kitten", "sitting", 3) == 3U);
    CHECK_FALSE(edit_distance("kitten", "sitting", 2));
    CHECK(edit_distance("", "ab", 2) == 2U);
}

TEST_CASE("A column visits every value in the order of the packet") {
    const Packet& tunnel = qps::test::exhibits()[2].packet;
    std::vector<std::uint64_t> numbers;
    for_each_value(tunnel, *column("udp.port"),
                   [&](const Layer&, const Field&, const Value& value) { numbers.push_back(value.number); });
    CHECK(numbers == std::vector<std::uint64_t>{53248, 4789, 4096, 8192});
    std::size_t count = 0;
    for_each_value(tunnel, *column("infiniband.bth.psn"), [&](const Layer&, const Field&, const Value&) { ++count; });
    CHECK(count == 0);
}

TEST_CASE("A column that is none is explained") {
    const auto wrong = column("infiniband.bth.dstqp");
    REQUIRE_FALSE(wrong);
    CHECK(wrong.error().suggestion == "infiniband.bth.destqp");
    CHECK(wrong.error().length == 20);
    const auto group = column("infiniband.bth");
    REQUIRE_FALSE(group);
    CHECK(group.error().message == "infiniband.bth is a header: a column must be one of its fields");
}
