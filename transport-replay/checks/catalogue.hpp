// The catalogue of conformance checks: what a device of RoCE or of iWARP, and a host or target of NVMe on it, must do,
// as THE table. Judges of captures (passive/) and scripts against a device (scripts/) hang on its ids and have no list
// of their own; reports take their words from it.
//
// Every row rests on something that can be named, a clause or what else is known; where that is memory alone, the row
// says so.
#pragma once

#include <transport-replay/checks/verdict.hpp>

#include <span>

namespace qps::transport::conformance {

enum class CheckFamily : std::uint8_t {
    trace,
    format,
    responder,
    requester,
    management,
    congestion,
    robustness,
    framing,
    placement,
    direct_memory,
    storage
};
// Three catalogues: of RoCE; of iWARP, with MPA, DDP and RDMAP; of storage on top, NVMe over RDMA. The integrity of the
// trace belongs to all.
[[nodiscard]] constexpr bool is_of_iwarp(CheckFamily family) {
    return family >= CheckFamily::framing && family <= CheckFamily::direct_memory;
}
[[nodiscard]] constexpr bool is_of_storage(CheckFamily family) { return family == CheckFamily::storage; }
[[nodiscard]] constexpr bool is_of_roce(CheckFamily family) { return family < CheckFamily::framing; }
struct FamilyRow {
    std::string_view prefix;  // of its ids
    std::string_view name;
};
inline constexpr std::array<FamilyRow, 11> kFamilies{{{"TRC", "Trace integrity"},
                                                      {"FMT", "Format and ICRC"},
                                                      {"RSP", "Responder"},
                                                      {"REQ", "Requester"},
                                                      {"CM", "Communication management"},
                                                      {"CNP", "Congestion notification"},
                                                      {"ERR", "Errors and robustness"},
                                                      {"MPA", "iWARP: framing"},
                                                      {"DDP", "iWARP: direct data placement"},
                                                      {"RDM", "iWARP: RDMA protocol"},
                                                      {"NVME", "NVMe over RDMA"}}};

enum class CheckSeverity : std::uint8_t {
    low,     // of looks or of speed
    medium,  // the protocol is broken
    high,    // wrong data, a lost connection, security
};
inline constexpr std::array<std::string_view, 3> kCheckSeverityNames{"low", "medium", "high"};
[[nodiscard]] constexpr std::string_view name(CheckSeverity severity) {
    return kCheckSeverityNames[std::to_underlying(severity)];
}

enum class CheckModes : std::uint8_t {
    passive = 1,  // a capture is enough
    active = 2,   // a peer has to provoke it
    both = 3,
};

// What a row's rule is known from. A row may rest on several.
enum class BasisMark : std::uint8_t {
    source = 1,      // sources of Linux' drivers
    quoted = 2,      // a clause that is quoted in public, or named by a public test suite
    discussed = 4,   // a fix or a discussion on the list linux-rdma
    book = 8,        // Shanley, InfiniBand Network Architecture
    verified = 16,   // computed or seen independently
    published = 32,  // measurements or testers that were published
    memory = 64,     // remembered of the specification: to be verified
};
struct BasisMarks {
    std::uint8_t bits = 0;
    [[nodiscard]] constexpr bool has(BasisMark mark) const { return (bits & std::to_underlying(mark)) != 0; }
    [[nodiscard]] constexpr bool only_memory() const { return bits == std::to_underlying(BasisMark::memory); }
};

struct CheckRow {
    std::string_view id;
    CheckFamily family{};
    CheckModes modes{};
    std::string_view stimulus;  // what is looked at, or done to the device
    std::string_view expected;
    CheckSeverity severity{};
    std::string_view basis;  // clauses, or in words
    BasisMarks marks;
    bool dangerous = false;   // has brought devices down: runs last
    std::string_view exempt;  // why nobody checks it; empty: somebody does

    [[nodiscard]] constexpr bool passive() const {
        return (std::to_underlying(modes) & std::to_underlying(CheckModes::passive)) != 0;
    }
    [[nodiscard]] constexpr bool active() const {
        return (std::to_underlying(modes) & std::to_underlying(CheckModes::active)) != 0;
    }
};

inline constexpr std::size_t kCheckCount = 321;

// All of them, by family, in the order of their numbers.
[[nodiscard]] std::span<const CheckRow> checks();
// Nothing for a name that no check has. Ulp or lower case.
[[nodiscard]] const CheckRow* find_check(std::string_view id);
// Its place in checks().
[[nodiscard]] std::size_t place(const CheckRow& check);
// The marks in words: "source, quoted".
[[nodiscard]] std::string words(BasisMarks marks);

}  // namespace qps::transport::conformance
