// The packets of the inputs as one capture file, for the commands that write one.
#pragma once

#include <cli/exit_code.hpp>
#include <cli/input.hpp>
#include <dissect/capture/saved_capture.hpp>

#include <cstddef>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace qps::cli {

class PacketCopies {
public:
    PacketCopies(dissect::SavedCapture& file, const InputOptions& options) : file_(file), options_(options) {}

    // Before anything else: what is said of the capture as a whole, and the names of hosts.
    void begin_section(std::string_view comment, std::span<const dissect::HostName> hosts) {
        ok_ = file_.begin_section(comment, hosts);
    }
    // Interfaces are written without their names.
    void hide_names() { names_ = false; }
    // A batch of an input, which stays until next_input(), was read. Interfaces are described before their first frame:
    // their numbers stay.
    void describe(const Input& input);
    void next_input() {
        described_ = 0;
        input_ = nullptr;
        shrank_ = false;
    }

    // False: nothing more is to be written, because that failed or there are as many as asked for.
    bool write(const dissect::Frame& frame, std::string_view comment = {});
    // In order, up to the limit.
    bool write(std::span<const dissect::Frame> frames, bool at_once);

    [[nodiscard]] bool of_interface() const { return !options_.interface.empty(); }
    [[nodiscard]] bool full() const { return options_.count != 0 && file_.frames() >= options_.count; }
    [[nodiscard]] const std::expected<void, dissect::OutputProblem>& ok() const { return ok_; }

private:
    [[nodiscard]] bool is_gone(const dissect::Frame& frame);

    dissect::SavedCapture& file_;
    const InputOptions& options_;
    std::size_t described_ = 0;  // interfaces of this input
    const Input* input_ = nullptr;
    std::uint64_t drained_ = 0;  // when the input was last asked whether it shrank
    bool shrank_ = false;
    bool names_ = true;
    std::expected<void, dissect::OutputProblem> ok_;
};

// Opens a file for packets of the inputs; says what is wrong, and with which code to end.
[[nodiscard]] std::expected<dissect::SavedCapture, ExitCode> open_capture(const std::string& path,
                                                                          std::span<const std::string> inputs);
// The end: the file takes its name, and people are told so. `about` is added to the sentence.
// Says that the user interrupted while a capture was read for what must be known before its first packet is written.
[[nodiscard]] ExitCode give_up_interrupted(const std::string& path);

// Where the user interrupted, or a file was damaged, before the first packet of a file was written, what was there
// stays.
[[nodiscard]] ExitCode finish(const std::string& path, dissect::SavedCapture& file, const PacketCopies& copies,
                              ExitCode code, std::string_view about = {});

}  // namespace qps::cli
