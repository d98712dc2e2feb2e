#include <transport-replay/checks/report/json_reader.hpp>

#include <algorithm>
#include <charconv>

namespace qps::transport::conformance {

void JsonReader::fail() {
    failed_ = true;
    rest_ = {};
}

void JsonReader::skip_blanks() {
    const std::size_t first = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(std::min(first, rest_.size()));
}

bool JsonReader::take(char letter) {
    skip_blanks();
    if (!rest_.starts_with(letter)) {
        fail();
        return false;
    }
    rest_.remove_prefix(1);
    return true;
}

bool JsonReader::enter(char bracket) {
    if (!take(bracket)) return false;
    if (++depth_ > kDeepest) fail();
    return !failed_;
}

// Nothing is in there, or nothing more.
bool JsonReader::leave(char bracket) {
    skip_blanks();
    if (failed_) return true;
    if (!rest_.starts_with(bracket)) return false;
    rest_.remove_prefix(1);
    --depth_;
    return true;
}

bool JsonReader::goes_on(char bracket) {
    if (leave(bracket)) return false;
    return take(',');
}

std::string JsonReader::text() {
    skip_blanks();
    if (rest_.starts_with('"')) return string();
    skip();
    return {};
}

// Escapes of the report's own writer; others stand for what they are.
std::string JsonReader::string() {
    std::string found;
    rest_.remove_prefix(1);
    while (!rest_.empty() && rest_.front() != '"') {
        char letter = rest_.front();
        rest_.remove_prefix(1);
        if (letter == '\\' && !rest_.empty()) {
            constexpr std::size_t kDigits = 4;
            letter = rest_.front();
            rest_.remove_prefix(1);
            if (letter == 'n') letter = '\n';
            if (letter == 't') letter = '\t';
            if (letter == 'u') {
                rest_.remove_prefix(std::min(kDigits, rest_.size()));
                letter = '?';
            }
        }
        found += letter;
    }
    if (rest_.empty()) fail();
    else rest_.remove_prefix(1);
    return found;
}

std::uint64_t JsonReader::number() {
    skip_blanks();
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc{}) {
        skip();
        return 0;
    }
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
}

void JsonReader::skip() {
    skip_blanks();
    if (rest_.starts_with('{')) return each_member([&](std::string_view) { skip(); });
    if (rest_.starts_with('[')) return each_element([&] { skip(); });
    if (rest_.starts_with('"')) {
        static_cast<void>(string());
        return;
    }
    const std::size_t end = std::min(rest_.find_first_of(",]} \t\r\n"), rest_.size());
    if (end == 0) return fail();
    rest_.remove_prefix(end);
}

bool JsonReader::whole() {
    skip_blanks();
    return !failed_ && rest_.empty() && depth_ == 0;
}

}  // namespace qps::transport::conformance
