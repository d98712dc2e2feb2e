// The table of secrets: every row is about a field, and no field of an address or a name is left as it is by default.
#include <dissect/base/field.hpp>
#include <tests/support/catch.hpp>
#include <transport-replay/evidence/secrets.hpp>

#include <algorithm>
#include <array>
#include <set>
#include <string>

using namespace qps;
using namespace qps::dissect;
using namespace qps::transport;

namespace {

template <class Each> void for_each_field(Each&& each) {
    for (std::size_t kind = 0; kind < kLayerKinds; ++kind)
        for (const Field& field : header(static_cast<LayerKind>(kind)).fields) each(field);
}

}  // namespace

TEST_CASE("every row of the table is a field, once") {
    std::set<std::string_view> names, rows;
    for_each_field([&](const Field& field) { names.insert(field.name); });
    for (const SecretRow& row : secret_rows()) {
        INFO(row.field);
        CHECK(names.contains(row.field));
        CHECK(rows.insert(row.field).second);
    }
}

TEST_CASE("addresses and names of every header are secrets, and bytes that nobody has looked at are erased") {
    for_each_field([](const Field& field) {
        INFO(field.name);
        const auto is_listed = [&] {
            return std::ranges::find(secret_rows(), field.name, &SecretRow::field) != secret_rows().end();
        };
        switch (field.format) {
            case Format::mac: CHECK(secret_of(field) == Secret::mac); break;
            case Format::ipv4: CHECK(secret_of(field) == Secret::ipv4); break;
            case Format::ipv6: CHECK(secret_of(field) == Secret::ipv6); break;
            case Format::guid: CHECK(secret_of(field) == Secret::guid); break;
            case Format::text:
                if (field.name == "iscsi.keyvalue") CHECK(secret_of(field) == Secret::key_value);
                else if (field.name != "nvme.cmd.get_logpage.identify.rcrd.trsvcid")
                    CHECK(secret_of(field) == Secret::name);  // a port
                break;
            case Format::bytes: CHECK((secret_of(field) == Secret::erased || is_listed())); break;
            default: break;
        }
    });
}

TEST_CASE("numbers that are called checksums or CRCs have a row") {
    constexpr std::array kNone{"crc_flag", "status", "expected", "flags.checksum",
                               "lpcrc"};  // of the link: nothing that is a secret
    for_each_field([&](const Field& field) {
        const std::string name(field.name);
        const bool is_number =
            value_type(field.format) == ValueType::unsigned_integer && !field.computed() && field.width >= 16;
        const bool sounds = name.find("crc") != std::string::npos || name.find("checksum") != std::string::npos ||
                            name.find("csum") != std::string::npos || name.find("cksum") != std::string::npos;
        if (!is_number || !sounds ||
            std::ranges::any_of(kNone, [&](const char* part) { return name.find(part) != std::string::npos; }))
            return;
        INFO(name);
        CHECK(secret_of(field) == Secret::digest);
    });
}

TEST_CASE("numbers that are called keys or LIDs have a row") {
    // What counts, bounds, flags and selects.
    constexpr std::array kNoKeys{"violations", "lease",   "protect",        "suppression", "trapenabled",
                                 "valid",      "sns.key", "membershiptype", "lidsperport", "pkey8",
                                 "pkey10",     "cntlid",  "cntrlid"};  // controllers of NVMe
    for_each_field([&](const Field& field) {
        const std::string name(field.name);
        const bool is_number =
            value_type(field.format) == ValueType::unsigned_integer && !field.computed() && field.width >= 15;
        const bool sounds = name.ends_with("key") || name.ends_with("lid") || name.ends_with("stag") ||
                            name.find("_key") != std::string::npos;
        if (!is_number || !sounds ||
            std::ranges::any_of(kNoKeys, [&](const char* part) { return name.find(part) != std::string::npos; }))
            return;
        INFO(name);
        CHECK(secret_of(field) != Secret::none);
    });
}
