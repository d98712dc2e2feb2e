// `anonymize`: the capture once more, with other addresses, keys and names and without payload, so that it may be given away.
#include <cli/analyzing.hpp>
#include <cli/command.hpp>
#include <cli/decoding.hpp>
#include <cli/decoding_as.hpp>
#include <cli/message.hpp>
#include <cli/options/anonymize_options.hpp>
#include <cli/packet_copies.hpp>
#include <dissect/parse_value.hpp>
#include <transport-replay/evidence/anonymizer.hpp>
#include <transport-replay/evidence/pseudonym_map.hpp>

#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

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
