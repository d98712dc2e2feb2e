#include <cli/progress.hpp>

#include <cstdio>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

namespace qps::cli {

namespace {
using namespace std::chrono_literals;
constexpr auto kQuietTime = 500ms;  // work shorter than this shows nothing
constexpr auto kRedraw = 100ms;
constexpr double kMega = 1e6;
}  // namespace

Progress::Progress(bool wanted, std::string what)
    : active_(wanted && isatty(STDERR_FILENO) == 1), what_(std::move(what)) {}

Progress::~Progress() { clear(); }

void Progress::update(std::uint64_t done, std::optional<std::uint64_t> total, std::uint64_t packets) {
    if (!active_) return;
    const auto now = Clock::now();
    if (now - started_ < kQuietTime || now - last_ < kRedraw) return;
    last_ = now;
    drawn_ = true;
    const double seconds = std::chrono::duration<double>(now - started_).count();
    const auto megabytes = static_cast<double>(done) / kMega;
    std::string line = fmt::format("\r\033[K{}: ", what_);
    if (total && *total > 0) {
        const double share = static_cast<double>(done) / static_cast<double>(*total);
        line += fmt::format("{:.0f} % of {:.0f} MB, ", 100 * share, static_cast<double>(*total) / kMega);
        if (share > 0 && share < 1) line += fmt::format("{:.0f} s left, ", seconds / share - seconds);
    } else {
        line += fmt::format("{:.0f} MB, ", megabytes);
    }
    line += fmt::format("{} packets", packets);
    std::fputs(line.c_str(), stderr);
    std::fflush(stderr);
}

void Progress::clear() {
    if (!drawn_) return;
    std::fputs("\r\033[K", stderr);
    std::fflush(stderr);
    drawn_ = false;
}

}  // namespace qps::cli
