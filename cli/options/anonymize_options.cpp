#include <CLI/CLI.hpp>
#include <cli/options/anonymize_options.hpp>
#include <dissect/base/parse_value.hpp>

#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace qps::cli {

using namespace dissect;
using namespace transport;

namespace {

// "-86400", "3600.5": seconds.
std::optional<Duration> read_shift(std::string_view text) {
    const bool back = text.starts_with('-');
    if (back) text.remove_prefix(1);
    constexpr double kMost = 4e9;  // seconds: more than a century
    const auto seconds = parse_real(text);
    if (!seconds || !seconds->second.empty() || seconds->first > kMost) return std::nullopt;
    const Duration shift{std::llround(seconds->first * 1e9)};
    return back ? -shift : shift;
}

}  // namespace

std::optional<Pseudonyms::Key> read_anonymize_key(std::string_view text) {
    Pseudonyms::Key key{};
    if (text.size() != 2 * key.size()) return std::nullopt;
    for (std::size_t i = 0; i < key.size(); ++i) {
        const auto high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);
        if (!high || !low) return std::nullopt;
        key[i] = static_cast<std::byte>(*high << 4 | *low);
    }
    return key;
}

void add_anonymize_options(CLI::App& app, AnonymizeOptions& options) {
    app.add_option_function<std::string>(
           "--key",
           [&options](const std::string& text) {
               options.key = read_anonymize_key(text);
               if (!options.key) throw CLI::ValidationError("invalid key: expected 64 hexadecimal digits");
           },
           "Choose pseudonyms by this key of 64 hexadecimal digits: the same in several captures (default: drawn); "
           "others see it in the list of processes")
        ->type_name("HEX");
    app.add_option("--key-file", options.key_file,
                   "Read that key from FILE; without it from QPSCOPE_ANONYMIZE_KEY, if that is set")
        ->type_name("FILE")
        ->excludes(app.get_option("--key"));
    app.add_flag("--keep-vendor", options.keep_vendor, "Keep the vendor's half of MAC addresses");
    app.add_option_function<std::string>(
           "--payload",
           [&options](const std::string& text) {
               if (text == "zero") options.payload = PayloadMode::zero;
               else if (text == "cut") options.payload = PayloadMode::cut;
               else if (text == "keep") options.payload = PayloadMode::keep;
               else
                   throw CLI::ValidationError(
                       fmt::format("invalid --payload '{}': expected one of zero, cut, keep", text));
           },
           "Write payload as: zero, cut or keep (default: zero); keep may reveal names")
        ->type_name("WORD");
    app.add_option("--map", options.map,
                   "Write key, originals and pseudonyms to FILE as JSON, which its owner alone can read")
        ->type_name("FILE");
    app.add_option_function<std::string>(
           "--shift-time",
           [&options](const std::string& text) {
               const auto shift = read_shift(text);
               if (!shift)
                   throw CLI::ValidationError(
                       fmt::format("invalid --shift-time '{}': expected seconds, such as -86400", text));
               options.shift = *shift;
           },
           "Add SECONDS to all timestamps")
        ->type_name("SECONDS");
}

}  // namespace qps::cli
