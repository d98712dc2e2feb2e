#include <transport-replay/conformance/agent/protocol.hpp>
#include <transport-replay/conformance/agent/secret.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <arpa/inet.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <sys/stat.h>
#include <unistd.h>

namespace qps::transport::conformance::agent {

namespace {

// As much as there may be and one more; nothing where it cannot be read.
std::optional<std::string> read_all(int file) {
    std::string text;
    std::array<char, 1024> room{};
    while (text.size() <= kMostSecret) {
        const ssize_t got = ::read(file, room.data(), room.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return std::nullopt;
        if (got == 0) break;
        text.append(room.data(), static_cast<std::size_t>(got));
    }
    return text;
}

}  // namespace

std::optional<std::string> read_secret(const std::string& path, std::string& why) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
        why = path + ": " + std::strerror(errno);
        return std::nullopt;
    }
    struct stat status{};
    std::optional<std::string> text;
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
        why = path + ": the secret must be in a regular file";
    } else if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        why = path + ": others can read the secret; run: chmod 600 " + path;
    } else if (text = read_all(file); !text) {
        why = path + ": " + std::strerror(errno);
    } else {
        text->resize(std::min(text->size(), text->find_first_of("\r\n")));
        if (text->size() < kLeastSecret || text->size() > kMostSecret) {
            why = path + ": the secret has " + std::to_string(text->size()) + " bytes, expected " +
                  std::to_string(kLeastSecret) + " to " + std::to_string(kMostSecret) +
                  "; make one with: openssl rand -hex 32";
            text.reset();
        }
    }
    ::close(file);
    return text;
}

std::string draw_nonce() {
    std::array<unsigned char, kNonceBytes> bytes{};
    if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) return {};
    return {bytes.begin(), bytes.end()};
}

std::string proof_of(std::string_view secret, Prover who, std::string_view agent_nonce, std::string_view client_nonce) {
    // Both nonces have one length, so that no two pairs of them make the same text.
    std::string text = who == Prover::client ? "qpscope agent 1, client" : "qpscope agent 1, agent";
    text += '\0';
    text += agent_nonce;
    text += client_nonce;
    std::array<unsigned char, kProofBytes> proof{};
    unsigned length = 0;
    const auto* const made =
        HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
             reinterpret_cast<const unsigned char*>(text.data()), text.size(), proof.data(), &length);
    if (made == nullptr || length != proof.size()) return {};
    return {proof.begin(), proof.end()};
}

bool same_proof(std::string_view a, std::string_view b) {
    return a.size() == kProofBytes && b.size() == kProofBytes && CRYPTO_memcmp(a.data(), b.data(), kProofBytes) == 0;
}

bool is_loopback(const std::string& address) {
    std::array<unsigned char, 16> bytes{};
    if (inet_pton(AF_INET, address.c_str(), bytes.data()) == 1) return bytes[0] == 127;
    if (inet_pton(AF_INET6, address.c_str(), bytes.data()) != 1) return false;
    constexpr std::array<unsigned char, 16> kOne{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    constexpr std::array<unsigned char, 13> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127};
    return bytes == kOne || std::memcmp(bytes.data(), kMapped.data(), kMapped.size()) == 0;
}

}  // namespace qps::transport::conformance::agent
