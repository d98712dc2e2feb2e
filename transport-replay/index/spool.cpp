#include <transport-replay/index/spool.hpp>

#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

#include <unistd.h>

namespace qps::transport {

using namespace dissect;

std::expected<Spool, OutputProblem> Spool::make(const std::string& folder) {
    std::string path = folder + "/qpscope-XXXXXX";
    const int descriptor = ::mkstemp(path.data());  // readable by this user alone
    if (descriptor < 0)
        return std::unexpected(
            OutputProblem{folder, "takes no temporary file: " + std::generic_category().message(errno)});
    ::close(descriptor);
    auto writer = CaptureWriter::open(path, WriterFormat::pcapng);
    if (writer)
        if (auto flushed = writer->flush(); !flushed) writer = std::unexpected(flushed.error());
    if (!writer) {
        ::unlink(path.c_str());
        return std::unexpected(writer.error());
    }
    return Spool(std::move(path), std::move(*writer));
}

Spool::Spool(std::string path, CaptureWriter writer) : path_(std::move(path)), writer_(std::move(writer)) {}
Spool::Spool(Spool&& other) noexcept
    : path_(std::exchange(other.path_, {})), writer_(std::move(other.writer_)), full_(other.full_) {}

Spool::~Spool() { hide(); }

void Spool::hide() {
    if (!path_.empty()) ::unlink(std::exchange(path_, {}).c_str());
}

void Spool::describe(InterfaceId number, const Interface& interface) {
    writer_.name_interface(number, interface.name);
    // Where it does not go in, copy() hears of it.
    static_cast<void>(writer_.describe_interface(number, interface.link, interface.speed));
}

std::optional<OutputProblem> Spool::copy(std::span<Frame> frames) {
    std::optional<OutputProblem> problem;
    for (Frame& frame : frames) {
        const bool written = !full_ && writer_.write(frame).has_value();
        frame.file_offset = written ? writer_.last_record() : kNowhere;
    }
    // Before anybody looks for them: readers see the file, not our buffer.
    if (full_) return std::nullopt;
    if (auto flushed = writer_.flush(); !flushed) {
        full_ = true;
        problem = flushed.error();
        problem->file = "the temporary file";
    }
    return problem;
}

}  // namespace qps::transport
