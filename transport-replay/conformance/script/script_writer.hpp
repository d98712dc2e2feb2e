// ScriptWriter: packets of a recorded conversation -> the text of a script that plays it again.
//
//   ScriptWriter writer;
//   for (packet in the capture) writer.add(packet);
//   const std::string text = writer.finish("trace.pcapng");
//
// The side that sent first is ours. What belongs to the conversation is kept: opcodes, PSNs relative to the first of
// their direction, lengths, flags, NAKs, immediates, times between our packets. What belongs to the machines is not:
// addresses, queue pair numbers, keys (they become those of regions that the device's agent makes), credits.
//
// A capture holds anything: packets that are no transport of these two hosts, beyond kMaxWritten, or of more queue
// pairs than kMaxWrittenHalves are left out, and the text says how many.
#pragma once

#include <transport-replay/model/address.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace qps::transport::conformance::script {

inline constexpr std::size_t kMaxWritten =
    15'000;  // packets: with what stands around them a script of kMaxStatements at most
inline constexpr std::size_t kMaxWrittenHalves = 26;  // queue pairs: a letter each

class ScriptWriter {
public:
    void add(const dissect::Packet& packet);
    [[nodiscard]] std::string finish(std::string_view source) const;
    [[nodiscard]] std::size_t packets() const { return rows_.size(); }

private:
    struct Row {
        dissect::Instant time{};
        bool ours = false;
        bool request = false;
        dissect::Opcode opcode{};
        dissect::Qpn to{};
        dissect::Psn psn;
        std::uint32_t length = 0;
        std::uint64_t va = 0;
        std::uint32_t rkey = 0, dmalen = 0, msn = 0;
        bool has_reth = false, has_aeth = false;
        std::optional<std::uint64_t> rnr{};  // the timer code of an RNR NAK
        std::string words{};                 // that are the conversation's own
    };
    struct Written {
        std::string name;
        dissect::Qpn ours{}, theirs{};
        std::optional<dissect::Psn>
            refused{};              // the first that found no receive: from there on receives come one by one
        std::uint32_t receive = 0;  // bytes of each
    };
    struct Touched {
        std::uint64_t low = ~std::uint64_t{0}, high = 0;
        std::size_t number = 0;
    };
    [[nodiscard]] std::vector<Written> queue_pairs() const;
    [[nodiscard]] static const Written* qp_of(const std::vector<Written>& all, const Row& row);
    void write_head(std::string& text, std::vector<Written>& all,
                    const std::map<std::uint32_t, Touched>& regions) const;
    [[nodiscard]] std::string packet_line(const Row& row, const Written& qp,
                                          const std::map<std::uint32_t, Touched>& regions) const;
    [[nodiscard]] bool finds_late_receive(std::size_t at, const Written& qp) const;
    [[nodiscard]] std::string post_line(std::size_t at, const Written& qp) const;
    [[nodiscard]] dissect::Psn base_of(const Written& qp, bool our_space) const;

    std::vector<Row> rows_;
    Address ours_{};
    Address theirs_{};
    std::size_t left_out_ = 0;
};

}  // namespace qps::transport::conformance::script
