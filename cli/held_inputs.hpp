// The inputs of a command that only reads, and --nccl-log: all are opened first, then the process gives up what it does
// not need (sandbox/), then the first byte of any is read. What is read again later comes from the same open file.
// Other files that options name (--hosts,
// --profile, --compare) are small: their bytes are there before, and what they say is read after.
//
// Which commands: those whose options add_sandbox(). A sandbox is of a process, and so is what is held here.
#pragma once

#include <cli/options/input_options.hpp>
#include <dissect/capture/bpf.hpp>
#include <dissect/capture/byte_source.hpp>
#include <dissect/capture/reading_order.hpp>

#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qps::cli {

class HeldInputs {
public:
    // Opens what there is to open and enters the sandbox, once for the process: later calls find it done. Everything
    // else that a command opens (-o, -w) it opens before.
    [[nodiscard]] static HeldInputs& of(const InputOptions& options);

    // Regular files, also those that could not be opened; nothing for pipes, devices and standard input.
    [[nodiscard]] std::optional<dissect::HeldFile> file(const std::string& name) const;
    // All bytes of an input or of --nccl-log from its beginning; more than `most` where it has more than that. A
    // sentence where it cannot be read. `wanted` is asked once, when the first kLooked of them are there: whether it is
    // worth reading on.
    static constexpr std::size_t kLooked = 8;
    [[nodiscard]] std::expected<std::string, std::string> contents(
        const std::string& name, std::size_t most, const std::function<bool(std::string_view)>& wanted = {}) const;
    // Files that are read as one: one, or several whose packets are merged by time.
    struct Piece {
        std::string name;
        std::optional<dissect::Instant> first{};  // when its first packet was recorded, where that was looked up
    };
    using Pieces = std::vector<Piece>;
    // All files, in the order in which they are read; says so where that is not the order given, or where some overlap
    // in time. A sentence where too many do.
    [[nodiscard]] const std::expected<std::vector<Pieces>, std::string>& in_order(const InputOptions& options);
    // --capture-filter, for every link type; nullptr: none was asked for.
    [[nodiscard]] std::expected<dissect::BpfFilter, std::string>* filter() { return filter_ ? &*filter_ : nullptr; }

private:
    explicit HeldInputs(const InputOptions& options);
    [[nodiscard]] dissect::RecordedTimes times_of(const std::string& name) const;
    struct Named {
        std::string name;
        dissect::HeldFile file;
    };
    std::vector<Named> files_;  // by name
    bool holds_ = false;        // all regular files are among them
    std::optional<std::vector<std::string>> given_;
    std::expected<std::vector<Pieces>, std::string> ordered_;  // these
    std::optional<std::expected<dissect::BpfFilter, std::string>> filter_;
};

}  // namespace qps::cli
