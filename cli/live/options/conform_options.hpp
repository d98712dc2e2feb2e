// What a user may ask of `conform`: which scripts, or the suite, with which device.
#pragma once

#include <cli/options/option_table.hpp>
#include <transport-replay/model/address.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace qps::cli {

namespace headings {
inline constexpr std::string_view kScripts = "Scripts";
}

struct ConformVariable {
    std::string name;
    std::uint64_t value = 0;
};

struct ConformOptions {
    std::vector<std::string> scripts;          // files, or names of those that come with the program
    std::optional<transport::Address> device;  // --dut
    std::string agent_host;
    std::optional<std::uint16_t> agent_port;
    std::string agent_secret;           // itself, not the name of its file
    std::optional<std::uint16_t> port;  // where the device listens
    std::optional<dissect::Duration> patience;
    std::vector<ConformVariable> defined;
    std::optional<dissect::Duration> comes_back;  // how long a device that died is waited for
    bool list = false;
    bool coverage = false;
    bool iwarp = false;     // the suite of iWARP, over TCP
    bool nvme = false;      // that of NVMe over RDMA, as its host
    std::string subsystem;  // its name; empty: discovery
    std::string host;       // ours; empty: one that is always the same
    std::string script_of;  // a capture

    void add(OptionTable& table);

private:
    void add_device(OptionTable& table);
};

}  // namespace qps::cli
