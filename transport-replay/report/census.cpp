#include <dissect/base/opcode.hpp>
#include <dissect/headers/derived.hpp>
#include <dissect/ulp/iwarp.hpp>
#include <dissect/ultra_ethernet/names.hpp>
#include <transport-replay/report/census.hpp>
#include <transport-replay/report/figures.hpp>

#include <numeric>

#include <fmt/format.h>

namespace qps::transport {

using namespace dissect;

namespace {

// Counts that are not zero, by the names of their rows.
template <std::size_t N, class Name>
NamedCounts named_counts(const std::array<std::uint64_t, N>& numbers, Name name, std::size_t from = 0) {
    NamedCounts found;
    for (std::size_t i = from; i < N; ++i)
        if (numbers[i] != 0) found.push_back({std::string(name(i)), numbers[i], static_cast<std::uint32_t>(i)});
    return found;
}

std::string opcode_of(std::size_t code) {
    const OpcodeRow& row = kOpcodes[code];
    return row.defined ? std::string(row.name()) : fmt::format("{}_0x{:02X}", row.name(), code);
}

std::string rdmap_of(std::size_t code) {
    const std::string_view known = name_in(kRdmapOpcodeNames, code);
    return known.empty() ? fmt::format("RDMAP_0x{:X}", code) : fmt::format("RDMAP_{}", known);
}

}  // namespace

NamedCounts encapsulation_counts(const Census& census) {
    NamedCounts found =
        named_counts(census.encapsulations, [](std::size_t i) { return kEncapsulationNames[i].name; }, 1);
    if (census.iwarp != 0) found.push_back({"iWARP", census.iwarp, 0});
    return found;
}

NamedCounts opcode_counts(const Census& census) { return named_counts(census.opcodes, opcode_of); }
NamedCounts rdmap_counts(const Census& census) { return named_counts(census.rdmap, rdmap_of); }

NamedCounts ultra_ethernet_counts(const Census& census) {
    return named_counts(census.ultra_ethernet,
                        [](std::size_t type) { return fmt::format("UET_{}", name_in(kPdsTypes, type)); });
}

NamedCounts verdict_counts(const std::array<std::uint64_t, 4>& by_status) {
    NamedCounts found;
    for (const CrcStatus status : {CrcStatus::good, CrcStatus::bad, CrcStatus::not_checkable}) {
        const auto i = std::to_underlying(status);
        found.push_back({std::string(kCrcStatusNames[i].name), by_status[i], i});
    }
    return found;
}

NamedCounts unchecked_counts(const Census& census) {
    return named_counts(census.icrc_reasons, [](std::size_t i) { return kCrcReasonNames[i].name; });
}
NamedCounts other_counts(const Census& census) {
    return named_counts(census.innermost, [](std::size_t i) { return header(static_cast<LayerKind>(i)).name; });
}
NamedCounts fault_counts(const Census& census) {
    return named_counts(census.faults, [](std::size_t i) { return kFaults[i].name; }, 1);
}

std::uint64_t infiniband_packets(const Census& census) { return census.packets - census.encapsulations[0]; }
std::uint64_t rdma_packets(const Census& census) { return infiniband_packets(census) + census.iwarp; }
std::uint64_t ultra_ethernet_packets(const Census& census) {
    return std::accumulate(census.ultra_ethernet.begin(), census.ultra_ethernet.end(), std::uint64_t{0});
}
Duration duration_of(const Census& census) { return census.time ? census.time->last - census.time->first : Duration{}; }

std::string list_of(const NamedCounts& counts) {
    std::vector<std::string> parts;
    for (const NamedCount& one : counts) parts.push_back(fmt::format("{} {}", grouped(one.count), one.name));
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::string ultra_ethernet_text(const Census& census) {
    const auto& [undecided, good] = census.ultra_ethernet_crc;
    std::string text = counted(ultra_ethernet_packets(census), "packet");
    if (undecided + good != 0) text += fmt::format("; CRC {} good, {} undecided", grouped(good), grouped(undecided));
    return text;
}

std::string crc_text(const std::array<std::uint64_t, 4>& by_status, const NamedCounts& reasons) {
    const auto of = [&](CrcStatus status) { return grouped(by_status[std::to_underlying(status)]); };
    std::string text = fmt::format("{} good, {} bad, {} not checkable", of(CrcStatus::good), of(CrcStatus::bad),
                                   of(CrcStatus::not_checkable));
    if (!reasons.empty()) text += fmt::format(" ({})", list_of(reasons));
    return text;
}

}  // namespace qps::transport
