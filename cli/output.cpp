#include "output.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace qps::cli {

namespace {
constexpr std::size_t kHeldBytes = 1U << 16;
}

Output::Output(const std::string& path) : path_(path) {
    if (path.empty()) {
        descriptor_ = STDOUT_FILENO;
        return;
    }
    constexpr mode_t kReadableByAll = 0644;
    descriptor_ = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kReadableByAll);
    if (descriptor_ < 0) error_ = errno;
}

Output::~Output() {
    flush();
    if (!path_.empty() && descriptor_ >= 0) close(descriptor_);
}

void Output::write(std::string_view text) {
    held_ += text;
    if (held_.size() >= kHeldBytes) flush();
}

void Output::flush() {
    write_out(held_);
    held_.clear();
}

void Output::write_out(std::string_view text) {
    while (!text.empty() && error_ == 0) {
        const ssize_t written = ::write(descriptor_, text.data(), text.size());
        if (written < 0) {
            if (errno != EINTR) error_ = errno;
            continue;
        }
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

bool Output::closed() const { return error_ == EPIPE; }

std::string Output::problem() const {
    return fmt::format("cannot write {}: {}", path_.empty() ? "standard output" : path_, std::strerror(error_));
}

bool Output::is_terminal() const { return descriptor_ >= 0 && isatty(descriptor_) == 1; }

}  // namespace qps::cli
