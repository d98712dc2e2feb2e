// Where the bytes of a capture come from: a mapped file, a stream (standard input, FIFO, device) or memory; plain or
// compressed, recognised by magic number and never by name.
//
// A plain regular file is `whole`: all its bytes can be borrowed as long as the source lives. Anything else is read
// piece by piece in bounded memory.
//
// A file that grows is read up to the size it had when it was opened: feed one that is still being written through a
// pipe. Where a mapped file shrinks while it is read, zeros stand for what is gone (file_map.hpp), and lost_from() says
// from where on.
#pragma once

#include <dissect/capture/inflate.hpp>
#include <dissect/capture/input_problem.hpp>

#include <expected>
#include <functional>
#include <optional>
#include <string_view>

#include <sys/types.h>

namespace qps::dissect {

enum class Wait : std::uint8_t { yes, no };

// Asked whenever a signal interrupts waiting for input: true ends the input there.
using Stop = std::function<bool()>;

// A file that was opened before anything was read of it, or why it was not (errno). Who opened it keeps it open.
struct HeldFile {
    int descriptor = -1;
    int error = 0;
};

class ByteSource {
public:
    // Opens a file, or standard input for "-" and "/dev/stdin". Blocks on a FIFO until somebody writes. Fails with
    // unreadable. Throws std::bad_alloc.
    [[nodiscard]] static std::expected<ByteSource, InputProblem> open(const std::string& path, Stop stop = {});
    // From its beginning, under this name.
    [[nodiscard]] static std::expected<ByteSource, InputProblem> open(HeldFile file, const std::string& name,
                                                                      Stop stop = {});
    // Bytes that the caller keeps. Where `piece` is not zero they come as a stream of so many bytes at a time.
    [[nodiscard]] static ByteSource from_memory(Bytes bytes, std::string name, std::size_t piece = 0);

    ByteSource(ByteSource&&) noexcept;
    ByteSource& operator=(ByteSource&&) noexcept;
    ~ByteSource();

    [[nodiscard]] bool whole() const;
    [[nodiscard]] Bytes bytes() const;  // all of them where whole(), else none
    // Where whole(): from which byte on the file is gone. Any thread may ask.
    [[nodiscard]] std::optional<std::uint64_t> lost_from() const;
    static constexpr std::string_view kShrank = "the file was truncated while it was read";

    // Streams: the next uncompressed bytes, at least one unless the end is reached or (with Wait::no) nothing is there
    // yet.
    [[nodiscard]] std::size_t read(MutableBytes into, Wait wait);
    // Nothing more will come: the end, or damage() says why.
    [[nodiscard]] bool ended() const;
    [[nodiscard]] const std::string& damage() const;

    [[nodiscard]] const std::string& name() const;
    [[nodiscard]] Compression compression() const;
    // In bytes as stored, that is compressed: how many were taken from the file, and how many it has (streams:
    // unknown).
    [[nodiscard]] std::uint64_t consumed() const;
    [[nodiscard]] std::optional<std::uint64_t> size() const;

private:
    struct State;
    explicit ByteSource(std::unique_ptr<State> state);
    [[nodiscard]] static std::expected<ByteSource, InputProblem> begin(std::unique_ptr<State> state, HeldFile file,
                                                                       off_t position);
    std::unique_ptr<State> state_;
};

}  // namespace qps::dissect
