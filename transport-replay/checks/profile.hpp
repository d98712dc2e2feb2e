// Profile: what a device declares of itself, so that what it does on purpose is told apart from what it does wrong.
//
//   # an adapter that takes packets in any order
//   name ConnectX in adaptive mode
//   declares ooo
//   declares adaptive-retrans
//   deviation FMT-08 = MigReq is 0 in this firmware, ticket 4711
//
// A line each; `#` begins a comment. A failure of a check that a declaration names is a declared deviation, with its
// reason; a check that passes stays passed.
//
// What an attacker could feed: any file. Its length, its lines and its names are bounded below, and what is wrong is
// told with its line and a caret.
#pragma once

#include <transport-replay/checks/catalogue.hpp>

#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace qps::transport::conformance {

inline constexpr std::size_t kLongestProfile = 1 << 16;  // bytes: every check declared with a long reason is less
inline constexpr std::size_t kLongestProfileLine = 512;  // a reason is a sentence
inline constexpr std::size_t kMostDeclarations = 256;    // there are 232 checks and 7 traits

// Properties of devices that come as a whole.
struct DeviceTrait {
    std::string_view name;
    std::string_view meaning;
    std::span<const std::string_view> checks;  // whose failures it explains
};
[[nodiscard]] std::span<const DeviceTrait> device_traits();

struct Declaration {
    const CheckRow* check = nullptr;
    std::string reason;
};

struct Profile {
    std::string name;
    std::vector<const DeviceTrait*> traits;
    std::vector<Declaration> deviations;
};

struct ProfileError {
    std::size_t line = 0;    // from 1
    std::size_t column = 0;  // from 1
    std::string message;
    std::string text;  // of that line
};
// "dut.profile:3:10: ...", the line, and a caret under the place.
[[nodiscard]] std::string text(const ProfileError& error, std::string_view file);

[[nodiscard]] std::expected<Profile, ProfileError> parse_profile(std::string_view text);

// Why that check may fail; empty where nothing is declared.
[[nodiscard]] std::string declared(const Profile& profile, const CheckRow& check);

// What the profile says, of a result that failed.
void apply(const Profile& profile, CheckResult& result);

}  // namespace qps::transport::conformance
