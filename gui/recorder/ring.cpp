#include <dissect/capture/saved_capture.hpp>
#include <gui/recorder/ring.hpp>

#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace qps::recorder {

using dissect::CaptureWriter;
using dissect::Frame;
using dissect::InterfaceStatistics;
using dissect::OutputProblem;

namespace {

constexpr mode_t kOfUser = 0640;  // packets are nobody else's business

OutputProblem problem(const std::string& path, int error) { return {path, std::generic_category().message(error)}; }

// "trace.pcapng" and 7: "trace_00007.pcapng".
std::string numbered(const std::string& path, std::uint64_t number) {
    const std::size_t name = path.rfind('/') == std::string::npos ? 0 : path.rfind('/') + 1;
    const std::size_t dot = path.rfind('.');
    const std::size_t end = dot == std::string::npos || dot <= name ? path.size() : dot;
    return fmt::format("{}_{:05}{}", path.substr(0, end), number, path.substr(end));
}

}  // namespace

Ring::Ring(Files files, std::string interface, dissect::LinkType link, Drops drops)
    : files_(std::move(files)), interface_(std::move(interface)), link_(link), drops_(std::move(drops)) {}

std::expected<Ring, OutputProblem> Ring::begin(const Files& files, std::string interface, dissect::LinkType link,
                                               Drops drops) {
    Ring ring(files, std::move(interface), link, std::move(drops));
    if (auto opened = ring.open_next(); !opened) return std::unexpected(std::move(opened.error()));
    return ring;
}

bool Ring::is_full(Clock::time_point now) const {
    if (bytes_ == 0) return false;
    return (files_.bytes && bytes_ >= *files_.bytes) || (files_.time && now - began_ >= *files_.time);
}

// The oldest goes when the next one is there: on a full disk what was captured stays.
std::expected<void, OutputProblem> Ring::open_next() {
    const std::string path = files_.are_several() ? numbered(files_.path, ++number_) : files_.path;
    const int made = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY,
                            kOfUser);  // NOLINT(*-vararg)
    if (made < 0) return std::unexpected(problem(path, errno));
    auto writer = CaptureWriter::onto(dissect::Descriptor(made, true), path, dissect::format_for(path), link_);
    if (!writer) return std::unexpected(std::move(writer.error()));
    writer_.emplace(std::move(*writer));
    writer_->name_interface(dissect::InterfaceId{}, interface_);
    written_.push_back(path);
    bytes_ = 0;
    if (files_.kept == 0 || written_.size() <= files_.kept) return writer_->flush();
    if (::unlink(written_.front().c_str()) != 0 && errno != ENOENT)
        return std::unexpected(problem(written_.front(), errno));
    written_.pop_front();
    return writer_->flush();
}

std::expected<void, OutputProblem> Ring::write(const Frame& frame, Clock::time_point now) {
    if (is_full(now)) {
        if (auto closed = close(); !closed) return closed;
        if (auto opened = open_next(); !opened) return opened;
    }
    if (bytes_ == 0) began_ = now;
    if (auto written = writer_->write(frame); !written) return written;
    bytes_ = writer_->last_record() + frame.bytes.size();
    return {};
}

std::expected<void, OutputProblem> Ring::close() {
    const InterfaceStatistics all = drops_();
    InterfaceStatistics own = all;
    own.received -= before_.received;
    own.dropped -= before_.dropped;
    own.dropped_by_system -= before_.dropped_by_system;
    before_ = all;
    if (auto written = writer_->write(own); !written) return written;
    return writer_->close();
}

}  // namespace qps::recorder
