#include <transport-replay/checks/report/counts.hpp>

#include <fmt/format.h>
#include <openssl/evp.h>

namespace qps::transport::conformance {

std::string digest_of(const Report& report) {
    std::string lines;
    for (const CheckResult& result : report.results)
        lines += fmt::format("{} {}\n", result.check->id, name(result.verdict));
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned length = 0;
    EVP_Digest(lines.data(), lines.size(), digest.data(), &length, EVP_sha256(), nullptr);
    std::string text;
    for (unsigned i = 0; i < length; ++i) text += fmt::format("{:02x}", digest[i]);
    return text;
}

}  // namespace qps::transport::conformance
