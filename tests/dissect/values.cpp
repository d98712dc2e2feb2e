// The small things everything rests on: bits, PSN arithmetic, field tables, values as text.
#include <dissect/headers/infiniband.hpp>
#include <dissect/packet/notation.hpp>
#include <dissect/packet/render.hpp>
#include <dissect/packet/render_value.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/packets.hpp>

#include <array>
#include <set>
#include <span>

#include <nlohmann/json.hpp>

using namespace qps::dissect;
using qps::tests::Decoded;
using qps::tests::hex;

TEST_CASE("bits are read and written where the specification draws them") {
    const std::vector<std::byte> bytes = hex("8001ff00123456789abcdef0");
    CHECK(read_bits(bytes, 0, 1) == 1);
    CHECK(read_bits(bytes, 1, 14) == 0);
    CHECK(read_bits(bytes, 15, 9) == 0x1ff);
    CHECK(read_bits(bytes, 32, 64) == 0x123456789abcdef0);
    CHECK(read_bits(bytes, 33, 63) == 0x123456789abcdef0);
    CHECK(read_bits(bytes, 36, 12) == 0x234);
    CHECK(read_bits(bytes, 90, 7) == 0);  // one bit beyond the end
    CHECK(read_bits(bytes, 0, 65) == 0);
    for (std::size_t bit = 0; bit < 32; ++bit)
        for (std::size_t width = 1; width <= 64; ++width) {
            std::vector<std::byte> target(12, std::byte{0x5a});
            const std::vector<std::byte> before = target;
            const std::uint64_t value = 0xfedcba9876543210 >> (64 - width);
            write_bits(target, bit, width, value);
            CHECK(read_bits(target, bit, width) == value);
            CHECK(read_bits(target, 0, bit == 0 ? 1 : bit) ==
                  (bit == 0 ? read_bits(target, 0, 1) : read_bits(before, 0, bit)));
            CHECK(read_bits(target, bit + width, 1) == read_bits(before, bit + width, 1));
        }
}

TEST_CASE("reads beyond the end are zero, slices beyond it empty") {
    const std::vector<std::byte> bytes = hex("0102");
    CHECK(read_be<std::uint16_t>(bytes, 0) == 0x0102);
    CHECK(read_le<std::uint16_t>(bytes, 0) == 0x0201);
    CHECK(read_be<std::uint32_t>(bytes, 0) == 0);
    CHECK(read_be<std::uint8_t>(bytes, 2) == 0);
    CHECK(read_be<std::uint16_t>(bytes, ~std::size_t{0}) == 0);
    CHECK(slice(bytes, 1, 100).size() == 1);
    CHECK(slice(bytes, 2).empty());
}

TEST_CASE("PSNs wrap at 24 bits and compare by the shorter way round") {
    CHECK(Psn(0xffffff) + 1 == Psn(0));
    CHECK(Psn(0) - Psn(0xffffff) == 1);
    CHECK(Psn(0xffffff) - Psn(0) == -1);
    CHECK(Psn(0xfffff0).before(Psn(0x10)));
    CHECK_FALSE(Psn(0x10).before(Psn(0xfffff0)));
    CHECK(Psn(0x7fffff) - Psn(0) == 0x7fffff);
    CHECK(Psn(0x800000) - Psn(0) == -0x800000);
    CHECK(Psn(0x1234567) == Psn(0x234567));
}

TEST_CASE("every header has a name, a title and fields that tile it") {
    std::set<std::string_view> titles;
    for (std::size_t i = 0; i < kLayerKinds; ++i) {
        const Header& row = header(static_cast<LayerKind>(i));
        INFO(row.name << " " << row.title);
        if (row.title.empty() && i >= static_cast<std::size_t>(LayerKind::count_)) continue;
        CHECK(static_cast<std::size_t>(row.kind) == i);
        CHECK_FALSE(row.name.empty());
        CHECK(titles.insert(row.title).second);
        CHECK(tiles(row.fields, row.length));
        CHECK_FALSE(row.fields.empty());
    }
}

TEST_CASE("every field has a meaning, and a name that can be typed") {
    for (std::size_t i = 0; i < kLayerKinds; ++i)
        for (const Field& field : header(static_cast<LayerKind>(i)).fields) {
            INFO(field.name);
            CHECK_FALSE(field.meaning.empty());
            CHECK(field.meaning.back() != '.');
            CHECK(field.name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") ==
                  std::string_view::npos);
            if (!field.computed() && field.width != kToEnd && value_type(field.format) == ValueType::mac)
                CHECK(field.width == 48);
            std::set<std::uint64_t> values;
            for (const ValueName& name : field.names) {
                CHECK(values.insert(name.value).second);
                CHECK((field.width == 0 || field.width >= 64 || name.value >> field.width == 0));
            }
        }
}

TEST_CASE("every word of the line is a field of its layer, and its key is used for one thing there") {
    std::set<std::pair<LayerKind, std::string_view>> keys;
    for (const Word& word : words()) {
        INFO(word.field << " as " << word.key);
        const auto fields = header(word.kind).fields;
        CHECK(std::ranges::find(fields, word.field, &Field::name) != fields.end());
        CHECK(keys.insert({word.kind, word.key}).second);
    }
}

TEST_CASE("values are plain for machines and in words for people") {
    const auto texts = [](const Field& field, Value value) {
        std::string plain;
        std::string words;
        std::string json;
        append_plain(plain, field, value);
        append_words(words, field, value);
        append_json(json, field, value);
        return plain + " | " + words + " | " + json;
    };
    static constexpr std::array kNames{ValueName{3, "THREE"}};
    CHECK(texts(row::decimal("n", "", 0, 8).in("bytes"), {5, {}}) == "5 | 5 bytes | 5");
    CHECK(texts(row::decimal("n", "", 0, 8).named(kNames), {3, {}}) == "3 | THREE (3) | 3");
    CHECK(texts(row::hex("n", "", 0, 24), {0xabc, {}}) == "2748 | 0x000abc | 2748");
    CHECK(texts(row::flag("n", "", 0), {1, {}}) == "1 | yes | true");
    CHECK(texts(row::mac("n", "", 0), {0x0123456789ab, {}}) ==
          "01:23:45:67:89:ab | 01:23:45:67:89:ab | \"01:23:45:67:89:ab\"");
    CHECK(texts(row::ipv4("n", "", 0), {0x0a4d000b, {}}) == "10.77.0.11 | 10.77.0.11 | \"10.77.0.11\"");
    CHECK(texts(row::exponent("n", "", 0, 5), {20, {}}) == "20 | 20 (4.295 s) | 20");
    CHECK(texts(row::exponent("n", "", 0, 5), {0, {}}) == "0 | 0 (4.096 us) | 0");
    const std::vector<std::byte> address = hex("20010db8000000000000000000000001");
    CHECK(texts(row::ipv6("n", "", 0), {0, address}) == "2001:db8::1 | 2001:db8::1 | \"2001:db8::1\"");
    // Text is as it is for machines, whose formats escape it; for people nothing of it can move the cursor.
    const std::vector<std::byte> name = hex("61095c22c29b33c3a900ff");
    CHECK(texts(row::text("n", "", 0, 88), {0, name}) ==
          "a\t\\\"\xc2\x9b"
          "3\xc3\xa9 | a\\x09\\\"\\xc2\\x9b3\xc3\xa9 | \"a\\u0009\\\\\\\"\\u009b3\xc3\xa9\"");
    Field milliseconds = row::decimal("n", "", 0, 8).with_digits(2).in("ms");
    CHECK(texts(milliseconds, {65536, {}}) == "655.36 | 655.36 ms | 655.36");
    CHECK(texts(milliseconds, {~std::uint64_t{0}, {}}) == "-0.01 | -0.01 ms | -0.01");
}

TEST_CASE("times are in the unit a person would use") {
    CHECK(human_time(0) == "0 s");
    CHECK(human_time(1.5) == "1.5 s");
    CHECK(human_time(0.65536) == "655.4 ms");
    CHECK(human_time(4.096e-6) == "4.096 us");
    CHECK(human_time(2e-9) == "2 ns");
    CHECK(utc(Instant{1'795'223'541'422'677'000}) == "2026-11-21 01:12:21.422677000 UTC");
    CHECK(utc(Instant{-1}) == "1969-12-31 23:59:59.999999999 UTC");
}

TEST_CASE("JSON strings hold any bytes and stay valid") {
    for (const char* bytes :
         {"61", "00", "c3a9", "c3", "ff", "e282ac", "eda080", "f09f9880", "f0808080", "22", "5c", "0a1b"}) {
        const std::vector<std::byte> raw = hex(bytes);
        std::string json;
        append_json_string(json, {reinterpret_cast<const char*>(raw.data()), raw.size()});
        INFO(bytes << " " << json);
        CHECK(nlohmann::json::accept(json));
    }
}

TEST_CASE("the JSON of every opcode's packet is valid and names its layers") {
    for (std::size_t code = 0; code < kOpcodes.size(); ++code) {
        const Decoded decoded(transport_packet(static_cast<Opcode>(code), Network::roce_v2_ipv6));
        std::string text;
        append_json(text, decoded.packet);
        REQUIRE(nlohmann::json::accept(text));
        const auto json = nlohmann::json::parse(text);
        CHECK(json["layers"].size() == decoded.packet.layers().size());
        CHECK(json["line"] == decoded.line());
    }
}

TEST_CASE("text that acts comes out of no field that is text") {
    // ESC, BEL, CSI in 8 bits, DEL, right-to-left override, line separator, zero width space, no UTF-8.
    constexpr std::string_view kCanary = "=\x1b\x07\xc2\x9b\x7f\xe2\x80\xae\xe2\x80\xa8\xe2\x80\x8b\xff\r\n\t";
    constexpr std::array<std::string_view, 9> kActing{
        "\x1b", "\x07", "\x7f", "\xc2\x9b", "\xe2\x80\xae", "\xe2\x80\xa8", "\xe2\x80\x8b", "\xff", "\r"};
    const Value value{0, std::as_bytes(std::span(kCanary))};
    std::size_t fields = 0;
    for (std::size_t i = 0; i < kLayerKinds; ++i)
        for (const Field& field : header(static_cast<LayerKind>(i)).fields) {
            if (value_type(field.format) != ValueType::text) continue;
            INFO(field.name);
            ++fields;
            std::string words, json;
            append_words(words, field, value);
            append_json(json, field, value);
            for (const std::string_view acting : kActing) {
                CHECK(words.find(acting) == std::string::npos);
                CHECK(json.find(acting) == std::string::npos);
            }
            CHECK(words.find_first_of("\n\t") == std::string::npos);
            CHECK(nlohmann::json::parse(json).is_string());
        }
    CHECK(fields >= 21);
}
