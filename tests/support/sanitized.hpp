// Whether this program runs under AddressSanitizer, which makes it slow and large, and what is done less often there.
// g++ and clang say so in ways of their own.
#pragma once

#include <cstdint>

namespace qps::tests {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
#else
inline constexpr bool kSanitized = false;
#endif

// How much of a test that repeats itself over seeds or captures is run: a sanitizer sees every statement in a part of
// them, and what they say together is judged where they are quick.
[[nodiscard]] constexpr std::uint64_t share(std::uint64_t all) { return kSanitized ? (all + 7) / 8 : all; }

}  // namespace qps::tests
