// `anonymize`: the capture once more, with other addresses, keys and names and without payload, so that it may be given
// away.
#include <cli/analyzing.hpp>
#include <cli/command.hpp>
#include <cli/decoding.hpp>
#include <cli/decoding_as.hpp>
#include <cli/message.hpp>
#include <cli/options/anonymize_options.hpp>
#include <cli/packet_copies.hpp>
#include <dissect/base/parse_value.hpp>
#include <transport-replay/evidence/anonymizer.hpp>
#include <transport-replay/evidence/pseudonym_map.hpp>

#include <array>
#include <cstdlib>
#include <expected>
#include <fstream>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace qps::cli {

using namespace dissect;
using namespace transport;

namespace {

// Of the memory that the user grants, one part in so many is for pairs of originals and pseudonyms; what one of them
// costs, and how many kinds there are.
constexpr std::uint64_t kPartForPairs = 16, kPairBytes = 256, kKinds = 10;

Pseudonyms::Key drawn_key() {
    Pseudonyms::Key key{};
    std::random_device device;  // /dev/urandom or the processor
    for (std::size_t i = 0; i < key.size(); i += sizeof(unsigned)) write_bits(key, i * 8, 32, device());
    return key;
}

constexpr std::size_t kMostOfKeyFile = 4096;  // bytes: of 64 digits and what editors add

// By --key, --key-file or QPSCOPE_ANONYMIZE_KEY, in this order; nothing: it is to be drawn.
std::expected<std::optional<Pseudonyms::Key>, std::string> chosen_key(const AnonymizeOptions& asked) {
    if (asked.key) return asked.key;
    constexpr std::string_view kExpected = "expected 64 hexadecimal digits";
    std::string text, from;
    if (!asked.key_file.empty()) {
        from = asked.key_file;
        std::ifstream file(asked.key_file, std::ios::binary);
        if (!file) return std::unexpected(cannot_read(asked.key_file));
        text.resize(kMostOfKeyFile);
        file.read(text.data(), static_cast<std::streamsize>(text.size()));
        text.resize(static_cast<std::size_t>(file.gcount()));
    } else if (const char* const set = std::getenv(kKeyVariable); set != nullptr && *set != '\0') {
        from = kKeyVariable;
        text = set;
    } else {
        return std::nullopt;
    }
    const std::size_t end = text.find_last_not_of(" \t\r\n");
    const auto key = read_anonymize_key(std::string_view(text).substr(0, end == std::string::npos ? 0 : end + 1));
    if (!key) return std::unexpected(fmt::format("{}: invalid key: {}", from, kExpected));
    return key;
}

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

}  // namespace

ExitCode run_anonymize(const Options& asked) {
    if (asked.capture.empty()) {
        say("qpscope: missing output: name a capture file with -o\n");
        return ExitCode::usage;
    }
    const auto chosen = chosen_key(asked.anonymize);
    if (!chosen) {
        say("qpscope: {}\n", chosen.error());
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
    Output map(options, Readers::owner_only);
    if (!map.ok()) return finish(map, false);
    const Pseudonyms::Key key = *chosen ? **chosen : drawn_key();
    Pseudonyms pseudonyms(key, options.anonymize.keep_vendor, memory / kPartForPairs / kPairBytes / kKinds);
    Anonymizer anonymizer(pseudonyms, options.anonymize.payload);
    PacketCopies copies(*file, options);
    copies.hide_names();
    Analyzed first;
    if (can_be_read_twice(options)) {
        const KnownBefore known = known_before(options, LookAhead::all);
        options.hints = known.hints;
        first.known = known.traits;
        if (interrupted()) return give_up_interrupted(options);
    }
    Anonymizing anonymizing(anonymizer, copies, options.anonymize.shift);
    const Analyzed analyzed = analyze_again(options, *filter, map, anonymizing.listening(), first, false);
    if (!analyzed.any) return analyzed.code;
    if (!options.anonymize.map.empty()) write_map(key, pseudonyms, [&](std::string_view piece) { map.write(piece); });
    map.flush();
    if (!map.ok()) return finish(map, false);  // without its map a capture is not what was asked for
    const ExitCode code = finish(options, *file, copies, analyzed.code);
    // The map of the capture that is there: of this one, or else of the one before.
    return worse(code, finish(map, file->committed() || code == ExitCode::done));
}

}  // namespace qps::cli
