// One open input of a command: a capture file, standard input or an interface, with the user's BPF filter, link speed
// and interrupt applied.
#pragma once

#include <cli/exit_code.hpp>
#include <cli/held_inputs.hpp>
#include <cli/merged_files.hpp>
#include <cli/options/input_options.hpp>
#include <dissect/capture/bpf.hpp>
#include <dissect/capture/capture_file.hpp>
#include <transport-replay/capture/listener.hpp>

#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace qps::cli {

class Progress;

// Why an input could not be opened, and what that means for the exit code.
struct OpenFailure {
    dissect::InputProblem problem;
    ExitCode code;
    std::vector<OpenFailure> others{};  // of files that were to be merged
};

class Input {
public:
    // A path, "-", or options.interface where `name` is empty.
    [[nodiscard]] static std::expected<Input, OpenFailure> open(const InputOptions& options, const std::string& name);

    // How many there are: an interface, each file, or several files as one where they are merged by time.
    [[nodiscard]] static std::size_t count(const InputOptions& options);
    // The next one: a number below count(). Files come in the order of their first packets, and as one where they
    // overlap, unless the user wants his own (--in-order).
    [[nodiscard]] static std::expected<Input, OpenFailure> open(const InputOptions& options, std::size_t number);
    [[nodiscard]] std::size_t number() const { return number_; }
    // Of the files that are merged those that could not be opened.
    [[nodiscard]] std::span<const OpenFailure> failures() const { return failures_; }
    // Files that say so far that packets were left out of them on purpose.
    [[nodiscard]] std::vector<std::string> slices() const;
    // How many files it is.
    [[nodiscard]] std::uint16_t files() const;

    // The next frames, at least one; false at the end, at damage, or once the user interrupts.
    [[nodiscard]] bool read(dissect::Batch& batch);
    // The same by several threads, of what can be read so (CaptureFile::reach()). After settle() any one thread
    // finishes the batch.
    [[nodiscard]] bool reach(dissect::Batch& batch);
    void walk(dissect::Batch& batch) const { file()->walk(batch); }
    void settle(dissect::Batch& batch);
    void finish(dissect::Batch& batch) const;
    // From now on read() returns without frames where an interface has none for a while.
    void wake_when_idle() { wakes_ = true; }

    // Several files that are one capture: where one ends and the next goes on.
    struct SoFar {
        std::uint64_t frames = 0;               // of all inputs, whether a capture filter took them or not
        std::optional<dissect::Instant> begin;  // time of the first that has one
    };
    // Frames are numbered on, and their time is that since the first frame of the first input.
    void go_on_from(const SoFar& others) { before_ = so_far_ = others; }
    [[nodiscard]] const SoFar& so_far() const { return so_far_; }
    // Why reading ended, of each file that has no sound end.
    [[nodiscard]] std::vector<dissect::InputProblem> problems() const;
    [[nodiscard]] std::string name() const;
    // How many frames, of a batch and in its order, are what was captured: the others are gone, and zeros
    // (CaptureFile::still_there()).
    [[nodiscard]] std::size_t still_there(std::span<const dissect::Frame> frames) const {
        return merged() != nullptr ? merged()->still_there(frames)
               : file() != nullptr ? file()->still_there(frames)
                                   : frames.size();
    }
    [[nodiscard]] bool shrank() const {
        return merged() != nullptr ? merged()->shrank() : file() != nullptr && file()->shrank();
    }
    // Of files: as of one of them (CaptureFile).
    [[nodiscard]] std::span<const dissect::Interface> interfaces() const;
    [[nodiscard]] std::uint64_t bytes_read() const;
    [[nodiscard]] std::optional<std::uint64_t> size() const;
    // From an interface, not from files.
    [[nodiscard]] bool is_interface() const { return std::holds_alternative<transport::Listener>(source_); }
    [[nodiscard]] const dissect::CaptureFile* file() const { return std::get_if<dissect::CaptureFile>(&source_); }
    // Frames arrive as they happen (an interface, a pipe): results should be shown at once, not in large pieces.
    [[nodiscard]] bool live() const;
    // Of a live capture.
    [[nodiscard]] dissect::LinkType link() const;
    // Packets that several files have, beyond the first of each.
    [[nodiscard]] std::uint64_t had_twice() const { return merged() == nullptr ? 0 : merged()->dropped(); }
    // Packets of link types that are not decoded, so far.
    struct Undecoded {
        std::uint64_t packets = 0;
        dissect::LinkType link{};  // of the first
        dissect::FrameIndex first{};
    };
    [[nodiscard]] const Undecoded& undecoded() const { return undecoded_; }
    // Frames that a live capture lost on the way to us.
    [[nodiscard]] std::uint64_t lost() const;
    // Frames that the recorder lost: those of a live capture, or what its file says.
    [[nodiscard]] dissect::Drops drops() const;

private:
    using Merged = std::unique_ptr<MergedFiles>;
    Input(std::variant<dissect::CaptureFile, transport::Listener, Merged> source, const InputOptions& options);
    [[nodiscard]] static std::expected<Input, OpenFailure> open_next(const InputOptions& options, std::size_t number);
    [[nodiscard]] static std::expected<Input, OpenFailure> open_merged(const InputOptions& options,
                                                                       const HeldInputs::Pieces& pieces);
    [[nodiscard]] const MergedFiles* merged() const {
        const auto* merged = std::get_if<Merged>(&source_);
        return merged == nullptr ? nullptr : merged->get();
    }
    [[nodiscard]] std::expected<void, OpenFailure> filter_by_bpf(const InputOptions& options);
    [[nodiscard]] bool read_source(dissect::Batch& batch);
    void select(dissect::Batch& batch);
    void note_begin(std::span<const dissect::Frame> frames);
    [[nodiscard]] bool has_unknown_link() const;
    void note_undecoded(std::span<const dissect::Frame> frames);
    void set_as_told(dissect::Batch& batch, std::uint64_t numbered_from) const;

    std::variant<dissect::CaptureFile, transport::Listener, Merged> source_;
    std::vector<OpenFailure> failures_;
    Undecoded undecoded_;
    dissect::BpfFilter* bpf_ = nullptr;  // of all inputs
    dissect::BitsPerSecond link_speed_;
    std::string interface_;
    dissect::InputProblem own_problem_;
    dissect::Duration offset_{};
    bool wakes_ = false;
    std::size_t number_ = 0;  // among those of the command line
    SoFar before_;            // of other inputs
    SoFar so_far_;
};

// Makes Ctrl-C and SIGTERM end reading instead of the process, so that what was done is still reported; ignores
// SIGPIPE.
void catch_interrupts();
[[nodiscard]] bool interrupted();
// "interrupted after 2 of 24 files (8 %)", once for_each_input() ended so; empty else.
[[nodiscard]] const std::string& interruption();

// Calls `command` for every input of the options, in order, after opening it. Prints problems, one sentence each, with
// file name and byte offset, and returns the exit code that they and the command's own codes amount to.
// `said_before`: it is not the first time, and what is wrong with the inputs was printed.
// `incomplete`: what of the inputs was not read, a sentence each.
[[nodiscard]] ExitCode for_each_input(const InputOptions& options,
                                      const std::function<ExitCode(Input&, Progress&)>& command,
                                      bool said_before = false, std::vector<std::string>* incomplete = nullptr);

}  // namespace qps::cli
