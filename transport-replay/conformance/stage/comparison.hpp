// What a script's line wants of a packet against what the packet says: the words that differ.
//
// What the line leaves open is not looked at; an ICRC that is wrong always differs where the line does not ask for it,
// and an acknowledgment whose syndrome the line does not name has to be an ACK. Packets are a stranger's: any that
// decodes may come.
#pragma once

#include <transport-replay/conformance/stage/script_qp.hpp>
#include <transport-replay/conformance/stage/variables.hpp>

namespace qps::transport::conformance::stage {

struct Difference {
    std::string word;      // as the line calls it
    std::string expected;  // with the number that it means now, where that is another text
    std::string came;
};

struct Comparing {
    const ScriptQp& qp;
    const Variables& variables;
    bool checks_icrc = true;  // of the device: where it does not, a wrong ICRC proves nothing
};

// Fails with a sentence where the line cannot be evaluated.
[[nodiscard]] std::expected<std::vector<Difference>, std::string> compare(const script::PacketLine& line,
                                                                          const dissect::Packet& packet,
                                                                          const Comparing& with);

// What the packet says of a binding's field; nothing where it has none.
[[nodiscard]] std::optional<dissect::Value> value_of(const dissect::Packet& packet, dissect::LayerKind kind,
                                                     const dissect::Field& field);

// The same of a number in the payload, or in the private data.
[[nodiscard]] std::optional<std::uint64_t> number_in(const dissect::Packet& packet,
                                                     const script::PayloadNumber& number);

// A packet as `packets` prints it, with its PSN as the script counts it: "RC_ACKNOWLEDGE qp=17 psn=4711 (+2) msn=1".
[[nodiscard]] std::string line_of(const dissect::Packet& packet, const ScriptQp& qp, Sender sender);

// "+2", "-1": a PSN as a script counts it.
[[nodiscard]] std::string relative_text(dissect::Psn psn, dissect::Psn first);

}  // namespace qps::transport::conformance::stage
