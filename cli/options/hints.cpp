#include <cli/options/hints.hpp>
#include <dissect/filter/field_index.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace qps::cli {

namespace {

// What other programs, and people, call what a command does.
struct Meaning {
    std::string_view word;
    std::string_view command;
};
constexpr std::array kMeanings{
    Meaning{"stats", "info"},        Meaning{"statistics", "info"},     Meaning{"capinfos", "info"},
    Meaning{"summary", "analyze"},   Meaning{"summarize", "analyze"},   Meaning{"analyse", "analyze"},
    Meaning{"diagnose", "findings"}, Meaning{"expert", "findings"},     Meaning{"errors", "findings"},
    Meaning{"problems", "findings"}, Meaning{"conv", "connections"},    Meaning{"conversations", "connections"},
    Meaning{"flows", "connections"}, Meaning{"qps", "connections"},     Meaning{"endpoints", "connections"},
    Meaning{"list", "packets"},      Meaning{"print", "packets"},       Meaning{"dump", "packets"},
    Meaning{"decode", "show"},       Meaning{"dissect", "show"},        Meaning{"latency", "operations"},
    Meaning{"io", "timeline"},       Meaning{"rate", "timeline"},       Meaning{"throughput", "timeline"},
    Meaning{"handshake", "cm"},      Meaning{"topology", "fabric"},     Meaning{"validate", "check"},
    Meaning{"verify", "check"},      Meaning{"conformance", "conform"}, Meaning{"html", "report"},
    Meaning{"pdf", "report"},        Meaning{"sqlite", "export"},       Meaning{"csv", "export"},
    Meaning{"slice", "extract"},     Meaning{"cut", "extract"},         Meaning{"filter", "packets"},
    Meaning{"comment", "annotate"},  Meaning{"scrub", "anonymize"},     Meaning{"anonymise", "anonymize"},
    Meaning{"join", "merge"},        Meaning{"ping", "pingpong"},       Meaning{"bandwidth", "pingpong"},
    Meaning{"serve", "peer"},        Meaning{"server", "peer"},         Meaning{"capture", "doctor"},
    Meaning{"devices", "doctor"},    Meaning{"interfaces", "doctor"},   Meaning{"columns", "fields"},
};

struct OfTshark {
    std::string_view letter;
    std::string_view here;
};
constexpr std::array kOfTshark{
    OfTshark{"-T", "tshark's -T fields is packets -f tsv -e FIELD here, -T json is -f json"},
    OfTshark{"-t", "tshark's -t ad is packets -e frame.time -e line here"},
    OfTshark{"-V", "tshark's -V is the command show here"},
    OfTshark{"-x", "tshark's -x is the command show here"},
    OfTshark{
        "-z",
        "tshark's -z is a command here: findings (expert), connections (conv), timeline (io,stat), operations (srt)"},
    OfTshark{"-E", "tshark's -E is -f csv or -f tsv here"},
};

}  // namespace

std::string_view nearest_of(std::string_view word, std::span<const std::string_view> names) {
    constexpr std::size_t kShort = 4;
    std::size_t limit = word.size() <= kShort ? 1 : 2;
    std::string_view nearest;
    for (const std::string_view name : names) {
        const auto distance = dissect::edit_distance(word, name, limit);
        if (!distance) continue;
        if (nearest.empty() || *distance < limit) nearest = name;
        limit = *distance;
        if (limit == 0) break;
    }
    return nearest;
}

std::string_view command_meant(std::string_view word, std::span<const std::string_view> names) {
    if (const std::string_view near = nearest_of(word, names); !near.empty()) return near;
    const auto row = std::ranges::find(kMeanings, word, &Meaning::word);
    return row == kMeanings.end() || std::ranges::find(names, row->command) == names.end() ? std::string_view{}
                                                                                           : row->command;
}

std::string_view tshark_hint(std::string_view word) {
    constexpr std::size_t kLetter = 2;
    if (word.starts_with("--")) return {};
    const auto row = std::ranges::find(kOfTshark, word.substr(0, kLetter), &OfTshark::letter);
    return row == kOfTshark.end() ? std::string_view{} : row->here;
}

std::string option_hint(std::string_view word, std::span<const std::string> options) {
    if (const std::string_view here = tshark_hint(word); !here.empty()) return fmt::format(": {}", here);
    if (!word.starts_with("--")) return {};
    const std::vector<std::string_view> names(options.begin(), options.end());
    const std::string_view near = nearest_of(word.substr(0, word.find('=')), names);
    return near.empty() ? "" : fmt::format(": did you mean {}?", near);
}

}  // namespace qps::cli
