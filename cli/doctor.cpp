// `doctor`: what this machine can do for qpscope, and what to do about what it cannot: rights to capture, interfaces
// with their timestamps and offloads, RDMA devices, programs beside us. It looks, and changes nothing.
//
// Where something could not be looked at it says so: a question without an answer is no good news.
#include <cli/commands.hpp>
#include <cli/decoding.hpp>
#include <cli/options/output_options.hpp>
#include <cli/sheet.hpp>
#include <dissect/capture/descriptor.hpp>
#include <transport-replay/capture/interfaces.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <linux/capability.h>
#include <linux/ethtool.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sandbox/sandbox.hpp>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace qps::cli {

using namespace transport;
using dissect::Descriptor;

namespace {

namespace fs = std::filesystem;

enum class Health : std::uint8_t { fine, note, missing, unknown };
constexpr std::array<std::string_view, 4> kHealthWords{"ok", "note", "missing", "unknown"};

struct Diagnosis {
    std::string subject;  // "rights", "eth0", "mlx5_0 port 1"
    std::string what;     // "hardware timestamps"
    Health health{};
    std::string found{};
    std::string advice{};  // empty: nothing to do
};

constexpr std::array kDiagnosisColumns{
    TableColumn<Diagnosis>{"subject", "subject", Side::left,
                           [](const Diagnosis& row) { return text_cell(row.subject); }},
    TableColumn<Diagnosis>{"what", "what", Side::left, [](const Diagnosis& row) { return text_cell(row.what); }},
    TableColumn<Diagnosis>{
        "state", "state", Side::left,
        [](const Diagnosis& row) { return text_cell(kHealthWords[static_cast<std::size_t>(row.health)]); }},
    TableColumn<Diagnosis>{"found", "found", Side::left, [](const Diagnosis& row) { return text_cell(row.found); }},
    TableColumn<Diagnosis>{"advice", "", Side::left, [](const Diagnosis& row) { return text_cell(row.advice); }},
};

constexpr std::size_t kMostInterfaces = 256;  // a machine with more has them for containers

// The first line of a file of /sys or /proc; nothing where it cannot be read.
std::optional<std::string> line_of(const fs::path& path) {
    std::ifstream file(path);
    std::string line;
    if (!std::getline(file, line)) return std::nullopt;
    return line;
}

std::vector<std::string> names_in(const fs::path& folder) {
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end && names.size() < kMostInterfaces;
         at.increment(error))
        names.push_back(at->path().filename().string());
    std::ranges::sort(names);
    return names;
}

// A program on the path of the user; empty: there is none.
std::string program_on_path(std::string_view name) {
    const char* path = std::getenv("PATH");
    std::string_view folders = path == nullptr ? "" : path;
    while (!folders.empty()) {
        const std::string_view folder = folders.substr(0, folders.find(':'));
        folders.remove_prefix(std::min(folder.size() + 1, folders.size()));
        std::string file = fmt::format("{}/{}", folder, name);
        if (access(file.c_str(), X_OK) == 0) return file;
    }
    return {};
}

// The recorder: beside this program, where packages put it, or on the path.
std::string recorder_program() {
    std::error_code error;
    const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
    for (const fs::path& file : {here / "qpscope-capture", here / ".." / "libexec" / "qpscope-capture"})
        if (access(file.c_str(), X_OK) == 0) return fs::weakly_canonical(file, error).string();
    return program_on_path("qpscope-capture");
}

bool has_capability(unsigned capability) {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> data{};
    if (syscall(SYS_capget, &header, data.data()) != 0) return false;
    return (data[capability / 32].effective >> capability % 32 & 1U) != 0;
}

void examine_rights(std::vector<Diagnosis>& rows) {
    const bool raw = has_capability(CAP_NET_RAW);
    const std::string recorder = recorder_program();
    rows.push_back({"rights", "capture from an interface", raw ? Health::fine : Health::missing,
                    raw ? "CAP_NET_RAW" : "no CAP_NET_RAW",
                    raw ? "" : "Run as root, or record with qpscope-capture or dumpcap and read the file."});
    if (recorder.empty()) {
        rows.push_back({"rights", "recorder of the window", Health::missing,
                        "qpscope-capture is not installed, or you may not run it",
                        "Install qpscope-capture: the window and users without rights record with it."});
    } else {
        const bool granted = getxattr(recorder.c_str(), "security.capability", nullptr, 0) > 0 || raw;
        rows.push_back(
            {"rights", "recorder of the window", granted ? Health::fine : Health::missing, recorder,
             granted ? ""
                     : fmt::format("Let it capture: setcap cap_net_raw=ep {}, or dpkg-reconfigure qpscope-capture.",
                                   recorder)});
    }
    const bool confined = sandbox::is_possible();
    rows.push_back(
        {"rights", "sandbox", confined ? Health::fine : Health::note, confined ? "seccomp" : "not in this build", ""});
}

// The requests of ethtool for one interface.
class Ethtool {
public:
    explicit Ethtool(std::string_view interface) : socket_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), true) {
        interface.copy(request_.ifr_name, sizeof(request_.ifr_name) - 1);
    }
    template <class Answer> [[nodiscard]] bool ask(Answer& answer) {
        request_.ifr_data = reinterpret_cast<char*>(&answer);
        return socket_.number() >= 0 && ioctl(socket_.number(), SIOCETHTOOL, &request_) == 0;
    }
    [[nodiscard]] std::optional<bool> flag(std::uint32_t command, std::uint32_t mask = 1) {
        ethtool_value value{command, 0};
        if (!ask(value)) return std::nullopt;
        return (value.data & mask) != 0;
    }

private:
    Descriptor socket_;
    ifreq request_{};
};

void examine_timestamps(std::vector<Diagnosis>& rows, const std::string& name, Ethtool& ethtool) {
    ethtool_ts_info info{};
    info.cmd = ETHTOOL_GET_TS_INFO;
    Diagnosis row{name, "hardware timestamps", Health::unknown, "the driver does not say", ""};
    if (ethtool.ask(info)) {
        const bool stamps = (info.so_timestamping & SOF_TIMESTAMPING_RX_HARDWARE) != 0;
        const bool all = (info.rx_filters & 1U << HWTSTAMP_FILTER_ALL) != 0;
        row.health = stamps && all ? Health::fine : Health::note;
        row.found = !stamps ? "none: times are those of the kernel" : all ? "of every packet" : "of PTP packets alone";
        if (!stamps || !all)
            row.advice = "Do not trust differences below some microseconds; record where hardware stamps every packet.";
    }
    rows.push_back(std::move(row));
}

void examine_offloads(std::vector<Diagnosis>& rows, const std::string& name, Ethtool& ethtool) {
    const auto large = ethtool.flag(ETHTOOL_GFLAGS, ETH_FLAG_LRO), generic = ethtool.flag(ETHTOOL_GGRO);
    Diagnosis row{name, "receive offloads", Health::unknown, "the driver does not say", ""};
    if (large || generic) {
        const bool joined = large.value_or(false) || generic.value_or(false);
        row.health = joined ? Health::note : Health::fine;
        row.found =
            fmt::format("LRO {}, GRO {}", large.value_or(false) ? "on" : "off", generic.value_or(false) ? "on" : "off");
        if (joined)
            row.advice = fmt::format(
                "For iWARP switch them off, since they join segments: ethtool -K {} lro off gro off rx-gro-hw off.",
                name);
    }
    rows.push_back(std::move(row));
    if (const auto tags = ethtool.flag(ETHTOOL_GFLAGS, ETH_FLAG_RXVLAN); tags.value_or(false))
        rows.push_back(
            {name, "VLAN tags", Health::note, "taken off by the hardware",
             fmt::format("The kernel gives them back to captures; if tags are missing: ethtool -K {} rxvlan off.",
                         name)});
}

std::string kind_of(const std::string& name) {
    const auto type = line_of("/sys/class/net/" + name + "/type").value_or("");
    if (type == std::to_string(ARPHRD_ETHER)) return "Ethernet";
    if (type == std::to_string(ARPHRD_INFINIBAND)) return "IPoIB";
    if (type == std::to_string(ARPHRD_LOOPBACK)) return "loopback";
    return "type " + type;
}

void examine_interface(std::vector<Diagnosis>& rows, const std::string& name) {
    const fs::path folder = "/sys/class/net/" + name;
    const std::string kind = kind_of(name), state = line_of(folder / "operstate").value_or("unknown");
    const std::string mtu = line_of(folder / "mtu").value_or("?");
    const auto speed = line_of(folder / "speed");
    const bool up = state == "up" || state == "unknown";
    rows.push_back(
        {name, "link", up ? Health::fine : Health::note,
         fmt::format("{}, {}, MTU {}{}", kind, state, mtu,
                     speed && !speed->starts_with('-') ? fmt::format(", {} Mbit/s", *speed) : ""),
         kind == "IPoIB" ? "IPoIB alone is seen here, not the RDMA beside it: capture from the RDMA device." : ""});
    if (kind != "Ethernet") return;
    Ethtool ethtool(name);
    examine_timestamps(rows, name, ethtool);
    examine_offloads(rows, name, ethtool);
}

// "4: ACTIVE" of /sys is "ACTIVE".
std::string behind_colon(const std::string& text) {
    const std::size_t colon = text.find(": ");
    return colon == std::string::npos ? text : text.substr(colon + 2);
}

void examine_device(std::vector<Diagnosis>& rows, const std::string& name, const std::vector<std::string>& sources) {
    const fs::path folder = "/sys/class/infiniband/" + name;
    std::error_code error;
    const std::string driver = fs::read_symlink(folder / "device" / "driver", error).filename().string();
    for (const std::string& port : names_in(folder / "ports")) {
        const fs::path at = folder / "ports" / port;
        const std::string state = behind_colon(line_of(at / "state").value_or("unknown"));
        rows.push_back({fmt::format("{} port {}", name, port), "RDMA port",
                        state == "ACTIVE" ? Health::fine : Health::note,
                        fmt::format("{}, {}, {}{}", line_of(at / "link_layer").value_or("?"), state,
                                    line_of(at / "rate").value_or("?"),
                                    line_of(folder / "fw_ver") ? ", firmware " + *line_of(folder / "fw_ver") : ""),
                        state == "ACTIVE" ? "" : "Check cable, switch port and (of InfiniBand) the subnet manager."});
    }
    const bool software = driver.empty() && fs::exists(folder / "parent", error);
    const bool sniffs = std::ranges::find(sources, name) != sources.end();
    Diagnosis row{name, "capture of its traffic", Health::fine, "", ""};
    if (software) {
        row.found = "soft-RoCE or siw: the kernel sees every packet";
        row.advice = fmt::format("Capture from {}.", line_of(folder / "parent").value_or("its network interface"));
    } else if (sniffs) {
        row.found = "sniffer of libpcap";
        row.advice = fmt::format(
            "qpscope analyze -i {}, or tcpdump -i {} -w trace.pcap (RoCE of mlx5: both directions).", name, name);
    } else {
        row.health = Health::missing;
        row.found = "hardware: its RDMA passes the kernel by";
        row.advice = driver == "mlx5_core"
                         ? "Use a libpcap with RDMA sniffer (tcpdump -D lists the device), or mirror the switch port."
                         : "Mirror the switch port, or use a tap.";
    }
    rows.push_back(std::move(row));
}

void examine_programs(std::vector<Diagnosis>& rows) {
    struct Program {
        std::string_view name;
        std::string_view use;
        std::string_view advice;
    };
    constexpr std::array kPrograms{
        Program{"wireshark", "opens annotated captures",
                "Install wireshark for annotated captures (qpscope annotate)."},
        Program{"tshark", "reads annotated captures in scripts", "Install tshark for annotated captures in scripts."},
        Program{"rdma", "counters that advice names", "Install iproute2: findings name counters of `rdma statistic`."},
        Program{"ethtool", "counters that advice names", "Install ethtool: findings name counters of `ethtool -S`."},
    };
    for (const Program& program : kPrograms) {
        const std::string path = program_on_path(program.name);
        rows.push_back({std::string(program.name), std::string(program.use), path.empty() ? Health::note : Health::fine,
                        path.empty() ? "not installed" : path, path.empty() ? std::string(program.advice) : ""});
    }
}

std::vector<Diagnosis> examine() {
    std::vector<Diagnosis> rows;
    examine_rights(rows);
    rows.push_back({"memory", "for an analysis", Health::fine, bytes_text(MemoryBudget::of_machine().bytes()),
                    "--memory grants another amount."});
    for (const std::string& name : names_in("/sys/class/net"))
        if (fs::is_directory("/sys/class/net/" + name)) examine_interface(rows, name);
    const std::vector<std::string> sources = capture_sources();
    const std::vector<std::string> devices = names_in("/sys/class/infiniband");
    for (const std::string& name : devices) examine_device(rows, name, sources);
    if (devices.empty())
        rows.push_back({"RDMA", "devices", Health::note, "none",
                        "Load the driver of the NIC, or try soft-RoCE: rdma link add rxe0 type rxe netdev IF."});
    examine_programs(rows);
    return rows;
}

Tone tone_of(Health health) {
    return health == Health::missing ? Tone::error : health == Health::fine ? Tone::plain : Tone::warning;
}

struct DoctorOptions {
    OutputOptions output;

    void add(OptionTable& table) {
        output.add_format(table);
        output.add_path(table);
    }
};

ExitCode run_doctor(const DoctorOptions& options) {
    Output output(options.output.path);
    if (!output.ok()) return finish(output);
    const std::span<const TableColumn<Diagnosis>> columns = kDiagnosisColumns;
    Sheet sheet(options.output, output, "diagnoses", columns);
    const std::vector<Diagnosis> rows = examine();
    for (const Diagnosis& row : rows) {
        sheet.add(columns, row, tone_of(row.health));
        if (!row.advice.empty()) sheet.remark("    -> " + row.advice);
    }
    sheet.end();
    return finish(output);
}

}  // namespace

const Command kDoctorCommand{"doctor", kOnAWire,
                             "Tell what this machine can do: rights, interfaces, timestamps, offloads, RDMA devices",
                             "  qpscope doctor\n"
                             "  sudo qpscope doctor                        # what drivers tell root alone\n"
                             "  qpscope doctor -f json | jq '.diagnoses[] | select(.state == \"missing\")'",
                             prepared<DoctorOptions, run_doctor>};

}  // namespace qps::cli
