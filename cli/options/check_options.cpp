#include <CLI/CLI.hpp>
#include <cli/options/check_options.hpp>
#include <cli/quantity.hpp>
#include <dissect/base/parse_value.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace qps::cli {

using namespace transport::conformance;

namespace {

template <class T> struct Word {
    std::string_view name;
    T value;
};
constexpr std::array kFormats{Word{"table", CheckFormat::table}, Word{"json", CheckFormat::json},
                              Word{"junit", CheckFormat::junit}, Word{"html", CheckFormat::html}};
constexpr std::array kLevels{
    Word{"high", std::optional{CheckSeverity::high}}, Word{"medium", std::optional{CheckSeverity::medium}},
    Word{"low", std::optional{CheckSeverity::low}}, Word{"never", std::optional<CheckSeverity>{}}};

template <class T, std::size_t N>
void take_word(std::string_view option, const std::string& text, T& target, const std::array<Word<T>, N>& words) {
    const auto word = std::ranges::find(words, text, &Word<T>::name);
    if (word == words.end()) {
        std::string all;
        for (const Word<T>& each : words) all += fmt::format("{}{}", all.empty() ? "" : ", ", each.name);
        throw CLI::ValidationError(fmt::format("invalid {} '{}': expected one of {}", option, text, all));
    }
    target = word->value;
}

// Empty where there is such a check, or such a family of them. Ids are upper case; so is what was typed from then on.
std::string check_id(std::string& text) {
    std::ranges::transform(text, text.begin(),
                           [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
    const auto is_family = [&](const FamilyRow& family) { return family.prefix == text; };
    if (find_check(text) != nullptr || std::ranges::any_of(kFamilies, is_family)) return {};
    std::string families;
    for (const FamilyRow& family : kFamilies)
        families += fmt::format("{}{}", families.empty() ? "" : ", ", family.prefix);
    return fmt::format("invalid check '{}': expected an id such as FMT-01, or a family: {}", text, families);
}

// As connections show it: "10.0.0.1", "2001:db8::1", a GID, "lid 4".
transport::Address read_device(const std::string& text) {
    constexpr std::string_view kLid = "lid ";
    constexpr std::uint64_t kLastLid = 0xffff;
    if (text.starts_with(kLid)) {
        const auto lid = dissect::parse_number(std::string_view(text).substr(kLid.size()));
        if (lid && *lid <= kLastLid) return {{0, *lid}, transport::AddressSpace::infiniband_lid};
    } else if (const auto address = read_address(text)) {
        return *address;
    }
    throw CLI::ValidationError(
        fmt::format("invalid --device '{}': expected an IP address, a GID, or 'lid NUMBER'", text));
}

}  // namespace

void take_check_format(CheckOptions& options, const std::string& word) {
    take_word("--format", word, options.format, kFormats);
}
void take_check_level(CheckOptions& options, const std::string& word) {
    take_word("--fail-on", word, options.fail_on, kLevels);
}

void add_check_options(CLI::App& app, CheckOptions& options, Judged judged) {
    const bool packets = judged != Judged::parts;
    const auto add_word = [&](const std::string& names, auto take, const std::string& description) {
        app.add_option_function<std::string>(
               names, [&options, take](const std::string& word) { take(options, word); }, description)
            ->type_name("WORD");
    };
    if (judged != Judged::device)
        app.add_option_function<std::string>(
               "--device", [&options](const std::string& text) { options.device = read_device(text); },
               "Judge this host alone: its IP address, GID, or 'lid NUMBER'")
            ->type_name("ADDRESS");
    app.add_option("--profile", options.profile,
                   "Read the device's profile; failures that it explains are declared deviations")
        ->type_name("FILE");
    app.add_option("--only", options.only, "Run only these checks or families: RSP-02,FMT")
        ->delimiter(',')
        ->transform(CLI::Validator(check_id, ""))
        ->type_name("ID")
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    if (judged == Judged::device)
        app.add_flag(
            "--quick", options.quick,
            "Run only checks of severity high (wrong data, lost connections, security), for 2 minutes at most");
    if (packets) {
        add_word("--fail-on", take_check_level,
                 "Exit with 1 if a check of this severity or higher fails: high, medium, low, never (default: medium)");
        app.add_option("--evidence", options.evidence,
                       "Write the packets of each failure (with a device: of each check) to FOLDER/ID.pcapng")
            ->type_name("FOLDER");
    }
    app.add_option("--compare", options.compare, "Print what changed since this report (written by -f json)")
        ->type_name("FILE");
    app.add_flag("--all", options.all, "List also checks that passed or do not apply");
    if (packets) add_word("-f,--format", take_check_format, "Print as table, json, junit or html (default: table)");
}

}  // namespace qps::cli
