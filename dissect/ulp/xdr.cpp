#include <dissect/ulp/xdr.hpp>

#include <algorithm>

namespace qps::dissect {

namespace {

constexpr std::size_t kUnit = 4;  // RFC 4506 3: everything is a multiple of it

struct Letter {
    char letter;
    std::uint8_t length;  // 0: an opaque item
};
constexpr std::array kLetters{
    Letter{'i', 4},  Letter{'C', 4},  Letter{'Q', 4},  Letter{'T', 4},  Letter{'l', 8},
    Letter{'O', 8},  Letter{'v', 8},  Letter{'s', 16}, Letter{'S', 16}, Letter{'x', 16},
    Letter{'X', 16}, Letter{'c', 20}, Letter{'o', 0},  Letter{'N', 0},  Letter{'F', 0},
};

bool is_capital(char letter) { return letter >= 'A' && letter <= 'Z'; }

// What the bracket at the front encloses.
std::string_view enclosed(std::string_view pattern) {
    int depth = 0;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        const char c = pattern[i];
        if (c == '[' || c == '(' || c == '{') ++depth;
        if ((c == ']' || c == ')' || c == '}') && --depth == 0) return pattern.substr(1, i - 1);
    }
    return pattern.substr(1);
}

// Up to the next '|' that is not inside of a bracket.
std::string_view first_case(std::string_view cases) {
    int depth = 0;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const char c = cases[i];
        if (c == '[' || c == '(' || c == '{') ++depth;
        if (c == ']' || c == ')' || c == '}') --depth;
        if (c == '|' && depth == 0) return cases.substr(0, i);
    }
    return cases;
}

bool is_case(std::string_view label, std::uint32_t value) {
    if (label == "*") return true;
    std::uint64_t number = 0;
    for (const char digit : label) number = number * 10 + static_cast<std::uint64_t>(digit - '0');
    return number == value;
}

struct Walker {
    Xdr& xdr;
    ReducedItems& reduced;
    XdrMarks& marks;

    void note(char letter, std::size_t length) const {
        if (!is_capital(letter) || !xdr.ok() || marks.find(letter) != nullptr || marks.count == marks.marks.size())
            return;
        marks.marks[marks.count++] = {letter, xdr.at() - length, length};
    }

    void opaque(char letter) const {
        const std::size_t before = xdr.at();
        const Bytes item = xdr.opaque();
        if (!is_capital(letter) || !xdr.ok() || marks.find(letter) != nullptr || marks.count == marks.marks.size())
            return;
        marks.marks[marks.count++] = {letter, before + kUnit, item.size()};
    }

    // NOLINTNEXTLINE(misc-no-recursion): as deep as the pattern, which is ours
    void group(char bracket, std::string_view inner) const {
        if (bracket == '{') {
            const std::uint32_t value = xdr.word();
            for (std::string_view rest = inner; !rest.empty();) {
                const std::string_view one = first_case(rest);
                const std::size_t colon = one.find(':');
                if (is_case(one.substr(0, colon), value)) return sequence(one.substr(colon + 1));
                rest.remove_prefix(std::min(rest.size(), one.size() + 1));
            }
            return xdr.fail();
        }
        std::uint32_t left = bracket == '[' ? xdr.word() : 0;
        while (xdr.ok() && (bracket == '[' ? left-- > 0 : xdr.word() == 1)) {
            const std::size_t before = xdr.at();
            sequence(inner);
            if (xdr.at() == before) xdr.fail();
        }
    }

    // NOLINTNEXTLINE(misc-no-recursion)
    void sequence(std::string_view pattern) const {
        while (!pattern.empty() && xdr.ok()) {
            const char letter = pattern.front();
            if (letter == '[' || letter == '(' || letter == '{') {
                const std::string_view inner = enclosed(pattern);
                group(letter, inner);
                pattern.remove_prefix(std::min(pattern.size(), inner.size() + 2));
                continue;
            }
            item(letter);
            pattern.remove_prefix(1);
        }
    }

    void bitmap() const {
        const std::uint64_t words = xdr.word();
        (void)xdr.take(static_cast<std::size_t>(words * kUnit));
    }

    void item(char letter) const {
        if (letter == 'b') return bitmap();
        if (letter == 'a') {
            bitmap();
            (void)xdr.opaque();
            return;
        }
        if (letter == 'd') {
            const auto length = read_be<std::uint32_t>(xdr.rest(), 0);
            if (marks.find(letter) == nullptr && marks.count < marks.marks.size())
                marks.marks[marks.count++] = {letter, xdr.at(), kUnit};
            if (reduced.takes(xdr.at() + kUnit, length)) (void)xdr.word();
            else (void)xdr.opaque();
            return;
        }
        const auto* const row = std::ranges::find(kLetters, letter, &Letter::letter);
        if (row == kLetters.end()) return xdr.fail();
        if (row->length == 0) return opaque(letter);
        (void)xdr.take(row->length);
        note(letter, row->length);
    }
};

}  // namespace

Bytes Xdr::take(std::size_t length) {
    if (!ok_ || at_ > bytes_.size() || length > bytes_.size() - at_) {
        ok_ = false;
        return {};
    }
    const Bytes taken = bytes_.subspan(at_, length);
    at_ += length;
    return taken;
}

Bytes Xdr::opaque() {
    const std::size_t length = word();
    return slice(take((length + kUnit - 1) / kUnit * kUnit), 0, length);
}

bool ReducedItems::takes(std::size_t at, std::uint32_t length) {
    for (std::size_t i = 0; i < read_count; ++i)
        if (reads[i].position == at + removed && length > 0) {
            removed += (std::uint64_t{length} + kUnit - 1) / kUnit * kUnit;
            return true;
        }
    if (write_next >= write_count) return false;
    return written[write_next++];
}

const XdrMark* XdrMarks::find(char letter) const {
    for (std::size_t i = 0; i < count; ++i)
        if (marks[i].letter == letter) return &marks[i];
    return nullptr;
}

bool walk_xdr(std::string_view pattern, Xdr& xdr, ReducedItems& reduced, XdrMarks& marks) {
    Walker{xdr, reduced, marks}.sequence(pattern);
    return xdr.ok();
}

}  // namespace qps::dissect
