#include <transport-replay/report/page_policy.hpp>

#include <array>
#include <cstdint>

#include <fmt/format.h>
#include <openssl/evp.h>

namespace qps::transport {

namespace {

// As browsers compare it: SHA-256 in Base64 (RFC 4648).
std::string hash_of(std::string_view text) {
    constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    constexpr std::size_t kGroup = 3;  // bytes that are four digits
    std::array<unsigned char, 32> digest{};
    unsigned length = 0;
    EVP_Digest(text.data(), text.size(), digest.data(), &length, EVP_sha256(), nullptr);
    std::string out = "'sha256-";
    for (std::size_t at = 0; at < digest.size(); at += kGroup) {
        std::uint32_t bits = 0;
        for (std::size_t i = 0; i < kGroup; ++i) bits = bits << 8U | (at + i < digest.size() ? digest[at + i] : 0U);
        for (std::size_t i = 0; i <= kGroup; ++i)
            out += at + i > digest.size() ? '=' : kDigits[bits >> (18 - 6 * i) & 0x3fU];
    }
    return out + "'";
}

}  // namespace

std::string policy_line(std::string_view style, std::string_view script) {
    const std::string scripts = script.empty() ? std::string() : fmt::format("; script-src {}", hash_of(script));
    return fmt::format(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src {}{}; base-uri 'none'; form-action 'none'\">\n",
        hash_of(style), scripts);
}

}  // namespace qps::transport
