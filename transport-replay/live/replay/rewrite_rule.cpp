#include <dissect/base/bytes.hpp>
#include <dissect/base/parse_value.hpp>
#include <transport-replay/live/replay/rewrite_rule.hpp>

#include <array>

#include <fmt/format.h>

namespace qps::transport::live {

using namespace dissect;

namespace {

constexpr Wide kAllBits{~std::uint64_t{0}, ~std::uint64_t{0}};

struct SubjectWord {
    std::string_view word;
    Subject subject;
    Side only;
    std::uint64_t most;      // of a number
    std::string_view value;  // what one looks like
};
constexpr std::array kSubjects{
    SubjectWord{"mac", Subject::mac, Side::neither, 0, "a MAC address such as 02:00:00:00:00:01, or *"},
    SubjectWord{"src-mac", Subject::mac, Side::source, 0, "a MAC address such as 02:00:00:00:00:01, or *"},
    SubjectWord{"dst-mac", Subject::mac, Side::destination, 0, "a MAC address such as 02:00:00:00:00:01, or *"},
    SubjectWord{"ip", Subject::ip, Side::neither, 0,
                "an address or network such as 10.0.0.1, 10.0.0.0/24, 2001:db8::1, or *"},
    SubjectWord{"src-ip", Subject::ip, Side::source, 0,
                "an address or network such as 10.0.0.1, 10.0.0.0/24, 2001:db8::1, or *"},
    SubjectWord{"dst-ip", Subject::ip, Side::destination, 0,
                "an address or network such as 10.0.0.1, 10.0.0.0/24, 2001:db8::1, or *"},
    SubjectWord{"vlan", Subject::vlan, Side::neither, 0xfff, "the number of a VLAN, none, or *"},
    SubjectWord{"qpn", Subject::qpn, Side::neither, 0xff'ffff, "a number of 24 bits, or *"},
    SubjectWord{"psn", Subject::psn, Side::neither, 0xff'ffff, "a number of 24 bits, or *"},
    SubjectWord{"pkey", Subject::pkey, Side::neither, 0xffff, "a number of 16 bits, or *"},
    SubjectWord{"rkey", Subject::rkey, Side::neither, 0xffff'ffff, "a number of 32 bits, or *"},
};

std::string_view next_word(std::string_view& text) {
    const std::size_t first = std::min(text.find_first_not_of(" \t"), text.size());
    text.remove_prefix(first);
    const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(end);
    return word;
}

// A value with the bits of it that count.
struct Masked {
    Wide value;
    Wide mask;
    bool ipv4 = false;
};

// The bits of an address that a prefix of that length names, of 128.
constexpr Wide prefix_mask(unsigned length) {
    if (length == 0) return {};
    if (length <= 64) return {~std::uint64_t{0} << (64 - length), 0};
    return {~std::uint64_t{0}, length == 128 ? ~std::uint64_t{0} : ~std::uint64_t{0} << (128 - length)};
}

std::optional<Masked> address_in(std::string_view text) {
    const std::size_t slash = text.find('/');
    const auto ip = parse_ip(text.substr(0, slash));
    if (!ip) return std::nullopt;
    Masked found{.value = {read_be<std::uint64_t>(ip->bytes, 0), read_be<std::uint64_t>(ip->bytes, 8)},
                 .mask = kAllBits};
    if (ip->ipv4)
        found = {.value = {0, kMappedPrefix | read_be<std::uint32_t>(ip->bytes, 0)}, .mask = kAllBits, .ipv4 = true};
    if (slash == std::string_view::npos) return found;
    constexpr unsigned kMappedBits = 96;
    const auto length = parse_number(text.substr(slash + 1), found.ipv4 ? 32 : 128);
    if (!length) return std::nullopt;
    found.mask = prefix_mask(static_cast<unsigned>(*length) + (found.ipv4 ? kMappedBits : 0));
    return found;
}

// One side of a mapping. `*` has a mask without bits.
std::optional<Masked> value_in(const SubjectWord& subject, std::string_view text) {
    if (text == "*") return Masked{};
    std::optional<std::uint64_t> number;
    switch (subject.subject) {
        case Subject::ip: return address_in(text);
        case Subject::mac: number = parse_mac(text); break;
        case Subject::vlan: number = text == "none" ? std::optional(kNoTag) : parse_number(text, subject.most); break;
        default: number = parse_number(text, subject.most);
    }
    if (!number) return std::nullopt;
    return Masked{.value = {0, *number}, .mask = kAllBits};
}

// OLD=NEW.
std::expected<void, std::string> parse_mapping(const SubjectWord& subject, std::string_view mapping,
                                               RewriteRule& rule) {
    const std::size_t sign = mapping.find('=');
    if (sign == std::string_view::npos)
        return std::unexpected(fmt::format("invalid mapping '{}': expected OLD=NEW", mapping));
    const auto side = [&](std::string_view text) -> std::expected<Masked, std::string> {
        if (auto value = value_in(subject, text)) return *value;
        return std::unexpected(fmt::format("invalid value '{}': expected {}", text, subject.value));
    };
    const auto from = side(mapping.substr(0, sign)), to = side(mapping.substr(sign + 1));
    if (!from) return std::unexpected(from.error());
    if (!to) return std::unexpected(to.error());
    if (to->mask == Wide{}) return std::unexpected("the new value cannot be *");
    const bool any = mapping.substr(0, sign) == "*";
    if (!any && subject.subject == Subject::ip) {
        if (from->ipv4 != to->ipv4) return std::unexpected("address families differ: IPv4 and IPv6");
        if (from->mask != to->mask) return std::unexpected("prefix lengths differ");
    }
    rule.from = from->value;
    rule.compared = from->mask;
    rule.to = to->value;
    rule.written = to->mask;
    rule.only_ipv4 = to->ipv4;
    return {};
}

// QP+N or QP-N.
std::expected<void, std::string> parse_offset(const SubjectWord& subject, std::string_view text, RewriteRule& rule) {
    const std::size_t sign = text.find_first_of("+-");
    if (sign == std::string_view::npos)
        return std::unexpected(fmt::format("invalid rule '{}': expected QP+NUMBER or QP-NUMBER", text));
    const auto qp = value_in(subject, text.substr(0, sign));
    const auto by = parse_number(text.substr(sign + 1), subject.most);
    if (!qp)
        return std::unexpected(fmt::format("invalid value '{}': expected {}", text.substr(0, sign), subject.value));
    if (!by)
        return std::unexpected(fmt::format("invalid value '{}': expected a number of 24 bits", text.substr(sign + 1)));
    rule.from = qp->value;
    rule.compared = qp->mask;
    rule.psn_offset = static_cast<std::uint32_t>(text[sign] == '+' ? *by : 0x100'0000 - *by) & 0xff'ffff;
    return {};
}

}  // namespace

std::expected<RewriteRule, std::string> parse_rewrite(std::string_view text) {
    std::string_view rest = text;
    const auto wrong = [&](const std::string& why) {
        return std::unexpected(fmt::format("invalid rewrite rule '{}': {}", text, why));
    };
    const std::string_view word = next_word(rest), mapping = next_word(rest);
    const SubjectWord* subject = nullptr;
    std::string known;
    for (const SubjectWord& row : kSubjects) {
        if (row.word == word) subject = &row;
        known += fmt::format("{}{}", known.empty() ? "" : ", ", row.word);
    }
    if (subject == nullptr) return wrong(fmt::format("unknown field '{}': expected one of {}", word, known));
    RewriteRule rule;
    rule.subject = subject->subject;
    rule.only = subject->only;
    const auto parsed =
        rule.subject == Subject::psn ? parse_offset(*subject, mapping, rule) : parse_mapping(*subject, mapping, rule);
    if (!parsed) return wrong(parsed.error());
    if (const std::string_view at = next_word(rest); !at.empty()) {
        const bool numbers =
            rule.subject == Subject::qpn || rule.subject == Subject::psn || rule.subject == Subject::rkey;
        if (at != "at" || !numbers) return wrong(fmt::format("unexpected '{}'", at));
        const std::string_view host = next_word(rest);
        const auto address = address_in(host);
        if (!address || address->mask != kAllBits) return wrong(fmt::format("invalid host address '{}'", host));
        rule.at = address->value;
    }
    if (const std::string_view more = next_word(rest); !more.empty())
        return wrong(fmt::format("unexpected '{}'", more));
    return rule;
}

}  // namespace qps::transport::live
