#include <tests/support/catch.hpp>
#include <transport-replay/report/page_policy.hpp>

#include <string_view>

#include <fmt/format.h>

using namespace qps::transport;
using Catch::Matchers::Contains;

// Digests of FIPS 180-4 and of nothing, in Base64.
TEST_CASE("a page may have its own style and script, and nothing else") {
    constexpr std::string_view kNothing = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='";
    constexpr std::string_view kAbc = "'sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0='";
    CHECK(policy_line("", "abc") ==
          fmt::format("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src {}; "
                      "script-src {}; base-uri 'none'; form-action 'none'\">\n",
                      kNothing, kAbc));
    CHECK_THAT(policy_line("abc"), Contains(fmt::format("style-src {}; base-uri", kAbc)) && !Contains("script-src"));
}
