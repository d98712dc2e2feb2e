// Verdict: what a case amounts to. One party, one host, the claims that lead there with their evidence, what only
// follows from it, what contradicts it, what stays undecided, and the next step with what its outcomes would mean.
#pragma once

#include <transport-replay/casework/evidence.hpp>
#include <transport-replay/model/fact.hpp>
#include <transport-replay/model/finding.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace qps::casework {

enum class Party : std::uint8_t {
    undecided,
    local_host,
    remote_host,
    network,
    switch_setting,
    host_setting,
    application,
    library,
    firmware,
};
[[nodiscard]] std::string_view name(Party party);  // "host setting"

// How much a claim is worth against others, the heaviest first.
enum class Weight : std::uint8_t {
    remark,    // worth saying, decides nothing
    hint,      // compatible with several causes: the party stays undecided
    shown,     // the material shows it
    decisive,  // it explains the others
};

struct Claim {
    std::string_view id{};  // of a ClaimRow, or of a finding of a capture; empty: a consequence, a contradiction
    Weight weight{};
    Party party = Party::undecided;
    std::string host{};
    std::string text{};
    std::vector<Place> evidence{};
    transport::Facts facts{};
};
// A claim that is shown is an error, a hint a warning, a remark a note.
[[nodiscard]] transport::Severity severity_of(Weight weight);

struct Outcome {
    std::string seen{};
    std::string means{};
};
struct NextStep {
    Weight weight{};        // of the claim that asks for it
    std::string command{};  // or a capture
    std::string where{};
    std::vector<Outcome> outcomes{};
};

struct OpenQuestion {
    Weight weight{};  // of the claim that leaves it open
    std::string text{};
};

struct Verdict {
    Party party = Party::undecided;
    std::string host{};
    bool not_network = false;     // what was read rules the network out
    bool unrelated = false;       // nothing here is about RDMA
    std::vector<Claim> claims{};  // the heaviest first; the first decides
    std::vector<Claim> consequences{};
    std::vector<Claim> contradictions{};
    std::vector<OpenQuestion> undecided{};
    std::vector<NextStep> next{};
};

}  // namespace qps::casework
