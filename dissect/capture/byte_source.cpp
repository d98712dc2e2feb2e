// Where the bytes of a capture come from.
#include <dissect/capture/byte_source.hpp>
#include <dissect/capture/descriptor.hpp>
#include <dissect/capture/file_map.hpp>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace qps::dissect {

namespace {

// How much of a stream is read at once: four times what a pipe holds by default.
constexpr std::size_t kReadSize = std::size_t{256} << 10;
constexpr std::size_t kMagicSize = 4;

std::string system_sentence(std::string_view what, int error) {
    return fmt::format("{}: {}", what, std::generic_category().message(error));
}

}  // namespace

struct ByteSource::State {
    std::string name;
    Descriptor descriptor;
    FileMap mapping;
    bool in_memory = false;
    Bytes memory;           // the part of the mapping or of the caller's memory that was not handed out yet
    std::size_t piece = 0;  // of memory handed out at a time
    std::vector<std::byte> buffer;
    Bytes pending;  // bytes as stored that were taken from the file and not used yet
    bool input_ended = false;
    bool ended = false;
    bool whole = false;
    std::string damage;
    Compression compression = Compression::none;
    std::optional<Inflater> inflater;
    std::uint64_t consumed = 0;
    std::optional<std::uint64_t> size;
    Stop stop;

    [[nodiscard]] bool stopped() const { return stop && stop(); }
    [[nodiscard]] bool would_block() const;
    std::size_t read_descriptor(MutableBytes into);
    bool refill(Wait wait);
    void start();
    void start_stream();
    std::size_t read_plain(MutableBytes into, Wait wait);
    std::size_t read_compressed(MutableBytes into, Wait wait);
};

bool ByteSource::State::would_block() const {
    pollfd query{descriptor.number(), POLLIN, 0};
    return ::poll(&query, 1, 0) == 0;
}

// One read; zero at the end or on an error, which becomes the damage.
std::size_t ByteSource::State::read_descriptor(MutableBytes into) {
    for (;;) {
        const ssize_t count = ::read(descriptor.number(), into.data(), into.size());
        if (count > 0) {
            consumed += static_cast<std::uint64_t>(count);
            return static_cast<std::size_t>(count);
        }
        const int error = count < 0 ? errno : 0;
        if (error == EAGAIN) {  // somebody made our standard input non-blocking
            pollfd query{descriptor.number(), POLLIN, 0};
            ::poll(&query, 1, -1);
        }
        if ((error == EINTR || error == EAGAIN) && !stopped()) continue;
        if (count < 0 && !stopped()) damage = system_sentence("read error", error);
        input_ended = true;
        return 0;
    }
}

// Fills `pending`, which is empty; false at the end of the input or where that would have to wait.
bool ByteSource::State::refill(Wait wait) {
    if (input_ended) return false;
    if (in_memory) {
        pending = slice(memory, 0, piece);
        memory = slice(memory, piece);
        consumed += pending.size();
        input_ended = pending.empty();
        return !input_ended;
    }
    if (wait == Wait::no && would_block()) return false;
    pending = Bytes(buffer).first(read_descriptor(buffer));
    return !pending.empty();
}

// Looks at the magic number and chooses how to go on.
void ByteSource::State::start() {
    if (in_memory) {
        compression = compression_of(memory);
        whole = compression == Compression::none && piece == 0;
        if (piece == 0) piece = kReadSize;
    } else {
        start_stream();
        compression = compression_of(pending);
    }
    if (compression != Compression::none) inflater.emplace(compression);
}

// Reads until the magic number is there or the input ends.
void ByteSource::State::start_stream() {
    buffer.resize(kReadSize);
    std::size_t filled = 0;
    while (filled < kMagicSize && !input_ended) filled += read_descriptor(MutableBytes(buffer).subspan(filled));
    pending = Bytes(buffer).first(filled);
}

std::size_t ByteSource::State::read_plain(MutableBytes into, Wait wait) {
    if (pending.empty() && !in_memory) {  // straight to its place, without the buffer
        if (!input_ended && wait == Wait::no && would_block()) return 0;
        const std::size_t count = input_ended ? 0 : read_descriptor(into);
        ended = count == 0;
        return count;
    }
    if (pending.empty() && !refill(wait)) {
        ended = true;
        return 0;
    }
    const Bytes part = slice(pending, 0, into.size());
    std::ranges::copy(part, into.begin());
    pending = pending.subspan(part.size());
    return part.size();
}

std::size_t ByteSource::State::read_compressed(MutableBytes into, Wait wait) {
    for (;;) {
        if (!pending.empty() || inflater->pending()) {
            const std::size_t count = inflater->inflate(pending, into);
            if (mapping.lost_from()) {  // what was inflated may be of zeros
                damage = kShrank;
                ended = true;
                return 0;
            }
            if (count > 0) return count;
        }
        if (!inflater->damage().empty()) {  // perhaps since the last call, which still had bytes to hand out
            damage = inflater->damage();
            ended = true;
            return 0;
        }
        if (!pending.empty() || refill(wait)) continue;
        if (!input_ended) return 0;  // would have to wait
        if (damage.empty() && !inflater->at_boundary())
            damage = compression == Compression::gzip ? "truncated gzip stream" : "truncated zstd stream";
        ended = true;
        return 0;
    }
}

ByteSource::ByteSource(std::unique_ptr<State> state) : state_(std::move(state)) {}
ByteSource::ByteSource(ByteSource&&) noexcept = default;
ByteSource& ByteSource::operator=(ByteSource&&) noexcept = default;
ByteSource::~ByteSource() = default;

std::expected<ByteSource, InputProblem> ByteSource::open(const std::string& path, Stop stop) {
    const bool standard_input = path == "-" || path == "/dev/stdin";
    auto state = std::make_unique<State>();
    state->name = standard_input ? "standard input" : path;
    state->stop = std::move(stop);
    const int file = standard_input ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
    const int error = file < 0 ? errno : 0;
    state->descriptor = Descriptor(file, !standard_input);
    return begin(std::move(state), {file, error}, standard_input ? std::max<off_t>(::lseek(file, 0, SEEK_CUR), 0) : 0);
}

std::expected<ByteSource, InputProblem> ByteSource::open(HeldFile file, const std::string& name, Stop stop) {
    auto state = std::make_unique<State>();
    state->name = name;
    state->stop = std::move(stop);
    state->descriptor = Descriptor(file.descriptor, false);
    ::lseek(file.descriptor, 0, SEEK_SET);  // it may have been read before
    return begin(std::move(state), file, 0);
}

// What is at `position` and behind it.
std::expected<ByteSource, InputProblem> ByteSource::begin(std::unique_ptr<State> state, HeldFile file, off_t position) {
    const auto unreadable = [&](std::string sentence) {
        return std::unexpected(InputProblem{InputProblemKind::unreadable, state->name, 0, std::move(sentence)});
    };
    if (file.descriptor < 0) return unreadable(system_sentence("cannot open", file.error));
    struct stat status{};
    if (::fstat(file.descriptor, &status) != 0) return unreadable(system_sentence("cannot read", errno));
    if (S_ISDIR(status.st_mode)) return unreadable("is a directory");

    // Files of /proc are regular, have size 0 and content: they are streams to us.
    if (S_ISREG(status.st_mode) && status.st_size > 0) {
        state->mapping = FileMap(file.descriptor, static_cast<std::size_t>(status.st_size));
        state->in_memory = state->mapping.good();
        if (state->in_memory) {
            state->memory = slice(state->mapping.bytes(), static_cast<std::size_t>(position));
            state->size = state->memory.size();
        }
    }
    state->start();
    if (!state->damage.empty() && state->pending.empty()) return unreadable(state->damage);
    return ByteSource(std::move(state));
}

ByteSource ByteSource::from_memory(Bytes bytes, std::string name, std::size_t piece) {
    auto state = std::make_unique<State>();
    state->name = std::move(name);
    state->in_memory = true;
    state->memory = bytes;
    state->piece = piece;
    state->size = bytes.size();
    state->start();
    return ByteSource(std::move(state));
}

bool ByteSource::whole() const { return state_->whole; }
Bytes ByteSource::bytes() const { return state_->whole ? state_->memory : Bytes{}; }
std::optional<std::uint64_t> ByteSource::lost_from() const {
    if (!state_->mapping.good()) return {};
    const std::uint64_t all = state_->mapping.bytes().size();
    // That is of a page, the first part of which may be gone too; and of what nobody has looked at yet the map knows
    // nothing.
    std::uint64_t from = state_->mapping.lost_from().value_or(all);
    struct stat status{};
    if (::fstat(state_->descriptor.number(), &status) == 0 && status.st_size >= 0)
        from = std::min(from, static_cast<std::uint64_t>(status.st_size));
    if (from == all) return {};
    const std::uint64_t begins =
        state_->mapping.bytes().size() - state_->size.value_or(0);  // standard input may be read from the middle
    return from - std::min(from, begins);
}

std::size_t ByteSource::read(MutableBytes into, Wait wait) {
    if (state_->ended || into.empty()) return 0;
    return state_->compression == Compression::none ? state_->read_plain(into, wait)
                                                    : state_->read_compressed(into, wait);
}

bool ByteSource::ended() const { return state_->ended; }
const std::string& ByteSource::damage() const { return state_->damage; }
const std::string& ByteSource::name() const { return state_->name; }
Compression ByteSource::compression() const { return state_->compression; }
std::uint64_t ByteSource::consumed() const { return state_->consumed; }
std::optional<std::uint64_t> ByteSource::size() const { return state_->size; }

}  // namespace qps::dissect
