#include <cli/output.hpp>
#include <dissect/capture/saved_capture.hpp>

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace qps::cli {

namespace {
constexpr std::size_t kHeldBytes = 1U << 16;
}  // namespace

Output::Output(const Options& options) : path_(options.output) {
    if (path_.empty()) {
        descriptor_ = STDOUT_FILENO;
        return;
    }
    constexpr mode_t kReadableByAll = 0644;
    descriptor_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, kReadableByAll);
    struct stat status{};
    if (descriptor_ < 0 || fstat(descriptor_, &status) != 0) {
        error_ = errno;
        return;
    }
    refused_ = dissect::is_one_of(path_, options.files);
    if (refused_) error_ = EINVAL;
    else if (S_ISREG(status.st_mode) && ftruncate(descriptor_, 0) != 0) error_ = errno;
}

Output::~Output() {
    flush();
    if (!path_.empty() && descriptor_ >= 0) close(descriptor_);
}

void Output::write(std::string_view text) {
    held_ += text;
    if (held_.size() >= kHeldBytes) flush();
}

void Output::restart() {
    held_.clear();
    if (path_.empty() || error_ != 0) return;
    if (ftruncate(descriptor_, 0) != 0 || lseek(descriptor_, 0, SEEK_SET) != 0) error_ = errno;
}

void Output::flush() {
    write_out(held_);
    held_.clear();
}

void Output::write_out(std::string_view text) {
    while (!text.empty() && error_ == 0) {
        const ssize_t written = ::write(descriptor_, text.data(), text.size());
        if (written < 0) {
            if (errno == EAGAIN) {  // somebody made our standard output non-blocking
                pollfd query{descriptor_, POLLOUT, 0};
                poll(&query, 1, -1);
            } else if (errno != EINTR) {
                error_ = errno;
            }
            continue;
        }
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

bool Output::closed() const { return error_ == EPIPE; }

std::string Output::problem() const {
    if (refused_) return fmt::format("{} is also an input and would be overwritten: name another file with -o", path_);
    return fmt::format("cannot write {}: {}", path_.empty() ? "standard output" : path_, std::strerror(error_));
}

bool Output::is_terminal() const { return descriptor_ >= 0 && isatty(descriptor_) == 1; }

}  // namespace qps::cli
