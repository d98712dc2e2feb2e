// Which packets are read, from where and how: what every command takes that reads captures.
#pragma once

#include <cli/options/option_table.hpp>
#include <dissect/base/types.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace qps::cli {

// What a process still does once it is in the sandbox (held_inputs.hpp).
struct Confinement {
    bool wanted = false;                 // the command only reads
    bool may_be_declined = false;        // by an option
    bool declined = false;               // which was given
    std::vector<std::string> also_read;  // files beside the inputs
    bool renames = false;                // files take their names at the end
    bool creates = false;                // files in a folder

    [[nodiscard]] bool holds() const { return wanted && !declined; }
};

// Standard input is a file or what another program writes. (A device is none: /dev/null of a service, a terminal.)
[[nodiscard]] bool has_standard_input();

struct InputOptions {
    std::vector<std::string> files;  // "-" is standard input
    std::string interface;           // live capture, instead of files
    std::string capture_filter;      // BPF, for libpcap
    std::uint64_t count = 0;         // stop after so many packets; 0: all
    std::size_t jobs = 0;            // 0: as many as there are processors
    dissect::BitsPerSecond link_speed{};
    std::vector<std::uint16_t> roce_ports;     // beside 4791
    std::optional<std::uint8_t> uet_protocol;  // of IP
    bool in_order = false;                     // files as they are given, not by the times of their packets
    bool by_time = false;                      // all files as one, in the order of their times
    std::vector<std::pair<std::string, dissect::Duration>> offsets;  // added to the times of a file
    bool no_progress = false;
    Confinement confinement;

    [[nodiscard]] dissect::Duration offset_of(const std::string& file) const;

    // Captures, or one of interfaces; there must be one, unless the function says that none is needed.
    void add(OptionTable& table, std::function<bool()> needed = {});
    void add_progress(OptionTable& table);
    void add_clocks(OptionTable& table);  // of several files
    // The command only reads.
    void add_sandbox(OptionTable& table);
    // The same of a command that reads captures at times alone: what the options leave it to do.
    void confine(const OptionTable& table);
};

}  // namespace qps::cli
