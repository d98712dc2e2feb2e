// Finds what names somebody in text, and writes its pseudonym.
#include <dissect/base/bytes.hpp>
#include <dissect/base/parse_value.hpp>
#include <transport-replay/casework/case_anonymizer.hpp>
#include <transport-replay/casework/line_pattern.hpp>
#include <transport-replay/model/address.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <span>

#include <fmt/format.h>

namespace qps::casework {

namespace {

// Words that files and roles are called by, which say nothing of anybody.
constexpr std::array<std::string_view, 14> kRoles{"initiator", "target", "client", "server", "sender",
                                                  "receiver",  "switch", "host",   "local",  "remote",
                                                  "localhost", "root",   "kernel", "unknown"};
// First parts of paths that are alike on every machine.
constexpr std::array<std::string_view, 16> kSystem{"/sys/",  "/proc/", "/dev/",   "/usr/", "/lib/", "/lib64/",
                                                   "/etc/",  "/var/",  "/tmp/",   "/run/", "/opt/", "/bin/",
                                                   "/sbin/", "/boot/", "/build/", "/src/"};

std::uint64_t hex_of(std::string_view text) {
    std::uint64_t value = 0;
    for (const char c : text)
        if (const auto digit = dissect::hex_digit(c)) value = value << 4U | static_cast<unsigned>(*digit);
    return value;
}

// The digits of `form`, in order, become those of the value; what stands between them stays.
std::string in_form(std::string_view form, std::uint64_t value) {
    const auto digits =
        static_cast<std::size_t>(std::ranges::count_if(form, [](char c) { return dissect::hex_digit(c).has_value(); }));
    std::string made(form);
    std::size_t left = digits;
    for (char& c : made)
        if (dissect::hex_digit(c)) c = "0123456789abcdef"[value >> 4 * --left & 0xfU];
    return made;
}

}  // namespace

CaseAnonymizer::CaseAnonymizer(transport::Pseudonyms& pseudonyms, const Case& read) : pseudonyms_(pseudonyms) {
    const auto add = [&](const std::string& host) {
        if (host.size() > 1 && std::ranges::find(kRoles, host) == kRoles.end()) hosts_.insert(host);
    };
    for (const CaseFile& file : read.files) add(file.host);
    for (const auto& said : read.hosts_said)
        for (const auto& [host, lines] : said) add(host);
    for (const auto& [address, host] : read.addresses) add(host);
    for (const Event& event : read.events) {
        add(event.host);
        const std::string_view peer = std::string_view(event.peer).substr(0, event.peer.find_first_of("<:."));
        if (!peer.empty() && !dissect::parse_decimal(peer)) add(std::string(peer));
    }
    for (const RankState& state : read.ranks) add(state.host);
}

std::string CaseAnonymizer::other_name(std::string_view name) {
    std::string made(name);
    pseudonyms_.name(std::as_writable_bytes(std::span(made)));
    if (made != name) ++replaced_;
    return made;
}

bool CaseAnonymizer::append_address(std::string& out, std::string_view word) {
    const auto ip = dissect::parse_ip(word);
    if (!ip) return false;
    if (ip->ipv4) {
        const std::uint32_t made = pseudonyms_.ipv4(dissect::read_be<std::uint32_t>(ip->bytes, 0));
        out += fmt::format("{}.{}.{}.{}", made >> 24U, made >> 16U & 255U, made >> 8U & 255U, made & 255U);
    } else {
        const auto high = dissect::read_be<std::uint64_t>(ip->bytes, 0),
                   low = dissect::read_be<std::uint64_t>(ip->bytes, 8);
        constexpr std::uint64_t kMapped = 0xffff;  // ::ffff:0:0/96, an IPv4 address
        transport::Ipv6Bits made{high, low};
        if (high == 0 && low >> 32U == kMapped)
            made.low = kMapped << 32U | pseudonyms_.ipv4(static_cast<std::uint32_t>(low));
        else made = pseudonyms_.ipv6({high, low});
        const bool dotted = word.contains('.');
        if (dotted)
            out += fmt::format("::ffff:{}.{}.{}.{}", made.low >> 24U & 255U, made.low >> 16U & 255U,
                               made.low >> 8U & 255U, made.low & 255U);
        else
            for (unsigned i = 0; i < 8; ++i)
                out += fmt::format("{}{:04x}", i == 0 ? "" : ":",
                                   (i < 4 ? made.high : made.low) >> (48U - 16U * (i % 4)) & 0xffffU);
    }
    ++replaced_;
    return true;
}

// Hexadecimal digits with colons, dashes or dots between them: an address, of whatever kind.
void CaseAnonymizer::append_run(std::string& out, std::string_view run) {
    static const RE2 guid("[0-9a-fA-F]{4}(?::[0-9a-fA-F]{4}){3}");
    static const RE2 mac("[0-9a-fA-F]{2}(?:[:-][0-9a-fA-F]{2}){5}");
    const auto whole = [&](const RE2& form) { return RE2::FullMatch(piece(run), form); };
    if (whole(guid)) {
        out += in_form(run, pseudonyms_.guid(hex_of(run)));
        ++replaced_;
    } else if (whole(mac)) {
        out += in_form(run, pseudonyms_.mac(hex_of(run)));
        ++replaced_;
    } else if (!append_address(out, run)) {
        // A port may stand behind it, a separator before it.
        const std::size_t begin = run.starts_with("::") ? 0 : std::min(run.find_first_not_of(":."), run.size());
        const std::size_t last = run.find_last_not_of(":.");
        const std::size_t end = last == std::string_view::npos ? begin : std::max(last + 1, begin);
        const std::string_view inner = run.substr(begin, end - begin);
        const std::size_t colon = inner.rfind(':');
        out += run.substr(0, begin);
        if (!append_address(out, inner)) {
            if (colon != std::string_view::npos && append_address(out, inner.substr(0, colon)))
                out += inner.substr(colon);
            else out += inner;
        }
        out += run.substr(end);
    }
}

void CaseAnonymizer::append_word(std::string& out, std::string_view word) {
    if (hosts_.contains(word)) out += other_name(word);
    else out += word;
}

void CaseAnonymizer::append_path(std::string& out, std::string_view path) {
    const bool system = std::ranges::any_of(kSystem, [&](std::string_view each) { return path.starts_with(each); });
    while (!path.empty()) {
        const std::size_t end = std::min(path.find('/', 1), path.size());
        const std::string_view part = path.substr(1, end - 1);
        out += '/';
        if (system) append_word(out, part);
        else out += other_name(part);
        path.remove_prefix(end);
    }
}

std::string CaseAnonymizer::text(std::string_view text) {
    static const RE2 token(
        R"x(((?:nqn|iqn|eui)\.[\w.:-]+)|([A-Za-z]*[rlRL]_?[Kk]eys?[ =:]+(?:0x)?[0-9a-fA-F]{2,8})|([0-9a-fA-F]*[:.][0-9a-fA-F:.]*[0-9a-fA-F]|[0-9a-fA-F]{2}(?:-[0-9a-fA-F]{2}){5})|(0x[0-9a-fA-F]{9,16})|((?:/[\w.@+~-]+){2,})|([\w.+-]+@)|([A-Za-z0-9][\w-]*)((?:\.[A-Za-z][\w-]*)*))x",
        RE2::Latin1);
    std::string out;
    re2::StringPiece left(piece(text));
    const char* done = text.data();
    re2::StringPiece name, key, run, longer, path, user, word, domain;
    const auto view = [](const re2::StringPiece& of) { return std::string_view(of.data(), of.size()); };
    while (!left.empty() &&
           RE2::FindAndConsume(&left, token, &name, &key, &run, &longer, &path, &user, &word, &domain)) {
        const char* begin = nullptr;
        for (const auto* each : {&name, &key, &run, &longer, &path, &user, &word})
            if (each->data() != nullptr) begin = each->data();
        out.append(done, begin);
        done = left.data();
        if (name.data() != nullptr) out += other_name(view(name));
        else if (key.data() != nullptr) {
            const std::size_t digits = view(key).find_last_not_of("0123456789abcdefABCDEF") + 1;
            const std::string_view value = view(key).substr(digits);
            out += view(key).substr(0, digits);
            out += in_form(value, pseudonyms_.key(hex_of(value), 32));
            ++replaced_;
        } else if (run.data() != nullptr) append_run(out, view(run));
        else if (longer.data() != nullptr) {
            out += "0x" + in_form(view(longer).substr(2), pseudonyms_.guid(hex_of(view(longer).substr(2))));
            ++replaced_;
        } else if (path.data() != nullptr) append_path(out, view(path));
        else if (user.data() != nullptr) {
            const std::string_view who = view(user).substr(0, user.size() - 1);
            out += (std::ranges::find(kRoles, who) != kRoles.end() ? std::string(who) : other_name(who)) + '@';
        } else {
            const bool host = hosts_.contains(view(word));
            append_word(out, view(word));
            if (domain.data() != nullptr)
                out += host && !domain.empty() ? other_name(view(domain)) : std::string(view(domain));
        }
    }
    out.append(done, text.data() + text.size());
    return out;
}

std::string CaseAnonymizer::file_name(std::string_view name) {
    std::string out;
    std::size_t begin = 0;
    const auto is_name = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
    };
    while (begin < name.size()) {
        std::size_t end = begin;
        while (end < name.size() && is_name(name[end])) ++end;
        std::string_view part = name.substr(begin, end - begin);
        // "dmesg-node-a": a host may be a part of the word.
        for (const std::string& host : hosts_)
            if (part != host && part.size() > host.size() &&
                (part.ends_with("-" + host) || part.starts_with(host + "-"))) {
                const bool first = part.starts_with(host);
                if (!first) out += part.substr(0, part.size() - host.size());
                out += other_name(host);
                part = first ? part.substr(host.size()) : std::string_view();
                break;
            }
        append_word(out, part);
        if (end < name.size()) out += name[end++];
        begin = end;
    }
    return out;
}

}  // namespace qps::casework
