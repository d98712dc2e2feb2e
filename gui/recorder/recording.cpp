#include <dissect/capture/writer.hpp>
#include <gui/recorder/privilege.hpp>
#include <gui/recorder/recording.hpp>
#include <gui/recorder/ring.hpp>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>

#include <fmt/format.h>
#include <poll.h>
#include <sandbox/sandbox.hpp>
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
    struct sigaction action{};
    action.sa_handler = on_interrupt;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    action.sa_handler = SIG_IGN;
    action.sa_flags = 0;
    sigaction(SIGPIPE, &action, nullptr);
}

bool is_pipe(int descriptor) {
    struct stat status{};
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
    Recording(Listener listener, std::optional<CaptureWriter> writer, const Order& order)
        : listener_(std::move(listener)),
          writer_(std::move(writer)),
          left_(order.count),
          watches_input_(is_pipe(STDIN_FILENO)) {
        if (order.patience) deadline_ = std::chrono::steady_clock::now() + *order.patience;
        if (writer_) writer_->name_interface(dissect::InterfaceId{}, order.interface);
    }
    Recording(const Recording&) = delete;  // the ring asks for drops
    Recording& operator=(const Recording&) = delete;

    // Into files as well.
    std::expected<void, OutputProblem> begin(const Order& order) {
        if (order.files.path.empty()) return {};
        auto ring = Ring::begin(order.files, order.interface, listener_.link(), [this] { return statistics(); });
        if (!ring) return std::unexpected(std::move(ring.error()));
        ring_.emplace(std::move(*ring));
        return {};
    }

    ExitCode run() {
        auto written = flush();  // the header: who reads us knows at once that we listen
        bool listening = true;
        while (written && listening && !is_over()) {
            listening = listener_.read(batch_);
            written = write_batch();
        }
        if (written) written = write_end();
        if (!written && writer_ && output_closed()) return ExitCode::done;  // who read us has had enough
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
               (watches_input_ && input_ended()) || (writer_ && output_closed());
    }

    // A batch ends where the queue is empty or much has come; either is worth handing on.
    std::expected<void, OutputProblem> write_batch() {
        for (const Frame& frame : batch_.frames) {
            if (left_ == 0) break;
            if (auto written = write(frame); !written) return written;
            if (left_) --*left_;
        }
        return flush();
    }

    // To the files first: who reads standard output may be gone.
    std::expected<void, OutputProblem> write(const Frame& frame) {
        if (ring_)
            if (auto written = ring_->write(frame, Ring::Clock::now()); !written) return written;
        return writer_ ? writer_->write(frame) : std::expected<void, OutputProblem>{};
    }

    std::expected<void, OutputProblem> flush() {
        if (ring_)
            if (auto written = ring_->flush(); !written) return written;
        return writer_ ? writer_->flush() : std::expected<void, OutputProblem>{};
    }

    [[nodiscard]] dissect::InterfaceStatistics statistics() const {
        const transport::ListenerDrops drops = listener_.drops();
        return {dissect::InterfaceId{}, listener_.link(),           now(),
                drops.received,         drops.dropped_by_interface, drops.dropped_by_system};
    }

    std::expected<void, OutputProblem> write_end() {
        if (ring_)
            if (auto closed = ring_->close(); !closed) return closed;
        if (!writer_) return {};
        if (auto written = writer_->write(statistics()); !written) return written;
        return writer_->close();
    }

    Listener listener_;
    std::optional<CaptureWriter> writer_;  // standard output
    std::optional<Ring> ring_;
    Batch batch_;
    std::optional<std::uint64_t> left_;  // frames
    std::optional<std::chrono::steady_clock::time_point> deadline_;
    bool watches_input_;
};

// Everything is open: the socket, the filter's names were looked up. libpcap reads the interface's own drop counter
// from a file.
void enter_sandbox(const Order& order) {
    if (!order.sandbox || !sandbox::is_possible()) return;
    const bool files = order.files.are_several();  // more of them will be made, and removed
    if (const auto entered = sandbox::enter({.open_to_read = true, .rename = files, .create = files, .receive = true});
        !entered)
        complain(fmt::format("capturing without a sandbox: {} (--no-sandbox: do not try)", entered.error()));
}

}  // namespace

void complain(std::string_view sentence) { fmt::print(stderr, "qpscope-capture: {}\n", sentence); }

ExitCode record(const Order& order) {
    const bool to_output = isatty(STDOUT_FILENO) != 1;
    if (!to_output && order.files.path.empty()) {
        complain(
            "refusing to write packets to a terminal: redirect to a file or a pipe, as in qpscope-capture -i lo | qpscope packets -, or name a file with -w");
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
    const auto refuse = [](const OutputProblem& problem) {
        complain(fmt::format("{}: {}", problem.file, problem.sentence));
        return ExitCode::output_failed;
    };
    std::optional<CaptureWriter> output;
    if (to_output) {
        auto writer = CaptureWriter::open("-", dissect::WriterFormat::pcapng);
        if (!writer) return refuse(writer.error());
        output.emplace(std::move(*writer));
    }
    Recording recording(std::move(*listener), std::move(output), order);
    if (const auto begun = recording.begin(order); !begun) return refuse(begun.error());
    enter_sandbox(order);
    return recording.run();
}

}  // namespace qps::recorder
