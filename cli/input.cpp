#include "input.hpp"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <utility>

#include "held_inputs.hpp"
#include "message.hpp"
#include "progress.hpp"
#include <fmt/format.h>

namespace qps::cli {

using dissect::Batch;
using dissect::CaptureFile;
using dissect::Frame;
using dissect::InputProblem;
using dissect::InputProblemKind;
using transport::Listener;

namespace {

std::atomic<bool> interrupt_seen = false;
static_assert(std::atomic<bool>::is_always_lock_free);

const InputProblem kNoProblem;

void on_interrupt(int) { interrupt_seen = true; }

ExitCode code_of(InputProblemKind kind) {
    switch (kind) {
        case InputProblemKind::none: return ExitCode::done;
        case InputProblemKind::damaged: return ExitCode::damaged;
        case InputProblemKind::unreadable:
        case InputProblemKind::not_a_capture: break;
    }
    return ExitCode::unreadable;
}

void print(const InputProblem& problem) {
    std::string line = fmt::format("qpscope: {}: {}", problem.file, problem.sentence);
    if (problem.kind == InputProblemKind::damaged) line += fmt::format(" (at offset {}); everything before it was read", problem.offset);
    say("{}\n", line);
}

}  // namespace

Input::Input(std::variant<CaptureFile, Listener> source, const Options& options)
    : source_(std::move(source)), link_speed_(options.link_speed), interface_(options.interface) {}

std::expected<Input, OpenFailure> Input::open(const Options& options, const std::string& name) {
    const auto wrong_filter = [&](const std::string& input, const std::string& why) {
        const std::string sentence = fmt::format("invalid capture filter '{}': {}", options.capture_filter, why);
        return std::unexpected(OpenFailure{{InputProblemKind::unreadable, input, 0, sentence}, ExitCode::usage});
    };
    if (name.empty()) {
        if (const auto bpf = dissect::BpfFilter::compile(options.capture_filter); !bpf) return wrong_filter(options.interface, bpf.error());
        auto listener = Listener::open(options.interface, options.capture_filter);
        if (!listener) return std::unexpected(OpenFailure{listener.error(), ExitCode::unreadable});
        return Input(std::move(*listener), options);
    }
    HeldInputs& inputs = HeldInputs::of(options);
    const auto held = inputs.file(name);
    auto file = held ? CaptureFile::open(*held, name, interrupted) : CaptureFile::open(name, interrupted);
    if (!file) return std::unexpected(OpenFailure{file.error(), ExitCode::unreadable});
    Input input(std::move(*file), options);
    if (auto* filter = inputs.filter()) {
        const auto interfaces = input.file()->interfaces();
        if (!*filter) return wrong_filter(input.name(), filter->error());
        const auto accepted = (*filter)->accepts(interfaces.empty() ? dissect::LinkType::ethernet : interfaces[0].link);
        if (!accepted) return wrong_filter(input.name(), accepted.error());
        input.bpf_ = &**filter;
    }
    return input;
}

bool Input::read_source(Batch& batch) {
    return std::visit([&](auto& source) { return source.read(batch); }, source_);
}

// Leaves the frames that the BPF filter asks for, and gives them their number and the user's link speed.
void Input::select(Batch& batch) {
    if (!batch.frames.empty()) last_number_ = numbers_before_ + std::to_underlying(batch.frames.back().index);
    if (numbers_before_ != 0)
        for (Frame& frame : batch.frames) frame.index = dissect::FrameIndex{numbers_before_ + std::to_underlying(frame.index)};
    if (bpf_)
        std::erase_if(batch.frames, [&](const Frame& frame) {
            const auto match = bpf_->matches(frame);
            if (!match && own_problem_.kind == InputProblemKind::none)
                own_problem_ = {InputProblemKind::damaged, name(), frame.file_offset,
                                fmt::format("capture filter '{}': {}", bpf_->expression(), match.error())};
            return !match.value_or(false);
        });
    if (link_speed_ != dissect::BitsPerSecond{})
        for (Frame& frame : batch.frames) frame.link_speed = link_speed_;
}

bool Input::read(Batch& batch) {
    do {
        if (interrupted() || !read_source(batch)) {
            batch.frames.clear();
            return false;
        }
        select(batch);
    } while (batch.frames.empty() && !(wakes_ && file() == nullptr));
    return true;
}

const InputProblem& Input::problem() const {
    if (interrupted()) return kNoProblem;  // the user ended it: what is missing is no damage
    if (own_problem_.kind != InputProblemKind::none) return own_problem_;
    return std::visit([](const auto& source) -> const InputProblem& { return source.problem(); }, source_);
}

std::string Input::name() const { return file() != nullptr ? file()->name() : interface_; }

dissect::LinkType Input::link() const {
    const auto* listener = std::get_if<Listener>(&source_);
    return listener == nullptr ? dissect::LinkType::ethernet : listener->link();
}

dissect::Drops Input::drops() const {
    if (file() != nullptr) return file()->drops();
    dissect::Drops drops;
    drops.known = true;
    drops.dropped_by_system = lost();
    return drops;
}

std::uint64_t Input::lost() const {
    const auto* listener = std::get_if<Listener>(&source_);
    if (listener == nullptr) return 0;
    const transport::ListenerDrops drops = listener->drops();
    return drops.dropped_by_system + drops.dropped_by_interface;
}

bool Input::live() const { return file() == nullptr || !file()->size(); }

void catch_interrupts() {
    struct sigaction action{};
    action.sa_handler = on_interrupt;
    action.sa_flags = static_cast<int>(SA_RESETHAND);  // a second signal ends the process, whatever it waits for
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    action.sa_handler = SIG_IGN;
    action.sa_flags = 0;
    sigaction(SIGPIPE, &action, nullptr);
}

bool interrupted() { return interrupt_seen; }

ExitCode for_each_input(const Options& options, const std::function<ExitCode(Input&, Progress&)>& command, bool said_before) {
    std::vector<std::string> names = options.files;
    if (!options.interface.empty()) names = {""};
    ExitCode code = ExitCode::done;
    for (const std::string& name : names) {
        auto input = Input::open(options, name);
        if (!input) {
            if (interrupted()) return worse(code, ExitCode::interrupted);
            if (!said_before) print(input.error().problem);
            code = worse(code, input.error().code);
            continue;
        }
        Progress progress(!options.no_progress && !options.quiet, input->name());
        code = worse(code, command(*input, progress));
        progress.clear();
        if (const std::uint64_t lost = input->lost(); lost != 0 && !said_before)
            say("qpscope: {}: {} frames dropped by the capturing system\n", input->name(), lost);
        if (code == ExitCode::output_failed) break;
        if (interrupted()) return worse(code, ExitCode::interrupted);
        if (input->problem().kind != InputProblemKind::none) {
            if (!said_before) print(input->problem());
            code = worse(code, code_of(input->problem().kind));
        }
    }
    return code;
}

}  // namespace qps::cli
