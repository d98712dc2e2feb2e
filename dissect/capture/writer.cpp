// Frames into a capture file. Records are put together in a buffer that goes to the system when it is full.
#include <dissect/capture/options.hpp>
#include <dissect/capture/pcap.hpp>
#include <dissect/capture/pcapng.hpp>
#include <dissect/capture/pcapng_format.hpp>
#include <dissect/capture/writer.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <map>
#include <new>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace qps::dissect {

namespace {

constexpr std::size_t kBufferSize = std::size_t{256} << 10;  // large enough that system calls cost nothing
constexpr std::uint32_t kSnapLength = 262'144;               // what tcpdump and Wireshark write for "everything"
constexpr std::uint8_t kNanosecondResolution = 9;
constexpr std::size_t kPacketBlockFixed = 32;  // of an enhanced packet block without data and options
constexpr std::size_t kBlockFixed = 12;
constexpr std::size_t kOptionHeader = 4;

constexpr std::size_t kMaxHostName = 255;      // RFC 1123 2.1
constexpr std::size_t kMaxHostNames = 65'536;  // in one block: readers refuse those of more than 16 MiB

constexpr const char* kNoMemory = "out of memory";  // needs no memory as a std::string

std::size_t padding(std::size_t length) { return (4 - length % 4) % 4; }

// Appends little-endian numbers and padded bytes.
class Appender {
public:
    explicit Appender(std::vector<std::byte>& out) : out_(&out) {}
    template <class T> void number(T value) {
        std::array<std::byte, sizeof(T)> little{};
        for (std::size_t i = 0; i < sizeof(T); ++i)
            little[i] = static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * i));
        out_->insert(out_->end(), little.begin(), little.end());
    }
    // Times are a high and a low half (pcapng, enhanced packet block and interface statistics block).
    void moment(Instant time) {
        number(static_cast<std::uint32_t>(static_cast<std::uint64_t>(time) >> 32));
        number(static_cast<std::uint32_t>(static_cast<std::uint64_t>(time)));
    }
    void bytes(Bytes bytes) { out_->insert(out_->end(), bytes.begin(), bytes.end()); }
    void padded(Bytes data) {
        bytes(data);
        out_->insert(out_->end(), padding(data.size()), std::byte{0});
    }
    void option(std::uint16_t code, Bytes value) {
        number(code);
        number(static_cast<std::uint16_t>(value.size()));
        padded(value);
    }
    void option(std::uint16_t code, std::uint64_t value) {
        number(code);
        number(static_cast<std::uint16_t>(sizeof(value)));
        number(value);
    }

private:
    std::vector<std::byte>* out_;
};

Bytes bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

// Options of a packet that are one number, to be turned round: flags, drop count, packet id, queue.
bool is_number(std::uint16_t code) { return code == 2 || code == 4 || code == 5 || code == 6; }

// The options of the frame's record, as ours are written, without an end. Values whose inner order is not known to us
// are dropped where the record was in the other byte order.
void append_options(const Frame& frame, std::vector<std::byte>& out) {
    Appender append(out);
    OptionReader options(frame.options, frame.options_order);
    for (Option option; options.next(option);) {
        if (frame.options_order == ByteOrder::little || option.code == kOptionComment) {
            append.option(option.code, option.value);
        } else if (is_number(option.code)) {
            std::vector<std::byte> turned(option.value.rbegin(), option.value.rend());
            append.option(option.code, turned);
        }
    }
}

// What one interface block describes.
struct Described {
    InterfaceId id;
    LinkType link;
    BitsPerSecond speed;
    auto operator<=>(const Described&) const = default;
};

}  // namespace

struct CaptureWriter::State {
    std::string file;
    WriterFormat format = WriterFormat::pcap;
    LinkType link = LinkType::ethernet;
    int descriptor = -1;
    bool owned = false;
    bool failed = false;
    std::uint64_t drained = 0;  // bytes handed to the system
    std::uint64_t record = 0;   // where the record of the last frame begins
    std::vector<std::byte> buffer;
    std::vector<std::byte> options;  // of the frame being written
    std::map<Described, std::uint32_t> interfaces;
    std::map<InterfaceId, std::string> names;

    State() = default;
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    ~State() {
        if (!failed && descriptor >= 0) static_cast<void>(write_buffer());
        if (owned && descriptor >= 0) ::close(descriptor);
    }

    [[nodiscard]] std::unexpected<OutputProblem> problem(std::string sentence) const {
        return std::unexpected(OutputProblem{file, std::move(sentence)});
    }
    [[nodiscard]] int write_buffer() noexcept;
    [[nodiscard]] std::expected<void, OutputProblem> drain();
    [[nodiscard]] std::expected<void, OutputProblem> write_pcap(const Frame& frame);
    [[nodiscard]] std::expected<void, OutputProblem> write_pcapng(const Frame& frame, std::string_view comment);
    [[nodiscard]] std::expected<void, OutputProblem> write_statistics(const InterfaceStatistics& statistics);
    [[nodiscard]] std::expected<std::uint32_t, OutputProblem> describe(const Described& described);
    void append_pcap_header();
    void append_section_header(std::string_view comment = {});
    void append_names(std::span<const HostName> hosts);
    void append_interface(const Described& described, std::string_view name);
};

// Hands the buffer to the system; the error number, or 0.
int CaptureWriter::State::write_buffer() noexcept {
    Bytes rest = buffer;
    while (!rest.empty()) {
        const ssize_t count = ::write(descriptor, rest.data(), rest.size());
        if (count >= 0) rest = rest.subspan(static_cast<std::size_t>(count));
        else if (errno != EINTR) return errno;
    }
    drained += buffer.size();
    buffer.clear();
    return 0;
}

std::expected<void, OutputProblem> CaptureWriter::State::drain() try {
    if (failed) return problem("no writing after an error");
    if (descriptor < 0) return problem("file is closed");
    const int error = write_buffer();
    failed = error != 0;
    if (failed) {
        auto why = problem(fmt::format("cannot write: {}", std::generic_category().message(error)));
        why.error().closed = error == EPIPE;
        return why;
    }
    return {};
} catch (const std::bad_alloc&) {
    return std::unexpected(OutputProblem{{}, kNoMemory});
}

void CaptureWriter::State::append_pcap_header() {
    Appender append(buffer);
    append.number(kPcapNanosecondMagic);
    append.number(std::uint16_t{2});  // version 2.4
    append.number(std::uint16_t{4});
    append.number(std::uint64_t{0});  // reserved
    append.number(kSnapLength);
    append.number(static_cast<std::uint32_t>(link));
}

void CaptureWriter::State::append_section_header(std::string_view comment) {
    std::vector<std::byte> list;
    if (!comment.empty()) {
        Appender(list).option(kOptionComment, bytes_of(comment));
        Appender(list).option(kOptionEnd, Bytes{});
    }
    constexpr std::size_t kFixed = 16;
    const auto length = static_cast<std::uint32_t>(kBlockFixed + kFixed + list.size());
    Appender append(buffer);
    append.number(kSectionHeaderBlock);
    append.number(length);
    append.number(kByteOrderMagic);
    append.number(std::uint16_t{1});  // version 1.0
    append.number(std::uint16_t{0});
    append.number(~std::uint64_t{0});  // section length not known
    append.bytes(list);
    append.number(length);
}

// Records of an address and a name that ends with NUL, padded to 32 bits (draft-ietf-opsawg-pcapng, 4.5).
void CaptureWriter::State::append_names(std::span<const HostName> hosts) {
    constexpr std::uint16_t kIpv4 = 1, kIpv6 = 2, kEnd = 0;
    constexpr std::size_t kIpv4Bytes = 4;
    std::vector<std::byte> records;
    Appender all(records);
    for (const HostName& host : hosts) {
        std::vector<std::byte> value;
        Appender append(value);
        append.bytes(slice(host.address, 0, host.ipv4 ? kIpv4Bytes : host.address.size()));
        append.bytes(bytes_of(std::string_view(host.name).substr(0, kMaxHostName)));
        append.number(std::uint8_t{0});
        all.option(host.ipv4 ? kIpv4 : kIpv6, value);  // laid out as options are
    }
    all.option(kEnd, Bytes{});
    const auto length = static_cast<std::uint32_t>(kBlockFixed + records.size());
    Appender append(buffer);
    append.number(kNameBlock);
    append.number(length);
    append.bytes(records);
    append.number(length);
}

void CaptureWriter::State::append_interface(const Described& described, std::string_view name) {
    std::vector<std::byte> list;
    Appender option(list);
    if (!name.empty()) option.option(kInterfaceName, bytes_of(name.substr(0, kMaxInterfaceName)));
    if (described.speed != BitsPerSecond{}) option.option(kInterfaceSpeed, static_cast<std::uint64_t>(described.speed));
    option.option(kTimeResolution, std::array{std::byte{kNanosecondResolution}});
    option.option(kOptionEnd, Bytes{});

    constexpr std::size_t kFixed = 8;
    const auto length = static_cast<std::uint32_t>(kBlockFixed + kFixed + list.size());
    Appender append(buffer);
    append.number(kInterfaceBlock);
    append.number(length);
    append.number(static_cast<std::uint16_t>(described.link));
    append.number(std::uint16_t{0});
    append.number(std::uint32_t{0});  // no limit: frames may come from captures with any snap length
    append.bytes(list);
    append.number(length);
}

// The number of the interface in our file.
std::expected<std::uint32_t, OutputProblem> CaptureWriter::State::describe(const Described& described) {
    if (const auto known = interfaces.find(described); known != interfaces.end()) return known->second;
    if (interfaces.size() >= kMaxInterfaces) return problem(fmt::format("more than {} interfaces", kMaxInterfaces));
    const auto name = names.find(described.id);
    append_interface(described, name == names.end() ? std::string_view{} : std::string_view{name->second});
    const auto number = static_cast<std::uint32_t>(interfaces.size());
    interfaces.emplace(described, number);
    return number;
}

std::expected<void, OutputProblem> CaptureWriter::State::write_pcap(const Frame& frame) {
    if (frame.link != link)
        return problem(
            fmt::format("frame {} has link type {}, but the pcap file has {} and allows only one: write pcapng",
                        static_cast<std::uint64_t>(frame.index), static_cast<std::uint32_t>(frame.link),
                        static_cast<std::uint32_t>(link)));
    const auto time = static_cast<std::int64_t>(frame.time);
    if (time < 0 || time / kNanosecondsPerSecond > std::numeric_limits<std::uint32_t>::max())
        return problem(fmt::format("timestamp of frame {} outside of the range of pcap (1970 to 2106)",
                                   static_cast<std::uint64_t>(frame.index)));
    if (frame.bytes.size() > kMaxRecord)
        return problem(fmt::format("frame {} longer than {} bytes, the most of a record",
                                   static_cast<std::uint64_t>(frame.index), kMaxRecord));
    record = drained + buffer.size();
    Appender append(buffer);
    append.number(static_cast<std::uint32_t>(time / kNanosecondsPerSecond));
    append.number(static_cast<std::uint32_t>(time % kNanosecondsPerSecond));
    append.number(static_cast<std::uint32_t>(frame.bytes.size()));
    append.number(frame.wire_length);
    append.bytes(frame.bytes);
    return {};
}

std::expected<void, OutputProblem> CaptureWriter::State::write_pcapng(const Frame& frame, std::string_view comment) {
    const auto time = static_cast<std::int64_t>(frame.time);
    if (time < 0)
        return problem(fmt::format("timestamp of frame {} before 1970", static_cast<std::uint64_t>(frame.index)));
    if (comment.size() > kMaxComment)
        return problem(fmt::format("comment of frame {} longer than {} bytes", static_cast<std::uint64_t>(frame.index),
                                   kMaxComment));
    options.clear();
    if (!comment.empty()) Appender(options).option(kOptionComment, bytes_of(comment));
    append_options(frame, options);
    if (!options.empty()) Appender(options).option(kOptionEnd, Bytes{});
    if (options.size() > kMaxRecord ||
        frame.bytes.size() > kMaxRecord - options.size() - kPacketBlockFixed - kOptionHeader)
        return problem(fmt::format("frame {} longer than {} bytes, the most of a record",
                                   static_cast<std::uint64_t>(frame.index), kMaxRecord));
    const auto interface = describe({frame.interface, frame.link, frame.link_speed});
    if (!interface) return std::unexpected(interface.error());

    const auto length = static_cast<std::uint32_t>(kPacketBlockFixed + frame.bytes.size() +
                                                   padding(frame.bytes.size()) + options.size());
    record = drained + buffer.size();
    Appender append(buffer);
    append.number(kEnhancedPacketBlock);
    append.number(length);
    append.number(*interface);
    append.moment(frame.time);
    append.number(static_cast<std::uint32_t>(frame.bytes.size()));
    append.number(frame.wire_length);
    append.padded(frame.bytes);
    append.bytes(options);
    append.number(length);
    return {};
}

std::expected<void, OutputProblem> CaptureWriter::State::write_statistics(const InterfaceStatistics& statistics) {
    if (static_cast<std::int64_t>(statistics.time) < 0) return problem("timestamp of the statistics before 1970");
    // Of whatever speed its frames had: the first that was described stands for the interface.
    const auto known = interfaces.lower_bound({statistics.interface, statistics.link, BitsPerSecond{}});
    const bool is_known =
        known != interfaces.end() && known->first.id == statistics.interface && known->first.link == statistics.link;
    const auto interface = is_known ? std::expected<std::uint32_t, OutputProblem>(known->second)
                                    : describe({statistics.interface, statistics.link, BitsPerSecond{}});
    if (!interface) return std::unexpected(interface.error());

    options.clear();
    Appender option(options);
    option.option(kReceived, statistics.received);
    option.option(kDropped, statistics.dropped);
    option.option(kDroppedBySystem, statistics.dropped_by_system);
    option.option(kOptionEnd, Bytes{});
    constexpr std::size_t kFixed = 12;  // interface and time
    const auto length = static_cast<std::uint32_t>(kBlockFixed + kFixed + options.size());
    Appender append(buffer);
    append.number(kStatisticsBlock);
    append.number(length);
    append.number(*interface);
    append.moment(statistics.time);
    append.bytes(options);
    append.number(length);
    return {};
}

CaptureWriter::CaptureWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
CaptureWriter::CaptureWriter(CaptureWriter&&) noexcept = default;
CaptureWriter& CaptureWriter::operator=(CaptureWriter&&) noexcept = default;
CaptureWriter::~CaptureWriter() = default;

std::expected<CaptureWriter, OutputProblem> CaptureWriter::open(const std::string& path, WriterFormat format,
                                                                LinkType link) try {
    if (path == "-") return onto(Descriptor(STDOUT_FILENO, false), "standard output", format, link);
    constexpr mode_t kMode = 0666;  // less the user's umask
    Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, kMode), true);
    if (file.number() < 0)
        return std::unexpected(
            OutputProblem{path, fmt::format("cannot create: {}", std::generic_category().message(errno))});
    return onto(std::move(file), path, format, link);
} catch (const std::bad_alloc&) {
    return std::unexpected(OutputProblem{{}, kNoMemory});
}

std::expected<CaptureWriter, OutputProblem> CaptureWriter::onto(Descriptor file, const std::string& name,
                                                                WriterFormat format, LinkType link) try {
    auto state = std::make_unique<State>();
    state->file = name;
    state->format = format;
    state->link = link;
    state->buffer.reserve(kBufferSize);
    state->owned = file.owned();
    state->descriptor = file.release();
    if (format == WriterFormat::pcap) state->append_pcap_header();
    else state->append_section_header();
    return CaptureWriter(std::move(state));
} catch (const std::bad_alloc&) {
    return std::unexpected(OutputProblem{{}, kNoMemory});
}

std::expected<void, OutputProblem> CaptureWriter::begin_section(std::string_view comment,
                                                                std::span<const HostName> hosts) try {
    State& state = *state_;
    if (state.failed || state.descriptor < 0) return state.drain();
    if (state.format == WriterFormat::pcap) return {};
    if (comment.size() > kMaxComment)
        return state.problem(fmt::format("comment of the section longer than {} bytes", kMaxComment));
    if (hosts.size() > kMaxHostNames) return state.problem(fmt::format("more than {} names of hosts", kMaxHostNames));
    if (state.drained != 0 || state.record != 0 || !state.interfaces.empty())
        return state.problem("the section has begun");
    state.buffer.clear();
    state.append_section_header(comment);
    if (!hosts.empty()) state.append_names(hosts);
    return {};
} catch (const std::bad_alloc&) {
    state_->failed = true;
    return std::unexpected(OutputProblem{{}, kNoMemory});
}

void CaptureWriter::name_interface(InterfaceId interface, std::string name) try {
    if (state_->names.size() < kMaxInterfaces) state_->names[interface] = std::move(name);
} catch (const std::bad_alloc&) {  // the interface stays without a name
}

std::expected<void, OutputProblem> CaptureWriter::describe_interface(InterfaceId interface, LinkType link,
                                                                     BitsPerSecond speed) try {
    if (state_->failed || state_->descriptor < 0) return state_->drain();
    if (state_->format == WriterFormat::pcap) return {};
    if (const auto number = state_->describe({interface, link, speed}); !number) return std::unexpected(number.error());
    return {};
} catch (const std::bad_alloc&) {
    state_->failed = true;
    return std::unexpected(OutputProblem{{}, kNoMemory});
}

std::expected<void, OutputProblem> CaptureWriter::write(const Frame& frame, std::string_view comment) try {
    if (state_->failed || state_->descriptor < 0) return state_->drain();
    auto written =
        state_->format == WriterFormat::pcap ? state_->write_pcap(frame) : state_->write_pcapng(frame, comment);
    if (!written || state_->buffer.size() < kBufferSize) return written;
    return state_->drain();
} catch (const std::bad_alloc&) {
    state_->failed = true;
    return std::unexpected(OutputProblem{{}, kNoMemory});
}

std::expected<void, OutputProblem> CaptureWriter::write(const InterfaceStatistics& statistics) try {
    if (state_->failed || state_->descriptor < 0) return state_->drain();
    if (state_->format == WriterFormat::pcap) return {};
    return state_->write_statistics(statistics);
} catch (const std::bad_alloc&) {
    state_->failed = true;
    return std::unexpected(OutputProblem{{}, kNoMemory});
}

std::expected<void, OutputProblem> CaptureWriter::end_with(std::string_view comment) try {
    if (state_->failed || state_->descriptor < 0) return state_->drain();
    if (state_->format == WriterFormat::pcap) return {};
    state_->append_section_header(comment.substr(0, kMaxComment));
    return {};
} catch (const std::bad_alloc&) {
    state_->failed = true;
    return std::unexpected(OutputProblem{{}, kNoMemory});
}

CaptureLayout CaptureWriter::layout() const {
    CaptureLayout layout;
    if (state_->format == WriterFormat::pcap) return layout;
    layout.sections = {PcapngSection{}};
    layout.origins.resize(state_->interfaces.size());
    layout.names.resize(state_->interfaces.size());
    for (const auto& [described, number] : state_->interfaces) {
        layout.origins[number] = {.link = described.link, .speed = described.speed, .snap_length = 0, .multiply = 1};
        if (const auto name = state_->names.find(described.id); name != state_->names.end())
            layout.names[number] = name->second;
    }
    layout.known_to = state_->drained + state_->buffer.size();
    return layout;
}

std::size_t CaptureWriter::interfaces() const { return state_->interfaces.size(); }

std::uint64_t CaptureWriter::last_record() const { return state_->record; }
std::uint64_t CaptureWriter::drained() const { return state_->drained; }

std::expected<void, OutputProblem> CaptureWriter::flush() { return state_->drain(); }

std::expected<void, OutputProblem> CaptureWriter::close() try {
    auto written = state_->drain();
    const int descriptor = std::exchange(state_->descriptor, -1);
    if (state_->owned && descriptor >= 0 && ::close(descriptor) != 0 && written)
        return state_->problem(fmt::format("cannot write: {}", std::generic_category().message(errno)));
    return written;
} catch (const std::bad_alloc&) {
    return std::unexpected(OutputProblem{{}, kNoMemory});
}

}  // namespace qps::dissect
