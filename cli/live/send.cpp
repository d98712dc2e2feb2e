// `send`: packets by hand, a line each, and what comes back. The lines become a script (docs/scripts.md), which a stage
// plays.
#include <cli/decoding.hpp>
#include <cli/held_inputs.hpp>
#include <cli/live/conforming.hpp>
#include <cli/live/live_commands.hpp>
#include <cli/live/options/wire_options.hpp>
#include <cli/message.hpp>
#include <cli/options/choice.hpp>
#include <cli/options/output_options.hpp>
#include <cli/quantity.hpp>
#include <cli/sheet.hpp>
#include <dissect/base/packet.hpp>
#include <dissect/base/parse_value.hpp>
#include <dissect/packet/notation.hpp>
#include <transport-replay/conformance/script/parser.hpp>
#include <transport-replay/conformance/stage/script_program.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <sstream>

#include <fmt/format.h>

namespace qps::cli {

using namespace dissect;
using namespace transport::conformance;
using transport::Address;

namespace {

constexpr std::uint64_t kMostRepeats = 5000;  // the lines of a script that one run plays

std::uint64_t read_number_of(const std::string& text, std::string_view what, std::uint64_t most) {
    const auto number = dissect::parse_decimal(text, most);
    if (!number || *number == 0) refuse(fmt::format("invalid {} '{}': expected 1 to {}", what, text, most));
    return *number;
}

struct SendOptions {
    std::vector<std::string> packets;           // lines; with `from`, what is different in its packet
    std::vector<std::string> expected;          // lines, in order
    std::optional<dissect::Duration> patience;  // for an expected packet; where none is: listens so long
    std::uint64_t count = 1;
    std::string from;         // a capture
    std::uint64_t frame = 0;  // of it; 0: the first RDMA packet
    WireOptions wire;
    OutputOptions output;
    InputOptions input;  // of --from

    void add(OptionTable& table) {
        table.under("Packets");
        table.add("packet", "LINE", packets, "Packets to send, a line each (see below)");
        table.add("--expect", "LINE", expected, "Expect this packet back, as a line; repeatable, in order").each();
        table.add(
            "--within", "TIME", into(patience, [](const std::string& text) { return read_time(text); }),
            "Wait TIME for each of them (default: 500ms); without --expect: show replies for TIME (default: 200ms)");
        table.add(
            "-n,--count", "N", [this](const std::string& text) { count = read_number_of(text, "count", kMostRepeats); },
            "Send all of it N times");
        table.add("--from", "CAPTURE", from, "Send a packet of this capture; LINE says what is different in it")
            .is(PathUse::read);
        table.add(
            "--frame", "N",
            [this](const std::string& text) { frame = read_number_of(text, "frame number", UINT64_MAX); },
            "With --from: this frame (default: the first RDMA packet)");
        wire.add(table);
        output.add_format(table);
        output.add_path(table);
        table.check([this, &table] {
            if (!from.empty()) input.files = {from};
            input.confine(table);
            return std::string();
        });
    }
};

// The words of a line: where it goes is ours, the others are a script's.
struct Line {
    std::string name;  // of the packet
    std::vector<std::string> words;
    std::optional<Address> to;
    std::optional<std::uint64_t> queue_pair;
    std::optional<std::uint64_t> own;  // queue pair
    [[nodiscard]] bool is_management() const {
        return name.find('_') == std::string::npos && name != "CNP" && name != "any";
    }
    [[nodiscard]] std::string_view service() const {
        return name.starts_with("UD_") ? "ud" : name.starts_with("UC_") ? "uc" : "rc";
    }
    [[nodiscard]] std::string text() const {
        std::string line = name;
        for (const std::string& word : words) line += ' ' + word;
        return line;
    }
};

std::string key_of(const std::string& word) { return word.substr(0, word.find('=')); }

std::unexpected<Failure> refused(std::string sentence) {
    return std::unexpected(Failure{ExitCode::usage, std::move(sentence)});
}

// `changed`: the line is what is different in it, without a name.
std::expected<Line, Failure> read_line(const std::string& text, const Line* changed = nullptr) {
    std::istringstream stream(text);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    Line line = changed != nullptr ? *changed : Line{};
    std::size_t at = 0;
    if (changed == nullptr) {
        if (words.empty())
            return refused("empty line: expected a packet, such as 'RC_SEND_ONLY to 10.0.0.2 qp=17 psn=512'");
        line.name = words[at++];
    }
    for (; at < words.size(); ++at) {
        std::string word = words[at];
        if (word == "to") {
            line.to = at + 1 < words.size() ? read_address(words[++at]) : std::nullopt;
            if (!line.to) return refused(fmt::format("'to' in '{}': expected an IP address behind it", text));
            continue;
        }
        if (word.starts_with("payload=hex:")) word = "data=" + word.substr(12);
        const auto number =
            parse_number(word.find('=') == std::string::npos ? "" : std::string_view(word).substr(word.find('=') + 1));
        if (key_of(word) == "qp" || key_of(word) == "us") {
            if (!number || *number > 0xff'ffff)
                return refused(fmt::format("invalid queue pair in '{}': expected 0 to 16777215", word));
            (key_of(word) == "qp" ? line.queue_pair : line.own) = number;
            continue;
        }
        std::erase_if(line.words, [&](const std::string& other) { return key_of(other) == key_of(word); });
        line.words.push_back(std::move(word));
    }
    return line;
}

// A packet of a capture as a line: the words of its transport headers, and its payload.
std::expected<Line, Failure> line_of(const Packet& packet, const std::string& from) {
    if (packet.payload.captured < packet.payload.length)
        return refused(fmt::format("{}: the payload of that packet was cut off", from));
    std::string destination;
    append_destination(destination, packet);
    Line line{.name = std::string(info(packet.opcode).name()),
              .words = {},
              .to = read_address(destination),
              .queue_pair = {},
              .own = {}};
    std::string words;
    for (const Layer& layer : packet.layers())
        if (layer.kind >= LayerKind::bth && layer.kind < LayerKind::payload)
            append_words_of_layer(words, packet, layer);
    if (!packet.payload_bytes().empty()) words += " data=";
    for (const std::byte each : packet.payload_bytes()) words += fmt::format("{:02x}", std::to_integer<unsigned>(each));
    return read_line(words, &line);
}

// That frame, or the first with a transport header.
std::expected<Line, Failure> line_from(const SendOptions& send) {
    auto input = Input::open(send.input, send.from);
    if (!input)
        return std::unexpected(Failure{
            input.error().code, fmt::format("{}: {}", input.error().problem.file, input.error().problem.sentence)});
    Batch batch;
    Packet packet;
    while (input->read(batch))
        for (const Frame& frame : batch.frames) {
            const bool this_one = send.frame == 0 || std::to_underlying(frame.index) == send.frame;
            if (!this_one) continue;
            decode(frame, packet);
            if (packet.has_transport()) return line_of(packet, send.from);
            if (send.frame != 0) return refused(fmt::format("{}: frame {} is no RDMA packet", send.from, send.frame));
        }
    return refused(send.frame == 0 ? fmt::format("{}: no RDMA packet", send.from)
                                   : fmt::format("{}: no frame {}", send.from, send.frame));
}

std::expected<std::vector<Line>, Failure> lines_of(const SendOptions& send) {
    std::vector<Line> lines;
    if (!send.from.empty()) {
        auto line = line_from(send);
        for (const std::string& changes : send.packets)
            if (line) line = read_line(changes, &*line);
        if (!line) return std::unexpected(line.error());
        lines.push_back(std::move(*line));
    } else {
        for (const std::string& text : send.packets) {
            auto line = read_line(text);
            if (!line) return std::unexpected(line.error());
            lines.push_back(std::move(*line));
        }
    }
    if (lines.empty())
        return refused(
            "missing packet: write one as 'RC_SEND_ONLY to 10.0.0.2 qp=17 psn=512', or take one with --from");
    for (Line& line : lines) {
        if (!line.to) line.to = lines.front().to;
        if (!line.to) return refused(fmt::format("'{}': where to? Add 'to ADDRESS'", line.text()));
        if (*line.to != *lines.front().to) return refused("packets to several hosts: send them in several runs");
        if (!line.queue_pair && !line.is_management())
            return refused(fmt::format("'{}': to which queue pair? Add qp=N", line.text()));
    }
    return lines;
}

// Everything as a script; a queue pair of the script for each that is sent to.
std::string script_of(const std::vector<Line>& lines, const SendOptions& send, bool listens) {
    std::string text;
    std::string last = "gsi";
    std::map<std::uint64_t, std::string> names;
    for (const Line& line : lines)
        if (!line.is_management() && names.try_emplace(*line.queue_pair, fmt::format("q{}", *line.queue_pair)).second)
            text += fmt::format("qp q{} {} known dut={}{}\n", *line.queue_pair, line.service(), *line.queue_pair,
                                line.own ? fmt::format(" us={}", *line.own) : "");
    text += fmt::format("repeat {}\n", send.count);
    for (const Line& line : lines) {
        last = line.is_management() ? "gsi" : names[*line.queue_pair];
        text += fmt::format("> {} {}\n", last, line.text());
    }
    const std::int64_t patience = std::to_underlying(send.patience.value_or(Duration{500'000'000}));
    for (const std::string& expected : send.expected) {
        const bool management =
            Line{.name = expected.substr(0, expected.find(' ')), .words = {}, .to = {}, .queue_pair = {}, .own = {}}
                .is_management();
        text += fmt::format("< {} {} within {}ns\n", management ? "gsi" : last, expected, patience);
    }
    text += "end\n";
    if (send.expected.empty() && listens)
        text += fmt::format("wait {}ns\n", std::to_underlying(send.patience.value_or(Duration{200'000'000})));
    return text;
}

struct Row {
    Instant time{};
    bool ours = false;
    std::string line;
};

constexpr std::array kSentColumns{
    transport::TableColumn<Row>{"time_ns", "", transport::Side::right,
                                [](const Row& row) -> transport::Cell { return std::to_underlying(row.time); }},
    transport::TableColumn<Row>{"sent", "", transport::Side::left,
                                [](const Row& row) -> transport::Cell { return row.ours; }},
    transport::TableColumn<Row>{"", "way", transport::Side::left,
                                [](const Row& row) -> transport::Cell { return std::string(row.ours ? "->" : "<-"); }},
    transport::TableColumn<Row>{"packet", "packet", transport::Side::left,
                                [](const Row& row) -> transport::Cell { return row.line; }},
};

void show(const OutputOptions& options, const stage::ScriptOutcome& outcome, Output& output) {
    Sheet sheet(options, output, "packets", std::span<const transport::TableColumn<Row>>(kSentColumns));
    Packet packet;
    for (const stage::RecordedFrame& each : outcome.frames) {
        Frame frame;
        frame.bytes = each.bytes;
        frame.wire_length = static_cast<std::uint32_t>(each.bytes.size());
        decode(frame, packet);
        Row row{each.time, each.sender == stage::Sender::us, {}};
        append_line(row.line, packet);
        sheet.add(std::span<const transport::TableColumn<Row>>(kSentColumns), row);
    }
    sheet.end();
}

ExitCode run_send(const SendOptions& options) {
    WireOptions wire = options.wire;
    const bool nowhere = wire.interface.empty() && wire.via == Via::ring && !wire.capture.empty();
    if (nowhere) wire.via = Via::nowhere;
    if (nowhere && wire.addresses.empty())
        return fail({ExitCode::usage, "missing --address: without an interface nothing says who sends"});
    if (nowhere && !options.expected.empty())
        return fail({ExitCode::usage, "--expect needs a wire: name an interface with -i"});
    // Captures are read and written, no more: as commands that only read, with everything open before the first byte of
    // one.
    const SteadyTime clock;
    std::optional<OpenEndpoint> opened;
    std::optional<Output> output;
    if (nowhere) {
        auto endpoint = open_endpoint(wire, clock.now());
        if (!endpoint) return fail(endpoint.error());
        opened.emplace(std::move(*endpoint));
        output.emplace(options.output.path, options.input.files);
        if (!output->ok()) return finish(*output);
        InputOptions reading = options.input;
        reading.confinement.wanted = true;
        static_cast<void>(HeldInputs::of(reading));
    }
    const auto lines = lines_of(options);
    if (!lines) return fail(lines.error());
    const std::string text = script_of(*lines, options, !nowhere);
    const auto script = script::parse_script("send", text, {});
    if (!script) return fail({ExitCode::usage, explain(script.error())});
    ConformOptions conform;
    conform.device = lines->front().to;
    if (!output) output.emplace(options.output.path, options.input.files);
    if (!output->ok()) return finish(*output);
    stage::ScriptOutcome outcome;
    auto program = stage::make_script_program(
        {.stage = stage_settings(conform, wire),
         .scripts = {&*script},
         .agent_host = {},
         .agent_port = 0,
         .agent_secret = {},
         .on_outcome = [&](const script::Script&, stage::ScriptOutcome ended) { outcome = std::move(ended); }});
    if (!program) return fail({ExitCode::unreadable, program.error()});
    const ExitCode acted = opened ? act(wire, *program, *opened, clock) : act(wire, *program);
    if (acted != ExitCode::done) return acted;
    show(options.output, outcome, *output);
    const ExitCode code = finish(*output);
    if (outcome.verdict == Verdict::pass) return code;
    remark("qpscope: {}\n", outcome.detail.empty() ? outcome.reason : outcome.detail);
    return worse(code, outcome.verdict == Verdict::fail ? ExitCode::findings : ExitCode::unreadable);
}

}  // namespace

const Command kSendCommand = wire_command(
    "send",
    "  qpscope send -i eth1 'RC_SEND_ONLY to 10.0.0.2 qp=17 psn=512 ackreq data=0011'\n"
    "  qpscope send -i eth1 'RC_SEND_ONLY to 10.0.0.2 qp=17 us=23 psn=512 ackreq' --expect 'RC_ACKNOWLEDGE psn=512'\n"
    "  qpscope send --via udp -a 127.0.0.2 'REQ to 127.0.0.1 service=0x0000000001060009' --expect 'REJ reason=8'\n"
    "  qpscope send --from trace.pcap --frame 12 -i eth1 'to 10.0.0.2 psn=513 bad_icrc'\n"
    "  qpscope send --from trace.pcap -a 10.0.0.1 -w one.pcapng 'psn=513'             # into a capture, not onto a wire\n\n"
    "A line is the name of the packet, `to ADDRESS`, `qp=N` (the queue pair it is for), `us=N` (ours, that answers go to) and the words of\n"
    "scripts (docs/scripts.md), which are those that `qpscope packets` prints, and the name of any field. What no word says is right:\n"
    "lengths, pad, checksums, ICRC. Exit code 1: what was expected did not come.",
    prepared<SendOptions, run_send>);

}  // namespace qps::cli
