// Lines of the agent's protocol as values, read and written by the table of protocol.hpp.
//
//   Request ask{Verb::mr};
//   ask.fields.add(Key::len, 8192).add(Key::access, bit(Right::write));
//   std::string line = write_request(7, ask);                     // "7 mr len=8192 access=write\n"
//   const ParsedRequest got = parse_request(line);                // got.request, or got.fault and got.where
//   line = write_answer(7, fields);  or  write_refusal(7, "EINVAL", "ibv_reg_mr: Invalid argument");
//   const ParsedAnswer answer = parse_answer(Verb::mr, line);     // answer.fields, or answer.error and answer.text
//
// Any bytes may be given to parse_*(): a value that comes out is within the bounds of the table, a key that must be
// there is there, and none is there twice unless it may be. No answer that is written is longer than kMostLine: what
// has no room is left out.
#pragma once

#include <transport-replay/conformance/agent/protocol.hpp>

#include <charconv>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace qps::transport::conformance::agent {

struct Field {
    Key key{};
    std::uint64_t number = 0;
    std::string text{};  // of hex the bytes themselves
    [[nodiscard]] bool operator==(const Field&) const = default;
};

template <class Enum> [[nodiscard]] constexpr std::uint64_t bit(Enum value) {
    return std::uint64_t{1} << static_cast<unsigned>(value);
}

class Fields {
public:
    Fields& add(Field field) {
        all_.push_back(std::move(field));
        return *this;
    }
    Fields& add(Key key, std::uint64_t number) {
        all_.push_back({.key = key, .number = number});
        return *this;
    }
    template <class Enum>
        requires std::is_enum_v<Enum>
    Fields& add(Key key, Enum word) {
        return add(key, static_cast<std::uint64_t>(word));
    }
    Fields& add(Key key, std::string_view text) {
        all_.push_back({.key = key, .text = std::string(text)});
        return *this;
    }
    [[nodiscard]] const Field* find(Key key) const {
        for (const Field& each : all_)
            if (each.key == key) return &each;
        return nullptr;
    }
    [[nodiscard]] bool has(Key key) const { return find(key) != nullptr; }
    [[nodiscard]] std::optional<std::uint64_t> number(Key key) const {
        const Field* found = find(key);
        return found == nullptr ? std::nullopt : std::optional(found->number);
    }
    [[nodiscard]] std::uint64_t number_or(Key key, std::uint64_t otherwise) const {
        return number(key).value_or(otherwise);
    }
    [[nodiscard]] std::string_view text(Key key) const {
        const Field* found = find(key);
        return found == nullptr ? std::string_view{} : std::string_view(found->text);
    }
    [[nodiscard]] const std::vector<Field>& all() const { return all_; }
    [[nodiscard]] bool operator==(const Fields&) const = default;

private:
    std::vector<Field> all_;
};

struct Request {
    Verb verb{};
    Fields fields{};
    [[nodiscard]] bool operator==(const Request&) const = default;
};

struct ParsedRequest {
    std::uint32_t sequence = 0;  // 0 where that could not be read
    std::optional<Request> request{};
    Fault fault = Fault::none;
    std::string where{};  // the word that is wrong, or the key that is missing
};

// An answer: `fields` where it is well, else the name of what is wrong (that of an errno, or of a Fault) and words for
// people.
struct ParsedAnswer {
    std::uint32_t sequence = 0;
    bool ok = false;
    Fields fields{};
    std::string error{};
    std::string text{};
    Fault fault = Fault::none;  // the line is none of the protocol; nothing else means anything
};

// A completion, as the value of Key::wc. imm is also the key that a SEND with invalidate ended, where flags say so.
struct Completion {
    std::uint64_t wr = 0;
    std::uint64_t status = kSuccess;  // place in kStatusWords
    std::uint64_t done = 0;           // place in kDoneWords
    std::uint64_t flags = 0;          // bits of DoneFlag
    std::uint64_t length = 0;
    std::uint64_t imm = 0;
    std::uint64_t qpn = 0;
    std::uint64_t source_qp = 0;
    [[nodiscard]] bool operator==(const Completion&) const = default;
};

namespace text_of {

// Decimal or 0x; nothing but digits, and no more than 64 bits.
[[nodiscard]] inline std::optional<std::uint64_t> number(std::string_view text) {
    const int base = text.starts_with("0x") ? 16 : 10;
    if (base == 16) text.remove_prefix(2);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}
[[nodiscard]] inline std::optional<std::uint64_t> word(std::string_view text, std::span<const std::string_view> words) {
    for (std::size_t i = 0; i < words.size(); ++i)
        if (words[i] == text) return i;
    return std::nullopt;
}
[[nodiscard]] inline std::optional<std::uint64_t> words(std::string_view text, std::span<const std::string_view> all) {
    std::uint64_t bits = 0;
    while (!text.empty()) {
        const std::size_t comma = text.find(',');
        const auto each = word(text.substr(0, comma), all);
        if (!each || comma + 1 == text.size()) return std::nullopt;
        bits |= std::uint64_t{1} << *each;
        text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
    }
    return bits;
}
[[nodiscard]] constexpr int digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}
[[nodiscard]] inline std::optional<std::string> bytes(std::string_view text) {
    if (text.size() % 2 != 0) return std::nullopt;
    std::string all;
    all.reserve(text.size() / 2);
    for (std::size_t i = 0; i < text.size(); i += 2) {
        const int high = digit(text[i]);
        const int low = digit(text[i + 1]);
        if (high < 0 || low < 0) return std::nullopt;
        all += static_cast<char>(high * 16 + low);
    }
    return all;
}
[[nodiscard]] inline std::optional<std::string> plain(std::string_view text) {
    std::string all;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            all += text[i];
            continue;
        }
        const auto escaped = bytes(text.substr(i + 1, 2));
        if (!escaped || escaped->size() != 1) return std::nullopt;
        all += *escaped;
        i += 2;
    }
    return all;
}
inline void append_hex(std::string& line, unsigned char byte) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    line += kDigits[byte >> 4];
    line += kDigits[byte & 15];
}
inline void append_number(std::string& line, std::uint64_t number, int base = 10) {
    std::array<char, 20> room{};
    line.append(room.data(), std::to_chars(room.data(), room.data() + room.size(), number, base).ptr);
}
inline void append_words(std::string& line, std::uint64_t bits, std::span<const std::string_view> words) {
    bool first = true;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if ((bits >> i & 1) == 0) continue;
        if (!first) line += ',';
        line += words[i];
        first = false;
    }
}
inline void append_plain(std::string& line, std::string_view text) {
    for (const char c : text) {
        if (c > ' ' && c < 0x7f && c != '%') {
            line += c;
        } else {
            line += '%';
            append_hex(line, static_cast<unsigned char>(c));
        }
    }
}

inline void append_field(std::string& line, const Field& field) {
    const KeyRow& row = row_of(field.key);
    line += ' ';
    line += row.name;
    line += '=';
    switch (row.type) {
        case KeyType::number: append_number(line, field.number); break;
        case KeyType::key:
            line += "0x";
            append_number(line, field.number, 16);
            break;
        case KeyType::word:
            line += field.number < row.words.size() ? row.words[field.number] : std::string_view("?");
            break;
        case KeyType::words: append_words(line, field.number, row.words); break;
        case KeyType::hex:
            for (const char c : field.text) append_hex(line, static_cast<unsigned char>(c));
            break;
        case KeyType::text: append_plain(line, field.text); break;
    }
}

// A value as the table wants it, or nothing.
[[nodiscard]] inline std::optional<Field> field(const Use& use, std::string_view value) {
    const KeyRow& row = row_of(use.key);
    Field found{.key = use.key};
    std::optional<std::uint64_t> measured;
    if (row.type == KeyType::hex || row.type == KeyType::text) {
        auto text = row.type == KeyType::hex ? bytes(value) : plain(value);
        if (!text) return std::nullopt;
        found.text = std::move(*text);
        measured = found.text.size();
    } else {
        measured = row.type == KeyType::word    ? word(value, row.words)
                   : row.type == KeyType::words ? words(value, row.words)
                                                : number(value);
        if (measured) found.number = *measured;
    }
    if (!measured || *measured > use.most || *measured < use.least) return std::nullopt;
    return found;
}

// The next word of a line, which loses it and the space behind.
[[nodiscard]] inline std::string_view take_word(std::string_view& line) {
    while (line.starts_with(' ')) line.remove_prefix(1);
    const std::string_view word = line.substr(0, line.find(' '));
    line.remove_prefix(word.size());
    return word;
}
[[nodiscard]] inline std::string_view without_end(std::string_view line) {
    while (line.ends_with('\n') || line.ends_with('\r') || line.ends_with(' ')) line.remove_suffix(1);
    return line;
}

struct FieldsFault {
    Fault fault = Fault::none;
    std::string_view where{};
};
[[nodiscard]] inline FieldsFault read_fields(std::string_view line, std::span<const Use> uses, Fields& into) {
    for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
        const std::size_t equals = word.find('=');
        const std::string_view name = word.substr(0, equals);
        const Use* use = find_use(uses, name);
        if (use == nullptr) return {Fault::key, name};
        if (equals == std::string_view::npos) return {Fault::value, name};
        if (use->need != Need::repeated && into.has(use->key)) return {Fault::twice, name};
        if (into.all().size() >= kMostFields) return {Fault::line, name};
        auto found = field(*use, word.substr(equals + 1));
        if (!found) return {Fault::value, name};
        into.add(std::move(*found));
    }
    for (const Use& use : uses)
        if (use.need == Need::required && !into.has(use.key)) return {Fault::missing, row_of(use.key).name};
    return {};
}

[[nodiscard]] inline std::optional<std::uint32_t> sequence(std::string_view word) {
    const auto found = word.starts_with("0x") ? std::nullopt : number(word);
    if (!found || *found > 0xffff'ffff) return std::nullopt;
    return static_cast<std::uint32_t>(*found);
}

}  // namespace text_of

[[nodiscard]] inline std::string write_request(std::uint32_t sequence, const Request& request) {
    std::string line;
    text_of::append_number(line, sequence);
    line += ' ';
    line += row_of(request.verb).name;
    for (const Field& each : request.fields.all()) text_of::append_field(line, each);
    line += '\n';
    return line;
}

// With or without the end of line.
[[nodiscard]] inline ParsedRequest parse_request(std::string_view line) {
    ParsedRequest parsed;
    if (line.size() > kMostLine) return {.fault = Fault::line};
    line = text_of::without_end(line);
    const std::string_view first = text_of::take_word(line);
    const auto sequence = text_of::sequence(first);
    if (!sequence) return {.fault = Fault::sequence, .where = std::string(first)};
    parsed.sequence = *sequence;
    const std::string_view verb = text_of::take_word(line);
    const VerbRow* row = find_verb(verb);
    if (row == nullptr) {
        parsed.fault = Fault::verb;
        parsed.where = verb;
        return parsed;
    }
    Request request{.verb = row->verb};
    const text_of::FieldsFault wrong = text_of::read_fields(line, row->asks, request.fields);
    parsed.fault = wrong.fault;
    parsed.where = wrong.where;
    if (wrong.fault == Fault::none) parsed.request = std::move(request);
    return parsed;
}

// What has no room is left out: from the first field on that has none.
[[nodiscard]] inline std::string write_answer(std::uint32_t sequence, const Fields& fields) {
    std::string line;
    text_of::append_number(line, sequence);
    line += " ok";
    for (const Field& each : fields.all()) {
        const std::size_t before = line.size();
        text_of::append_field(line, each);
        if (line.size() + 1 <= kMostLine) continue;
        line.resize(before);
        break;
    }
    line += '\n';
    return line;
}
// The name is one word; whatever is no visible character of the text becomes a space.
[[nodiscard]] inline std::string write_refusal(std::uint32_t sequence, std::string_view name, std::string_view text) {
    std::string line;
    text_of::append_number(line, sequence);
    line += " error ";
    line += name;
    line += ' ';
    for (const char c : text.substr(0, kMostText)) line += c > ' ' && c < 0x7f ? c : ' ';
    line += '\n';
    return line;
}
// Of a request that could not be read.
[[nodiscard]] inline std::string write_refusal(const ParsedRequest& parsed) {
    return write_refusal(parsed.sequence, kFaultWords[static_cast<std::size_t>(parsed.fault)], parsed.where);
}

// `verb`: of the request with that sequence; for one that is not known ask sequence_of() first.
[[nodiscard]] inline ParsedAnswer parse_answer(Verb verb, std::string_view line) {
    ParsedAnswer parsed;
    if (line.size() > kMostLine) return {.fault = Fault::line};
    line = text_of::without_end(line);
    const auto sequence = text_of::sequence(text_of::take_word(line));
    if (!sequence) return {.fault = Fault::sequence};
    parsed.sequence = *sequence;
    const std::string_view how = text_of::take_word(line);
    if (how == "error") {
        parsed.error = text_of::take_word(line);
        if (!line.empty()) line.remove_prefix(1);
        parsed.text = line.substr(0, kMostText);
        if (parsed.error.empty()) parsed.fault = Fault::missing;
        return parsed;
    }
    if (how != "ok") return {.sequence = *sequence, .fault = Fault::verb};
    const text_of::FieldsFault wrong = text_of::read_fields(line, row_of(verb).answers, parsed.fields);
    parsed.fault = wrong.fault;
    parsed.text = wrong.where;
    parsed.ok = wrong.fault == Fault::none;
    return parsed;
}

[[nodiscard]] inline std::string text(const Completion& done) {
    std::string line;
    text_of::append_number(line, done.wr);
    line += ':';
    line += done.status < kStatusWords.size() ? kStatusWords[done.status] : std::string_view("general_err");
    line += ':';
    line += done.done < kDoneWords.size() ? kDoneWords[done.done] : std::string_view("other");
    line += ':';
    text_of::append_words(line, done.flags, kDoneFlagWords);
    line += ':';
    text_of::append_number(line, done.length);
    line += ":0x";
    text_of::append_number(line, done.imm, 16);
    line += ':';
    text_of::append_number(line, done.qpn);
    line += ':';
    text_of::append_number(line, done.source_qp);
    return line;
}

[[nodiscard]] inline std::optional<Completion> parse_completion(std::string_view text) {
    std::array<std::string_view, 8> parts{};
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const std::size_t colon = text.find(':');
        if ((colon == std::string_view::npos) != (i + 1 == parts.size())) return std::nullopt;
        parts[i] = text.substr(0, colon);
        if (colon != std::string_view::npos) text.remove_prefix(colon + 1);
    }
    const std::array found{text_of::number(parts[0]),           text_of::word(parts[1], kStatusWords),
                           text_of::word(parts[2], kDoneWords), text_of::words(parts[3], kDoneFlagWords),
                           text_of::number(parts[4]),           text_of::number(parts[5]),
                           text_of::number(parts[6]),           text_of::number(parts[7])};
    for (const auto& each : found)
        if (!each) return std::nullopt;
    return Completion{*found[0], *found[1], *found[2], *found[3], *found[4], *found[5], *found[6], *found[7]};
}

}  // namespace qps::transport::conformance::agent
