// Fuzzer of the decoder alone, without text: a hundred times as many packets as the fuzzer of packets in the same time.
// Input: as that of decoded.hpp. What must hold: all that holds of a decoded packet, and decoded again, over what a
// packet before left, it is the same. What goes the straight path is observed as it is by its layers.
#include <tests/fuzz/decoded.hpp>
#include <tests/fuzz/mutators/sealed.hpp>
#include <tests/support/same_observation.hpp>
#include <transport-replay/model/straight_path.hpp>

using namespace qps::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto frame = frame_of(data, size);
    if (!frame) return 0;
    static Packet packet, again;  // large; whatever a packet before left in them must not matter
    decode(*frame, packet);
    check_decoded(packet);
    decode(*frame, again);
    demand(again.layer_count == packet.layer_count && again.layer_count == packet.layers().size());
    demand(again.payload.captured == packet.payload.captured && again.icrc.status == packet.icrc.status);
    static qps::transport::Observation straight, by_layers;
    if (qps::transport::observe_straight(*frame, straight)) {
        observe(packet, by_layers);
        demand(qps::tests::difference(straight, by_layers).empty());
    }
    return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
    return qps::fuzz::mutate_packet(data, size, most, seed, kPacketControl);
}
