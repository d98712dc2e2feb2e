// Capture files put together by hand, and what a CaptureFile makes of them.
#include <tests/dissect/capture_bytes.hpp>

#include <stdexcept>
#include <utility>

#include <zlib.h>
#include <zstd.h>

namespace qps::test {

Maker& Maker::number(std::uint64_t value, std::size_t width) {
    for (std::size_t i = 0; i < width; ++i) {
        const std::size_t shift = 8 * (order_ == ByteOrder::little ? i : width - 1 - i);
        content_.push_back(static_cast<std::byte>(value >> shift));
    }
    return *this;
}

Maker& Maker::add(Bytes bytes) {
    content_.insert(content_.end(), bytes.begin(), bytes.end());
    return *this;
}

Maker& Maker::text(std::string_view text) { return add(std::as_bytes(std::span(text))); }

Maker& Maker::pad() {
    while (content_.size() % 4 != 0) content_.push_back(std::byte{0});
    return *this;
}

Maker& Maker::option(std::uint16_t code, Bytes value) { return u16(code).u16(value.size()).add(value).pad(); }

Maker& Maker::block(std::uint32_t type, const Content& body) {
    const std::size_t length = 12 + (body.size() + 3) / 4 * 4;
    u32(type).u32(length).add(body);
    return pad().u32(length);
}

Content frame_bytes(std::size_t length, unsigned seed) {
    Content bytes(length);
    for (std::size_t i = 0; i < length; ++i) bytes[i] = static_cast<std::byte>(seed * 37 + i);
    return bytes;
}

void pcap_header(Maker& out, std::uint32_t magic, std::uint32_t network, std::uint32_t snap_length) {
    out.u32(magic).u16(2).u16(4).u32(0).u32(0).u32(snap_length).u32(network);
}

void pcap_record(Maker& out, std::uint32_t seconds, std::uint32_t fraction, Bytes frame, std::uint32_t wire_length) {
    out.u32(seconds).u32(fraction).u32(frame.size()).u32(wire_length).add(frame);
}

void section(Maker& out) {
    out.block(0x0a0d0d0a, Maker(out.order()).u32(0x1a2b3c4d).u16(1).u16(0).u64(~std::uint64_t{0}).content());
}

void interface_block(Maker& out, const InterfaceBlock& interface) {
    out.block(
        1, Maker(out.order()).u16(interface.link).u16(0).u32(interface.snap_length).add(interface.options).content());
}

void packet_block(Maker& out, std::uint32_t interface, std::uint64_t ticks, Bytes frame, std::uint32_t wire_length,
                  const Content& options) {
    Maker body(out.order());
    body.u32(interface).u32(ticks >> 32).u32(ticks).u32(frame.size()).u32(wire_length).add(frame).pad().add(options);
    out.block(6, body.content());
}

Content small_pcap(ByteOrder order, std::uint32_t magic) {
    Maker out(order);
    pcap_header(out, magic);
    pcap_record(out, 1'700'000'000, 5, frame_bytes(10, 1), 60);
    pcap_record(out, 1'700'000'001, 0, {}, 0);
    pcap_record(out, 1'700'000'000, 4, frame_bytes(7, 3), 7);
    return out.content();
}

Content small_pcapng(ByteOrder order) {
    Maker out(order);
    section(out);
    interface_block(out);
    packet_block(out, 0, 1'700'000'000'000'005, frame_bytes(10, 1), 60);
    packet_block(out, 0, 1'700'000'001'000'000, {}, 0);
    packet_block(out, 0, 1'700'000'000'000'004, frame_bytes(7, 3), 7);
    return out.content();
}

Content gzipped(Bytes content) {
    z_stream stream{};
    if (deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        throw std::runtime_error("deflateInit2");
    Content out(deflateBound(&stream, content.size()) + 32);
    stream.next_in = reinterpret_cast<z_const Bytef*>(const_cast<std::byte*>(content.data()));
    stream.avail_in = static_cast<uInt>(content.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    const int result = deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    if (result != Z_STREAM_END) throw std::runtime_error("deflate");
    return out;
}

Content zstd_compressed(Bytes content) {
    Content out(ZSTD_compressBound(content.size()));
    ZSTD_CCtx* context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    const std::size_t size = ZSTD_compress2(context, out.data(), out.size(), content.data(), content.size());
    ZSTD_freeCCtx(context);
    if (ZSTD_isError(size) != 0) throw std::runtime_error("ZSTD_compress2");
    out.resize(size);
    return out;
}

Content joined(const Content& first, const Content& second) {
    Content both = first;
    both.insert(both.end(), second.begin(), second.end());
    return both;
}

Bytes prefix(const Content& content, std::size_t length) { return Bytes(content).first(length); }

bool Seen::operator==(const Seen& other) const {
    const auto& a = frame;
    const auto& b = other.frame;
    return bytes == other.bytes && options == other.options && a.wire_length == b.wire_length && a.link == b.link &&
           a.index == b.index && a.time == b.time && a.elapsed == b.elapsed && a.interface == b.interface &&
           a.link_speed == b.link_speed && a.file_offset == b.file_offset && a.options_order == b.options_order;
}

Reading read_all(std::expected<dissect::CaptureFile, dissect::InputProblem> file) {
    Reading reading;
    if (!file) {
        reading.problem = file.error();
        return reading;
    }
    dissect::Batch batch;
    while (file->read(batch)) {
        for (const dissect::Frame& frame : batch.frames)
            reading.frames.push_back({frame, Content(frame.bytes.begin(), frame.bytes.end()),
                                      Content(frame.options.begin(), frame.options.end()),
                                      std::string(dissect::comment(frame))});
        for (std::size_t i = reading.frames.size() - batch.frames.size(); i < reading.frames.size(); ++i) {
            reading.frames[i].frame.bytes = reading.frames[i].bytes;
            reading.frames[i].frame.options = reading.frames[i].options;
        }
    }
    reading.problem = file->problem();
    reading.interfaces.assign(file->interfaces().begin(), file->interfaces().end());
    reading.drops = file->drops();
    reading.skipped = file->skipped_blocks();
    reading.largest_storage = batch.storage.capacity();
    return reading;
}

Reading read_bytes(Bytes content, std::size_t piece) {
    return read_all(dissect::CaptureFile::from_memory(content, "made by hand", piece));
}

}  // namespace qps::test
