#include <dissect/base/packet.hpp>
#include <dissect/headers/infiniband.hpp>
#include <dissect/packet/notation.hpp>
#include <dissect/packet/render_value.hpp>
#include <transport-replay/conformance/agent/pattern.hpp>
#include <transport-replay/conformance/script/packet_words.hpp>
#include <transport-replay/conformance/stage/comparison.hpp>
#include <transport-replay/conformance/stage/packet_maker.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace qps::transport::conformance::stage {

using namespace dissect;
using script::Choice;
using script::PacketLine;
using script::PacketWord;
using script::Pattern;
using script::Relative;
using script::Special;

namespace {

constexpr std::uint64_t k24Bits = 0xffffff;
constexpr std::size_t kShownBytes = 16;  // of long values

std::string hex_text(Bytes bytes) {
    std::string text;
    append_hex(text, bytes.first(std::min(bytes.size(), kShownBytes)));
    if (bytes.size() > kShownBytes) text += fmt::format("... ({} bytes)", bytes.size());
    return text.empty() ? "no bytes" : text;
}

std::string value_text(const Field& field, const Value& value) {
    std::string text;
    if (const std::string_view name = name_of(field, value.number); !name.empty() && value.bytes.empty()) text = name;
    else if (!value.bytes.empty() && value_type(field.format) == ValueType::bytes) text = hex_text(value.bytes);
    else if (field.format == Format::hexadecimal) text = fmt::format("0x{:x}", value.number);
    else append_plain(text, field, value);
    std::ranges::replace(text, ' ', '_');
    return text;
}

// A value of a pattern is a number modulo what its field holds, counted from `base` where the pattern is relative.
struct Scale {
    std::uint64_t base = 0;
    bool wraps = false;  // 24 bits
};

std::string number_place(const script::PayloadNumber& number) {
    return fmt::format("le{}@{}", number.bytes * 8, number.offset);
}

class Comparison {
public:
    Comparison(const PacketLine& line, const Packet& packet, const Comparing& with)
        : line_(line), packet_(packet), with_(with), request_(!packet.has_transport() || info(packet.opcode).request) {}

    std::expected<std::vector<Difference>, std::string> run() {
        if (!packet_.has_transport()) {
            differ("packet", line_.text, "not a packet of the transport");
            return std::move(found_);
        }
        if (line_.opcode && *line_.opcode != packet_.opcode) {
            differ("packet", std::string(info(*line_.opcode).name()), std::string(info(packet_.opcode).name()));
            return std::move(found_);
        }
        if (line_.attribute != nullptr && !compare_attribute()) return std::move(found_);
        compare_ends();
        for (const script::Binding& binding : line_.bindings)
            if (binding.field == nullptr && !number_in(packet_, binding.number))
                differ(binding.variable, number_place(binding.number), "no such bytes");
        for (const PacketWord& word : line_.words) {
            if (word.special == Special::none) compare_field(word);
            else compare_special(word);
            if (problem_) return std::unexpected(std::move(*problem_));
        }
        return std::move(found_);
    }

private:
    void differ(std::string word, std::string expected, std::string came) {
        found_.push_back({std::move(word), std::move(expected), std::move(came)});
    }

    // The ICRC, and of an AETH that it acknowledges.
    void compare_ends() {
        const bool wants_bad =
            std::ranges::any_of(line_.words, [](const PacketWord& word) { return word.special == Special::bad_icrc; });
        const bool bad = packet_.icrc.status == CrcStatus::bad && with_.checks_icrc;
        if (bad != wants_bad)
            differ("icrc", wants_bad ? "a wrong ICRC" : fmt::format("0x{:08x}", packet_.icrc.expected),
                   fmt::format("0x{:08x}", packet_.icrc.found));
        const Layer* aeth = find(packet_, LayerKind::aeth);
        if (!line_.acknowledges || aeth == nullptr) return;
        constexpr Field kType = named(kAethFields, "infiniband.aeth.syndrome.opcode");
        if (read(packet_.bytes_of(*aeth), kType) != 0) differ("syndrome", "an ACK", syndrome_text(*aeth));
    }

    // The word that `packets` would print for it.
    std::string syndrome_text(const Layer& aeth) const {
        for (const std::string_view name : {"infiniband.aeth.syndrome.error_code", "infiniband.aeth.syndrome.timer",
                                            "infiniband.aeth.syndrome.reserved_value"}) {
            const auto field = std::ranges::find(header(LayerKind::aeth).fields, name, &Field::name);
            if (const auto value = dissect::value_of(packet_, aeth, *field))
                return fmt::format("{}={}", script::key_of(LayerKind::aeth, *field), value_text(*field, *value));
        }
        return "an ACK";
    }

    bool compare_attribute() {
        const Layer* mad = find(packet_, LayerKind::mad);
        const Layer* data = find(packet_, line_.attribute->data);
        if (mad != nullptr && data != nullptr) return true;
        std::string came(info(packet_.opcode).name());
        if (mad != nullptr) {
            append_line(came = {}, packet_);
        }
        differ("packet", std::string(line_.attribute->name), came);
        return false;
    }

    std::optional<std::uint64_t> evaluated(const script::Expression& expression) {
        auto value = with_.variables.value_of(expression);
        if (!value && !problem_) problem_ = value.error();
        return value ? std::optional(*value) : std::nullopt;
    }

    [[nodiscard]] Scale scale_of(const PacketWord& word) const {
        if (word.field == nullptr) return {};
        if (word.field->name == "infiniband.bth.psn")
            return {first_psn(with_.qp, Sender::device, request_).value(), true};
        if (word.field->name == "infiniband.aeth.msn") return {0, true};
        return {};
    }

    bool holds(const Choice& choice, std::uint64_t came, const Scale& scale) {
        const auto first = evaluated(*choice.first);
        if (!first) return false;
        const auto absolute = [&](std::uint64_t value) {
            if (choice.relative == Relative::no) return scale.wraps ? value & k24Bits : value;
            return (choice.relative == Relative::plus ? scale.base + value : scale.base - value) & k24Bits;
        };
        if (choice.to_end) return came >= absolute(*first);
        if (!choice.last) return came == absolute(*first);
        const auto last = evaluated(*choice.last);
        if (!last) return false;
        if (scale.wraps && choice.relative != Relative::no)  // the range may wrap
            return ((came - absolute(*first)) & k24Bits) <= ((absolute(*last) - absolute(*first)) & k24Bits);
        return came >= absolute(*first) && came <= absolute(*last);
    }

    bool holds(const Pattern& pattern, std::uint64_t came, const Scale& scale) {
        if (pattern.any) return true;
        bool one = false;
        for (const Choice& choice : pattern.choices) one = holds(choice, came, scale) || one;
        return one != pattern.negated;
    }

    // The bytes that a choice names are those that the field begins with; the rest of it is zero.
    bool holds_bytes(const Pattern& pattern, Bytes came) {
        if (pattern.any) return true;
        bool one = false;
        for (const Choice& choice : pattern.choices) {
            const auto named = with_.variables.bytes(choice.bytes_of, came.size());
            if (!choice.bytes_of.empty() && !named && !problem_)
                problem_ = fmt::format("${} is not a string of bytes", choice.bytes_of);
            const Bytes wanted = named ? Bytes(*named) : Bytes(choice.bytes);
            const bool begins = came.size() >= wanted.size() && std::ranges::equal(came.first(wanted.size()), wanted);
            one = one || (begins && std::ranges::all_of(came.subspan(wanted.size()),
                                                        [](std::byte byte) { return byte == std::byte{}; }));
        }
        return one != pattern.negated;
    }

    // As it was written, and the one number that it means where that is not plain to see.
    std::string expected_text(const PacketWord& word, const Scale& scale) {
        const std::size_t equals = std::min(word.text.find('='), word.text.size());
        std::string text = equals == word.text.size() ? "set" : word.text.substr(equals + 1);
        if (word.pattern.choices.size() != 1 || word.pattern.negated) return text;
        const Choice& choice = word.pattern.choices.front();
        if (!choice.first || choice.last || choice.to_end) return text;
        const auto value = with_.variables.value_of(*choice.first);
        if (!value) return text;
        std::uint64_t number = *value;
        if (choice.relative != Relative::no)
            number = (choice.relative == Relative::plus ? scale.base + number : scale.base - number) & k24Bits;
        const bool plain =
            choice.first->terms.size() == 1 && choice.first->terms.front().operation == script::Operation::number;
        if (choice.relative != Relative::no ? scale.base != 0 : !plain) text += fmt::format(" ({})", number);
        return text;
    }

    void compare_field(const PacketWord& word) {
        const Scale scale = scale_of(word);
        const std::string key = word.text.substr(0, word.text.find('='));
        const auto value = stage::value_of(packet_, word.kind, *word.field);
        if (!value) {
            const Layer* aeth = word.kind == LayerKind::aeth ? find(packet_, LayerKind::aeth) : nullptr;
            differ(key, expected_text(word, scale), aeth != nullptr ? syndrome_text(*aeth) : "no such field");
            return;
        }
        const bool numeric =
            word.pattern.any || (!word.pattern.choices.empty() && word.pattern.choices.front().first.has_value());
        if (numeric ? holds(word.pattern, value->number, scale) : holds_bytes(word.pattern, value->bytes)) return;
        std::string came = value_text(*word.field, *value);
        if (scale.wraps && scale.base != 0)
            came = fmt::format("{} ({})",
                               relative_text(Psn(static_cast<std::uint32_t>(value->number)),
                                             Psn(static_cast<std::uint32_t>(scale.base))),
                               came);
        else if (scale.wraps && !word.pattern.choices.empty() && word.pattern.choices.front().relative != Relative::no)
            came = relative_text(Psn(static_cast<std::uint32_t>(value->number)), Psn(0));
        differ(key, expected_text(word, scale), came);
    }

    std::optional<std::uint64_t> network_number(Special special) const {
        struct Names {
            Special special;
            std::string_view ipv4, ipv6;
        };
        static constexpr std::array kNames{Names{Special::ttl, "ip.ttl", "ipv6.hlim"},
                                           Names{Special::dscp, "ip.dsfield.dscp", "ipv6.tclass.dscp"},
                                           Names{Special::ecn, "ip.dsfield.ecn", "ipv6.tclass.ecn"}};
        if (packet_.network_layer == kNoLayer) return std::nullopt;
        const Layer& network = packet_.layer_storage[packet_.network_layer];
        const auto row = std::ranges::find(kNames, special, &Names::special);
        for (const Field& field : header(network.kind).fields)
            if (row != kNames.end() && (field.name == row->ipv4 || field.name == row->ipv6))
                if (const auto value = dissect::value_of(packet_, network, field)) return value->number;
        return std::nullopt;
    }

    void compare_special(const PacketWord& word) {
        const std::string key(script::name_of(word.special));
        switch (word.special) {
            case Special::length:
                if (!holds(word.pattern, packet_.payload.length, {}))
                    differ(key, expected_text(word, {}), std::to_string(packet_.payload.length));
                return;
            case Special::pad:
                if (!holds(word.pattern, packet_.payload.pad, {}))
                    differ(key, expected_text(word, {}), std::to_string(packet_.payload.pad));
                return;
            case Special::fill: return compare_fill(word);
            case Special::data: {
                const Bytes came = packet_.payload_bytes();
                if (!std::ranges::equal(came, word.pattern.choices.front().bytes))
                    differ(key, hex_text(word.pattern.choices.front().bytes), hex_text(came));
                return;
            }
            case Special::number: {
                const auto came = number_in(packet_, word.number);
                if (!came || !holds(word.pattern, *came, {}))
                    differ(number_place(word.number), expected_text(word, {}),
                           came ? fmt::format("0x{:x}", *came) : "no such bytes");
                return;
            }
            case Special::ttl:
            case Special::dscp:
            case Special::ecn: {
                const auto came = network_number(word.special);
                if (!came || !holds(word.pattern, *came, {}))
                    differ(key, expected_text(word, {}), came ? std::to_string(*came) : "no such field");
                return;
            }
            default: return;  // `from` belongs to `fill`; `bad_icrc` is seen to
        }
    }

    void compare_fill(const PacketWord& word) {
        if (word.pattern.choices.empty() || !word.pattern.choices.front().first) return;
        const auto seed = evaluated(*word.pattern.choices.front().first);
        if (!seed) return;
        const OpcodeRow& row = info(packet_.opcode);
        const bool first = begins_message(row.place);
        std::uint64_t from = first ? 0 : with_.qp.streams[1][request_ ? 0 : 1].offset_at(packet_.psn, with_.qp.mtu);
        const auto said = std::ranges::find(line_.words, Special::from, &PacketWord::special);
        if (said != line_.words.end() && !said->pattern.choices.empty())
            if (const auto offset = evaluated(*said->pattern.choices.front().first)) from = *offset;
        const Bytes came = packet_.payload_bytes();
        const agent::PatternDifference difference = agent::compare_pattern(came, *seed, from);
        if (difference.wrong == 0) return;
        const auto place = static_cast<std::size_t>(difference.first);
        std::vector<std::byte> wanted(std::min<std::size_t>(came.size() - place, 8));
        agent::fill_pattern(wanted, *seed, from + place);
        differ("fill", fmt::format("{} from {}: at byte {} {}", *seed, from, place, hex_text(wanted)),
               fmt::format("{}, {} of {} bytes differ", hex_text(came.subspan(place, wanted.size())), difference.wrong,
                           came.size()));
    }

    const PacketLine& line_;
    const Packet& packet_;
    const Comparing& with_;
    bool request_;
    std::vector<Difference> found_;
    std::optional<std::string> problem_;
};

}  // namespace

std::optional<Value> value_of(const Packet& packet, LayerKind kind, const Field& field) {
    const Layer* layer = find(packet, kind);
    return layer == nullptr ? std::nullopt : dissect::value_of(packet, *layer, field);
}

// What a message of communication management carries is its private data.
std::optional<std::uint64_t> number_in(const Packet& packet, const script::PayloadNumber& number) {
    Bytes carried = packet.payload_bytes();
    for (const Layer& layer : packet.layers())
        for (const Field& field : header(layer.kind).fields)
            if (layer.kind != LayerKind::cm_ip_private && header(layer.kind).name.starts_with("infiniband.cm.") &&
                field.name.ends_with(".private"))
                if (const auto value = dissect::value_of(packet, layer, field)) carried = value->bytes;
    if (carried.size() < std::size_t{number.offset} + number.bytes) return std::nullopt;
    return read_bits_le(carried, std::size_t{number.offset} * 8, number.bytes * 8U);
}

std::expected<std::vector<Difference>, std::string> compare(const PacketLine& line, const Packet& packet,
                                                            const Comparing& with) {
    return Comparison(line, packet, with).run();
}

std::string relative_text(Psn psn, Psn first) { return fmt::format("{:+}", psn - first); }

std::string line_of(const Packet& packet, const ScriptQp& qp, Sender sender) {
    std::string line;
    append_line(line, packet);
    if (!packet.has_transport() || qp.management) return line;
    const Psn first = first_psn(qp, sender, info(packet.opcode).request);
    const std::string word = fmt::format(" psn={}", packet.psn.value());
    if (const std::size_t at = line.find(word); at != std::string::npos)
        line.insert(at + word.size(), fmt::format(" ({})", relative_text(packet.psn, first)));
    return line;
}

}  // namespace qps::transport::conformance::stage
