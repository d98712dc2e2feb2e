#include <dissect/base/parse_value.hpp>
#include <dissect/packet/notation.hpp>
#include <transport-replay/conformance/script/packet_words.hpp>
#include <transport-replay/conformance/script/script_error.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace qps::transport::conformance::script {

using namespace dissect;

namespace {

// What a script calls a field besides what dissect/notation does.
struct ScriptKey {
    dissect::LayerKind kind;
    std::string_view field;
    std::string_view key;
};

constexpr std::array kKeys{
    ScriptKey{LayerKind::bth, "infiniband.bth.opcode", "opcode"},
    ScriptKey{LayerKind::bth, "infiniband.bth.m", "mig"},
    ScriptKey{LayerKind::bth, "infiniband.bth.padcnt", "padcnt"},
    ScriptKey{LayerKind::xrceth, "infiniband.xrceth.xrcsrq", "srq"},
    ScriptKey{LayerKind::aeth, "infiniband.aeth.syndrome", "syndrome"},
    ScriptKey{LayerKind::aeth, "infiniband.aeth.syndrome.timer", "rnr"},
    ScriptKey{LayerKind::aeth, "infiniband.aeth.syndrome.credit_count", "credit_code"},
    ScriptKey{LayerKind::mad, "infiniband.mad.transactionid", "tid"},
    ScriptKey{LayerKind::mad, "infiniband.mad.status", "status"},
    ScriptKey{LayerKind::cm_req, "infiniband.cm.req.pppmtu", "mtu"},
    ScriptKey{LayerKind::cm_req, "infiniband.cm.req.private", "private"},
    ScriptKey{LayerKind::cm_rej, "infiniband.cm.rej.msgrej", "msgrej"},
    ScriptKey{LayerKind::cm_rej, "infiniband.cm.rej.ari", "ari"},
    ScriptKey{LayerKind::cm_rep, "infiniband.cm.rep.respres", "respres"},
    ScriptKey{LayerKind::cm_mra, "infiniband.cm.mra.localcommid", "comm"},
    ScriptKey{LayerKind::cm_mra, "infiniband.cm.mra.remotecommid", "remote_comm"},
    ScriptKey{LayerKind::cm_mra, "infiniband.cm.mra.msgmra", "msgmra"},
    ScriptKey{LayerKind::cm_mra, "infiniband.cm.mra.servicetimeout", "service_timeout"},
    ScriptKey{LayerKind::cm_dreq, "infiniband.cm.req.remoteqpneecn", "remote_qp"},
    ScriptKey{LayerKind::cm_sidr_req, "infiniband.cm.sidr_req.requestid", "request"},
    ScriptKey{LayerKind::cm_sidr_req, "infiniband.cm.sidr_req.serviceid", "service"},
    ScriptKey{LayerKind::cm_sidr_rep, "infiniband.cm.sidr_rep.requestid", "request"},
    ScriptKey{LayerKind::cm_sidr_rep, "infiniband.cm.sidr_rep.status", "sidr_status"},
    ScriptKey{LayerKind::cm_sidr_rep, "infiniband.cm.sidr_rep.qpn", "local_qp"},
    ScriptKey{LayerKind::cm_sidr_rep, "infiniband.cm.sidr_rep.qkey", "sidr_qkey"},
    ScriptKey{LayerKind::cm_lap, "infiniband.cm.lap.localcommid", "comm"},
    ScriptKey{LayerKind::cm_lap, "infiniband.cm.lap.remotecommid", "remote_comm"},
    ScriptKey{LayerKind::cm_apr, "infiniband.cm.apr.localcommid", "comm"},
    ScriptKey{LayerKind::cm_apr, "infiniband.cm.apr.remotecommid", "remote_comm"},
    ScriptKey{LayerKind::cm_apr, "infiniband.cm.apr.status", "apr_status"},
};

struct SpecialRow {
    std::string_view name;
    Special special;
    bool inject;
    bool expect;
    bool flag;  // has no value
};
constexpr std::array kSpecials{
    SpecialRow{"len", Special::length, true, true, false},
    SpecialRow{"fill", Special::fill, true, true, false},
    SpecialRow{"from", Special::from, true, true, false},
    SpecialRow{"data", Special::data, true, true, false},
    SpecialRow{"pad", Special::pad, true, true, false},
    SpecialRow{"icrc", Special::icrc, true, false, false},
    SpecialRow{"bad_icrc", Special::bad_icrc, true, true, true},
    SpecialRow{"cut", Special::cut, true, false, false},
    SpecialRow{"flip", Special::flip, true, false, false},
    SpecialRow{"options", Special::options, true, false, false},
    SpecialRow{"trailer", Special::trailer, true, false, false},
    SpecialRow{"ecn", Special::ecn, true, true, false},
    SpecialRow{"ttl", Special::ttl, true, true, false},
    SpecialRow{"dscp", Special::dscp, true, true, false},
};

// What stands below the transport, whatever carries it: fields go by their full names there.
constexpr std::array kBelow{LayerKind::ethernet, LayerKind::vlan, LayerKind::ipv4,
                            LayerKind::ipv6,     LayerKind::grh,  LayerKind::udp};

struct FoundField {
    LayerKind kind;
    const Field* field;
};

const Field* field_named(LayerKind kind, std::string_view name) {
    const auto fields = header(kind).fields;
    const auto field = std::ranges::find(fields, name, &Field::name);
    return field == fields.end() ? nullptr : &*field;
}

std::optional<FoundField> find_key(LayerKind kind, std::string_view key) {
    for (const ScriptKey& row : kKeys)
        if (row.kind == kind && row.key == key) return FoundField{kind, field_named(kind, row.field)};
    for (const Word& row : words())
        if (row.kind == kind && row.key == key)
            if (const Field* field = field_named(kind, row.field)) return FoundField{kind, field};
    return std::nullopt;
}

// By the key of a word or by the whole name, in the order of the headers.
std::optional<FoundField> find_field(const std::vector<LayerKind>& kinds, std::string_view key) {
    for (const LayerKind kind : kinds)
        if (const auto found = find_key(kind, key)) return found;
    if (const auto found = find_key(LayerKind::udp, key)) return found;
    for (const LayerKind kind : kinds)
        if (const Field* field = field_named(kind, key)) return FoundField{kind, field};
    for (const LayerKind kind : kBelow)
        if (const Field* field = field_named(kind, key)) return FoundField{kind, field};
    return std::nullopt;
}

// le8@3, le16@14, le32@0, le64@8: bits, and where in the payload.
std::optional<PayloadNumber> payload_number(std::string_view key) {
    const std::size_t at = key.find('@');
    if (!key.starts_with("le") || at == std::string_view::npos) return std::nullopt;
    const auto offset = parse_decimal(key.substr(at + 1), kMaxPayloadOffset);
    if (!offset) return std::nullopt;
    for (const unsigned bytes : {1U, 2U, 4U, 8U})
        if (key.substr(2, at - 2) == std::to_string(bytes * 8))
            return PayloadNumber{static_cast<std::uint16_t>(*offset), static_cast<std::uint8_t>(bytes)};
    return std::nullopt;
}

// The keys that may stand in such a packet, for who mistyped one.
std::vector<std::string_view> keys_of(const std::vector<LayerKind>& kinds) {
    std::vector<std::string_view> keys;
    const auto among = [&](LayerKind kind) { return std::ranges::find(kinds, kind) != kinds.end(); };
    for (const SpecialRow& row : kSpecials) keys.push_back(row.name);
    for (const ScriptKey& row : kKeys)
        if (among(row.kind)) keys.push_back(row.key);
    for (const Word& row : words())
        if (among(row.kind)) keys.push_back(row.key);
    return keys;
}

std::unexpected<WordError> wrong(const Token& token, std::size_t offset, std::size_t length, std::string message,
                                 std::string suggestion = {}) {
    return std::unexpected(WordError{token, offset, length, std::move(message), std::move(suggestion)});
}
std::unexpected<WordError> wrong(const Token& token, std::string message, std::string suggestion = {}) {
    return wrong(token, 0, token.length, std::move(message), std::move(suggestion));
}

// Without the headers: opcode or attribute.
std::expected<PacketLine, WordError> parse_name(const Token& token, Purpose purpose) {
    PacketLine packet;
    if (token.text == "any") {
        if (purpose == Purpose::inject) return wrong(token, "\"any\" cannot be sent");
        return packet;
    }
    for (const ValueName& row : kOpcodeNames)
        if (row.name == token.text) {
            packet.opcode = static_cast<Opcode>(row.value);
            return packet;
        }
    for (const MadAttribute& row : kMadAttributes)
        if (row.group == MadGroup::communication && row.name == token.text) {
            packet.opcode = Opcode::ud_send_only;
            packet.attribute = &row;
            return packet;
        }
    // A number: an opcode that nobody defined. What follows its BTH is payload.
    if (token.text.starts_with("OPCODE_0x")) {
        if (const auto byte = read_hex(std::string_view(token.text).substr(9)); byte && byte->size() == 1) {
            packet.opcode = static_cast<Opcode>(byte->front());
            return packet;
        }
    }
    std::vector<std::string_view> names;
    for (const ValueName& row : kOpcodeNames) names.push_back(row.name);
    for (const MadAttribute& row : kMadAttributes)
        if (row.group == MadGroup::communication) names.push_back(row.name);
    return wrong(
        token,
        fmt::format("unknown packet '{}': expected an opcode as `packets` prints it, OPCODE_0x15, or a CM message",
                    token.text),
        nearest(token.text, names));
}

bool says_syndrome(const PacketWord& word) {
    return word.kind == LayerKind::aeth && word.field != nullptr && word.field->name != "infiniband.aeth.msn";
}

// The one value of a packet that is sent.
std::optional<std::string> misuse(const PacketWord& word) {
    if (word.pattern.any || word.pattern.negated || word.pattern.choices.size() != 1 ||
        word.pattern.choices.front().last || word.pattern.choices.front().to_end)
        return "a sent packet needs a single value";
    if (word.special == Special::none && word.field->computed())
        return fmt::format("{} is derived from other fields: it can be expected, not sent", word.field->name);
    return std::nullopt;
}

std::expected<void, WordError> parse_special(const SpecialRow& row, const Token& token, std::size_t value_at,
                                             Purpose purpose, const std::vector<LayerKind>& kinds, PacketWord& word) {
    if (purpose == Purpose::inject ? !row.inject : !row.expect)
        return wrong(token,
                     fmt::format("\"{}\" applies to {} packets only", row.name, row.inject ? "sent" : "expected"));
    const bool has_value = value_at < token.text.size();
    if (row.flag != !has_value && !(row.flag && value_at == token.text.size()))
        return wrong(token, row.flag ? fmt::format("\"{}\" has no value", row.name)
                                     : fmt::format("\"{}\" needs a value: {}=...", row.name, row.name));
    word.special = row.special;
    const std::string_view value = has_value ? std::string_view(token.text).substr(value_at) : std::string_view{};
    if (row.special == Special::data || row.special == Special::options || row.special == Special::trailer) {
        auto bytes = read_hex(value);
        if (!bytes)
            return wrong(token, value_at, value.size(),
                         fmt::format("invalid bytes '{}': expected hex digits in pairs", value));
        word.pattern.choices.push_back({.bytes = std::move(*bytes)});
        return {};
    }
    if (row.special == Special::flip) {
        if (value == "payload" || value == "icrc") {
            word.kind = value == "icrc" ? LayerKind::icrc : LayerKind::payload;
            return {};
        }
        const auto found = find_field(kinds, value);
        if (!found || found->field->computed())
            return wrong(token, value_at, value.size(),
                         fmt::format("unknown field '{}': expected a field of this packet, payload or icrc", value),
                         nearest(value, keys_of(kinds)));
        word.kind = found->kind;
        word.field = found->field;
        return {};
    }
    if (row.flag) return {};
    auto pattern = parse_pattern(token, value_at, nullptr);
    if (!pattern) return std::unexpected(pattern.error());
    word.pattern = std::move(*pattern);
    return {};
}

std::expected<PacketWord, WordError> parse_word(const Token& token, Purpose purpose,
                                                const std::vector<LayerKind>& kinds) {
    PacketWord word{.text = token.text};
    const std::size_t equals = std::min(token.text.find('='), token.text.size());
    const std::string_view key = std::string_view(token.text).substr(0, equals);
    const std::size_t value_at = std::min(equals + 1, token.text.size());
    const auto special = std::ranges::find(kSpecials, key, &SpecialRow::name);
    if (const auto number = payload_number(key)) {
        if (purpose == Purpose::inject)
            return wrong(token, fmt::format("\"{}\" applies to expected packets only: send data=HEX", key));
        if (equals == token.text.size()) return wrong(token, fmt::format("\"{}\" needs a value: {}=...", key, key));
        auto pattern = parse_pattern(token, value_at, nullptr);
        if (!pattern) return std::unexpected(pattern.error());
        word.special = Special::number;
        word.number = *number;
        word.pattern = std::move(*pattern);
    } else if (special != kSpecials.end()) {
        if (auto parsed =
                parse_special(*special, token, equals == token.text.size() ? equals : value_at, purpose, kinds, word);
            !parsed)
            return std::unexpected(parsed.error());
    } else {
        const auto found = find_field(kinds, key);
        if (!found)
            return wrong(token, 0, key.size(), fmt::format("unknown word or field '{}' of this packet", key),
                         nearest(key, keys_of(kinds)));
        word.kind = found->kind;
        word.field = found->field;
        if (equals == token.text.size()) {
            if (found->field->format != Format::flag)
                return wrong(token, fmt::format("\"{}\" needs a value: {}=...", key, key));
            word.pattern.choices.push_back({.first = constant(1)});
        } else {
            auto pattern = parse_pattern(token, value_at, found->field);
            if (!pattern) return std::unexpected(pattern.error());
            word.pattern = std::move(*pattern);
        }
    }
    const bool has_number = word.special != Special::flip && word.special != Special::bad_icrc;
    if (purpose == Purpose::inject && has_number)
        if (const auto why = misuse(word)) return wrong(token, *why);
    return word;
}

std::expected<Binding, WordError> parse_binding(const Token& token, std::size_t at, Purpose purpose,
                                                const std::vector<LayerKind>& kinds) {
    const std::string_view variable = std::string_view(token.text).substr(0, at);
    const std::string_view key = std::string_view(token.text).substr(at + 2);
    if (purpose == Purpose::inject) return wrong(token, "values can be taken from expected packets only");
    if (!is_name(variable)) return wrong(token, 0, at, fmt::format("invalid variable name '{}'", variable));
    if (const auto number = payload_number(key))
        return Binding{.variable = std::string(variable), .kind = {}, .field = nullptr, .number = *number};
    const auto found = find_field(kinds, key);
    if (!found)
        return wrong(token, at + 2, key.size(), fmt::format("unknown field '{}' of this packet", key),
                     nearest(key, keys_of(kinds)));
    return Binding{.variable = std::string(variable), .kind = found->kind, .field = found->field, .number = {}};
}

}  // namespace

std::string_view name_of(Special special) {
    const auto row = std::ranges::find(kSpecials, special, &SpecialRow::special);
    return row == kSpecials.end() ? std::string_view{} : row->name;
}

std::string key_of(LayerKind kind, const Field& field) {
    for (const ScriptKey& row : kKeys)
        if (row.kind == kind && row.field == field.name) return std::string(row.key);
    for (const Word& row : words())
        if (row.kind == kind && row.field == field.name) return std::string(row.key);
    return std::string(field.name);
}

std::vector<LayerKind> headers_of(const PacketLine& packet) {
    std::vector<LayerKind> kinds{LayerKind::bth};
    if (!packet.opcode) return kinds;
    const OpcodeRow& row = info(*packet.opcode);
    kinds.insert(kinds.end(), row.headers.begin(), row.headers.begin() + row.header_count);
    if (packet.attribute == nullptr) return kinds;
    kinds.insert(kinds.end(), {LayerKind::mad, packet.attribute->data});
    if (packet.attribute->data == LayerKind::cm_req || packet.attribute->data == LayerKind::cm_sidr_req)
        kinds.push_back(LayerKind::cm_ip_private);
    return kinds;
}

std::optional<std::vector<std::byte>> read_hex(std::string_view digits) {
    const auto value = [](char c) {
        return c >= '0' && c <= '9'   ? c - '0'
               : c >= 'a' && c <= 'f' ? c - 'a' + 10
               : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                      : -1;
    };
    if (digits.size() % 2 != 0) return std::nullopt;
    std::vector<std::byte> bytes;
    for (std::size_t i = 0; i < digits.size(); i += 2) {
        const int high = value(digits[i]), low = value(digits[i + 1]);
        if (high < 0 || low < 0) return std::nullopt;
        bytes.push_back(static_cast<std::byte>(high * 16 + low));
    }
    return bytes;
}

std::expected<PacketLine, WordError> parse_packet(std::span<const Token> tokens, Purpose purpose) {
    if (tokens.empty()) return std::unexpected(WordError{{}, 0, 0, "missing packet name, such as RC_SEND_ONLY"});
    auto packet = parse_name(tokens.front(), purpose);
    if (!packet) return packet;
    const std::vector<LayerKind> kinds = headers_of(*packet);
    packet->text = tokens.front().text;
    for (const Token& token : tokens.subspan(1)) {
        if (token.quoted) return wrong(token, "unexpected quoted text");
        packet->text += ' ' + token.text;
        if (const std::size_t at = token.text.find(":="); at != std::string::npos) {
            auto binding = parse_binding(token, at, purpose, kinds);
            if (!binding) return std::unexpected(binding.error());
            packet->bindings.push_back(std::move(*binding));
            continue;
        }
        auto word = parse_word(token, purpose, kinds);
        if (!word) return std::unexpected(word.error());
        packet->words.push_back(std::move(*word));
    }
    packet->acknowledges =
        std::ranges::find(kinds, LayerKind::aeth) != kinds.end() && std::ranges::none_of(packet->words, says_syndrome);
    return packet;
}

}  // namespace qps::transport::conformance::script
