#include <cli/options/check_options.hpp>
#include <cli/options/choice.hpp>
#include <cli/quantity.hpp>
#include <dissect/base/parse_value.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace qps::cli {

using namespace transport::conformance;

namespace {

constexpr std::array kFormats{NamedValue{"table", CheckFormat::table}, NamedValue{"json", CheckFormat::json},
                              NamedValue{"junit", CheckFormat::junit}, NamedValue{"html", CheckFormat::html}};
constexpr std::array kLevels{
    NamedValue{"high", std::optional{CheckSeverity::high}}, NamedValue{"medium", std::optional{CheckSeverity::medium}},
    NamedValue{"low", std::optional{CheckSeverity::low}}, NamedValue{"never", std::optional<CheckSeverity>{}}};

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
    refuse(fmt::format("invalid --device '{}': expected an IP address, a GID, or 'lid NUMBER'", text));
}

}  // namespace

void CheckOptions::take_format(const std::string& word) { take_choice("--format", word, format, kFormats); }
void CheckOptions::take_level(const std::string& word) { take_choice("--fail-on", word, fail_on, kLevels); }

void CheckOptions::add(OptionTable& table, Judged judged) {
    const bool packets = judged != Judged::parts;
    table.under(headings::kVerdicts);
    if (judged != Judged::device)
        table.add(
            "--device", "ADDRESS", [this](const std::string& text) { device = read_device(text); },
            "Judge this host alone: its IP address, GID, or 'lid NUMBER'");
    table
        .add("--profile", "FILE", profile,
             "Read the device's profile; failures that it explains are declared deviations")
        .is(PathUse::read);
    table.under(headings::kFilter)
        .add("--only", "ID", only, "Run only these checks or families: RSP-02,FMT")
        .checked(check_id)
        .each_of_list();
    if (judged == Judged::device)
        table.flag("--quick", quick,
                   "Run only checks of severity high (wrong data, lost connections, security), for 2 minutes at most");
    table.under(headings::kVerdicts);
    if (packets) {
        table.add(
            "--fail-on", "WORD", [this](const std::string& word) { take_level(word); },
            "Exit with 1 if a check of this severity or higher fails: high, medium, low, never (default: medium)");
        table
            .add("--evidence", "FOLDER", evidence,
                 "Write the packets of each failure (with a device: of each check) to FOLDER/ID.pcapng")
            .is(PathUse::folder_filled);
    }
    table.add("--compare", "FILE", compare, "Print what changed since this report (written by -f json)")
        .is(PathUse::read);
    table.flag("--all", all, "List also checks that passed or do not apply");
    if (packets)
        table.under(headings::kOutput)
            .add(
                "-f,--format", "WORD", [this](const std::string& word) { take_format(word); },
                "Print as table, json, junit or html (default: table)");
}

}  // namespace qps::cli
