// A capture as batches of frames: opens the source, recognises the format, and moves the window over the bytes.
#include <dissect/capture/capture_file.hpp>

#include <algorithm>
#include <array>
#include <new>
#include <span>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace qps::dissect {

namespace {

// How much of a stream is asked for at once: what is read beyond the end of a batch is copied to the next.
constexpr std::size_t kFillSize = std::size_t{32} << 10;

// Short enough for std::string to need no memory for it.
constexpr const char* kOutOfMemory = "out of memory";

static_assert(kPcapHeader == kPcapngHeader);
constexpr std::size_t kFileHeader = kPcapHeader;

struct OtherFormat {
    std::string_view magic;
    std::string_view sentence;
};

// Files that people take for captures, and what to do about them.
constexpr std::array kOtherFormats{
    OtherFormat{{"\xfd"
                 "7zXZ",
                 5},
                "unsupported compression xz: decompress the file first"},
    OtherFormat{"BZh", "unsupported compression bzip2: decompress the file first"},
    OtherFormat{"\x04\x22\x4d\x18", "unsupported compression lz4: decompress the file first"},
    OtherFormat{"PK\x03\x04", "zip archive: unpack it first"},
    OtherFormat{"TRSNIFF ", "unsupported Sniffer capture: convert it with editcap -F pcapng"},
    OtherFormat{{"snoop\0\0\0", 8}, "unsupported snoop capture: convert it with editcap -F pcapng"},
};

std::string_view text_of(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

std::string first_bytes(Bytes bytes) {
    constexpr std::size_t kShown = 8;
    const Bytes start = slice(bytes, 0, kShown);
    std::string hex;
    std::string text;
    for (const std::byte byte : start) {
        const auto value = static_cast<unsigned char>(byte);
        hex += fmt::format("{}{:02x}", hex.empty() ? "" : " ", value);
        text += value >= 0x20 && value < 0x7f && value != '"' ? static_cast<char>(value) : '.';
    }
    return fmt::format("{} \"{}\"", hex, text);
}

// Why `start`, the first bytes of the (uncompressed) file, begins no capture.
std::string not_a_capture_sentence(Bytes start, const ByteSource& source) {
    if (start.empty() && source.damage().empty())
        return source.compression() == Compression::none ? "empty file"
                                                         : fmt::format("empty {} stream", name(source.compression()));
    if (start.size() < kFileHeader && !source.damage().empty())
        return fmt::format("{} inside the file header", source.damage());
    for (const OtherFormat& other : kOtherFormats)
        if (text_of(start).starts_with(other.magic)) return std::string(other.sentence);
    if (start.size() < kFileHeader)
        return fmt::format("not a capture: {} bytes, shorter than a file header of {}; first bytes {}", start.size(),
                           kFileHeader, first_bytes(start));
    return fmt::format(
        "not a pcap or pcapng capture: first bytes {}; if Wireshark opens it, convert it with editcap -F pcapng",
        first_bytes(start));
}

}  // namespace

std::string_view name(CaptureFormat format) {
    switch (format) {
        case CaptureFormat::pcap: return "pcap";
        case CaptureFormat::pcap_nanosecond: return "nanosecond pcap";
        case CaptureFormat::pcap_modified: return "modified pcap";
        case CaptureFormat::pcapng: return "pcapng";
    }
    return "unknown";
}

std::string_view name(Compression compression) {
    switch (compression) {
        case Compression::none: return "none";
        case Compression::gzip: return "gzip";
        case Compression::zstd: return "zstd";
    }
    return "unknown";
}

// Whether fractions of seconds are nanoseconds, by the first record, which every way of reading has at once: a second
// has no more than 999,999 microseconds, so who writes more holds nanoseconds, whatever the magic number says. Some
// recorders of microseconds forget to carry into the second; that is less than another second. Of nanoseconds, one in
// 500 is below two million.
bool has_nanoseconds(const PcapHeader& header, Bytes record) {
    constexpr std::uint32_t kNoMicroseconds = 2'000'000, kNanoseconds = 1'000'000'000;
    const auto fraction =
        header.order == ByteOrder::little ? read_le<std::uint32_t>(record, 4) : read_be<std::uint32_t>(record, 4);
    return fraction >= kNoMicroseconds && fraction < kNanoseconds;
}

// A pcap file, with its one interface.
struct PcapFile {
    PcapHeader header;
    Interface interface;
    bool settled = false;  // what its fractions of seconds are

    void settle(Bytes records) {
        if (settled || records.size() < kPcapRecordStart) return;
        settled = true;
        header.nanoseconds = header.nanoseconds || has_nanoseconds(header, records);
        interface.resolution = header.nanoseconds ? 9 : 6;
    }
};

struct CaptureFile::State {
    ByteSource source;
    InputProblem problem;  // has the file name from the start, so that running out of memory can still be told
    std::variant<PcapFile, PcapngWalk> format;
    FrameClock timeline;
    std::uint64_t offset = 0;      // uncompressed offset of the next record
    std::vector<std::byte> carry;  // streams: what was read beyond the last batch
    bool done = false;
    struct Reached {
        std::uint64_t to = 0;     // where the next stretch begins
        std::uint64_t round = 0;  // one ends where a guess was wrong, or something other than a packet stood among them
        std::size_t length = 0;   // of a stretch, in bytes; 0: not known yet
        std::shared_ptr<const RecordView> view;  // of this round
    };
    Reached reached;

    [[nodiscard]] std::shared_ptr<const RecordView> view() const;
    void begin_round();
    WalkResult walk(Window& window, std::vector<Frame>& frames) {
        if (auto* pcap = std::get_if<PcapFile>(&format)) {
            pcap->settle(slice(window.bytes, window.used));
            return walk_pcap(pcap->header, window, timeline, frames);
        }
        return std::get<PcapngWalk>(format).walk(window, timeline, frames);
    }
    void finish(InputProblemKind kind, std::uint64_t at, std::string sentence) {
        done = true;
        problem.kind = kind;
        problem.offset = at;
        problem.sentence = std::move(sentence);
    }
    bool finish_walk(WalkResult& result, std::uint64_t at);
    bool recognise(Bytes start);
    [[nodiscard]] std::size_t frames_before(std::uint64_t lost, std::span<const Frame> frames) const;
    bool lose(std::vector<Frame>& frames, const WalkResult& result, std::uint64_t walked_to);
    void end_truncated(std::uint64_t lost);
    void read_whole(Batch& batch);
    void read_stream(Batch& batch);
    bool make_room(Batch& batch, Window& window, std::size_t& filled, std::size_t wanted);
};

bool CaptureFile::State::recognise(Bytes start) {
    if (start.size() < kFileHeader) return false;
    if (is_pcapng(start)) {
        format.emplace<PcapngWalk>();
        return true;
    }
    const auto header = read_pcap_header(start);
    if (!header) return false;
    Interface interface;
    interface.link = header->link;
    interface.snap_length = header->snap_length;
    interface.resolution = header->nanoseconds ? 9 : 6;
    format = PcapFile{.header = *header, .interface = std::move(interface)};
    offset = kPcapHeader;
    return true;
}

// True where the walk ended for good.
bool CaptureFile::State::finish_walk(WalkResult& result, std::uint64_t at) {
    if (result.end == WalkEnd::damaged) finish(InputProblemKind::damaged, at, std::move(result.sentence));
    else if (result.end == WalkEnd::ended) done = true;
    return done;
}

void CaptureFile::State::read_whole(Batch& batch) {
    Window window{.bytes = source.bytes(), .offset = 0, .used = static_cast<std::size_t>(offset), .last = true};
    while (batch.frames.empty() && !done) {
        WalkResult result = walk(window, batch.frames);
        if (!lose(batch.frames, result, window.used)) finish_walk(result, window.used);
    }
    offset = window.used;
}

// How many frames, from the first on, end before that byte of the file.
std::size_t CaptureFile::State::frames_before(std::uint64_t lost, std::span<const Frame> frames) const {
    const auto start = reinterpret_cast<std::uintptr_t>(source.bytes().data());
    const auto gone = std::ranges::find_if(frames, [&](const Frame& frame) {
        const auto from = reinterpret_cast<std::uintptr_t>(frame.bytes.data()) - start;
        const bool borrows = from < source.bytes().size();  // else it was rewritten elsewhere
        return frame.file_offset >= lost || (borrows ? from : frame.file_offset) + frame.bytes.size() > lost;
    });
    return static_cast<std::size_t>(gone - frames.begin());
}

// Whether the walk came to where the file ends since it shrank: then nothing is read on, and frames of what is gone are
// not handed out.
bool CaptureFile::State::lose(std::vector<Frame>& frames, const WalkResult& result, std::uint64_t walked_to) {
    const auto lost = source.lost_from();
    if (!lost) return false;
    const std::size_t there = frames_before(*lost, frames);
    if (there == frames.size() && walked_to < *lost && result.end == WalkEnd::full) return false;
    frames.resize(there);
    end_truncated(*lost);
    return true;
}

void CaptureFile::State::end_truncated(std::uint64_t lost) {
    if (problem.sentence.empty()) finish(InputProblemKind::damaged, lost, std::string(ByteSource::kShrank));
    done = true;
}

// Makes room for a record of `wanted` bytes in a batch that has no frames yet: nothing borrows its storage. False where
// the batch has some: then the record is one for the next batch.
bool CaptureFile::State::make_room(Batch& batch, Window& window, std::size_t& filled, std::size_t wanted) {
    auto& storage = batch.storage;
    if (window.used + wanted <= storage.size()) return true;
    if (!batch.frames.empty()) return false;
    std::copy(storage.begin() + static_cast<std::ptrdiff_t>(window.used),
              storage.begin() + static_cast<std::ptrdiff_t>(filled), storage.begin());
    filled -= window.used;
    window.offset += window.used;
    window.used = 0;
    // A length that lies costs no more memory than twice the bytes that are there.
    if (wanted > storage.size() && filled == storage.size()) {
        const std::size_t size = std::min(wanted, 2 * storage.size());
        storage.reserve(size);  // no more than that: resize() alone would double
        storage.resize(size);
    }
    return true;
}

void CaptureFile::State::read_stream(Batch& batch) {
    auto& storage = batch.storage;
    storage.resize(std::max({storage.size(), kBatchBytes, carry.size()}));
    std::ranges::copy(carry, storage.begin());
    std::size_t filled = carry.size();
    carry.clear();
    Window window{.bytes = {}, .offset = offset, .used = 0, .last = false};
    for (;;) {
        window.bytes = Bytes(storage).first(filled);
        window.last = source.ended() && source.damage().empty();
        WalkResult result = walk(window, batch.frames);
        if (finish_walk(result, window.offset + window.used)) break;
        if (result.end == WalkEnd::full) {
            if (batch.frames.empty()) continue;
            break;
        }
        if (source.ended()) {
            finish(InputProblemKind::damaged, window.offset + window.used, source.damage());
            break;
        }
        if (!make_room(batch, window, filled, result.wanted)) break;
        const Wait wait = batch.frames.empty() ? Wait::yes : Wait::no;
        const std::size_t count =
            source.read(MutableBytes(storage).subspan(filled, std::min(kFillSize, storage.size() - filled)), wait);
        if (count == 0 && !source.ended()) break;  // nothing there yet: hand over what we have
        filled += count;
    }
    carry.assign(storage.begin() + static_cast<std::ptrdiff_t>(window.used),
                 storage.begin() + static_cast<std::ptrdiff_t>(filled));
    offset = window.offset + window.used;
}

CaptureFile::CaptureFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
CaptureFile::CaptureFile(CaptureFile&&) noexcept = default;
CaptureFile& CaptureFile::operator=(CaptureFile&&) noexcept = default;
CaptureFile::~CaptureFile() = default;

std::expected<CaptureFile, InputProblem> CaptureFile::start(ByteSource source) {
    auto state = std::make_unique<State>(State{.source = std::move(source),
                                               .problem = {},
                                               .format = {},
                                               .timeline = {},
                                               .offset = 0,
                                               .carry = {},
                                               .done = false,
                                               .reached = {}});
    state->problem.file = state->source.name();
    Bytes header = slice(state->source.bytes(), 0, kFileHeader);
    if (!state->source.whole()) {
        state->carry.resize(kFileHeader);
        std::size_t filled = 0;
        while (filled < kFileHeader && !state->source.ended())
            filled += state->source.read(MutableBytes(state->carry).subspan(filled), Wait::yes);
        state->carry.resize(filled);
        header = state->carry;
    }
    if (!state->recognise(header))
        return std::unexpected(InputProblem{InputProblemKind::not_a_capture, state->source.name(), 0,
                                            not_a_capture_sentence(header, state->source)});
    if (state->offset != 0) state->carry.clear();
    if (auto* pcap = std::get_if<PcapFile>(&state->format); pcap != nullptr && state->source.whole())
        pcap->settle(slice(state->source.bytes(), kPcapHeader));
    return CaptureFile(std::move(state));
}

std::expected<CaptureFile, InputProblem> CaptureFile::open(const std::string& path, Stop stop) try {
    auto source = ByteSource::open(path, std::move(stop));
    if (!source) return std::unexpected(std::move(source.error()));
    return start(std::move(*source));
} catch (const std::bad_alloc&) {
    return std::unexpected(InputProblem{InputProblemKind::unreadable, {}, 0, kOutOfMemory});
}

std::expected<CaptureFile, InputProblem> CaptureFile::open(HeldFile file, const std::string& name, Stop stop) try {
    auto source = ByteSource::open(file, name, std::move(stop));
    if (!source) return std::unexpected(std::move(source.error()));
    return start(std::move(*source));
} catch (const std::bad_alloc&) {
    return std::unexpected(InputProblem{InputProblemKind::unreadable, {}, 0, kOutOfMemory});
}

std::expected<CaptureFile, InputProblem> CaptureFile::from_memory(Bytes bytes, std::string name,
                                                                  std::size_t piece) try {
    return start(ByteSource::from_memory(bytes, std::move(name), piece));
} catch (const std::bad_alloc&) {
    return std::unexpected(InputProblem{InputProblemKind::unreadable, {}, 0, kOutOfMemory});
}

bool CaptureFile::read(Batch& batch) {
    batch.frames.clear();
    batch.stretch = {};
    batch.numbered_from.reset();
    try {
        batch.frames.reserve(kBatchFrames);
        if (state_->done) return false;
        if (state_->source.whole()) state_->read_whole(batch);
        else state_->read_stream(batch);
    } catch (const std::bad_alloc&) {
        batch.frames.clear();
        state_->finish(InputProblemKind::unreadable, state_->offset, kOutOfMemory);
    }
    return !batch.frames.empty();
}

namespace {

// A file where that many stretches were not what they seemed is read in order.
constexpr std::uint64_t kMostRounds = 64;
// Stretches hold as many frames as a batch, if those behind are like those at the beginning, within these bounds in
// bytes: each costs the thread that reaches for them a few pages. Of a file there are some for every thread.
constexpr std::size_t kShortestStretch = std::size_t{64} << 10;
constexpr std::size_t kLongestStretch = 4 * kBatchBytes;
constexpr std::size_t kStretches = 64;
// What a view of a section copies.
constexpr std::size_t kMostOrigins = 64;

}  // namespace

// Nothing where records cannot be walked out of order.
std::shared_ptr<const RecordView> CaptureFile::State::view() const {
    if (!timeline.started) return nullptr;
    if (const auto* pcap = std::get_if<PcapFile>(&format))
        return pcap->header.modified ? nullptr : std::make_shared<const RecordView>(pcap->header, timeline.first);
    const auto& walk = std::get<PcapngWalk>(format);
    const PcapngSection section = walk.section();
    const auto origins = walk.origins().subspan(section.first_interface);
    if (origins.size() > kMostOrigins) return nullptr;
    return std::make_shared<const RecordView>(KnownSection{section, {origins.begin(), origins.end()}}, timeline.first);
}

void CaptureFile::State::begin_round() {
    ++reached.round;
    reached.to = offset;
    reached.view = nullptr;
}

bool CaptureFile::reach(Batch& batch, std::size_t length) try {
    State& state = *state_;
    State::Reached& reached = state.reached;
    const Bytes file = state.source.bytes();
    if (!state.source.whole() || state.done || state.timeline.frames == 0 || reached.round > kMostRounds) return false;
    if (reached.length == 0) {
        const std::size_t mean = static_cast<std::size_t>(state.offset / state.timeline.frames);
        const std::size_t longest = std::clamp(file.size() / kStretches, kBatchBytes, kLongestStretch);
        reached.length =
            length != 0 ? length : std::clamp(kBatchFrames * std::max<std::size_t>(mean, 1), kShortestStretch, longest);
        reached.to = state.offset;
    }
    if (reached.to >= file.size()) return false;
    if (!reached.view) reached.view = state.view();
    if (!reached.view) return false;
    const std::size_t start = static_cast<std::size_t>(reached.to);
    std::optional<std::size_t> end = file.size();
    if (file.size() - start > 2 * reached.length) end = guess_record(file, start + reached.length, *reached.view);
    if (!end) {
        reached.round = kMostRounds + 1;
        return false;
    }
    batch.frames.clear();
    batch.stretch = {.view = reached.view, .start = start, .end = *end, .stopped = start, .round = reached.round};
    reached.to = *end;
    return true;
} catch (const std::bad_alloc&) {
    return false;
}

// Where memory runs out nothing was walked: settle() reads in order, and says so if it runs out again.
void CaptureFile::walk(Batch& batch) const try {
    walk_stretch(state_->source.bytes(), batch.stretch, batch.frames);
} catch (const std::bad_alloc&) {
    batch.frames.clear();
    batch.stretch.stopped = batch.stretch.start;
}

void CaptureFile::settle(Batch& batch) {
    State& state = *state_;
    const Stretch stretch = std::exchange(batch.stretch, {});
    batch.numbered_from.reset();
    if (state.done || stretch.round != state.reached.round) {
        batch.frames.clear();
        return;
    }
    if (stretch.start != state.offset || batch.frames.empty()) {
        (void)read(batch);
        state.begin_round();
        return;
    }
    batch.numbered_from = state.timeline.frames;
    state.offset = stretch.stopped;
    if (!state.lose(batch.frames, {}, stretch.stopped) && stretch.stopped != stretch.end) state.begin_round();
    state.timeline.frames += batch.frames.size();
}

// The file may have been truncated after a frame of what is gone was handed out.
const InputProblem& CaptureFile::problem() const {
    if (const auto lost = state_->source.lost_from(); lost && *lost < state_->offset) state_->end_truncated(*lost);
    return state_->problem;
}
const std::string& CaptureFile::name() const { return state_->source.name(); }
Compression CaptureFile::compression() const { return state_->source.compression(); }
bool CaptureFile::mapped() const { return state_->source.whole(); }

bool CaptureFile::shrank() const { return mapped() && state_->source.lost_from(); }
std::size_t CaptureFile::still_there(std::span<const Frame> frames) const {
    if (!mapped()) return frames.size();
    const auto lost = state_->source.lost_from();
    return lost ? state_->frames_before(*lost, frames) : frames.size();
}
std::optional<std::uint64_t> CaptureFile::size() const { return state_->source.size(); }
std::uint64_t CaptureFile::bytes_read() const { return mapped() ? state_->offset : state_->source.consumed(); }

CaptureFormat CaptureFile::format() const {
    const auto* pcap = std::get_if<PcapFile>(&state_->format);
    if (pcap == nullptr) return CaptureFormat::pcapng;
    if (pcap->header.modified) return CaptureFormat::pcap_modified;
    return pcap->header.nanoseconds ? CaptureFormat::pcap_nanosecond : CaptureFormat::pcap;
}

std::span<const Interface> CaptureFile::interfaces() const {
    if (const auto* pcap = std::get_if<PcapFile>(&state_->format)) return {&pcap->interface, 1};
    return std::get<PcapngWalk>(state_->format).interfaces();
}

Drops CaptureFile::drops() const {
    const auto add = [](std::uint64_t& sum, std::uint64_t count) {
        if (__builtin_add_overflow(sum, count, &sum)) sum = ~std::uint64_t{0};
    };
    Drops drops;
    for (const Interface& interface : interfaces()) {
        if (!interface.has_statistics) continue;
        drops.known = true;
        add(drops.received, interface.received);
        add(drops.dropped, interface.dropped);
        add(drops.dropped_by_system, interface.dropped_by_system);
    }
    return drops;
}

SkippedBlocks CaptureFile::skipped_blocks() const {
    const auto* pcapng = std::get_if<PcapngWalk>(&state_->format);
    return pcapng == nullptr ? SkippedBlocks{} : pcapng->skipped();
}

bool CaptureFile::is_slice() const {
    const auto* pcapng = std::get_if<PcapngWalk>(&state_->format);
    return pcapng != nullptr && pcapng->is_slice();
}

CaptureLayout CaptureFile::layout() const {
    if (const auto* pcap = std::get_if<PcapFile>(&state_->format)) return {pcap->header, {}, {}, {}, state_->offset};
    const auto& walk = std::get<PcapngWalk>(state_->format);
    std::vector<std::string> names;
    for (const Interface& interface : walk.interfaces()) names.push_back(interface.name);
    return {.pcap = {},
            .sections = {walk.sections().begin(), walk.sections().end()},
            .origins = {walk.origins().begin(), walk.origins().end()},
            .names = std::move(names),
            .known_to = walk.first_lost_section().value_or(state_->offset)};
}

}  // namespace qps::dissect
