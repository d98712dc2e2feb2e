// `anonymize`: the capture once more, with other addresses, keys and names and without payload, so that it may be given
// away.
#include <cli/analyzing.hpp>
#include <cli/anonymize_key.hpp>
#include <cli/commands.hpp>
#include <cli/decoding.hpp>
#include <cli/decoding_as.hpp>
#include <cli/message.hpp>
#include <cli/options/choice.hpp>
#include <cli/options/reading_options.hpp>
#include <cli/packet_copies.hpp>
#include <dissect/base/parse_value.hpp>
#include <transport-replay/evidence/anonymizer.hpp>
#include <transport-replay/evidence/pseudonym_map.hpp>

#include <array>
#include <cmath>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace qps::cli {

using namespace dissect;
using namespace transport;

namespace {

// "-86400", "3600.5": seconds.
std::expected<Duration, std::string> read_shift(const std::string& typed) {
    std::string_view text = typed;
    const bool back = text.starts_with('-');
    if (back) text.remove_prefix(1);
    constexpr double kMost = 4e9;  // seconds: more than a century
    const auto seconds = parse_real(text);
    if (!seconds || !seconds->second.empty() || seconds->first > kMost)
        return std::unexpected(fmt::format("invalid --shift-time '{}': expected seconds, such as -86400", typed));
    const Duration shift{std::llround(seconds->first * 1e9)};
    return back ? -shift : shift;
}

constexpr std::array kPayloads{NamedValue{"zero", PayloadMode::zero}, NamedValue{"cut", PayloadMode::cut},
                               NamedValue{"keep", PayloadMode::keep}};

struct AnonymizeOptions {
    ListingOptions listing;
    std::optional<Pseudonyms::Key> key;  // on the command line; without any, one is drawn
    std::string key_file;
    bool keep_vendor = false;  // of MAC addresses
    PayloadMode payload = PayloadMode::zero;
    std::string map;   // file: who is who; empty: none
    Duration shift{};  // added to every time
    std::string capture;

    void add(OptionTable& table) {
        listing.begin(table);
        table.under(headings::kOutput);
        table.add(
            "--key", "HEX", [this](const std::string& text) { take_key(text); },
            "Choose pseudonyms by this key of 64 hexadecimal digits: the same in several captures (default: drawn); "
            "others see it in the list of processes");
        table
            .add("--key-file", "FILE", key_file,
                 "Read that key from FILE; without it from QPSCOPE_ANONYMIZE_KEY, if that is set")
            .is(PathUse::read)
            .not_with("--key");
        table.flag("--keep-vendor", keep_vendor, "Keep the vendor's half of MAC addresses");
        add_choice(table, "--payload", payload, kPayloads,
                   "Write payload as: zero, cut or keep (default: zero); keep may reveal names");
        table
            .add("--map", "FILE", map,
                 "Write key, originals and pseudonyms to FILE as JSON, which its owner alone can read")
            .is(PathUse::written);
        table.add("--shift-time", "SECONDS", into(shift, read_shift), "Add SECONDS to all timestamps");
        listing.known(table);
        add_saved(table, "-o,--output", capture);
        listing.reading.input.add_sandbox(table);
    }

private:
    void take_key(const std::string& text) {
        key = read_anonymize_key(text);
        if (!key) refuse("invalid key: expected 64 hexadecimal digits");
    }
};

// Of the memory that the user grants, one part in so many is for pairs of originals and pseudonyms; what one of them
// costs, and how many kinds there are.
constexpr std::uint64_t kPartForPairs = 16, kPairBytes = 256, kKinds = 10;

// The second reading: every packet anew.
class Anonymizing {
public:
    Anonymizing(Anonymizer& anonymizer, PacketCopies& copies, Duration shift)
        : anonymizer_(anonymizer), copies_(copies), shift_(shift) {}

    [[nodiscard]] Listening listening() {
        Listening listening;
        listening.opened = [this](const Input&) { copies_.next_input(); };
        listening.batch = [this](const Input& input) { copies_.describe(input); };
        listening.slots = [this](std::size_t slots) { frames_.resize(slots); };
        listening.begin = [this](std::size_t slot) { frames_[slot].clear(); };
        listening.each = [this](std::size_t slot, const Packet& packet) { frames_[slot].push_back(packet.frame); };
        listening.placed = [this](std::size_t slot, std::size_t place, const Observation& observation,
                                  const PacketRecord& record) {
            Frame made = anonymizer_.anonymize(frames_[slot][place], observation.flow, record.ulp);
            if (made.has_time) made.time = made.time + shift_;
            copies_.write(made);
        };
        return listening;
    }

private:
    Anonymizer& anonymizer_;
    PacketCopies& copies_;
    Duration shift_;
    std::vector<std::vector<Frame>> frames_;  // borrowed from batches, which stay until they are consumed
};

ExitCode run_anonymize(const AnonymizeOptions& asked) {
    if (asked.capture.empty()) {
        say("qpscope: missing output: name a capture file with -o\n");
        return ExitCode::usage;
    }
    const auto chosen = chosen_key(asked.key, asked.key_file);
    if (!chosen) {
        say("qpscope: {}\n", chosen.error());
        return ExitCode::usage;
    }
    ReadingOptions reading = asked.listing.reading;
    const std::uint64_t memory = reading.analysis.memory.bytes();
    reading.analysis.memory = MemoryBudget(memory - memory / kPartForPairs);
    const auto filter = compile_filter(reading.filter);
    if (!filter) return ExitCode::usage;
    auto file = open_capture(asked.capture, reading.input.files);
    if (!file) return file.error();
    Output map(asked.map, reading.input.files, Readers::owner_only);
    if (!map.ok()) return finish(map, false);
    const Pseudonyms::Key key = *chosen ? **chosen : drawn_key();
    Pseudonyms pseudonyms(key, asked.keep_vendor, memory / kPartForPairs / kPairBytes / kKinds);
    Anonymizer anonymizer(pseudonyms, asked.payload);
    PacketCopies copies(*file, reading.input);
    copies.hide_names();
    Analyzed first;
    if (can_be_read_twice(reading.input)) {
        const KnownBefore known = known_before(reading.input, reading.analysis, LookAhead::all);
        reading.analysis.hints = known.hints;
        first.known = known.traits;
        first.timeline.numbers = known.numbers;
        if (interrupted()) return give_up_interrupted(asked.capture);
    }
    Anonymizing anonymizing(anonymizer, copies, asked.shift);
    const Analyzed analyzed = analyze_again(reading, *filter, map, anonymizing.listening(), first, false);
    if (!analyzed.any) return analyzed.code;
    if (!asked.map.empty()) write_map(key, pseudonyms, [&](std::string_view piece) { map.write(piece); });
    map.flush();
    if (!map.ok()) return finish(map, false);  // without its map a capture is not what was asked for
    const ExitCode code = finish(asked.capture, *file, copies, analyzed.code);
    // The map of the capture that is there: of this one, or else of the one before.
    return worse(code, finish(map, file->committed() || code == ExitCode::done));
}

}  // namespace

const Command kAnonymizeCommand{
    "anonymize", kHandOn, "Write a capture with other addresses, keys and names, and without payload",
    "  qpscope anonymize -o clean.pcapng trace.pcap\n"
    "  qpscope anonymize --map map.json -o clean.pcapng trace.pcap               # the map stays with you\n"
    "  qpscope anonymize --payload cut --keep-vendor -o clean.pcapng trace.pcap\n"
    "  qpscope anonymize --key-file key -o clean.pcapng ring_*.pcap                # a key of openssl rand -hex 32\n\n"
    "IP addresses keep their common prefixes (Crypto-PAn). MAC addresses, GIDs, GUIDs, LIDs, keys of memory, partitions and queues,\n"
    "addresses of memory, NQNs, IQNs, names of hosts, services and files are each replaced by the same other one everywhere.\n"
    "What no header explains becomes zero. Numbers of queue pairs and ports, sizes and times stay. Checksums, ICRCs and VCRCs\n"
    "are made right again where they were right; of a wrong one nothing is left but that it was wrong, or 0.",
    prepared<AnonymizeOptions, run_anonymize>};

}  // namespace qps::cli
