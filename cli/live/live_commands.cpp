// The table of sub-commands that speak on a wire: names and summaries are those that qpscope lists.
#include <cli/live/live_commands.hpp>
#include <cli/live/options/wire_options.hpp>
#include <cli/message.hpp>
#include <cli/options/command_line.hpp>
#include <cli/wire_program.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace qps::cli {

namespace {

// The row that `name` has in kWireCommands; there must be one.
consteval Command wire_command(std::string_view name, std::string_view examples, Takes takes,
                               ExitCode (*run)(const Options&)) {
    const CommandName& row = *std::ranges::find(kWireCommands, name, &CommandName::name);
    return {row.name, row.group, row.summary, examples, takes, run};
}

constexpr std::array kCommands{
    wire_command(
        "peer",
        "  qpscope peer -i eth1 --address 10.77.0.9/24 rping                 # serve: rping -c -a 10.77.0.9\n"
        "  qpscope peer -i eth1 --address 10.77.0.9/24 rping 10.77.0.12 -n 10\n"
        "  qpscope peer -i eth1 -w session.pcapng --fault loss=3%,seed=7 sink\n"
        "  qpscope peer -i eth1 --address 10.77.0.9/24 ib_write_bw -s 4096    # serve: ib_write_bw -s 4096 -x 1 HOST\n"
        "  qpscope peer --via udp --address 127.0.0.1 echo                   # without root",
        {.live = true, .program = true}, run_peer),
    wire_command(
        "pingpong",
        "  qpscope pingpong -i eth1 -a 10.77.0.9/24                          # serve\n"
        "  qpscope pingpong -i eth1 -a 10.77.0.10/24 10.77.0.9               # measure all modes\n"
        "  qpscope pingpong -i eth1 10.77.0.9                                # with the system's address: TCP and UDP too\n"
        "  qpscope pingpong -i eth1 --sizes 8..64K -f csv 10.77.0.9 > sizes.csv\n"
        "  qpscope pingpong -i eth1 --only send-poll --seconds 10 -s 8 -f json 10.77.0.9\n"
        "  qpscope pingpong --via udp -a 127.0.0.2 127.0.0.1                 # without root\n\n"
        "The server listens on TCP and UDP too, at the same port number, where its address is the system's; where it is not, those\n"
        "modes are left out.",
        {.live = true, .pingpong = true}, run_pingpong),
    wire_command(
        "replay",
        "  qpscope replay -i eth1 trace.pcap                          # as it was recorded, frame by frame\n"
        "  qpscope replay -i eth1 --fast --loop 10 -Y 'infiniband.bth' trace.pcap\n"
        "  qpscope replay -i eth1 --speed 0.5 --rewrite 'ip 10.0.0.1=10.77.0.11' --rewrite 'dst-mac *=02:00:00:00:00:0b' trace.pcap\n"
        "  qpscope replay --rewrite 'qpn 0x11=0x42 at 10.0.0.2' --rewrite 'psn 0x11+1000' -w other.pcapng trace.pcap\n"
        "  qpscope replay --as requester -C 3 -i eth1 --address 10.77.0.9/24 --connect 10.77.0.12:4420 trace.pcap\n"
        "  qpscope replay --as responder -C 1 -i eth1 --address 10.77.0.9/24 --fast -f json trace.pcap\n\n"
        "With --as, the messages of that end are replayed in their order, with keys and addresses of the live peer in place of\n"
        "the recorded ones. Its answers are compared; differences make the exit code 1.\n\n"
        "Rewrite rules are OLD=NEW, where OLD may be * for any:\n"
        "  mac, src-mac, dst-mac      02:00:00:00:00:01=02:00:00:00:00:0b\n"
        "  ip, src-ip, dst-ip         10.0.0.1=10.77.0.11, 10.0.0.0/24=10.77.0.0/24; also in GIDs, ARP and CM messages\n"
        "  vlan                       5=7, none=7 (add a tag), *=none (remove it)\n"
        "  qpn, rkey                  17=0x42 or, for one host only, \"17=0x42 at 10.0.0.1\"\n"
        "  pkey                       0xffff=0x8001\n"
        "  psn                        17+1000 for packets to queue pair 17; *-5 for all\n"
        "Rules apply to packets as recorded; the first that matches wins. Checksums and ICRC are updated: right ones stay right.",
        {.replayed = true}, run_replay),
    wire_command(
        "send",
        "  qpscope send -i eth1 'RC_SEND_ONLY to 10.0.0.2 qp=17 psn=512 ackreq data=0011'\n"
        "  qpscope send -i eth1 'RC_SEND_ONLY to 10.0.0.2 qp=17 us=23 psn=512 ackreq' --expect 'RC_ACKNOWLEDGE psn=512'\n"
        "  qpscope send --via udp -a 127.0.0.2 'REQ to 127.0.0.1 service=0x0000000001060009' --expect 'REJ reason=8'\n"
        "  qpscope send --from trace.pcap --frame 12 -i eth1 'to 10.0.0.2 psn=513 bad_icrc'\n"
        "  qpscope send --from trace.pcap -a 10.0.0.1 -w one.pcapng 'psn=513'             # into a capture, not onto a wire\n\n"
        "A line is the name of the packet, `to ADDRESS`, `qp=N` (the queue pair it is for), `us=N` (ours, that answers go to) and the words of\n"
        "scripts (docs/scripts.md), which are those that `qpscope packets` prints, and the name of any field. What no word says is right:\n"
        "lengths, pad, checksums, ICRC. Exit code 1: what was expected did not come.",
        {.live = true, .sent = true}, run_send),
    wire_command(
        "conform",
        "  qpscope conform --dut 10.77.0.11 -i eth1 --agent 10.77.0.11                       # the suite\n"
        "  qpscope conform --dut 10.77.0.11 -i eth1 --agent 10.77.0.11 --only RSP --profile nic.profile\n"
        "  qpscope conform ... --recovery-time 3m --evidence packets -f html -o report.html\n"
        "  qpscope conform ... -f json -o new.json --compare old.json                        # between two firmwares\n"
        "  qpscope conform --iwarp --dut 10.77.0.11 --port 7174                              # an iWARP service: rping -s, ...\n"
        "  qpscope conform --nvme 10.77.0.11 -i eth1                                         # an NVMe over RDMA target\n"
        "  qpscope conform --coverage\n"
        "  qpscope conform --script rsp-05.script --dut 10.77.0.11 -i eth1 --agent 10.77.0.11\n"
        "  qpscope conform --script cm-05.script --dut 127.0.0.1 --via udp -a 127.0.0.2      # without root or agent\n"
        "  qpscope conform --list --script rsp-05.script\n"
        "  qpscope conform --script-of trace.pcapng -Y 'infiniband.bth.destqp in {17, 18}' -o again.script",
        {.live = true, .conform = true, .verdicts = true}, run_conform),
};
static_assert(kCommands.size() == kWireCommands.size());

}  // namespace

std::span<const Command> wire_commands() { return kCommands; }

int run_live(int argc, char** argv) {
    const std::string_view word = argc > 1 ? argv[1] : "";
    if (!word.starts_with('-') && !names_wire_command(argc, argv)) {
        std::string names;
        for (const CommandName& command : kWireCommands)
            names += fmt::format("{}{}", names.empty() ? "" : ", ", command.name);
        say("qpscope-live: {}: expected {}; run qpscope for all other commands\n",
            word.empty() ? "missing command" : fmt::format("not a command on a wire '{}'", word), names);
        return static_cast<int>(ExitCode::usage);
    }
    WireOptions wire;
    return run_program({.commands = wire_commands(),
                        .elsewhere = {},
                        .default_command = {},
                        .add_options = add_wire_options,
                        .check = check_wire_options,
                        .wire = &wire},
                       argc, argv);
}

}  // namespace qps::cli
