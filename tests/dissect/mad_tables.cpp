// The tables of management datagrams: every row of every table holds what its readers rely on.
#include <dissect/mad/attributes.hpp>
#include <dissect/mad/headers.hpp>
#include <tests/support/catch.hpp>

#include <algorithm>
#include <set>
#include <string>

using namespace qps::dissect;

namespace {

bool is_mad_kind(LayerKind kind) {
    return std::ranges::any_of(kMadHeaders, [kind](const Header& row) { return row.kind == kind; });
}

bool overlap(const Field& a, const Field& b) { return a.bit < b.bit + b.width && b.bit < a.bit + a.width; }

bool exclude_each_other(const When& a, const When& b) {
    return a.width != 0 && a.bit == b.bit && a.width == b.width && a.value != b.value;
}

}  // namespace

TEST_CASE("every attribute has a place for its data inside the MAD") {
    for (const MadAttribute& row : kMadAttributes) {
        CAPTURE(row.name, row.id);
        CHECK_FALSE(row.name.empty());
        CHECK(is_mad_kind(row.data));
        CHECK(row.offset >= kMadHeaderLength);
        CHECK(row.offset + header(row.data).length <= kMadLength);
        if (row.record) CHECK(row.group == MadGroup::administration);
    }
}

TEST_CASE("an attribute is in its group once, by id and by name") {
    std::set<std::pair<MadGroup, std::uint16_t>> ids;
    std::set<std::pair<MadGroup, std::string_view>> names;
    for (const MadAttribute& row : kMadAttributes) {
        CAPTURE(row.name, row.id);
        CHECK(ids.emplace(row.group, row.id).second);
        CHECK(names.emplace(row.group, row.name).second);
    }
}

TEST_CASE("ClassPortInfo is known in every class but subnet management") {
    for (unsigned code = 0; code < 256; ++code) {
        const auto management_class = static_cast<ManagementClass>(code);
        const MadAttribute* row = find_attribute(management_class, 1);
        CAPTURE(code);
        if (group_of(management_class) == MadGroup::subnet) {
            CHECK(row == nullptr);
        } else {
            REQUIRE(row != nullptr);
            CHECK(row->data == LayerKind::class_port_info);
        }
    }
}

TEST_CASE("an attribute nobody defined has no row") {
    CHECK(find_attribute(ManagementClass::communication, 0x0f) == nullptr);
    CHECK(find_attribute(ManagementClass::subnet_lid_routed, 0xffff) == nullptr);
    CHECK(find_attribute(ManagementClass::first_vendor, 0x10) == nullptr);
}

TEST_CASE("every header of a MAD tiles, has a title and a name of its own") {
    std::set<std::string_view> names;
    for (const Header& row : kMadHeaders) {
        CAPTURE(row.name);
        CHECK_FALSE(row.title.empty());
        CHECK(names.insert(row.name).second);
        CHECK(row.name.starts_with("infiniband."));
        CHECK(tiles(row.fields, row.length));
        CHECK(header(row.kind).name == row.name);
    }
}

TEST_CASE("no header of a MAD is called like a field") {
    std::set<std::string_view> fields;
    for (const Header& row : kMadHeaders)
        for (const Field& field : row.fields) fields.insert(field.name);
    for (const Header& row : kMadHeaders) {
        CAPTURE(row.name);
        CHECK_FALSE(fields.contains(row.name));
    }
}

TEST_CASE("fields of a MAD have names, meanings and readable bits") {
    for (const Header& row : kMadHeaders) {
        for (const Field& field : row.fields) {
            CAPTURE(row.name, field.name, field.bit);
            CHECK_FALSE(field.meaning.empty());
            if (!field.name.empty()) CHECK(field.name.starts_with("infiniband."));
            if (field.computed()) continue;
            const ValueType type = value_type(field.format);
            if (type == ValueType::bytes || type == ValueType::text || type == ValueType::ipv6)
                CHECK((field.bit % 8 == 0 && (field.width == kToEnd || field.width % 8 == 0)));
            else CHECK(field.width <= 64);
            if (field.when.width != 0) CHECK(field.when.bit + field.when.width <= row.length * 8);
        }
    }
}

// A block of equal things gives them one name; otherwise a name stands for one thing.
TEST_CASE("a name that a MAD's header repeats is of other bits or under another condition") {
    for (const Header& row : kMadHeaders) {
        for (std::size_t i = 0; i < row.fields.size(); ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                const Field& a = row.fields[i];
                const Field& b = row.fields[j];
                if (a.name.empty() || a.name != b.name) continue;
                CAPTURE(row.name, a.name);
                CHECK((!overlap(a, b) || exclude_each_other(a.when, b.when)));
                CHECK(a.format == b.format);
            }
        }
    }
}

TEST_CASE("value names fit their fields, in order and once") {
    for (const Header& row : kMadHeaders) {
        for (const Field& field : row.fields) {
            CAPTURE(row.name, field.name);
            for (std::size_t i = 0; i < field.names.size(); ++i) {
                CHECK_FALSE(field.names[i].name.empty());
                if (i > 0) CHECK(field.names[i - 1].value < field.names[i].value);
            }
        }
    }
}

TEST_CASE("codes of the specification have their names") {
    const auto name = [](std::span<const ValueName> table, std::uint64_t value) {
        const auto found = std::ranges::find(table, value, &ValueName::value);
        return found == table.end() ? std::string_view{} : found->name;
    };
    CHECK(name(kCmRejectReasons, 8) == "Invalid service ID");
    CHECK(name(kCmRejectReasons, 28) == "Consumer reject");
    CHECK(name(kCmRejectReasons, 34).empty());
    CHECK(name(kMtuCodes, 5) == "4096");
    CHECK(name(kMethods, 0x92) == "GetTableResp");
    CHECK(name(kRmppTypes, 4) == "ABORT");
    CHECK(name(kSidrStatus, 1) == "Service ID not supported");
    CHECK(name(kAprStatus, 13) == "SL rejected");
    CHECK(name(kLinkSpeedsExt, 8) == "106.25 Gb/s (NDR)");
}
