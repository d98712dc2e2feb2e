// `annotate`: the capture once more, with what happened to its packets as comments that Wireshark shows and filters,
// the names of hosts, and the findings as the comment of the section. It is analysed, and read once more for the
// packets, which stay as they were.
#include <cli/analyzing.hpp>
#include <cli/commands.hpp>
#include <cli/decoding.hpp>
#include <cli/decoding_as.hpp>
#include <cli/message.hpp>
#include <cli/options/reading_options.hpp>
#include <cli/packet_copies.hpp>
#include <dissect/capture/writer.hpp>
#include <transport-replay/evidence/host_names.hpp>
#include <transport-replay/evidence/packet_notes.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace qps::cli {

using namespace dissect;
using namespace transport;

namespace {

struct AnnotateOptions {
    ListingOptions listing;
    bool findings_only = false;  // comments of findings alone
    std::string hosts;           // file of addresses and names
    std::string capture;

    void add(OptionTable& table) {
        listing.begin(table);
        listing.reading.analysis.add_knowledge(table);
        table.under(headings::kOutput);
        table.flag("--findings-only", findings_only, "Comment only on packets that prove a finding");
        table
            .add("--hosts", "FILE", hosts,
                 "Add the names of hosts in this file: lines of address and name, as /etc/hosts")
            .is(PathUse::read);
        listing.known(table);
        add_saved(table, "-o,--output", capture);
        listing.reading.input.add_sandbox(table);
    }
};

std::string contradiction_of_annotating(const AnnotateOptions& options) {
    if (options.capture.empty()) return "missing output: name a capture file with -o";
    if (format_for(options.capture) == WriterFormat::pcap)
        return "pcap has no comments: name a file that does not end in .pcap";
    if (!can_be_read_twice(options.listing.reading.input))
        return "cannot read the input twice: write it to a file first";
    return {};
}

constexpr std::size_t kMostOfHosts = std::size_t{1} << 20;  // bytes: of kMostHosts lines

// The text of --hosts; says where the file cannot be read.
std::optional<std::string> hosts_of(const std::string& path) {
    if (path.empty()) return std::string();
    std::ifstream file(path, std::ios::binary);
    std::string text(kMostOfHosts, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    if (!text.empty()) return text;
    say("qpscope: {}: cannot be read, or is empty\n", path);
    return std::nullopt;
}

// The second reading: every packet, with what is to be said of it once everything that it ended is known.
class Annotating {
public:
    Annotating(PacketNotes& notes, PacketCopies& copies) : notes_(notes), copies_(copies) {}

    [[nodiscard]] Listening listening() {
        Listening listening;
        listening.opened = [this](const Input&) { copies_.next_input(); };
        listening.batch = [this](const Input& input) { copies_.describe(input); };
        listening.slots = [this](std::size_t slots) { frames_.resize(slots); };
        listening.begin = [this](std::size_t slot) { frames_[slot].clear(); };
        listening.each = [this](std::size_t slot, const Packet& packet) { frames_[slot].push_back(packet.frame); };
        listening.placed = [this](std::size_t slot, std::size_t place, const Observation& observation,
                                  const PacketRecord& record) {
            frame_ = &frames_[slot][place];
            observation_ = &observation;
            record_ = record;
        };
        listening.message = [this](ConnectionId, End, const Message& message) { ended_.push_back(message); };
        listening.after = [this] { write(); };
        return listening;
    }
    [[nodiscard]] std::uint64_t annotated() const { return annotated_; }

private:
    void write() {
        comment_.clear();
        notes_.append(comment_, *observation_, record_, ended_);
        ended_.clear();
        if (!comment_.empty()) ++annotated_;
        if (comment_.size() > kMaxComment) comment_.resize(kMaxComment);
        copies_.write(*frame_, comment_);
    }

    PacketNotes& notes_;
    PacketCopies& copies_;
    std::vector<std::vector<Frame>> frames_;  // borrowed from batches, which stay until they are consumed
    const Frame* frame_ = nullptr;            // of the packet that is followed
    const Observation* observation_ = nullptr;
    PacketRecord record_;
    std::vector<Message> ended_;
    std::string comment_;
    std::uint64_t annotated_ = 0;
};

ExitCode run_annotate(const AnnotateOptions& options) {
    const ReadingOptions& reading = options.listing.reading;
    if (const std::string why = contradiction_of_annotating(options); !why.empty()) {
        say("qpscope: {}\n", why);
        return ExitCode::usage;
    }
    const auto filter = compile_filter(reading.filter);
    if (!filter) return ExitCode::usage;
    const auto hosts_text = hosts_of(options.hosts);
    if (!hosts_text) return ExitCode::unreadable;
    auto file = open_capture(options.capture, reading.input.files);
    if (!file) return file.error();
    Output output("");  // of no use but to those who print
    const Analyzed analyzed = analyze(reading, *filter, output, {});
    if (!analyzed.any) return analyzed.code;
    if (analyzed.code == ExitCode::interrupted) return give_up_interrupted(options.capture);
    PacketCopies copies(*file, reading.input);
    std::vector<HostName> hosts = read_hosts(*hosts_text);  // before those that the traffic tells; in the sandbox
    std::ranges::copy(host_names(analyzed.timeline), std::back_inserter(hosts));
    copies.begin_section(section_text(analyzed.timeline, kMaxComment), hosts);
    PacketNotes notes(analyzed.timeline, options.findings_only ? NoteScope::findings : NoteScope::all);
    Annotating annotating(notes, copies);
    const Analyzed again = analyze_again(reading, *filter, output, annotating.listening(), analyzed);
    const ExitCode code = finish(reading.analysis, analyzed, output);
    return finish(options.capture, *file, copies, worse(code, again.code),
                  fmt::format(", {} of them with comments", annotating.annotated()));
}

}  // namespace

const Command kAnnotateCommand{
    "annotate", kHandOn, "Write a capture with what happened to its packets as comments, for Wireshark",
    "  qpscope annotate -o annotated.pcapng trace.pcap\n"
    "  qpscope annotate --findings-only -o annotated.pcapng trace.pcap\n"
    "  qpscope annotate --hosts /etc/hosts -o annotated.pcapng ring_*.pcap     # rotated files of one capture\n"
    "  tshark -r annotated.pcapng -Y 'frame.comment contains \"retransmission\"'\n\n"
    "Packets stay as they are, byte for byte. Retransmissions, gaps, timeouts, findings, set-up and the end of messages are\n"
    "comments of packets; the findings are the comment of the capture. qpscope.lua makes filters and columns of them:\n"
    "  wireshark -X lua_script:qpscope.lua annotated.pcapng",
    prepared<AnnotateOptions, run_annotate>};

}  // namespace qps::cli
