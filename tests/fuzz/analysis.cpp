// Fuzzer of the reconstruction: bytes as a capture in memory, decoded, observed and analysed; what comes out must agree
// with itself. Twice, as found and with every ICRC called good: packets that a fuzzer changed have a wrong one and are
// not followed.
#include <dissect/capture/capture_file.hpp>
#include <tests/fuzz/followed.hpp>
#include <tests/fuzz/mutators/sealed.hpp>

#include <cstdint>

namespace {

using namespace qps;

enum class Verdicts : std::uint8_t { as_found, all_good };

void follow(dissect::Bytes bytes, Verdicts verdicts) {
    auto file = dissect::CaptureFile::from_memory(bytes, "fuzz");
    if (!file) return;
    fuzz::Followed followed;
    dissect::Batch batch;
    dissect::Packet packet;
    transport::Observation observation;
    while (file->read(batch))
        for (const dissect::Frame& frame : batch.frames) {
            dissect::decode(frame, packet);
            transport::observe(packet, observation);
            if (verdicts == Verdicts::all_good) observation.icrc = dissect::CrcStatus::good;
            followed.observe(observation);
        }
    followed.finish();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const dissect::Bytes bytes = std::as_bytes(std::span(data, size));
    follow(bytes, Verdicts::as_found);
    follow(bytes, Verdicts::all_good);
    return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
    return qps::fuzz::mutate_capture(data, size, most, seed, 0);
}
