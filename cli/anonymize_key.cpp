#include <cli/anonymize_key.hpp>
#include <cli/message.hpp>
#include <dissect/base/bytes.hpp>
#include <dissect/base/parse_value.hpp>

#include <cstdlib>
#include <fstream>
#include <random>

#include <fmt/format.h>

namespace qps::cli {

using transport::Pseudonyms;

std::optional<Pseudonyms::Key> read_anonymize_key(std::string_view text) {
    Pseudonyms::Key key{};
    if (text.size() != 2 * key.size()) return std::nullopt;
    for (std::size_t i = 0; i < key.size(); ++i) {
        const auto high = dissect::hex_digit(text[2 * i]), low = dissect::hex_digit(text[2 * i + 1]);
        if (!high || !low) return std::nullopt;
        key[i] = static_cast<std::byte>(*high << 4 | *low);
    }
    return key;
}

Pseudonyms::Key drawn_key() {
    Pseudonyms::Key key{};
    std::random_device device;  // /dev/urandom or the processor
    for (std::size_t i = 0; i < key.size(); i += sizeof(unsigned)) dissect::write_bits(key, i * 8, 32, device());
    return key;
}

std::expected<std::optional<Pseudonyms::Key>, std::string> chosen_key(const std::optional<Pseudonyms::Key>& given,
                                                                      const std::string& file_name) {
    constexpr const char* kKeyVariable = "QPSCOPE_ANONYMIZE_KEY";
    constexpr std::size_t kMostOfKeyFile = 4096;  // bytes: of 64 digits and what editors add
    if (given) return given;
    std::string text, from;
    if (!file_name.empty()) {
        from = file_name;
        std::ifstream file(file_name, std::ios::binary);
        if (!file) return std::unexpected(cannot_read(file_name));
        text.resize(kMostOfKeyFile);
        file.read(text.data(), static_cast<std::streamsize>(text.size()));
        text.resize(static_cast<std::size_t>(file.gcount()));
    } else if (const char* const set = std::getenv(kKeyVariable); set != nullptr && *set != '\0') {
        from = kKeyVariable;
        text = set;
    } else {
        return std::nullopt;
    }
    const std::size_t end = text.find_last_not_of(" \t\r\n");
    const auto key = read_anonymize_key(std::string_view(text).substr(0, end == std::string::npos ? 0 : end + 1));
    if (!key) return std::unexpected(fmt::format("{}: invalid key: expected 64 hexadecimal digits", from));
    return key;
}

}  // namespace qps::cli
