// Decompression with zlib and libzstd.
#include <dissect/capture/inflate.hpp>

#include <algorithm>
#include <new>

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

namespace qps::dissect {

namespace {

constexpr std::byte kGzipFirst{0x1f};
constexpr std::byte kGzipSecond{0x8b};
constexpr std::uint32_t kZstdMagic = 0xfd2fb528;
constexpr std::uint32_t kZstdSkippableMagic = 0x184d2a50;  // the last four bits are free

// zlib counts in 32 bits; what is left over is taken in the next call.
constexpr std::size_t kMaxStep = std::size_t{1} << 30;

struct FreeZstd {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

}  // namespace

struct Inflater::State {
    Compression compression = Compression::none;
    z_stream gzip{};
    bool gzip_started = false;
    std::unique_ptr<ZSTD_DCtx, FreeZstd> zstd;
    std::size_t zstd_hint = 0;  // how much the decoder would like to see next, in bytes
    bool pending = false;
    bool at_boundary = false;
    std::string damage;

    State() = default;
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    ~State() {
        if (gzip_started) inflateEnd(&gzip);
    }

    std::size_t inflate_gzip(Bytes& input, MutableBytes into);
    std::size_t inflate_zstd(Bytes& input, MutableBytes into);
};

Compression compression_of(Bytes bytes) {
    if (bytes.size() >= 2 && bytes[0] == kGzipFirst && bytes[1] == kGzipSecond) return Compression::gzip;
    const auto magic = read_le<std::uint32_t>(bytes, 0);
    if (magic == kZstdMagic || (magic & 0xfffffff0U) == kZstdSkippableMagic) return Compression::zstd;
    return Compression::none;
}

Inflater::Inflater(Compression compression) : state_(std::make_unique<State>()) {
    state_->compression = compression;
    if (compression == Compression::gzip) {
        constexpr int kGzipOnly = 15 + 16;
        if (inflateInit2(&state_->gzip, kGzipOnly) != Z_OK) throw std::bad_alloc();
        state_->gzip_started = true;
    } else {
        state_->zstd.reset(ZSTD_createDCtx());
        if (!state_->zstd) throw std::bad_alloc();
        state_->zstd_hint = ZSTD_initDStream(state_->zstd.get());
    }
}

Inflater::Inflater(Inflater&&) noexcept = default;
Inflater& Inflater::operator=(Inflater&&) noexcept = default;
Inflater::~Inflater() = default;

bool Inflater::pending() const { return state_->pending; }
bool Inflater::at_boundary() const { return state_->at_boundary; }
const std::string& Inflater::damage() const { return state_->damage; }

std::size_t Inflater::inflate(Bytes& input, MutableBytes into) {
    if (!state_->damage.empty() || into.empty()) return 0;
    const std::size_t written = state_->compression == Compression::gzip ? state_->inflate_gzip(input, into)
                                                                         : state_->inflate_zstd(input, into);
    state_->pending = written == into.size();
    return written;
}

std::size_t Inflater::State::inflate_gzip(Bytes& input, MutableBytes into) {
    std::size_t written = 0;
    while (damage.empty() && written < into.size()) {
        if (at_boundary) {  // between members: zeros are padding (as gzip itself has it), else the next member starts
            const auto start = std::ranges::find_if(input, [](std::byte byte) { return byte != std::byte{0}; });
            input = input.subspan(static_cast<std::size_t>(start - input.begin()));
            if (input.empty()) break;
            if (input[0] != kGzipFirst) {
                damage = "trailing data after the gzip stream";
                break;
            }
            inflateReset(&gzip);
            at_boundary = false;
        }
        const std::size_t offered = std::min(input.size(), kMaxStep);
        const std::size_t space = std::min(into.size() - written, kMaxStep);
        gzip.next_in = reinterpret_cast<z_const Bytef*>(const_cast<std::byte*>(input.data()));
        gzip.avail_in = static_cast<uInt>(offered);
        gzip.next_out = reinterpret_cast<Bytef*>(into.data() + written);
        gzip.avail_out = static_cast<uInt>(space);
        const int result = ::inflate(&gzip, Z_NO_FLUSH);
        input = input.subspan(offered - gzip.avail_in);
        written += space - gzip.avail_out;
        if (result == Z_STREAM_END) at_boundary = true;
        else if (result == Z_BUF_ERROR) break;  // no progress without more input
        else if (result != Z_OK)
            damage = fmt::format("damaged gzip stream ({})", gzip.msg != nullptr ? gzip.msg : "no reason given");
        else if (input.empty() && gzip.avail_out != 0) break;
    }
    return written;
}

std::size_t Inflater::State::inflate_zstd(Bytes& input, MutableBytes into) {
    // A call that fails does not say how much it wrote. So that nothing is lost, no call gets more than one step of the
    // decoder: what is still to be flushed, one block (the hint counts the next block's header in: without it), or a
    // header.
    constexpr std::size_t kBlockHeader = 3;
    ZSTD_outBuffer out{into.data(), into.size(), 0};
    bool flush = pending;
    while (out.pos < out.size && (flush || !input.empty())) {
        std::size_t step = zstd_hint > kBlockHeader ? zstd_hint - kBlockHeader : std::max<std::size_t>(zstd_hint, 1);
        if (flush) step = 0;
        flush = false;
        ZSTD_inBuffer in{input.data(), std::min(step, input.size()), 0};
        const std::size_t result = ZSTD_decompressStream(zstd.get(), &out, &in);
        if (ZSTD_isError(result) != 0) {
            damage = fmt::format("damaged zstd stream ({})", ZSTD_getErrorName(result));
            break;
        }
        if (in.size != 0 || out.pos != 0) at_boundary = result == 0;
        input = input.subspan(in.pos);
        zstd_hint = result;
    }
    return out.pos;
}

}  // namespace qps::dissect
