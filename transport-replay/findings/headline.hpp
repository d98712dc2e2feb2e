// Sums all findings up in a line, for who reads nothing else.
#pragma once

#include <transport-replay/report/finding_groups.hpp>

#include <cstdint>
#include <string>

namespace qps::transport {

struct Timeline;

// "16 of 16 connections lost packets"; of one finding its sentence, without particulars.
[[nodiscard]] std::string headline_of(const FindingGroup& group, std::uint64_t connections);

// The worst finding, and where most of the time without progress went: "10.77.0.12 QP 52 lost 21 packets
// from 10.77.0.11; 612.6 of 695.7 ms without progress were ACK timeouts after ignored NAKs". Empty where nothing is
// worse than a note.
[[nodiscard]] std::string conclusion_of(const Timeline& timeline);

}  // namespace qps::transport
