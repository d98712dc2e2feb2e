#include <cli/message.hpp>
#include <cli/packet_copies.hpp>

#include <utility>

#include <fmt/format.h>

namespace qps::cli {

using namespace dissect;

namespace {

ExitCode fail_output(const OutputProblem& problem, ExitCode code) {
    say("qpscope: {}: {}\n", problem.file, problem.sentence);
    return code;
}

constexpr std::string_view kStays = "it stays as it was";

}  // namespace

void PacketCopies::describe(const Input& input) {
    input_ = &input;
    const auto interfaces = input.interfaces();
    for (; ok_ && described_ < interfaces.size(); ++described_) {
        const Interface& interface = interfaces[described_];
        const BitsPerSecond speed = options_.link_speed != BitsPerSecond{} ? options_.link_speed : interface.speed;
        ok_ = file_.describe(InterfaceId{static_cast<std::uint32_t>(described_)}, interface.link, speed,
                             names_ ? interface.name : std::string());
    }
    if (input.is_interface() && described_++ == 0)
        ok_ = file_.describe({}, input.link(), options_.link_speed, names_ ? input.name() : std::string());
}

// A reader of what we write may keep us waiting, and the input may be truncated meanwhile: it is asked whenever
// something was drained.
bool PacketCopies::is_gone(const Frame& frame) {
    if (input_ == nullptr) return false;
    if (std::exchange(drained_, file_.drained()) != file_.drained()) shrank_ = input_->shrank();
    return shrank_ && input_->still_there({&frame, 1}) == 0;
}

bool PacketCopies::write(const Frame& frame, std::string_view comment) {
    if (ok_ && !full() && !is_gone(frame)) ok_ = file_.write(frame, comment);
    return ok_ && !full();
}

bool PacketCopies::write(std::span<const Frame> frames, bool at_once) {
    for (const Frame& frame : frames)
        if (!write(frame)) break;
    if (ok_ && at_once) ok_ = file_.flush();
    return ok_ && !full();
}

std::expected<SavedCapture, ExitCode> open_capture(const std::string& path, std::span<const std::string> inputs) {
    auto file = SavedCapture::open(path, inputs);
    if (file) return std::move(*file);
    const bool is_input = is_one_of(path, inputs);
    return std::unexpected(fail_output(file.error(), is_input ? ExitCode::usage : ExitCode::output_failed));
}

ExitCode give_up_interrupted(const std::string& path) {
    if (path != "-") remark("qpscope: interrupted before the first packet was written to {}: {}\n", path, kStays);
    return ExitCode::interrupted;
}

ExitCode finish(const std::string& path, SavedCapture& file, const PacketCopies& copies, ExitCode code,
                std::string_view about) {
    if (!copies.ok())
        return copies.ok().error().closed ? ExitCode::done : fail_output(copies.ok().error(), ExitCode::output_failed);
    const bool cut_short = code == ExitCode::interrupted || code == ExitCode::damaged;
    if (cut_short && file.frames() == 0 && !copies.of_interface()) {
        if (path != "-") remark("qpscope: no packets written to {}: {}\n", path, kStays);
        return code;
    }
    const std::string& broken_off = interruption();
    if (!broken_off.empty())
        if (const auto said = file.end_with(broken_off); !said)
            return fail_output(said.error(), ExitCode::output_failed);
    if (const auto saved = file.commit(); !saved)
        return saved.error().closed ? ExitCode::done : fail_output(saved.error(), ExitCode::output_failed);
    if (path != "-")
        remark("qpscope: {} packets written to {}{}{}{}\n", file.frames(), path, about, broken_off.empty() ? "" : ": ",
               broken_off);
    return code;
}

}  // namespace qps::cli
