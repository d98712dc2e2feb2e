// `follow`: what the messages of one connection carried, byte for byte, each once; where its protocol is known with the
// operation that each belongs to, and on request as field trees.
#include <cli/analyzing.hpp>
#include <cli/commands.hpp>
#include <cli/decoding.hpp>
#include <cli/decoding_as.hpp>
#include <cli/message.hpp>
#include <cli/options/choice.hpp>
#include <cli/options/reading_options.hpp>
#include <cli/report.hpp>
#include <cli/wrapped.hpp>
#include <dissect/base/types.hpp>
#include <dissect/packet/render.hpp>
#include <dissect/packet/render_value.hpp>
#include <dissect/ulp/ulp.hpp>
#include <transport-replay/iwarp/followed_stream.hpp>
#include <transport-replay/model/memory_amount.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/report/held_text.hpp>
#include <transport-replay/report/json.hpp>
#include <transport-replay/report/known_ends.hpp>
#include <transport-replay/report/ulp.hpp>
#include <transport-replay/report/verbs.hpp>
#include <transport-replay/tracking/payload_store.hpp>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace qps::cli {

using namespace dissect;
using namespace transport;

namespace {

// What of the memory holds payload: a message is there as packets, as a whole and, five times as long, as text.
constexpr std::size_t kTimes = 7;
std::size_t most_payload(const MemoryBudget& memory) {
    constexpr std::uint64_t kPart = 16;
    return static_cast<std::size_t>(std::min<std::uint64_t>(PayloadStore::kMost, memory.bytes() / kPart));
}

enum class Whose { both, a, b };  // messages, by the end that asked for them
constexpr std::array kEnds{NamedValue{"a", Whose::a}, NamedValue{"b", Whose::b}, NamedValue{"both", Whose::both}};

struct FollowOptions {
    ListingOptions listing;
    std::optional<std::uint32_t> connection;
    Whose whose = Whose::both;
    std::optional<std::uint64_t> message;  // only this one, counted from 1
    bool raw = false;                      // bytes instead of text
    bool decode = false;                   // messages of a known protocol as field trees

    void add(OptionTable& table) {
        table.add("connection", "N", connection, "Connection number (see qpscope connections)")
            .checked(check_connection)
            .needed();  // before the files: it is the first word
        listing.reading.add_captures(table, listing.output);
        table.flag("--raw", raw, "Write the raw bytes of all messages");
        table.flag("--decode", decode, "Print messages of known protocols as field trees");
        add_choice(table.under(headings::kFilter), "--from", whose, kEnds,
                   "Keep messages requested by this end: a, b or both (default: both)");
        table.add("--message", "N", message, "Keep the Nth message only");
        listing.known(table);
        listing.output.add_format(table);
        listing.end(table);
    }
};

// Writes the messages of one connection.
class Following {
public:
    Following(const FollowOptions& options, Output& output)
        : options_(options),
          output_(output),
          format_(options.listing.output.format),
          document_(format_, text_),
          store_(most_payload(options.listing.reading.analysis.memory)),
          stream_(store_.most()),
          remarks_(options.listing.reading.analysis.memory) {
        if (options.raw || format_ != OutputFormat::json) return;
        document_.open();
        document_.add("schema", kSchema);
        document_.open_list("messages");
    }

    void packet(const Observation& observation, const PacketRecord& record) {
        if (!start_ && observation.has_time) start_ = observation.time;
        const bool followed = is_followed(record.connection);
        if (observation.kind == ObservationKind::stream && !record.mirror_copy) stream_.observe(observation, followed);
        if (!followed) return;
        ends_.learn(observation, record);
        store_.keep(observation, record);
        if (record.ulp.protocol != UlpProtocol::none) hints_[static_cast<std::size_t>(record.from)] = record.ulp;
    }

    void retired(ConnectionId connection) { ends_.forget(connection); }
    void message(ConnectionId connection, End requester, const Message& message) {
        if (!is_followed(connection)) return;
        const MessagePayload payload =
            message.service == Service::iwarp ? stream_.take(requester, message) : store_.take(requester, message);
        if (options_.whose != Whose::both && (options_.whose == Whose::a) != (requester == End::a)) return;
        ++number_;
        if (options_.message && *options_.message != number_) return;
        ++written_;
        constexpr std::size_t kOfText = 5;  // of a byte of payload: a line of 16 has 76; and it grows by no more
        text_.reserve(kOfText * payload.bytes.size());
        if (options_.raw) {
            for (const std::byte byte : payload.bytes) text_ += static_cast<char>(byte);
        } else if (format_ == OutputFormat::table) {
            append_message(requester, message, payload);
        } else {
            add_message(requester, message, payload);
        }
        report_missing(message, payload);
        write();
    }

    // `known`: the capture has that connection.
    void end(bool known) {
        if (!options_.raw && format_ == OutputFormat::json) {
            document_.close_list();
            document_.close();
            text_ += '\n';
        }
        write();
        if (is_quiet()) return;
        say_remarks();
        if (const std::uint64_t let_go = store_.let_go() + stream_.let_go(); let_go != 0)
            say("qpscope: {} of payload dropped: more than {} belonged to incomplete messages\n", bytes_text(let_go),
                bytes_text(store_.most()));
        if (written_ == 0 && known)
            say("qpscope: {}connection {} has {}{}\n",
                options_.message ? fmt::format("no message {}: ", *options_.message) : "", *options_.connection,
                number_ == 0 ? "no" : grouped(number_), number_ == 1 ? " message" : " messages");
    }

private:
    [[nodiscard]] bool is_followed(std::optional<ConnectionId> connection) const {
        return connection && std::to_underlying(*connection) == *options_.connection;
    }

    void append_message(End requester, const Message& message, const MessagePayload& payload) {
        const ConnectionId connection{*options_.connection};
        append_hanging(
            text_, fmt::format("message {} at {}: {} from {} to {}, {} {}, {}, {}", number_,
                               seconds_text(message.first_time - start_.value_or(Instant{})), verb_text(message),
                               text(ends_.end(connection, requester)), text(ends_.end(connection, other(requester))),
                               numbered_by(message), psn_range(message.first, message.last),
                               counted(payload.bytes.size(), "byte"), outcome_text(message)));
        if (message.ulp) text_ += fmt::format("    {}\n", label_text(*message.ulp));
        if (const Packet* decoded = decoded_message(requester, message, payload)) append_tree(text_, *decoded);
        else append_hex_dump(text_, payload.bytes);
        text_ += '\n';
    }

    // iWARP has no PSNs: its messages go by the FPDUs of their way.
    [[nodiscard]] static std::string_view numbered_by(const Message& message) {
        return message.service == Service::iwarp ? "FPDU" : "PSN";
    }

    // A message of a protocol that is known; nothing where it is not, or where nobody asked for it.
    const Packet* decoded_message(End requester, const Message& message, const MessagePayload& payload) {
        const UlpHint& hint = hints_[static_cast<std::size_t>(requester)];
        if (!options_.decode || message.verb != Verb::send || hint.protocol == UlpProtocol::none) return nullptr;
        decode_message(payload.bytes, hint, decoded_);
        return &decoded_;
    }

    void add_operation(const UlpLabel& label) {
        document_.add("protocol", info(label.protocol).word);
        document_.add("operation", operation_name(label.protocol, label.code));
        document_.add("operation_tag", label.tag);
        document_.add("operation_part", part_name(label.part));
    }

    void add_message(End requester, const Message& message, const MessagePayload& payload) {
        std::string hex;
        hex.reserve(2 * payload.bytes.size());
        append_hex(hex, payload.bytes);
        document_.open();
        document_.add("message", number_);
        document_.add("connection", *options_.connection);
        document_.add("requester", requester == End::a ? "a" : "b");
        document_.add("verb", verb_text(message));
        document_.add("first_psn", message.first);
        document_.add("last_psn", message.last);
        document_.add("first_frame", message.first_frame);
        document_.add("first_ns", message.first_time);
        document_.add("outcome", outcome_text(message));
        document_.add("bytes", payload.bytes.size());
        document_.add("missing_bytes", payload.missing_bytes);
        document_.add("cut_bytes", payload.cut_bytes);
        document_.add("payload", hex);
        if (message.ulp) add_operation(*message.ulp);
        if (const Packet* decoded = decoded_message(requester, message, payload)) {
            std::string json;
            append_json(json, *decoded);
            document_.add_json("decoded", json);
        }
        document_.close();
        if (format_ == OutputFormat::ndjson) text_ += '\n';
    }

    // Bytes that are not there are never made up.
    void report_missing(const Message& message, const MessagePayload& payload) {
        if (is_quiet()) return;
        if (payload.cut_bytes != 0)
            remark(fmt::format("message {}: {} truncated by the capture", number_, counted(payload.cut_bytes, "byte")));
        const bool whole = message.outcome == Outcome::completed || message.outcome == Outcome::sent;
        if (!whole) return;  // what was not answered need not have been sent
        if (message.service == Service::iwarp && payload.missing_bytes != 0)
            remark(fmt::format("message {} (FPDU {}): {} not captured", number_, psn_range(message.first, message.last),
                               counted(payload.missing_bytes, "byte")));
        if (payload.missing_packets == 0) return;
        remark(fmt::format(
            "message {} (PSN {}): {} not captured, starting at PSN {}{}", number_,
            psn_range(message.first, message.last), counted(payload.missing_packets, "packet"),
            payload.first_missing.value(),
            payload.missing_bytes == 0 ? "" : fmt::format(", {} missing", counted(payload.missing_bytes, "byte"))));
    }

    // A remark can be taken back as long as its message can.
    void remark(std::string_view sentence) {
        const std::string line = fmt::format("qpscope: {}\n", sentence);
        if (output_.holds()) remarks_.add(line);
        else say_text(line);
    }
    void say_remarks() const {
        for (const std::string& piece : remarks_.pieces()) say_text(piece);
        if (remarks_.let_go()) say("qpscope: more messages are not whole\n");
    }

    void write() {
        output_.write(text_);
        text_.clear();
    }

    const FollowOptions& options_;
    Output& output_;
    std::string text_;
    OutputFormat format_;
    Document document_;
    PayloadStore store_;
    FollowedStream stream_;
    HeldText remarks_;
    KnownEnds ends_;
    std::array<UlpHint, 2> hints_;  // of what each end sends
    Packet decoded_;                // the message asked for last
    std::optional<Instant> start_;
    std::uint64_t number_ = 0;
    std::uint64_t written_ = 0;
};

ExitCode run_follow(const FollowOptions& options) {
    ReadingOptions reading = options.listing.reading;
    const OutputOptions& shown = options.listing.output;
    if (options.decode && options.raw) {
        say("qpscope: --raw and --decode exclude each other\n");
        return ExitCode::usage;
    }
    if (has_rows(shown.format)) {
        say("qpscope: follow prints no rows: use -f table, json or ndjson, or --raw\n");
        return ExitCode::usage;
    }
    const auto filter = compile_filter(reading.filter, FilterSets::taken);
    if (!filter) return ExitCode::usage;
    Output output(shown.path, reading.input.files);
    if (!output.ok()) return finish(output);
    // Messages before the one that settled the protocol are decoded too. A filter makes other connections of the same
    // packets.
    if (options.decode && reading.filter.text.empty())
        reading.analysis.hints = known_before(reading.input, reading.analysis, LookAhead::all).hints;
    std::optional<Following> following;
    const auto begin = [&]() -> Following& { return following ? *following : following.emplace(options, output); };
    Listening listening;
    listening.packet = [&](const Observation& observation, const PacketRecord& record) {
        begin().packet(observation, record);
    };
    listening.message = [&](ConnectionId connection, End requester, const Message& message) {
        begin().message(connection, requester, message);
    };
    listening.retired = [&](ConnectionId connection) { begin().retired(connection); };
    listening.pause = [&] { output.flush(); };
    listening.names_connections = true;
    listening.rows = &output;
    listening.again = [&] { following.reset(); };
    leave_room_for_rows(reading);
    leave_room_for_rows(reading);  // and for what is said of them
    MemoryBudget& memory = reading.analysis.memory;
    memory = transport::beside(memory, kTimes * most_payload(memory));
    const Analyzed analyzed = analyze(reading, *filter, output, listening);
    if (analyzed.any) begin().end(analyzed.timeline.find(ConnectionId{*options.connection}) != nullptr);
    reading.analysis.connections = {ConnectionId{*options.connection}};  // it must be there
    return finish(reading.analysis, analyzed, output);
}

}  // namespace

const Command kFollowCommand{"follow", kLookAt, "Print the payload of a connection's messages",
                             "  qpscope follow 3 trace.pcap\n  qpscope follow 3 --raw --from a -o sent.bin trace.pcap",
                             prepared<FollowOptions, run_follow>};

}  // namespace qps::cli
