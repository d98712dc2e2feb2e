#include <cli/output.hpp>
#include <dissect/capture/saved_capture.hpp>

#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

namespace qps::cli {

namespace {
constexpr std::size_t kHeldBytes = 1U << 16;
}  // namespace

Output::Output(std::string path, std::span<const std::string> inputs, dissect::Readers readers)
    : path_(std::move(path)) {
    if (path_.empty()) {
        file_ = dissect::Descriptor(STDOUT_FILENO, false);
        return;
    }
    refused_ = dissect::is_one_of(path_, inputs);
    if (refused_) {
        error_ = EINVAL;
        return;
    }
    auto pending = dissect::PendingFile::open(path_, readers);
    if (!pending) {
        error_ = pending.error().value();
        return;
    }
    pending_.emplace(std::move(*pending));
    file_ = pending_->take_descriptor();
}

Output::~Output() { release(); }

void Output::write(std::string_view text) {
    held_ += text;
    if (held_.size() >= kHeldBytes) flush();
}

void Output::hold(const transport::MemoryBudget& budget) {
    flush();
    holds_ = true;
    if (!can_be_emptied()) waiting_.emplace(budget);
}

void Output::release() {
    flush();
    holds_ = false;
    if (!waiting_) return;
    for (const std::string& piece : waiting_->pieces()) write_out(piece);
    waiting_.reset();
}

bool Output::can_be_emptied() const { return pending_ && !pending_->part().empty(); }

void Output::restart() {
    held_.clear();
    if (waiting_) waiting_->clear();
    if (!can_be_emptied() || error_ != 0) return;
    if (ftruncate(file_.number(), 0) != 0 || lseek(file_.number(), 0, SEEK_SET) != 0) error_ = errno;
}

void Output::flush() {
    if (waiting_) waiting_->add(held_);
    else write_out(held_);
    held_.clear();
}

void Output::commit() {
    release();
    if (!can_be_emptied() || error_ != 0) return;
    // Some file systems tell only now that there was no room.
    if (::close(file_.release()) != 0 && errno != EINTR) error_ = errno;
    else if (const std::error_code failed = pending_->commit()) error_ = failed.value();
}

void Output::write_out(std::string_view text) {
    while (!text.empty() && error_ == 0) {
        const ssize_t written = ::write(file_.number(), text.data(), text.size());
        if (written < 0) {
            if (errno == EAGAIN) {  // somebody made our standard output non-blocking
                pollfd query{file_.number(), POLLOUT, 0};
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

bool Output::is_terminal() const { return file_.number() >= 0 && isatty(file_.number()) == 1; }

}  // namespace qps::cli
