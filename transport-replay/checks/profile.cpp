#include <transport-replay/checks/profile.hpp>

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace qps::transport::conformance {

namespace {

constexpr std::array<std::string_view, 2> kOutOfOrder{"RSP-05", "RSP-06"};
constexpr std::array<std::string_view, 2> kCredits{"RSP-47", "REQ-31"};
constexpr std::array<std::string_view, 6> kNotification{"CNP-02", "CNP-03", "CNP-04", "CNP-05", "CNP-06", "CNP-08"};
constexpr std::array<std::string_view, 3> kRetransmission{"REQ-20", "REQ-21", "CM-24"};
constexpr std::array<std::string_view, 2> kMigration{"FMT-08", "CM-22"};
constexpr std::array<std::string_view, 2> kExtendedConnections{"FMT-24", "CM-13"};

// What each trait explains. `mpe` says what a device can do beyond the rest; no check's failure is explained by it.
constexpr std::array kTraits{
    DeviceTrait{"ooo", "accepts packets in any order: a gap triggers no NAK", kOutOfOrder},
    DeviceTrait{"no-e2e-credits", "has no end-to-end flow control", kCredits},
    DeviceTrait{"no-dcqcn", "has no congestion control by CNPs", kNotification},
    DeviceTrait{"adaptive-retrans", "adapts its retransmission timer to the network", kRetransmission},
    DeviceTrait{"no-apm", "has no automatic path migration", kMigration},
    DeviceTrait{"mpe", "has the memory placement extensions: FLUSH and ATOMIC WRITE", {}},
    DeviceTrait{"xrc", "has extended reliable connections", kExtendedConnections},
};

constexpr bool is_blank(char letter) { return letter == ' ' || letter == '\t' || letter == '\r'; }

// One line, taken apart from the left.
class Line {
public:
    Line(std::string_view text, std::size_t number) : text_(text), number_(number) { skip(); }

    [[nodiscard]] bool at_end() const { return at_ == text_.size(); }
    // Up to the next blank; `before` ends it too.
    std::string_view word(char before = '\0') {
        last_ = at_;
        while (at_ < text_.size() && !is_blank(text_[at_]) && (before == '\0' || text_[at_] != before)) ++at_;
        const std::string_view found = text_.substr(last_, at_ - last_);
        skip();
        return found;
    }
    std::string_view rest() {
        last_ = at_;
        std::string_view found = text_.substr(at_);
        while (!found.empty() && is_blank(found.back())) found.remove_suffix(1);
        at_ = text_.size();
        return found;
    }
    // Of what was taken last.
    [[nodiscard]] std::unexpected<ProfileError> wrong(std::string message) const {
        return fail(last_, std::move(message));
    }
    // Of what comes next.
    [[nodiscard]] std::unexpected<ProfileError> missing(std::string message) const {
        return fail(at_, std::move(message));
    }

private:
    void skip() {
        while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    }
    [[nodiscard]] std::unexpected<ProfileError> fail(std::size_t at, std::string message) const {
        return std::unexpected(ProfileError{number_, at + 1, std::move(message), std::string(text_)});
    }
    std::string_view text_;
    std::size_t number_;
    std::size_t at_ = 0;
    std::size_t last_ = 0;
};

using Done = std::expected<void, ProfileError>;

Done take_trait(Line& line, Profile& profile) {
    if (line.at_end()) return line.missing("missing trait: what does the device declare?");
    while (!line.at_end()) {
        const std::string_view word = line.word();
        const auto* trait = std::ranges::find(kTraits, word, &DeviceTrait::name);
        if (trait == kTraits.end()) {
            std::string known;
            for (const DeviceTrait& each : kTraits)
                known += known.empty() ? std::string(each.name) : fmt::format(", {}", each.name);
            return line.wrong("unknown trait: expected one of " + known);
        }
        if (std::ranges::find(profile.traits, trait) == profile.traits.end()) profile.traits.push_back(trait);
    }
    return {};
}

Done take_deviation(Line& line, Profile& profile) {
    if (line.at_end()) return line.missing("missing check id");
    const std::string_view id = line.word('=');
    const CheckRow* check = find_check(id);
    if (check == nullptr) return line.wrong("no such check");
    if (std::ranges::find(profile.deviations, check, &Declaration::check) != profile.deviations.end())
        return line.wrong("duplicate declaration of this check");
    std::string_view reason = line.rest();
    if (!reason.starts_with('=')) return line.wrong("expected \"=\" and a reason");
    reason.remove_prefix(1);
    while (!reason.empty() && is_blank(reason.front())) reason.remove_prefix(1);
    if (reason.empty()) return line.missing("missing reason of the deviation");
    if (profile.deviations.size() == kMostDeclarations) return line.wrong("too many declarations");
    profile.deviations.push_back({check, std::string(reason)});
    return {};
}

Done take_line(std::string_view text, std::size_t number, Profile& profile) {
    Line line(text, number);
    if (line.at_end()) return {};
    const auto bad =
        std::ranges::find_if(text, [](char letter) { return (letter < ' ' && !is_blank(letter)) || letter == '\x7f'; });
    if (text.size() > kLongestProfileLine) return line.missing("the line is too long");
    if (bad != text.end()) return line.missing("invalid character in the line");
    const std::string_view word = line.word();
    if (word.starts_with('#')) return {};
    if (word == "declares") return take_trait(line, profile);
    if (word == "deviation") return take_deviation(line, profile);
    if (word != "name") return line.wrong("unknown keyword: expected name, declares or deviation");
    if (line.at_end()) return line.missing("missing name of the device");
    profile.name = line.rest();
    return {};
}

// What can be shown in one line of a terminal.
std::string shown(std::string_view text) {
    std::string line;
    for (const char letter : text.substr(0, kLongestProfileLine))
        line += letter >= ' ' && letter <= '~' ? letter : letter == '\t' ? ' ' : '?';
    return line;
}

}  // namespace

std::span<const DeviceTrait> device_traits() { return kTraits; }

std::string text(const ProfileError& error, std::string_view file) {
    const std::string line = shown(error.text);
    return fmt::format("{}:{}:{}: {}\n  {}\n  {}^\n", file, error.line, error.column, error.message, line,
                       std::string(std::min(error.column - 1, line.size()), ' '));
}

std::expected<Profile, ProfileError> parse_profile(std::string_view text) {
    if (text.size() > kLongestProfile) return std::unexpected(ProfileError{1, 1, "the profile is too long", {}});
    Profile profile;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        if (Done done = take_line(text.substr(0, end), number, profile); !done)
            return std::unexpected(std::move(done).error());
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return profile;
}

std::string declared(const Profile& profile, const CheckRow& check) {
    const auto own = std::ranges::find(profile.deviations, &check, &Declaration::check);
    if (own != profile.deviations.end()) return own->reason;
    for (const DeviceTrait* trait : profile.traits)
        if (std::ranges::find(trait->checks, check.id) != trait->checks.end())
            return fmt::format("{}: {}", trait->name, trait->meaning);
    return {};
}

void apply(const Profile& profile, CheckResult& result) {
    if (result.verdict != Verdict::fail) return;
    const std::string why = declared(profile, *result.check);
    if (why.empty()) return;
    result.verdict = Verdict::deviation;
    result.reason = result.reason.empty() ? why : fmt::format("{} (declared: {})", result.reason, why);
}

}  // namespace qps::transport::conformance
