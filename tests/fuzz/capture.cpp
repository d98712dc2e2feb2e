// Fuzzer: bytes as a capture file, mapped, walked in stretches and streamed, raw or compressed. Every byte of every
// frame is touched, and all ways must see the same.
#include <dissect/capture/capture_file.hpp>
#include <tests/fuzz/mutators/sealed.hpp>

#include <cstdint>
#include <cstdlib>

namespace {

using namespace qps::dissect;

// zstd and gzip make much of little; a capture of so many frames has shown what there is to see.
constexpr std::uint64_t kMaxFrames = 100'000;

// A batch holds one record of any kind: the longest header of one has so many bytes.
constexpr std::size_t kRecordHeaderRoom = 24;

struct Digest {
    bool opened = false;
    bool stopped = false;
    std::uint64_t frames = 0;
    std::uint64_t sum = 0;
    InputProblemKind kind = InputProblemKind::none;
    std::uint64_t offset = 0;
    bool operator==(const Digest&) const = default;
};

std::uint64_t mix(std::uint64_t sum, std::uint64_t value) { return (sum ^ value) * 0x9e3779b97f4a7c15; }

std::uint64_t sum_of(const Frame& frame, std::uint64_t sum) {
    for (const std::byte byte : frame.bytes) sum = mix(sum, static_cast<std::uint64_t>(byte));
    for (const char letter : comment(frame)) sum = mix(sum, static_cast<unsigned char>(letter));
    for (const std::byte byte : frame.options) sum = mix(sum, static_cast<std::uint64_t>(byte));
    sum = mix(sum, static_cast<std::uint64_t>(frame.time));
    sum = mix(sum, static_cast<std::uint64_t>(frame.elapsed));
    sum = mix(sum, static_cast<std::uint64_t>(frame.link));
    return mix(sum, frame.file_offset);
}

// The next frames, of a stretch if that can be.
bool next(CaptureFile& file, Batch& batch, std::size_t stretch) {
    if (stretch == 0 || !file.reach(batch, stretch)) return file.read(batch);
    file.walk(batch);
    file.settle(batch);
    return !batch.frames.empty();
}

// `stretch`: in bytes, where it is walked in stretches.
Digest digest_of(Bytes bytes, std::size_t piece, std::size_t stretch = 0) {
    Digest digest;
    auto file = CaptureFile::from_memory(bytes, "fuzz", piece);
    if (!file) {
        digest.kind = file.error().kind;
        return digest;
    }
    digest.opened = true;
    Batch batch;
    while (next(*file, batch, stretch)) {
        for (const Frame& frame : batch.frames) {
            if (digest.frames == kMaxFrames) {
                digest.stopped = true;
                return digest;
            }
            ++digest.frames;
            digest.sum = sum_of(frame, digest.sum);
            if (static_cast<std::size_t>(frame.interface) >= file->interfaces().size()) std::abort();
        }
        if (batch.storage.capacity() > kMaxRecord + kRecordHeaderRoom) std::abort();
    }
    digest.kind = file->problem().kind;
    digest.offset = file->problem().offset;
    if ((digest.kind == InputProblemKind::none) != file->problem().sentence.empty()) std::abort();
    return digest;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const Bytes bytes = std::as_bytes(std::span(data, size));
    constexpr std::size_t kPiece = 7;  // small and odd: records are cut everywhere
    constexpr std::size_t kStretch = 100;
    const Digest whole = digest_of(bytes, 0);
    if (whole != digest_of(bytes, kPiece) || whole != digest_of(bytes, 0, kStretch)) std::abort();
    return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
    return qps::fuzz::mutate_capture(data, size, most, seed, 0);
}
