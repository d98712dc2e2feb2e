// `anonymize`: the capture once more, with other addresses, keys and names and without payload, so that it may be given away.
#include <dissect/parse_value.hpp>
#include <transport-replay/evidence/anonymizer.hpp>
#include <transport-replay/evidence/pseudonym_map.hpp>

#include <CLI/CLI.hpp>

#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "analyzing.hpp"
#include "anonymize_options.hpp"
#include "command.hpp"
#include "decoding.hpp"
#include "decoding_as.hpp"
#include "message.hpp"
#include "packet_copies.hpp"
#include <fmt/format.h>

namespace qps::cli {

using namespace dissect;
using namespace transport;

namespace {

// Of the memory that the user grants, one part in so many is for pairs of originals and pseudonyms; what one of them costs, and how
// many kinds there are.
constexpr std::uint64_t kPartForPairs = 16, kPairBytes = 256, kKinds = 10;

Pseudonyms::Key drawn_key() {
    Pseudonyms::Key key{};
    std::random_device device;  // /dev/urandom or the processor
    for (std::size_t i = 0; i < key.size(); i += sizeof(unsigned)) write_bits(key, i * 8, 32, device());
    return key;
}

// "64 hexadecimal digits"; nothing where it is none.
std::optional<Pseudonyms::Key> read_key(std::string_view text) {
    Pseudonyms::Key key{};
    if (text.size() != 2 * key.size()) return std::nullopt;
    for (std::size_t i = 0; i < key.size(); ++i) {
        const auto high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);
        if (!high || !low) return std::nullopt;
        key[i] = static_cast<std::byte>(*high << 4 | *low);
    }
    return key;
}

// "-86400", "3600.5": seconds.
std::optional<Duration> read_shift(std::string_view text) {
    const bool back = text.starts_with('-');
    if (back) text.remove_prefix(1);
    constexpr double kMost = 4e9;  // seconds: more than a century
    const auto seconds = parse_real(text);
    if (!seconds || !seconds->second.empty() || seconds->first > kMost) return std::nullopt;
    const Duration shift{std::llround(seconds->first * 1e9)};
    return back ? -shift : shift;
}

// The second reading: every packet anew.
class Anonymizing {
public:
    Anonymizing(Anonymizer& anonymizer, PacketCopies& copies, Duration shift) : anonymizer_(anonymizer), copies_(copies), shift_(shift) {}

    [[nodiscard]] Listening listening() {
        Listening listening;
        listening.opened = [this](const Input&) { copies_.next_input(); };
        listening.batch = [this](const Input& input) { copies_.describe(input); };
        listening.slots = [this](std::size_t slots) { frames_.resize(slots); };
        listening.begin = [this](std::size_t slot) { frames_[slot].clear(); };
        listening.each = [this](std::size_t slot, const Packet& packet) { frames_[slot].push_back(packet.frame); };
        listening.placed = [this](std::size_t slot, std::size_t place, const Observation& observation, const PacketRecord& record) {
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

}  // namespace

void add_anonymize_options(CLI::App& app, AnonymizeOptions& options) {
    app.add_option_function<std::string>(
           "--key",
           [&options](const std::string& text) {
               options.key = read_key(text);
               if (!options.key) throw CLI::ValidationError("invalid key: expected 64 hexadecimal digits");
           },
           "Choose pseudonyms by this key of 64 hexadecimal digits: the same in several captures (default: drawn)")
        ->type_name("HEX");
    app.add_flag("--keep-vendor", options.keep_vendor, "Keep the vendor's half of MAC addresses");
    app.add_option_function<std::string>(
           "--payload",
           [&options](const std::string& text) {
               if (text == "zero") options.payload = PayloadMode::zero;
               else if (text == "cut") options.payload = PayloadMode::cut;
               else if (text == "keep") options.payload = PayloadMode::keep;
               else throw CLI::ValidationError(fmt::format("invalid --payload '{}': expected one of zero, cut, keep", text));
           },
           "What becomes of payload: zero, cut or keep (default: zero); with keep, names inside of it are given away")
        ->type_name("WORD");
    app.add_option("--map", options.map, "Write key, originals and pseudonyms to FILE as JSON, for the owner")->type_name("FILE");
    app.add_option_function<std::string>(
           "--shift-time",
           [&options](const std::string& text) {
               const auto shift = read_shift(text);
               if (!shift) throw CLI::ValidationError(fmt::format("invalid --shift-time '{}': expected seconds, such as -86400", text));
               options.shift = *shift;
           },
           "Add so many seconds to every time")
        ->type_name("SECONDS");
}

ExitCode run_anonymize(const Options& asked) {
    if (asked.capture.empty()) {
        say("qpscope: missing output: name a capture file with -o\n");
        return ExitCode::usage;
    }
    Options options = asked;
    const std::uint64_t memory = asked.memory.bytes();
    options.memory = MemoryBudget(memory - memory / kPartForPairs);
    const auto filter = compile_filter(options);
    if (!filter) return ExitCode::usage;
    auto file = open_capture(options);
    if (!file) return file.error();
    options.output = options.anonymize.map;
    Output map(options);
    if (!map.ok()) return finish(map);
    const Pseudonyms::Key key = options.anonymize.key ? *options.anonymize.key : drawn_key();
    Pseudonyms pseudonyms(key, options.anonymize.keep_vendor, memory / kPartForPairs / kPairBytes / kKinds);
    Anonymizer anonymizer(pseudonyms, options.anonymize.payload);
    PacketCopies copies(*file, options);
    copies.hide_names();
    Analyzed first;
    if (can_be_read_twice(options)) {
        const KnownBefore known = known_before(options, LookAhead::all);
        options.hints = known.hints;
        first.known = known.traits;
    }
    Anonymizing anonymizing(anonymizer, copies, options.anonymize.shift);
    const Analyzed analyzed = analyze_again(options, *filter, map, anonymizing.listening(), first, false);
    if (!analyzed.any) return analyzed.code;
    if (!options.anonymize.map.empty()) write_map(key, pseudonyms, [&](std::string_view piece) { map.write(piece); });
    return finish(options, *file, copies, worse(analyzed.code, finish(map)));
}

}  // namespace qps::cli
