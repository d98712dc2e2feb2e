// A line of a script and what is known of the conversation -> the bytes of a frame, right but for what the line says.
//
// What a line leaves open is filled in: addresses, queue pairs, PSN, Q_Key, lengths, and of messages of communication
// management what rdma_cm would say. The ICRC is right for what is sent unless the line wants another.
#pragma once

#include <transport-replay/conformance/stage/script_qp.hpp>
#include <transport-replay/conformance/stage/variables.hpp>

#include <array>
#include <expected>

namespace qps::transport::conformance::stage {

// What the messages of communication management have to have in common.
struct Management {
    std::uint32_t our_comm = 0;    // of the last message of ours
    std::uint32_t their_comm = 0;  // of the last of the device's
    std::uint64_t our_tid = 0;
    std::uint64_t their_tid = 0;
    std::uint64_t guid = 0;  // ours
    dissect::Qpn local_qp{};
    dissect::Psn start_psn;
    std::uint16_t source_port = 0;
    std::uint64_t drawn = 0;  // counts what was drawn: ids differ
};

struct Making {
    const Route& route;  // ready: MAC addresses and all
    const ScriptQp& qp;
    const Variables& variables;
    Management& management;  // a request draws new ids
};

struct MadePacket {
    std::vector<std::byte> bytes;
    dissect::Psn psn;
    std::uint64_t pattern_offset = 0;
};

// Fails with a sentence: a variable without a value, a value that has no room in its field.
[[nodiscard]] std::expected<MadePacket, std::string> make_packet(const script::PacketLine& line, const Making& making);

// The PSN that a line means; none: that of the conversation's place.
[[nodiscard]] dissect::Psn first_psn(const ScriptQp& qp, Sender sender, bool request);

// Of communication management: everything that rdma_cm would say, in the specification's headers. Draws ids.
void set_management(dissect::PacketSpec& spec, const dissect::MadAttribute& attribute, const Making& making);
// The header of the RDMA IP CM service, to be put at the beginning of private data.
[[nodiscard]] dissect::HeaderSpec ip_cm_header(const Making& making);
// The bytes of an address as a GID.
[[nodiscard]] std::array<std::byte, 16> gid_of(const Address& address);

}  // namespace qps::transport::conformance::stage
