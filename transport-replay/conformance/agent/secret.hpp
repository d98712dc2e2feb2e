// The secret that an agent and its clients share: read from a file, proved with HMAC-SHA256 of OpenSSL's libcrypto,
// never told.
//
//   auto secret = read_secret("lab.secret", why);                    // made with: openssl rand -hex 32 > lab.secret
//   proof_of(*secret, Prover::client, agent_nonce, client_nonce)     // what a client sends; the agent answers with its
//   own
//
// Both sides draw a nonce for each connection, and each proof covers both nonces and who proves: a proof that was
// overheard is worth nothing on another connection, nor in the other direction. It says who is there when a connection
// begins; what follows is neither hidden nor protected against somebody on the way (docs/security.md).
//
// C++20 and libcrypto, for agent/ is also built alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace qps::transport::conformance::agent {

inline constexpr std::size_t kLeastSecret = 16;   // bytes: what is heard of a proof can be tried against short ones
inline constexpr std::size_t kMostSecret = 4096;  // bytes

enum class Prover : std::uint8_t { client, agent };

// The first line of a regular file that only its owner can read. Nothing, with a sentence in `why`, for any other.
[[nodiscard]] std::optional<std::string> read_secret(const std::string& path, std::string& why);

// kNonceBytes that nobody can guess; empty where the system has no randomness.
[[nodiscard]] std::string draw_nonce();

// kProofBytes; empty where libcrypto refuses.
[[nodiscard]] std::string proof_of(std::string_view secret, Prover who, std::string_view agent_nonce,
                                   std::string_view client_nonce);

// Takes as long for any two texts of the same length.
[[nodiscard]] bool same_proof(std::string_view a, std::string_view b);

// Whether only this machine reaches a numeric address: 127.0.0.0/8, ::1, and these as ::ffff:127.x.
[[nodiscard]] bool is_loopback(const std::string& address);

}  // namespace qps::transport::conformance::agent
