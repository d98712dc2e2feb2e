#include <cli/export_schema.hpp>
#include <transport-replay/model/renamed.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace qps::cli {

namespace {

constexpr auto kInteger = ColumnType::integer;
constexpr auto kText = ColumnType::text;

constexpr std::array kConnectionColumns{
    SchemaColumn{"uid", kInteger, "number, from 1 in the order in which connections began"},
    SchemaColumn{"service", kText, "RC, UC, UD, XRC, RD, iWARP or UET"},
    SchemaColumn{"a_address", kText, "address of end a, which was seen first"},
    SchemaColumn{"a_qpn", kInteger, "its queue pair number, of iWARP its TCP port, of UET its packet delivery context"},
    SchemaColumn{"b_address", kText, "address of end b"},
    SchemaColumn{"b_qpn", kInteger, "its queue pair number or TCP port"},
    SchemaColumn{"confidence", kText,
                 "how sure it is that the two ways belong together: none, likely, strong, certain"},
    SchemaColumn{"protocol", kText, "upper protocol, where it was recognised"},
    SchemaColumn{"protocol_basis", kText, "by what: content, service, private_data, user"},
    SchemaColumn{"protocol_certainty_percent", kInteger, "and how certain that is"},
    SchemaColumn{"packets", kInteger, "packets of both ways, CNPs included"},
    SchemaColumn{"bytes", kInteger, "their bytes on the wire"},
    SchemaColumn{"messages", kInteger, "distinct messages"},
    SchemaColumn{"latency_p50_ns", kInteger, "from the first packet of a message to its answer: the median"},
    SchemaColumn{"latency_p99_ns", kInteger, "99 of 100 took no longer"},
    SchemaColumn{"latency_max_ns", kInteger, "the longest"},
    SchemaColumn{"goodput_bits_per_second", kInteger, "payload of messages over the time from first to last packet"},
    SchemaColumn{"depth", kInteger, "most messages of one end outstanding at once"},
    SchemaColumn{"stalled_ns", kInteger, "time without progress until a retransmission, in sum"},
    SchemaColumn{"stalled_timeout_ns", kInteger, "of it before ACK timeouts"},
    SchemaColumn{"stalled_rnr_nak_ns", kInteger, "after RNR NAKs"},
    SchemaColumn{"stalled_sequence_nak_ns", kInteger, "after NAKs for a PSN sequence error"},
    SchemaColumn{"stalled_read_retry_ns", kInteger, "until the rest of a READ was requested again"},
    SchemaColumn{"stalled_undecided_ns", kInteger, "by a NAK or a timer: undecided"},
    SchemaColumn{"retransmitted_packets", kInteger, "request packets whose PSN had been on the wire before"},
    SchemaColumn{"sequence_naks", kInteger, "NAKs for a PSN sequence error"},
    SchemaColumn{"rnr_naks", kInteger, "RNR NAKs"},
    SchemaColumn{"fatal_naks", kInteger, "NAKs that end the connection"},
    SchemaColumn{"timeouts", kInteger, "ACK timeouts; none of an end whose answers could not be read"},
    SchemaColumn{
        "lost_by_network", kInteger,
        "packets that neither the tap nor the receiver had, those that were sent again and lost again among them"},
    SchemaColumn{"lost_behind_tap", kInteger,
                 "packets that passed the tap, and a NAK asked for: one for each NAK, so at least"},
    SchemaColumn{"lost_by_tap", kInteger, "packets that only the capture lacks"},
    SchemaColumn{"ce_marked", kInteger, "packets with a congestion mark"},
    SchemaColumn{"cnps", kInteger, "congestion notifications"},
    SchemaColumn{"rate_follows", kText,
                 "what made its ends slow down: cnps, round_trips, grants, nothing; absent where undecided"},
    SchemaColumn{"dscp", kText, "traffic classes, of both ends where they differ"},
    SchemaColumn{"udp_source_ports", kText, "of both ends where they differ"},
    SchemaColumn{"path_mtu_bytes", kInteger, "path MTU, where it is known"},
    SchemaColumn{"first_frame", kInteger, "number of its first packet"},
    SchemaColumn{"first_ns", kInteger, "and its time"},
    SchemaColumn{"last_ns", kInteger, "time of its last packet"},
    SchemaColumn{"state", kText, "open, released, failed, gave up, one way"},
};
constexpr std::array kMessageColumns{
    SchemaColumn{"number", kInteger, "counted from 1 in the order in which messages end: rdma.message of filters"},
    SchemaColumn{"connection", kInteger, "its connection", "connections"},
    SchemaColumn{"requester", kText, "the end that requested it: a or b"},
    SchemaColumn{"from", kText, "address and queue pair of the requester"},
    SchemaColumn{"to", kText, "address and queue pair of the other end"},
    SchemaColumn{"kind", kText, "send, write, write_imm, read, atomic, flush, atomic_write"},
    SchemaColumn{"verb", kText, "in the words of the specification"},
    SchemaColumn{"first_psn", kInteger, "PSN of its first packet"},
    SchemaColumn{"last_psn", kInteger, "PSN of its last packet"},
    SchemaColumn{"bytes", kInteger, "payload"},
    SchemaColumn{"packets", kInteger, "request packets, retransmissions left out"},
    SchemaColumn{"retransmissions", kInteger, "request packets that were retransmitted"},
    SchemaColumn{"missing", kInteger, "packets that the capture lacks"},
    SchemaColumn{"first_ns", kInteger, "time of its first packet"},
    SchemaColumn{"duration_ns", kInteger, "from its first to its last packet"},
    SchemaColumn{"latency_ns", kInteger, "from its first packet to its answer; absent without an answer"},
    SchemaColumn{
        "outcome", kText,
        "completed, sent (nobody answers), failed and why, abandoned (with one that failed), unanswered (until its connection was taken down), open"},
    SchemaColumn{"nak_code", kInteger, "of one that a NAK failed"},
    SchemaColumn{"status", kInteger, "of its completion, where that is known and an error: an ibv_wc_status"},
    SchemaColumn{"address", kInteger, "remote address of READ, WRITE and ATOMIC"},
    SchemaColumn{"rkey", kInteger, "and its R_Key"},
    SchemaColumn{"length_bytes", kInteger, "DMA length"},
    SchemaColumn{"swap_or_add", kInteger, "operand of an ATOMIC"},
    SchemaColumn{"compare", kInteger, "operand of a compare and swap"},
    SchemaColumn{"atomic_result", kInteger, "what an ATOMIC returned"},
    SchemaColumn{"immediate", kInteger, "immediate data"},
    SchemaColumn{"invalidate", kInteger, "R_Key that it invalidates"},
    SchemaColumn{"first_frame", kInteger, "number of its first packet"},
    SchemaColumn{"last_frame", kInteger, "number of its last packet"},
    SchemaColumn{"answer_frame", kInteger, "number of the packet that answered it"},
    SchemaColumn{"protocol", kText, "upper protocol that it belongs to"},
    SchemaColumn{"operation", kText, "operation of that protocol"},
    SchemaColumn{"operation_tag", kInteger, "by which the protocol tells its operations apart"},
    SchemaColumn{"operation_part", kText, "what it is of the operation: request, data, answer"},
};
constexpr std::array kOperationColumns{
    SchemaColumn{"connection", kInteger, "its connection", "connections"},
    SchemaColumn{"requester", kText, "the end that asked: a or b"},
    SchemaColumn{"from", kText, "address and queue pair of who asked"},
    SchemaColumn{"to", kText, "address and queue pair of who was asked"},
    SchemaColumn{"protocol", kText, "nvme, iser, srp, nfs, smb, ..."},
    SchemaColumn{"operation", kText, "Read, Write, ... in the protocol's words"},
    SchemaColumn{"tag", kInteger, "by which the protocol tells its operations apart"},
    SchemaColumn{"subject", kText, "what it is about: namespace and LBA, LUN, path"},
    SchemaColumn{"file", kText, "the file, where the protocol names one"},
    SchemaColumn{"bytes", kInteger, "data that moved"},
    SchemaColumn{"requested_bytes", kInteger, "data that it asked to be moved"},
    SchemaColumn{"inline_bytes", kInteger, "data in its own message"},
    SchemaColumn{"written_bytes", kInteger, "data in WRITEs"},
    SchemaColumn{"read_bytes", kInteger, "data in READs"},
    SchemaColumn{"transfers", kInteger, "WRITEs and READs"},
    SchemaColumn{"outstanding", kInteger, "operations of its requester under way when it was asked, itself included"},
    SchemaColumn{"request_ns", kInteger, "time of its request"},
    SchemaColumn{"latency_ns", kInteger, "from the request to the answer"},
    SchemaColumn{"wait_ns", kInteger, "from the request to its first data"},
    SchemaColumn{"transfer_ns", kInteger, "from the first to the last data"},
    SchemaColumn{"complete_ns", kInteger, "from the last data to the answer"},
    SchemaColumn{"outcome", kText, "done, failed, unanswered, open"},
    SchemaColumn{"status", kInteger, "the protocol's own; 0: success"},
    SchemaColumn{"status_text", kText, "of one that failed, in words"},
    SchemaColumn{"request_frame", kInteger, "number of the packet that asked"},
    SchemaColumn{"data_frame", kInteger, "number of the first packet of its data"},
    SchemaColumn{"answer_frame", kInteger, "number of the packet that answered"},
};
constexpr std::array kFindingColumns{
    SchemaColumn{"number", kInteger, "from 1, the worst first"},
    SchemaColumn{"severity", kText, "error, warning, note"},
    SchemaColumn{"id", kText, "which finding (qpscope findings --list)"},
    SchemaColumn{"party", kText,
                 "who is at fault: requester, responder, fabric, congestion, capture, application, undecided"},
    SchemaColumn{"connection", kInteger, "of which connection; absent where it is not of one", "connections"},
    SchemaColumn{"count", kInteger, "how many events it sums up"},
    SchemaColumn{"packets", kText, "numbers of packets that prove it"},
    SchemaColumn{"summary", kText, "what happened, with numbers"},
    SchemaColumn{"advice", kText, "what to do"},
    SchemaColumn{"clause", kText, "what it rests on"},
    SchemaColumn{"first_ns", kInteger, "when it began; absent where its events have no time"},
    SchemaColumn{"last_ns", kInteger, "when it was seen last, likewise"},
};
constexpr std::array kFindingPacketColumns{
    SchemaColumn{"finding", kInteger, "which finding", "findings"},
    SchemaColumn{"frame", kInteger, "number of a packet that proves it"},
    SchemaColumn{"role", kText, "what it has to do with the finding: evidence, original, nak, retransmission, end"},
    SchemaColumn{"time_ns", kInteger, "its time; absent where it was not kept"},
};
constexpr std::array kFindingFactColumns{
    SchemaColumn{"finding", kInteger, "which finding", "findings"},
    SchemaColumn{"fact", kText, "name of a fact, as in JSON (docs/findings.md)"},
    SchemaColumn{"number", kInteger, "in the unit of its name; absent where it is none"},
    SchemaColumn{"text", kText, "of what is no whole number: hosts, words, shares"},
};
constexpr std::array kTimelineColumns{
    SchemaColumn{"start_ns", kInteger, "start of the interval"},
    SchemaColumn{"packets", kInteger, "packets of all kinds"},
    SchemaColumn{"bytes", kInteger, "their bytes on the wire"},
    SchemaColumn{"payload_bytes", kInteger, "payload, retransmissions left out"},
    SchemaColumn{"completed_messages", kInteger, "messages that completed"},
    SchemaColumn{"retransmitted_packets", kInteger, "request packets that were retransmitted"},
    SchemaColumn{"sequence_naks", kInteger, "NAKs for a PSN sequence error"},
    SchemaColumn{"rnr_naks", kInteger, "RNR NAKs"},
    SchemaColumn{"fatal_naks", kInteger, "NAKs that end a connection"},
    SchemaColumn{"ce_marked", kInteger, "packets with a congestion mark"},
    SchemaColumn{"cnps", kInteger, "congestion notification packets"},
    SchemaColumn{"pause_frames", kInteger, "PAUSE and PFC frames"},
    SchemaColumn{"round_trip_mean_ns", kInteger,
                 "mean time from requests to their ACKs, of senders of long messages; absent where there are none"},
};
constexpr std::array kPacketColumns{
    SchemaColumn{"frame", kInteger, "number in the capture, from 1"},
    SchemaColumn{"time_ns", kInteger, "time; absent where the capture has none"},
    SchemaColumn{"connection", kInteger, "its connection, where it is of one", "connections"},
    SchemaColumn{"from_end", kText, "the end that sent it: a or b"},
    SchemaColumn{"source", kText, "address it comes from"},
    SchemaColumn{"destination", kText, "address it goes to"},
    SchemaColumn{"opcode", kText, "of its BTH"},
    SchemaColumn{"destination_qpn", kInteger, "queue pair it goes to"},
    SchemaColumn{"psn", kInteger, "its PSN"},
    SchemaColumn{"bytes", kInteger, "on the wire"},
    SchemaColumn{"payload_bytes", kInteger, "without pad"},
    SchemaColumn{"retransmission", kInteger, "1: its PSN had been on the wire before"},
    SchemaColumn{"missing", kInteger, "PSNs that were skipped before it"},
    SchemaColumn{"corrupt", kInteger, "1: its ICRC is wrong"},
    SchemaColumn{"copy", kInteger, "1: another recording of a packet that is there"},
    SchemaColumn{"ce", kInteger, "1: it has a congestion mark"},
};

constexpr std::array kIncompleteColumns{
    SchemaColumn{"what", kText, "a sentence: interrupted, a file that could not be read, no RDMA packet to judge"},
};

constexpr std::array<std::string_view, 1> kConnectionIndices{"a_address, b_address"};
constexpr std::array<std::string_view, 2> kMessageIndices{"connection, first_ns", "latency_ns"};
constexpr std::array<std::string_view, 2> kOperationIndices{"connection, request_ns",
                                                            "protocol, operation, latency_ns"};
constexpr std::array<std::string_view, 2> kFindingIndices{"connection", "id"};
constexpr std::array<std::string_view, 1> kFindingPacketIndices{"frame"};
constexpr std::array<std::string_view, 1> kFindingFactIndices{"fact"};
constexpr std::array<std::string_view, 2> kPacketIndices{"connection, frame", "time_ns"};

constexpr std::array kTables{
    SchemaTable{"connections", "Connections, as `qpscope connections` lists them.", "uid", kConnectionColumns,
                kConnectionIndices},
    SchemaTable{"messages", "Messages, as `qpscope messages` lists them.", "", kMessageColumns, kMessageIndices},
    SchemaTable{"operations", "Operations of upper protocols, as `qpscope operations --list` lists them.", "",
                kOperationColumns, kOperationIndices},
    SchemaTable{"findings", "Findings, as `qpscope findings` lists them.", "number", kFindingColumns, kFindingIndices},
    SchemaTable{"finding_packets", "The packets that prove findings, a row each.", "", kFindingPacketColumns,
                kFindingPacketIndices},
    SchemaTable{"finding_facts", "The facts of findings, a row each.", "", kFindingFactColumns, kFindingFactIndices},
    SchemaTable{"timeline",
                "Counters per interval, as `qpscope timeline` prints them. An interval without packets has no row.",
                "start_ns",
                kTimelineColumns,
                {}},
    SchemaTable{"incomplete",
                "What the other tables are not of, though it was asked for. Without a row they are of all.",
                "",
                kIncompleteColumns,
                {}},
    SchemaTable{"packets", "Packets, with `--packets` only.", "frame", kPacketColumns, kPacketIndices},
};

std::string_view sql_type(ColumnType type) { return type == ColumnType::integer ? "INTEGER" : "TEXT"; }

}  // namespace

std::span<const SchemaTable> schema() { return kTables; }
const SchemaTable& schema_of(std::string_view table) { return *std::ranges::find(kTables, table, &SchemaTable::name); }

std::string create_table(const SchemaTable& table) {
    std::string text = fmt::format("CREATE TABLE {} (", table.name);
    for (const SchemaColumn& column : table.columns) {
        text += fmt::format("{}\n  \"{}\" {}", &column == table.columns.data() ? "" : ",", column.name,
                            sql_type(column.type));
        if (column.name == table.key) text += " PRIMARY KEY";
        if (!column.refers_to.empty())
            text += fmt::format(" REFERENCES {} ({})", column.refers_to, schema_of(column.refers_to).key);
    }
    return text + "\n) STRICT;\n";
}

std::string create_indices(const SchemaTable& table) {
    std::string text;
    for (std::size_t i = 0; i < table.indices.size(); ++i)
        text += fmt::format("CREATE INDEX {}_{} ON {} ({});\n", table.name, i + 1, table.name, table.indices[i]);
    return text;
}

std::string schema_page() {
    std::string text =
        "# Tables of `qpscope export`\n\n"
        "This page is made from the source: `qpscope export --schema > docs/schema.md`.\n\n"
        "Names carry units: `_ns` are nanoseconds (times since 1970, UTC), `_bytes` bytes. What is not known is absent: NULL in SQLite, `null`\n"
        "in NDJSON, nothing between the commas of CSV. Numbers of 64 bits (addresses, operands) are stored as SQLite has them: with a sign.\n"
        "`PRAGMA user_version` is the version of the schema, 2. With the same version tables and columns may be added; none goes or is renamed.\n"
        "What version 1 called otherwise stands at the end.\n";
    for (const SchemaTable& table : kTables) {
        text += fmt::format("\n## {}\n\n{}\n\n| column | type | meaning |\n|---|---|---|\n", table.name, table.meaning);
        for (const SchemaColumn& column : table.columns) {
            std::string meaning(column.meaning);
            if (column.name == table.key) meaning += "; the key";
            if (!column.refers_to.empty())
                meaning += fmt::format("; refers to `{}.{}`", column.refers_to, schema_of(column.refers_to).key);
            text += fmt::format("| `{}` | {} | {} |\n", column.name,
                                column.type == ColumnType::integer ? "integer" : "text", meaning);
        }
        if (!table.indices.empty()) text += "\nIndices:";
        for (const std::string_view index : table.indices) text += fmt::format(" ({})", index);
        if (!table.indices.empty()) text += "\n";
    }
    text += fmt::format(
        "\n## Renamed in {}\n\nNames of JSON: [docs/schema](schema/README.md#renamed-in-020).\n\n| table | old | new |\n|---|---|---|\n",
        transport::kRenamedIn);
    for (const transport::Renamed& row : transport::renamed_names())
        if (row.kind == transport::RenamedKind::column &&
            std::ranges::find(kTables, row.where, &SchemaTable::name) != kTables.end())
            text += fmt::format("| {} | `{}` | `{}` |\n", row.where, row.old_name, row.new_name);
    return text;
}

}  // namespace qps::cli
