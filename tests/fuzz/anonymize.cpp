// Fuzzer of what is given away: bytes as a capture, each packet followed and then anonymized. No IP address of a header
// stays as it was, no byte that no header explains is left, checksums that were right still are, those that were 0 too,
// and a wrong ICRC of the same packet says nothing of what it was.
#include <dissect/capture/capture_file.hpp>
#include <dissect/ulp/ulp.hpp>
#include <tests/fuzz/followed.hpp>
#include <tests/fuzz/mutators/sealed.hpp>
#include <transport-replay/evidence/anonymizer.hpp>

#include <algorithm>

namespace {

using namespace qps;
using namespace qps::dissect;
using namespace qps::transport;
using fuzz::demand;

constexpr std::size_t kFew = 64;  // pairs remembered of each kind, so that some are forgotten

// What tests/transport-replay/evidence says of the numbers that stay.
bool may_stay(std::uint32_t ip) { return ip == 0 || ip == UINT32_MAX || ip >> 8 == 0xe00000; }

void ipv4_are_others(Bytes before, Bytes after, const Layer& layer, Pseudonyms& pseudonyms) {
    constexpr std::size_t kHeader = 20, kSource = 12, kDestination = 16;
    if (layer.length < kHeader) return;
    for (const std::size_t place : {kSource, kDestination}) {
        const auto was = read_be<std::uint32_t>(before, layer.offset + place),
                   is = read_be<std::uint32_t>(after, layer.offset + place);
        demand(is == pseudonyms.ipv4(was));
        demand((is == was) == may_stay(was) && may_stay(is) == may_stay(was));
    }
}

// What no layer covers is gone.
void is_blank_outside(const Packet& packet, Bytes after) {
    std::vector<bool> covered(after.size());
    for (const Layer& layer : packet.layers())
        for (std::size_t i = 0; i < layer.length && layer.offset + i < covered.size(); ++i)
            covered[layer.offset + i] = true;
    for (std::size_t i = 0; i < after.size(); ++i) demand(covered[i] || after[i] == std::byte{0});
}

// Of a packet whose headers lead to it: behind one that is too short it is a byte that nothing explains.
void icrc_is_as_it_was(const Packet& packet, const CrcVerdict& after) {
    const CrcVerdict& before = packet.icrc;
    if (find(packet, LayerKind::icrc) == nullptr) return;
    if (before.status == CrcStatus::good) demand(after.status == CrcStatus::good);
    if (before.status != CrcStatus::bad) return;
    demand(after.status == CrcStatus::bad || after.found == 0);
    demand((before.found == 0) == (after.found == 0));
}

class Judge {
public:
    void take(const Frame& frame, const Packet& packet, const FlowKey& way, const UlpHint& hint) {
        const Frame blank = blanked_.anonymize(frame, way, hint), shorter = cut_.anonymize(frame, way, hint);
        demand(blank.bytes.size() == frame.bytes.size() && blank.wire_length == frame.wire_length);
        demand(std::ranges::equal(shorter.bytes, blank.bytes.first(shorter.bytes.size())));
        detailed_ = packet;
        add_ulp_layers(detailed_, hint);
        for (const Layer& layer : packet.layers())
            if (layer.kind == LayerKind::ipv4) ipv4_are_others(frame.bytes, blank.bytes, layer, pseudonyms_);
        is_blank_outside(detailed_, blank.bytes);
        decode(blank, again_);
        icrc_is_as_it_was(packet, again_.icrc);
    }

private:
    Pseudonyms pseudonyms_{Pseudonyms::Key{std::byte{1}, std::byte{2}}, false, kFew};
    Pseudonyms same_{Pseudonyms::Key{std::byte{1}, std::byte{2}}, false, kFew};
    Anonymizer blanked_{pseudonyms_, PayloadMode::zero};
    Anonymizer cut_{same_, PayloadMode::cut};
    Packet detailed_, again_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    auto file = CaptureFile::from_memory(std::as_bytes(std::span(data, size)), "fuzz");
    if (!file) return 0;
    Judge judge;
    Analysis analysis;
    Batch batch;
    Packet packet;
    Observation observation;
    while (file->read(batch))
        for (const Frame& frame : batch.frames) {
            decode(frame, packet);
            observe(packet, observation);
            const PacketRecord record = analysis.observe(observation);
            judge.take(frame, packet, observation.flow, record.ulp);
        }
    return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
    return qps::fuzz::mutate_capture(data, size, most, seed, 0);
}
