// Door: what every client of an agent passes before anything is done for it. Without a secret it is open; with one, a
// client first asks for a `challenge` and then must `prove`, and every other request is refused and ends the
// connection.
//
//   Door door(secret);
//   if (!door.open()) { send(door.answer(line)); if (door.refused()) end(); } else ... the line is a request ...
//
// One try for each connection. A stranger gets 32 random bytes and a refusal, and costs one HMAC.
#pragma once

#include <transport-replay/conformance/agent/line.hpp>
#include <transport-replay/conformance/agent/secret.hpp>

namespace qps::transport::conformance::agent {

inline constexpr std::string_view kNoSecretAsked = "this agent asks for no secret";

// How clients share an agent, in seconds. One has the place from its first request on; who only connected has none.
inline constexpr int kPatienceAtDoor = 30;     // for a first request, or a proof
inline constexpr int kIdleIfWanted = 60;       // silent for so long, a client loses its place to one that asks for it
inline constexpr int kIdle = 600;              // ... or to nobody
inline constexpr int kPatienceReading = 10;    // for a client that does not read its answers
inline constexpr std::size_t kMostAtDoor = 8;  // clients that have not asked for anything; then the oldest goes

class Door {
public:
    explicit Door(std::string secret = {}) : secret_(std::move(secret)), open_(secret_.empty()) {}

    [[nodiscard]] bool open() const { return open_; }
    // The connection is to end, once what was answered is sent.
    [[nodiscard]] bool refused() const { return refused_; }

    [[nodiscard]] std::string answer(std::string_view line) {
        const ParsedRequest parsed = parse_request(line);
        if (!refused_ && parsed.request && parsed.request->verb == Verb::challenge && nonce_.empty()) {
            nonce_ = draw_nonce();
            if (!nonce_.empty())
                return write_answer(parsed.sequence, Fields{}.add(Key::nonce, std::string_view(nonce_)));
        }
        if (!refused_ && parsed.request && parsed.request->verb == Verb::prove && !nonce_.empty()) return judge(parsed);
        refused_ = true;
        return write_refusal(parsed.sequence, "EACCES", "this agent asks for a secret first");
    }

private:
    std::string judge(const ParsedRequest& parsed) {
        const std::string_view other = parsed.request->fields.text(Key::nonce);
        const std::string_view proof = parsed.request->fields.text(Key::proof);
        open_ = same_proof(proof, proof_of(secret_, Prover::client, nonce_, other));
        if (open_)
            return write_answer(
                parsed.sequence,
                Fields{}.add(Key::proof, std::string_view(proof_of(secret_, Prover::agent, nonce_, other))));
        refused_ = true;
        return write_refusal(parsed.sequence, "EACCES", "the secrets differ");
    }

    std::string secret_;
    std::string nonce_{};
    bool open_;
    bool refused_ = false;
};

}  // namespace qps::transport::conformance::agent
