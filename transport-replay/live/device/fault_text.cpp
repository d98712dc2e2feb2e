#include <dissect/base/parse_value.hpp>
#include <transport-replay/live/device/fault_text.hpp>

#include <array>
#include <optional>

#include <fmt/format.h>

namespace qps::transport::live {

using namespace dissect;

namespace {

// What can happen by chance and to order. "loss" is what people say, "drop" what they order.
struct FaultName {
    std::string_view name;
    FaultKind kind;
    double LinkFaults::* chance;
};
constexpr std::array kFaultNames{
    FaultName{"drop", FaultKind::loss, &LinkFaults::loss},
    FaultName{"loss", FaultKind::loss, &LinkFaults::loss},
    FaultName{"duplicate", FaultKind::duplication, &LinkFaults::duplication},
    FaultName{"reorder", FaultKind::reordering, &LinkFaults::reordering},
    FaultName{"corrupt", FaultKind::corruption, &LinkFaults::corruption},
    FaultName{"mark", FaultKind::marking, &LinkFaults::marking},
};
constexpr std::string_view kDelay =
    "delay";  // by name a time for every frame; to order a reordering that says by how much
constexpr std::string_view kPause = "pause";
constexpr std::string_view kKnown =
    "drop (loss), duplicate, reorder, corrupt, mark, delay, jitter, reorder-by, pause, seed";

const FaultName* fault_named(std::string_view name) {
    for (const FaultName& row : kFaultNames)
        if (row.name == name) return &row;
    return nullptr;
}

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\n");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

// Takes what stands before the separator, and it, off the text.
std::string_view take_until(std::string_view& text, std::string_view separators) {
    const std::size_t end = std::min(text.find_first_of(separators), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return part;
}

std::optional<double> chance_in(std::string_view text) {
    const auto number = parse_real(text);
    if (!number || (!number->second.empty() && number->second != "%")) return std::nullopt;
    const double chance = number->second.empty() ? number->first : number->first / 100;
    return chance <= 1 ? std::optional(chance) : std::nullopt;
}

std::optional<Duration> time_in(std::string_view text) {
    const auto time = parse_duration(text);
    return time && *time <= kLongestDelay ? time : std::nullopt;
}

// One clause, with what it is for and where it goes.
struct Clause {
    std::string_view text;  // as it stands, for the sentence
    std::string_view rest;  // behind "in:" or "out:"
    bool out = true;
    bool in = true;
    [[nodiscard]] std::unexpected<std::string> wrong(std::string_view why) const {
        return std::unexpected(fmt::format("invalid fault '{}': {}", text, why));
    }
    // The ways it is for get that value of a member.
    template <class T> void set(FaultSettings& settings, T WayFaults::* member, const T& value) const {
        if (out) settings.out.*member = value;
        if (in) settings.in.*member = value;
    }
};

using Parsed = std::expected<void, std::string>;

// One word behind the quanta of a pause.
Parsed parse_pause_word(const Clause& clause, std::string_view word, PauseFault& pause) {
    std::string_view value = word;
    const std::string_view key = take_until(value, "=");
    if (key == "priority" || key == "times") {
        constexpr std::uint64_t kLastPriority = 7, kMostTimes = 1'000'000'000;
        const auto number = parse_number(value, key == "times" ? kMostTimes : kLastPriority);
        if (!number || (key == "times" && *number == 0))
            return clause.wrong(
                fmt::format("invalid {} '{}': expected {}", key, value, key == "times" ? "a number from 1" : "0 to 7"));
        if (key == "times") pause.times = *number;
        else pause.priority = static_cast<std::uint8_t>(*number);
        return {};
    }
    if (key != "every" && key != "after")
        return clause.wrong(fmt::format("unknown word '{}': expected priority=, every=, times= or after=", word));
    const auto time = time_in(value);
    if (!time || (key == "every" && *time < kShortestPauseGap))
        return clause.wrong(fmt::format("invalid time '{}': expected {}at most 60 s, in ns, us, ms or s", value,
                                        key == "every" ? "at least 1 us and " : ""));
    (key == "every" ? pause.every : pause.after) = *time;
    return {};
}

// pause=QUANTA ..., frames that are sent besides.
Parsed parse_pause(const Clause& clause, std::string_view value, FaultSettings& settings) {
    constexpr std::uint64_t kMostQuanta = 0xffff;
    const std::string_view first = take_until(value, " \t");
    const auto quanta = parse_number(first, kMostQuanta);
    if (!quanta) return clause.wrong(fmt::format("invalid quanta '{}': expected 0 to 65535", first));
    if (!clause.out) return clause.wrong("pauses are sent, not received");
    PauseFault pause{.quanta = static_cast<std::uint16_t>(*quanta)};
    while (!value.empty()) {
        const std::string_view word = take_until(value, " \t");
        if (word.empty()) continue;
        if (auto parsed = parse_pause_word(clause, word, pause); !parsed) return parsed;
    }
    if (pause.times > 1 && pause.every == Duration{}) return clause.wrong("missing every=TIME");
    if (settings.pauses.size() >= kMaxPauseFaults)
        return clause.wrong(fmt::format("more than {} pauses", kMaxPauseFaults));
    settings.pauses.push_back(pause);
    return {};
}

// NAME=VALUE, for every frame.
Parsed parse_always(const Clause& clause, FaultSettings& settings) {
    std::string_view value = clause.rest;
    const std::string_view name = trimmed(take_until(value, "="));
    value = trimmed(value);
    if (name == kPause) return parse_pause(clause, value, settings);
    if (const FaultName* fault = fault_named(name)) {
        const auto chance = chance_in(value);
        if (!chance)
            return clause.wrong(fmt::format("invalid probability '{}': expected 0 to 1, or 0% to 100%", value));
        if (clause.out) settings.out.chances.*fault->chance = *chance;
        if (clause.in) settings.in.chances.*fault->chance = *chance;
        return {};
    }
    if (name == "seed") {
        const auto seed = parse_number(value, ~std::uint64_t{0});
        if (!seed) return clause.wrong(fmt::format("invalid seed '{}': expected a number", value));
        settings.seed = *seed;
        return {};
    }
    if (name != kDelay && name != "jitter" && name != "reorder-by")
        return clause.wrong(fmt::format("unknown fault '{}': expected one of {}", name, kKnown));
    const auto time = time_in(value);
    if (!time) return clause.wrong(fmt::format("invalid time '{}': expected at most 60 s, in ns, us, ms or s", value));
    if (name == kDelay) clause.set(settings, &WayFaults::delay, *time);
    else if (name == "jitter") clause.set(settings, &WayFaults::jitter, *time);
    else settings.reorder_by = *time;
    return {};
}

// One word behind the name of a fault to order.
Parsed parse_word(const Clause& clause, std::string_view word, ExactFault& exact, bool& has_psn) {
    constexpr std::uint64_t k24Bits = 0xffffff, kMostRounds = 1'000'000;
    if (word == "requests" || word == "responses") {
        exact.response = word == "responses";
        return {};
    }
    std::string_view value = word;
    const std::string_view key = take_until(value, "=");
    if (key == "by") {
        const auto time = time_in(value);
        if (!time || *time == Duration{})
            return clause.wrong(fmt::format("invalid time '{}': expected at most 60 s, in ns, us, ms or s", value));
        exact.later_by = *time;
        return {};
    }
    if (key != "psn" && key != "qp" && key != "round")
        return clause.wrong(
            fmt::format("unknown word '{}': expected psn=, qp=, round=, by=, requests or responses", word));
    const auto number = parse_number(value, key == "round" ? kMostRounds : k24Bits);
    if (!number || (key == "round" && *number == 0))
        return clause.wrong(fmt::format("invalid {} '{}': expected {}", key, value,
                                        key == "round" ? "a number from 1" : "a number of 24 bits"));
    if (key == "psn") {
        exact.psn = Psn(static_cast<std::uint32_t>(*number));
        has_psn = true;
    } else if (key == "qp") {
        exact.destination_qp = Qpn{static_cast<std::uint32_t>(*number)};
    } else {
        exact.transmission = static_cast<std::uint32_t>(*number);
    }
    return {};
}

// NAME psn=N ..., for one packet.
Parsed parse_exact(const Clause& clause, FaultSettings& settings) {
    std::string_view words = clause.rest;
    const std::string_view name = take_until(words, " \t");
    const FaultName* fault = fault_named(name);
    if (name == kPause)
        return clause.wrong("expected pause=QUANTA, with words behind it: pause=65535 every=1ms priority=3");
    if (fault == nullptr && name != kDelay)
        return clause.wrong(fmt::format("unknown fault '{}': expected one of {}", name, kKnown));
    ExactFault exact;
    exact.kind = fault != nullptr ? fault->kind : FaultKind::reordering;
    bool has_psn = false;
    while (!words.empty()) {
        const std::string_view word = take_until(words, " \t");
        if (word.empty()) continue;
        if (auto parsed = parse_word(clause, word, exact, has_psn); !parsed) return parsed;
    }
    if (!has_psn) return clause.wrong("missing psn=N: which packet?");
    if (name == kDelay && exact.later_by == Duration{}) return clause.wrong("missing by=TIME");
    if (exact.kind != FaultKind::reordering && exact.later_by != Duration{})
        return clause.wrong("by=TIME applies to delay and reorder only");
    for (const End from : {End::a, End::b}) {
        if (!(from == End::a ? clause.out : clause.in)) continue;
        if (settings.exact.size() >= kMaxExactFaults)
            return clause.wrong(fmt::format("more than {} packets", kMaxExactFaults));
        settings.exact.push_back(exact);
        settings.exact.back().from = from;
    }
    return {};
}

}  // namespace

std::expected<FaultSettings, std::string> parse_faults(std::string_view text) {
    FaultSettings settings;
    if (trimmed(text).empty()) return std::unexpected("missing fault");
    while (!text.empty()) {
        Clause clause{.text = trimmed(take_until(text, ",")), .rest = {}};
        clause.rest = clause.text;
        for (const std::string_view prefix : {"in:", "out:"}) {
            if (!clause.rest.starts_with(prefix)) continue;
            clause.rest = trimmed(clause.rest.substr(prefix.size()));
            (prefix == "in:" ? clause.out : clause.in) = false;
            break;
        }
        if (clause.rest.empty()) return clause.wrong("empty clause");
        // A clause to order has words; one for every frame is NAME=VALUE.
        const bool exact = clause.rest.find_first_of("= \t") == std::string_view::npos ||
                           clause.rest.find_first_of(" \t") < clause.rest.find('=');
        if (auto parsed = exact ? parse_exact(clause, settings) : parse_always(clause, settings); !parsed)
            return std::unexpected(std::move(parsed.error()));
    }
    return settings;
}

}  // namespace qps::transport::live
