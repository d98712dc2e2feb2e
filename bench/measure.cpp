// Runs a command and says what it took:  bench_measure COMMAND [ARGUMENTS...] < INPUT
//
// Prints exit code, seconds, and the largest resident memory in KiB: all of it (rss, of getrusage), and the part that
// is the process's own (anon, polled from /proc), without the pages of mapped files, which are the page cache's and
// cost nobody else. Its standard output goes to /dev/null, its standard error is ours.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <limits>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr std::timespec kPoll{.tv_sec = 0,
                              .tv_nsec = 2'000'000};  // often enough for peaks, seldom enough to cost nothing

std::uint64_t anonymous_kib(const std::string& status_file) {
    std::ifstream status(status_file);
    std::string word;
    while (status >> word) {
        if (word == "RssAnon:") {
            std::uint64_t kib = 0;
            status >> kib;
            return kib;
        }
        status.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        fmt::print(stderr, "usage: bench_measure COMMAND [ARGUMENTS...]\n");
        return 2;
    }
    const auto start = std::chrono::steady_clock::now();
    const pid_t child = ::fork();
    if (child < 0) return 1;
    if (child == 0) {
        const int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
        ::dup2(null, STDOUT_FILENO);
        ::execvp(argv[1], argv + 1);
        ::_exit(127);
    }
    const std::string status_file = fmt::format("/proc/{}/status", child);
    std::uint64_t anonymous = 0;
    int status = 0;
    rusage usage{};
    while (::wait4(child, &status, WNOHANG, &usage) == 0) {
        anonymous = std::max(anonymous, anonymous_kib(status_file));
        ::nanosleep(&kPoll, nullptr);
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    fmt::print("exit={} seconds={:.6f} anon={} rss={}\n", code, seconds, anonymous, usage.ru_maxrss);
    return 0;
}
