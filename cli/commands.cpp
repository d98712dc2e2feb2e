// The table of sub-commands.
#include <cli/command.hpp>
#include <cli/commands.hpp>

#include <array>

namespace qps::cli {

namespace {

constexpr std::array kCommands{
    Command{"analyze",
            kAnalyse,
            "Summarise a capture: quality, connections, messages, losses, findings",
            "  qpscope analyze trace.pcapng\n"
            "  qpscope analyze -f json ring_00001.pcap ring_00002.pcap    # rotated files of one capture\n"
            "  qpscope analyze --fail-on error trace.pcap || echo broken\n"
            "  qpscope analyze -i eth0                                    # until Ctrl-C\n"
            "  qpscope analyze --part 1/4 -o part-1.qpp trace.pcap        # a quarter of the work: see qpscope merge",
            {.captures = true, .analysis = true, .nccl_log = true, .divided = true, .sandbox = true},
            run_analyze},
    Command{"findings",
            kAnalyse,
            "List what went wrong, with evidence and advice; --list shows all findings known",
            "  qpscope findings trace.pcap\n"
            "  qpscope findings --fail-on warning -f ndjson trace.pcap\n"
            "  qpscope findings --markdown -C 3 trace.pcap > ticket.md    # a ticket for each finding\n"
            "  qpscope findings -i eth0                                   # each as it happens\n"
            "  qpscope findings --list                                    # every finding and what it means",
            {.captures = true, .analysis = true, .nccl_log = true, .tickets = true, .sandbox = true},
            run_findings},
    Command{
        "connections",
        kAnalyse,
        "List connections; --performance tells which are slow, --match those that a log line is about",
        "  qpscope connections trace.pcap\n"
        "  qpscope connections --performance --sort p99 trace.pcap    # the slowest first\n"
        "  qpscope connections --by-host trace.pcap                   # who sent how much to whom\n"
        "  qpscope connections --match 'Got completion from peer 10.1.2.3<34543> with status=12 vendor err 129' trace.pcap",
        {.captures = true, .analysis = true, .log_line = true, .sandbox = true},
        run_connections},
    Command{"messages",
            kAnalyse,
            "List messages: type, size, latency, outcome",
            "  qpscope messages -C 3 trace.pcap\n  qpscope messages -f tsv trace.pcap > messages.tsv\n\n"
            "Rows are in the order in which messages end; open ones come last.",
            {.captures = true, .analysis = true, .sandbox = true},
            run_messages},
    Command{
        "operations",
        kAnalyse,
        "Count and time operations of storage and file protocols (NVMe, iSER, NFS, ...)",
        "  qpscope operations trace.pcap\n"
        "  qpscope operations --list --slower-than 10ms trace.pcap\n"
        "  qpscope operations --list --failed --protocol nvme -f csv trace.pcap > failed.csv\n"
        "  qpscope operations --decode-as 3=nvme,4=nvme --operation Read trace.pcap\n\n"
        "The latency of an operation that moved data has three parts: wait (until its data starts), transfer, complete (until the answer).",
        {.captures = true, .analysis = true, .operations = true, .sandbox = true},
        run_operations},
    Command{
        "timeline",
        kAnalyse,
        "Count per interval: bytes, retransmissions, NAKs, CE, CNPs, pauses",
        "  qpscope timeline trace.pcap\n  qpscope timeline --interval 100us -f csv -C 3 trace.pcap > rate.csv\n"
        "  qpscope timeline -e 'udp.srcport == 49152' -e 'ip.dsfield.ecn == 3' trace.pcap    # a column for each filter",
        {.captures = true, .analysis = true, .interval = true, .sandbox = true},
        run_timeline},
    Command{"cm",
            kAnalyse,
            "Show how connections were set up and torn down",
            "  qpscope cm trace.pcap\n  qpscope cm -C 3 -f json trace.pcap",
            {.captures = true, .analysis = true, .sandbox = true},
            run_cm},
    Command{"fabric",
            kAnalyse,
            "Map the fabric from management datagrams: nodes, links, managers, counters, traps",
            "  qpscope fabric sweep.pcap\n"
            "  qpscope fabric -f csv sweep.pcap > ports.csv\n"
            "  qpscope fabric --route 1 3 sweep.pcap\n"
            "  qpscope fabric --dot sweep.pcap | dot -Tsvg > fabric.svg",
            {.captures = true, .picture = true, .sandbox = true},
            run_fabric},
    Command{
        "check",
        kAnalyse,
        "Check a capture against every protocol rule that a capture can decide",
        "  qpscope check trace.pcap\n"
        "  qpscope check --all --only FMT,RSP-02 trace.pcap\n"
        "  qpscope check --profile nic.profile --fail-on high trace.pcap || echo broken\n"
        "  qpscope check --device 10.0.0.2 trace.pcap                          # what this host did, not its peers\n"
        "  qpscope check -f html -o report.html --evidence packets trace.pcap\n"
        "  qpscope check -f json -o new.json --compare old.json trace.pcap     # between two firmwares\n\n"
        "A profile has lines such as: name My NIC; declares ooo; deviation FMT-08 = ticket 4711",
        {.captures = true, .verdicts = true, .sandbox = true},
        run_check},
    Command{
        "export",
        kAnalyse,
        "Write connections, messages, operations, findings and counters as tables: SQLite, CSV, NDJSON",
        "  qpscope export --sqlite out.db trace.pcap\n"
        "  qpscope export --sqlite out.db --packets trace.pcap        # with a row for each packet\n"
        "  qpscope export -f csv -o tables trace.pcap                 # tables/connections.csv, tables/messages.csv, ...\n"
        "  qpscope export --schema                                    # the tables and columns, and what they mean",
        {.captures = true, .analysis = true, .nccl_log = true, .interval = true, .tables = true, .sandbox = true},
        run_export},
    Command{
        "merge",
        kAnalyse,
        "Join the parts of an analysis that several machines made, and print what the whole capture shows",
        "  qpscope analyze --part 1/2 -o part-1.qpp trace.pcap        # on one machine\n"
        "  qpscope analyze --part 2/2 -o part-2.qpp trace.pcap        # on another\n"
        "  qpscope merge part-*.qpp\n"
        "  qpscope merge --as findings --fail-on error -f ndjson part-*.qpp\n"
        "  qpscope merge --as check --device 10.0.0.2 part-*.qpp      # of parts made with analyze --checks\n"
        "  qpscope merge --as part -o half.qpp part-[12].qpp          # of more: joined in steps\n"
        "  qpscope merge node-*.qpp                                   # of hosts: analyze --host node-1 -o node-1.qpp node-1.pcap",
        {.nccl_log = true, .parts = true, .sandbox = true},
        run_merge},
    Command{"info",
            kLookAt,
            "Print the format, packet counts and ICRC verdicts of captures",
            "  qpscope info trace.pcapng\n  qpscope info -f json *.pcap\n  tcpdump -w - | qpscope info -",
            {.captures = true, .long_report = true, .sandbox = true},
            run_info},
    Command{
        "packets",
        kLookAt,
        "Print packets, one line each, or write them to a capture",
        "  qpscope packets trace.pcap\n"
        "  qpscope packets -Y 'infiniband.aeth.syndrome.opcode == NAK' trace.pcap\n"
        "  qpscope packets --since '2026-11-21 01:14:08' --until '2026-11-21 01:14:09' trace.pcap\n"
        "  qpscope packets -f tsv -e frame.number -e infiniband.bth.psn trace.pcap > psn.tsv\n"
        "  qpscope packets -i eth0 --capture-filter 'udp port 4791'\n"
        "  qpscope packets -Y 'rdma.retransmission or rdma.psn_missing' trace.pcap\n"
        "  qpscope packets -Y 'rdma.icrc.status == bad' -w damaged.pcapng trace.pcap\n\n"
        "rdma.connection, rdma.retransmission and the like (`qpscope fields 'earlier packets'`) have what is known when the packet\n"
        "is read. They need a single thread, and make several files pieces of one capture. To hand a connection on, take\n"
        "`qpscope extract -C 3`: its CM handshake is of queue pair 1, and not of rdma.connection == 3.",
        {.captures = true, .columns = true, .written = true, .sandbox = true},
        run_packets},
    Command{
        "show",
        kLookAt,
        "Print the field tree and bytes of selected packets",
        "  qpscope show 17 trace.pcap\n  qpscope show -n 3-5 -f json trace.pcap\n  qpscope show -Y 'rdma.icrc.status == bad' trace.pcap",
        {.captures = true, .frames = true, .sandbox = true},
        run_show},
    Command{"follow",
            kLookAt,
            "Print the payload of a connection's messages",
            "  qpscope follow 3 trace.pcap\n  qpscope follow 3 --raw --from a -o sent.bin trace.pcap",
            {.captures = true, .analysis = true, .followed = true, .sandbox = true},
            run_follow},
    Command{"fields",
            kLookAt,
            "List the fields for filters and columns, with type and meaning",
            "  qpscope fields\n  qpscope fields aeth\n  qpscope fields -f tsv psn",
            {.pattern = true},
            run_fields},
    Command{"report",
            kHandOn,
            "Write a report as one HTML file: findings with evidence, pictures over time, connections",
            "  qpscope report -o report.html trace.pcap\n"
            "  qpscope report -o report.html ring_*.pcap                  # rotated files of one capture\n"
            "  qpscope report trace.pcap > report.html\n"
            "  qpscope report --pdf report.pdf trace.pcap                 # on paper, by Chromium\n\n"
            "The file needs no network and no script; with scripts, tables can be sorted.",
            {.captures = true, .analysis = true, .nccl_log = true, .page = true, .sandbox = true},
            run_report},
    Command{
        "extract",
        kHandOn,
        "Write the packets of a connection or a finding, with its set-up, to a capture",
        "  qpscope extract -C 3 -o three.pcapng trace.pcap\n"
        "  qpscope extract --finding go-back-n-loss --around 50ms -o loss.pcapng trace.pcap\n"
        "  qpscope extract -C 3 --finding 2 --around 50ms -o slice.pcapng ring_*.pcap     # rotated files of one capture\n"
        "  qpscope extract --finding 1 --around 1ms --everything -o all.pcapng trace.pcap\n\n"
        "The set-up and the end of the connection are kept however far away they are, and so is what proves the finding. Packets,\n"
        "times, interfaces and comments stay as they are. The capture is read twice, so it must be in files.",
        {.captures = true, .analysis = true, .extracted = true, .saved = true, .sandbox = true},
        run_extract},
    Command{
        "annotate",
        kHandOn,
        "Write a capture with what happened to its packets as comments, for Wireshark",
        "  qpscope annotate -o annotated.pcapng trace.pcap\n"
        "  qpscope annotate --findings-only -o annotated.pcapng trace.pcap\n"
        "  qpscope annotate --hosts /etc/hosts -o annotated.pcapng ring_*.pcap     # rotated files of one capture\n"
        "  tshark -r annotated.pcapng -Y 'frame.comment contains \"retransmission\"'\n\n"
        "Packets stay as they are, byte for byte. Retransmissions, gaps, timeouts, findings, set-up and the end of messages are\n"
        "comments of packets; the findings are the comment of the capture. qpscope.lua makes filters and columns of them:\n"
        "  wireshark -X lua_script:qpscope.lua annotated.pcapng",
        {.captures = true, .analysis = true, .nccl_log = true, .annotated = true, .saved = true, .sandbox = true},
        run_annotate},
    Command{
        "anonymize",
        kHandOn,
        "Write a capture with other addresses, keys and names, and without payload",
        "  qpscope anonymize -o clean.pcapng trace.pcap\n"
        "  qpscope anonymize --map map.json -o clean.pcapng trace.pcap               # the map stays with you\n"
        "  qpscope anonymize --payload cut --keep-vendor -o clean.pcapng trace.pcap\n"
        "  qpscope anonymize --key-file key -o clean.pcapng ring_*.pcap                # a key of openssl rand -hex 32\n\n"
        "IP addresses keep their common prefixes (Crypto-PAn). MAC addresses, GIDs, GUIDs, LIDs, keys of memory, partitions and queues,\n"
        "addresses of memory, NQNs, IQNs, names of hosts, services and files are each replaced by the same other one everywhere.\n"
        "What no header explains becomes zero. Numbers of queue pairs and ports, sizes and times stay. Checksums, ICRCs and VCRCs\n"
        "are made right again where they were right; of a wrong one nothing is left but that it was wrong, or 0.",
        {.captures = true, .analysis = true, .anonymized = true, .saved = true, .sandbox = true},
        run_anonymize},
    Command{"doctor",
            kOnAWire,
            "Tell what this machine can do: rights, interfaces, timestamps, offloads, RDMA devices",
            "  qpscope doctor\n"
            "  sudo qpscope doctor                        # what drivers tell root alone\n"
            "  qpscope doctor -f json | jq '.diagnoses[] | select(.state == \"missing\")'",
            {},
            run_doctor},
};

}  // namespace

std::span<const Command> commands() { return kCommands; }

}  // namespace qps::cli
