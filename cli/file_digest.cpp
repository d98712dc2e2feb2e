#include <cli/file_digest.hpp>
#include <cli/held_inputs.hpp>
#include <cli/input.hpp>
#include <dissect/capture/descriptor.hpp>

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

namespace qps::cli {

namespace {

// Others read the descriptor too, so its position stays as it is.
std::string digest_of(int descriptor) {
    constexpr std::size_t kPiece = 1U << 20U;
    struct stat status{};
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return {};
    const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> hash(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
    if (hash == nullptr || EVP_DigestInit_ex(hash.get(), EVP_sha256(), nullptr) != 1) return {};
    std::vector<unsigned char> piece(kPiece);
    off_t at = 0;
    while (true) {
        const ssize_t count = interrupted() ? -1 : pread(descriptor, piece.data(), piece.size(), at);
        if (count < 0) return {};
        if (count == 0) break;
        if (EVP_DigestUpdate(hash.get(), piece.data(), static_cast<std::size_t>(count)) != 1) return {};
        at += count;
    }
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned length = 0;
    if (EVP_DigestFinal_ex(hash.get(), digest.data(), &length) != 1) return {};
    std::string text;
    for (unsigned i = 0; i < length; ++i) text += fmt::format("{:02x}", digest[i]);
    return text;
}

}  // namespace

std::future<std::string> sha256_of(const InputOptions& options, const std::string& name) {
    if (const auto held = HeldInputs::of(options).file(name))
        return std::async(std::launch::async, [descriptor = held->descriptor] { return digest_of(descriptor); });
    if (options.confinement.holds())
        return std::async(std::launch::deferred, [] { return std::string(); });  // a pipe, standard input
    return std::async(std::launch::async, [name] {
        const dissect::Descriptor file(open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), true);
        return file.number() < 0 ? std::string() : digest_of(file.number());
    });
}

}  // namespace qps::cli
