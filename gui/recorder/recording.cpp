#include <dissect/capture/writer.hpp>
#include <gui/recorder/privilege.hpp>
#include <gui/recorder/recording.hpp>
#include <sandbox/sandbox.hpp>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace qps::recorder {

using dissect::Batch;
using dissect::CaptureWriter;
using dissect::Frame;
using dissect::OutputProblem;
using transport::Listener;

namespace {

std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free);

void on_interrupt(int) { interrupted = true; }

// Without SA_RESTART, so that a signal ends waiting for packets. A second one ends the program, whatever it waits for.
void catch_signals() {
    struct sigaction action {};
    action.sa_handler = on_interrupt;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    action.sa_handler = SIG_IGN;
    action.sa_flags = 0;
    sigaction(SIGPIPE, &action, nullptr);
}

bool is_pipe(int descriptor) {
    struct stat status {};
    return fstat(descriptor, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

// Who started us holds the other end of our standard input, and closes it at the latest when it dies. What it writes is
// thrown away.
bool input_ended() {
    pollfd query{STDIN_FILENO, POLLIN, 0};
    if (poll(&query, 1, 0) <= 0) return false;
    std::array<char, 256> ignored{};
    return read(STDIN_FILENO, ignored.data(), ignored.size()) == 0;
}

// Nobody has the pipe open for reading; seen also while there are no packets to write.
bool output_closed() {
    pollfd query{STDOUT_FILENO, 0, 0};
    return poll(&query, 1, 0) > 0 && (query.revents & POLLERR) != 0;
}

dissect::Instant now() {
    const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
    return dissect::Instant{std::chrono::duration_cast<std::chrono::nanoseconds>(since_1970).count()};
}

class Recording {
public:
    Recording(Listener listener, CaptureWriter writer, const Order& order)
        : listener_(std::move(listener)), writer_(std::move(writer)), left_(order.count), watches_input_(is_pipe(STDIN_FILENO)) {
        if (order.patience) deadline_ = std::chrono::steady_clock::now() + *order.patience;
        writer_.name_interface(dissect::InterfaceId{}, order.interface);
    }

    ExitCode run() {
        auto written = writer_.flush();  // the header: who reads us knows at once that we listen
        bool listening = true;
        while (written && listening && !is_over()) {
            listening = listener_.read(batch_);
            written = write_batch();
        }
        if (written) written = write_end();
        if (!written && output_closed()) return ExitCode::done;  // who read us has had enough
        if (!written) {
            complain(fmt::format("{}: {}", written.error().file, written.error().sentence));
            return ExitCode::output_failed;
        }
        if (!listening) {
            complain(fmt::format("{}: {}", listener_.problem().file, listener_.problem().sentence));
            return ExitCode::unreadable;
        }
        return interrupted ? ExitCode::interrupted : ExitCode::done;
    }

private:
    [[nodiscard]] bool is_over() const {
        return interrupted || left_ == 0 || (deadline_ && std::chrono::steady_clock::now() >= *deadline_) ||
               (watches_input_ && input_ended()) || output_closed();
    }

    // A batch ends where the queue is empty or much has come; either is worth handing on.
    std::expected<void, OutputProblem> write_batch() {
        for (const Frame& frame : batch_.frames) {
            if (left_ == 0) break;
            if (auto written = writer_.write(frame); !written) return written;
            if (left_) --*left_;
        }
        return writer_.flush();
    }

    std::expected<void, OutputProblem> write_end() {
        const transport::ListenerDrops drops = listener_.drops();
        if (auto written = writer_.write(dissect::InterfaceStatistics{dissect::InterfaceId{}, listener_.link(), now(), drops.received,
                                                                      drops.dropped_by_interface, drops.dropped_by_system});
            !written)
            return written;
        return writer_.close();
    }

    Listener listener_;
    CaptureWriter writer_;
    Batch batch_;
    std::optional<std::uint64_t> left_;  // frames
    std::optional<std::chrono::steady_clock::time_point> deadline_;
    bool watches_input_;
};

// Everything is open: the socket, the filter's names were looked up. libpcap reads the interface's own drop counter from a file.
void enter_sandbox(const Order& order) {
    if (!order.sandbox || !sandbox::is_possible()) return;
    if (const auto entered = sandbox::enter({.open_to_read = true, .receive = true}); !entered)
        complain(fmt::format("capturing without a sandbox: {} (--no-sandbox: do not try)", entered.error()));
}

}  // namespace

void complain(std::string_view sentence) { fmt::print(stderr, "qpscope-capture: {}\n", sentence); }

ExitCode record(const Order& order) {
    if (isatty(STDOUT_FILENO) == 1) {
        complain("refusing to write packets to a terminal: redirect to a file or a pipe, as in qpscope-capture -i lo | qpscope packets -");
        return ExitCode::usage;
    }
    catch_signals();
    const bool allowed = may_capture();
    auto listener = Listener::open(order.interface, {}, order.snap_length);
    if (!drop_privileges()) {
        complain("cannot drop privileges: nothing captured");
        return ExitCode::unreadable;
    }
    if (!listener) {
        const std::string what_to_do = allowed ? "" : "; grant the privilege once: " + remedy();
        complain(fmt::format("{}: {}{}", listener.error().file, listener.error().sentence, what_to_do));
        return ExitCode::unreadable;
    }
    if (!order.filter.empty())
        if (const auto selected = listener->select(order.filter); !selected) {
            complain(selected.error().sentence);
            return ExitCode::usage;
        }
    auto writer = CaptureWriter::open("-", dissect::WriterFormat::pcapng);
    if (!writer) {
        complain(fmt::format("{}: {}", writer.error().file, writer.error().sentence));
        return ExitCode::output_failed;
    }
    enter_sandbox(order);
    return Recording(std::move(*listener), std::move(*writer), order).run();
}

}  // namespace qps::recorder
