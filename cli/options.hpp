// The options of all sub-commands as values. The sources of cli/options/ fill them from the command line.
#pragma once

#include <cli/options/anonymize_options.hpp>
#include <cli/options/check_options.hpp>
#include <cli/options/extract_options.hpp>
#include <cli/options/operation_options.hpp>
#include <cli/options/part_options.hpp>
#include <dissect/base/types.hpp>
#include <transport-replay/model/address.hpp>
#include <transport-replay/model/capture_traits.hpp>
#include <transport-replay/model/finding.hpp>
#include <transport-replay/model/memory_budget.hpp>
#include <transport-replay/report/format.hpp>
#include <transport-replay/ulp/ulp_hints.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace qps::cli {

using transport::OutputFormat;
enum class ColorMode { automatic, always, never };
enum class Whose { both, a, b };  // messages, by the end that asked for them

struct WireOptions;  // cli/live/options/wire_options.hpp

struct Options {
    std::vector<std::string> files;    // "-" is standard input
    std::string interface;             // live capture, instead of files
    std::string capture_filter;        // BPF, for libpcap
    std::string filter;                // display filter
    std::string since;                 // a condition of packets, for a display filter; empty: all
    std::string until;                 // likewise
    std::vector<std::string> columns;  // -e
    std::vector<std::string> frames;   // -n: 3, 5-8
    std::string pattern;               // `fields PATTERN`
    OutputFormat format = OutputFormat::table;
    std::string output;       // path; empty: standard output
    std::string capture;      // packets: written to this capture file instead of printed
    std::uint64_t count = 0;  // stop after so many packets; 0: all
    std::size_t jobs = 0;     // 0: as many as there are processors
    dissect::BitsPerSecond link_speed{};
    std::vector<std::uint16_t> roce_ports;     // beside 4791
    std::optional<std::uint8_t> uet_protocol;  // of IP
    bool in_order = false;                     // files as they are given, not by their first packets
    bool by_time = false;                      // all files as one, in the order of their times
    std::vector<std::pair<std::string, dissect::Duration>> offsets;  // added to the times of a file
    transport::MemoryBudget memory = transport::MemoryBudget::of_machine();
    ColorMode color = ColorMode::automatic;
    bool no_progress = false;
    bool quiet = false;
    std::vector<std::string> command_line;  // its words behind the name of the program, as they were typed, for reports
    bool sandbox = false;                   // the command only reads
    bool no_sandbox = false;                // and shall keep its system calls
    bool long_report = false;               // info: of each of several captures
    bool hash = false;                      // info: the SHA-256 of files of any size
    bool no_bytes = false;                  // show: without the hex dump
    bool messages = false;                  // show: with the message of each packet, which takes a second reading

    // Of the commands that reconstruct.
    std::optional<transport::Severity> fail_on;        // findings as bad as this decide the exit code
    std::vector<transport::ConnectionId> connections;  // only these; none: all
    std::string log_line;                              // connections: candidates for what it complains of
    std::string sort;                                  // connections: by the values of that column, the largest first
    bool performance = false;                     // connections: latencies, goodput, stalls and congestion in the table
    bool by_host = false;                         // connections: summed up by pairs of hosts
    std::optional<dissect::Duration> interval;    // timeline; nothing: chosen by the length of the capture
    std::optional<std::uint32_t> followed;        // follow: the connection
    Whose whose = Whose::both;                    // follow
    std::optional<std::uint64_t> message_number;  // follow: only this one, counted from 1
    bool raw = false;                             // follow: bytes instead of text
    bool markdown = false;                        // findings: each as a ticket
    bool list_findings = false;                   // findings: all there are, and what they mean
    std::string explained;                        // findings: the section of that id
    bool decode = false;                          // follow: messages of a known protocol as field trees
    transport::UlpHints hints;                    // --decode-as
    transport::IcrcPolicy icrc = transport::IcrcPolicy::automatic;  // --icrc
    std::string nccl_log;                                           // file
    std::vector<transport::Address> unordered;                      // --out-of-order
    OperationOptions operations;

    WireOptions* wire = nullptr;  // of commands that speak on a wire; nobody else has any

    CheckOptions check;

    ExtractOptions extract;
    bool findings_only = false;  // annotate: comments of findings alone
    AnonymizeOptions anonymize;
    std::string hosts;  // annotate: file of addresses and names

    std::string pdf;  // report: path of the page on paper

    bool dot = false;                  // fabric: a picture for Graphviz
    std::vector<std::uint16_t> route;  // fabric: from that LID to that one; or none

    PartOptions part;  // analyze --part, merge

    // Of export.
    std::string sqlite;           // path of the database
    bool export_packets = false;  // a row each
    bool schema = false;          // what the tables are, instead of them
};

}  // namespace qps::cli
