#include <cli/input.hpp>
#include <cli/message.hpp>
#include <cli/progress.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <utility>

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
    if (problem.kind == InputProblemKind::damaged)
        line += fmt::format(" (at offset {}); everything before it was read", problem.offset);
    say("{}\n", line);
}

OpenFailure wrong_filter(const InputOptions& options, const std::string& input, const std::string& why) {
    const std::string sentence = fmt::format("invalid capture filter '{}': {}", options.capture_filter, why);
    return {{InputProblemKind::unreadable, input, 0, sentence}, ExitCode::usage, {}};
}

}  // namespace

Input::Input(std::variant<CaptureFile, Listener, Merged> source, const InputOptions& options)
    : source_(std::move(source)), link_speed_(options.link_speed), interface_(options.interface) {}

std::expected<Input, OpenFailure> Input::open(const InputOptions& options, const std::string& name) {
    if (name.empty()) {
        if (const auto bpf = dissect::BpfFilter::compile(options.capture_filter); !bpf)
            return std::unexpected(wrong_filter(options, options.interface, bpf.error()));
        auto listener = Listener::open(options.interface, options.capture_filter);
        if (!listener) return std::unexpected(OpenFailure{listener.error(), ExitCode::unreadable});
        return Input(std::move(*listener), options);
    }
    HeldInputs& inputs = HeldInputs::of(options);
    const auto held = inputs.file(name);
    auto file = held ? CaptureFile::open(*held, name, interrupted) : CaptureFile::open(name, interrupted);
    if (!file) return std::unexpected(OpenFailure{file.error(), ExitCode::unreadable});
    Input input(std::move(*file), options);
    input.offset_ = options.offset_of(name);
    if (auto filtered = input.filter_by_bpf(options); !filtered) return std::unexpected(std::move(filtered.error()));
    return input;
}

std::expected<void, OpenFailure> Input::filter_by_bpf(const InputOptions& options) {
    auto* filter = HeldInputs::of(options).filter();
    if (filter == nullptr) return {};
    if (!*filter) return std::unexpected(wrong_filter(options, name(), filter->error()));
    const auto accepts = [&](const CaptureFile& capture) {
        const auto interfaces = capture.interfaces();
        return (*filter)->accepts(interfaces.empty() ? dissect::LinkType::ethernet : interfaces[0].link);
    };
    for (const CaptureFile& capture : merged() != nullptr ? merged()->files() : std::span(file(), 1))
        if (const auto accepted = accepts(capture); !accepted)
            return std::unexpected(wrong_filter(options, capture.name(), accepted.error()));
    bpf_ = &**filter;
    return {};
}

std::expected<Input, OpenFailure> Input::open_merged(const InputOptions& options, const HeldInputs::Pieces& pieces) {
    std::vector<CaptureFile> files;
    std::vector<MergedFiles::Clock> clocks;
    std::vector<OpenFailure> failures;
    for (const auto& [name, first] : pieces) {
        const auto held = HeldInputs::of(options).file(name);
        auto file = held ? CaptureFile::open(*held, name, interrupted) : CaptureFile::open(name, interrupted);
        if (!file) {
            failures.push_back({file.error(), ExitCode::unreadable});
            continue;
        }
        files.push_back(std::move(*file));
        clocks.push_back({options.offset_of(name), first});
    }
    if (files.empty()) {
        OpenFailure first = std::move(failures.front());
        failures.erase(failures.begin());
        first.others = std::move(failures);
        return std::unexpected(std::move(first));
    }
    Input input(std::make_unique<MergedFiles>(std::move(files), clocks), options);
    input.failures_ = std::move(failures);
    if (auto filtered = input.filter_by_bpf(options); !filtered) return std::unexpected(std::move(filtered.error()));
    return input;
}

std::vector<std::string> Input::slices() const {
    std::vector<std::string> names;
    for (const CaptureFile& capture :
         merged() != nullptr ? merged()->files() : std::span(file(), file() == nullptr ? 0 : 1))
        if (capture.is_slice()) names.push_back(capture.name());
    return names;
}

std::size_t Input::count(const InputOptions& options) {
    if (!options.interface.empty() || options.by_time) return 1;
    const auto& ordered = HeldInputs::of(options).in_order(options);
    return ordered ? ordered->size() : 1;
}

std::expected<Input, OpenFailure> Input::open(const InputOptions& options, std::size_t number) {
    auto input = open_next(options, number);
    if (input) input->number_ = number;
    return input;
}

std::expected<Input, OpenFailure> Input::open_next(const InputOptions& options, std::size_t number) {
    if (!options.interface.empty()) return open(options, std::string());
    if (options.by_time) {
        HeldInputs::Pieces all;
        for (const std::string& name : options.files) all.push_back({name});
        return open_merged(options, all);
    }
    const auto& ordered = HeldInputs::of(options).in_order(options);
    if (!ordered)
        return std::unexpected(OpenFailure{
            {InputProblemKind::unreadable, options.files.front(), 0, ordered.error()}, ExitCode::usage, {}});
    const HeldInputs::Pieces& pieces = (*ordered)[number];
    return pieces.size() == 1 ? open(options, pieces.front().name) : open_merged(options, pieces);
}

bool Input::read_source(Batch& batch) {
    if (auto* merged = std::get_if<Merged>(&source_)) return (*merged)->read(batch);
    return file() != nullptr ? std::get<CaptureFile>(source_).read(batch) : std::get<Listener>(source_).read(batch);
}

// Leaves the frames that the BPF filter asks for.
void Input::select(Batch& batch) {
    if (!batch.frames.empty()) so_far_.frames = before_.frames + std::to_underlying(batch.frames.back().index);
    if (!so_far_.begin) note_begin(batch.frames);
    set_as_told(batch, before_.frames);
    if (has_unknown_link()) note_undecoded(batch.frames);
    if (bpf_)
        std::erase_if(batch.frames, [&](const Frame& frame) {
            const auto match = bpf_->matches(frame);
            if (!match && own_problem_.kind == InputProblemKind::none)
                own_problem_ = {InputProblemKind::damaged, name(), frame.file_offset,
                                fmt::format("capture filter '{}': {}", bpf_->expression(), match.error())};
            return !match.value_or(false);
        });
}

void Input::note_begin(std::span<const Frame> frames) {
    const auto first = std::ranges::find_if(frames, &Frame::has_time);
    if (first != frames.end()) so_far_.begin = dissect::moved(first->time, offset_);
}

bool Input::has_unknown_link() const {
    if (is_interface()) return dissect::name(link()).empty();
    return std::ranges::any_of(interfaces(), [](const auto& each) { return dissect::name(each.link).empty(); });
}

void Input::note_undecoded(std::span<const Frame> frames) {
    for (const Frame& frame : frames) {
        if (!dissect::name(frame.link).empty()) continue;
        if (undecoded_.packets++ == 0) undecoded_.link = frame.link, undecoded_.first = frame.index;
    }
}

// The numbers of frames, and what the user says of the link and its clock.
void Input::set_as_told(Batch& batch, std::uint64_t numbered_from) const {
    if (numbered_from != 0)
        for (Frame& frame : batch.frames)
            frame.index = dissect::FrameIndex{numbered_from + std::to_underlying(frame.index)};
    if (link_speed_ != dissect::BitsPerSecond{})
        for (Frame& frame : batch.frames) frame.link_speed = link_speed_;
    if (offset_ != dissect::Duration{})
        for (Frame& frame : batch.frames)
            if (frame.has_time) frame.time = dissect::moved(frame.time, offset_);
    if (before_.begin)
        for (Frame& frame : batch.frames)
            if (frame.has_time) frame.elapsed = frame.time - *before_.begin;
}

bool Input::reach(Batch& batch) {
    auto* capture = std::get_if<CaptureFile>(&source_);
    return capture != nullptr && bpf_ == nullptr && !has_unknown_link() && !interrupted() && capture->reach(batch);
}

void Input::settle(Batch& batch) {
    std::get<CaptureFile>(source_).settle(batch);
    if (!batch.numbered_from) return select(batch);
    so_far_.frames = before_.frames + *batch.numbered_from + batch.frames.size();
}

void Input::finish(Batch& batch) const {
    if (batch.numbered_from) set_as_told(batch, before_.frames + *batch.numbered_from);
    batch.numbered_from.reset();
}

bool Input::read(Batch& batch) {
    do {
        if (interrupted() || !read_source(batch)) {
            batch.frames.clear();
            return false;
        }
        select(batch);
    } while (batch.frames.empty() && !(wakes_ && is_interface()));
    return true;
}

std::vector<InputProblem> Input::problems() const {
    if (interrupted()) return {};  // the user ended it: what is missing is no damage
    if (own_problem_.kind != InputProblemKind::none) return {own_problem_};
    std::vector<InputProblem> all;
    if (const MergedFiles* files = merged())
        for (const CaptureFile& each : files->files()) all.push_back(each.problem());
    else all.push_back(file() != nullptr ? file()->problem() : std::get<Listener>(source_).problem());
    std::erase_if(all, [](const InputProblem& problem) { return problem.kind == InputProblemKind::none; });
    return all;
}

std::string Input::name() const {
    return merged() != nullptr ? merged()->name() : file() != nullptr ? file()->name() : interface_;
}
std::uint16_t Input::files() const {
    return merged() == nullptr ? std::uint16_t{1} : static_cast<std::uint16_t>(merged()->files().size());
}

std::span<const dissect::Interface> Input::interfaces() const {
    if (merged() != nullptr) return merged()->interfaces();
    return file() != nullptr ? file()->interfaces() : std::span<const dissect::Interface>{};
}

std::uint64_t Input::bytes_read() const {
    return merged() != nullptr ? merged()->bytes_read() : file() != nullptr ? file()->bytes_read() : 0;
}

std::optional<std::uint64_t> Input::size() const {
    return merged() != nullptr ? merged()->size() : file() != nullptr ? file()->size() : std::nullopt;
}

dissect::LinkType Input::link() const {
    const auto* listener = std::get_if<Listener>(&source_);
    return listener == nullptr ? dissect::LinkType::ethernet : listener->link();
}

dissect::Drops Input::drops() const {
    if (merged() != nullptr) return merged()->drops();
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

bool Input::live() const { return is_interface() || !size(); }

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

namespace {

std::string how_far;  // the reading that was interrupted first

// "interrupted after 2 of 24 files (8 %)": files count alike, as nobody knows how large those are that were not opened.
std::string interrupted_text(const InputOptions& options, std::size_t done, const Input* input) {
    const std::size_t files = Input::count(options);
    const auto size = input == nullptr ? std::nullopt : input->size();
    const double part =
        size && *size != 0 ? std::min(1.0, static_cast<double>(input->bytes_read()) / static_cast<double>(*size)) : 0;
    const int percent = static_cast<int>((static_cast<double>(done) + part) * 100 / static_cast<double>(files));
    if (files > 1) return fmt::format("interrupted after {} of {} files ({} %)", done, files, percent);
    return size ? fmt::format("interrupted after {} % of the file", percent)
                : "interrupted before the end of the input";
}

std::string undecoded_text(const Input::Undecoded& undecoded) {
    return fmt::format("{} from frame {} on {} link type {}, which is not decoded, and {} not judged",
                       transport::counted(undecoded.packets, "packet"), std::to_underlying(undecoded.first),
                       undecoded.packets == 1 ? "has" : "have", std::to_underlying(undecoded.link),
                       undecoded.packets == 1 ? "was" : "were");
}

}  // namespace

const std::string& interruption() { return how_far; }

ExitCode for_each_input(const InputOptions& options, const std::function<ExitCode(Input&, Progress&)>& command,
                        bool said_before, std::vector<std::string>* incomplete) {
    ExitCode code = ExitCode::done;
    const auto note = [&](std::string sentence) {
        if (incomplete != nullptr && std::ranges::find(*incomplete, sentence) == incomplete->end())
            incomplete->push_back(std::move(sentence));
    };
    const auto refuse = [&](const OpenFailure& failure) {
        if (!said_before) print(failure.problem);
        note(fmt::format("{}: {}", failure.problem.file, failure.problem.sentence));
        code = worse(code, failure.code);
    };
    // What arrives as it happens ends when the user says so.
    const auto stop = [&](std::size_t done, const Input* input) {
        if (options.interface.empty()) {
            if (how_far.empty()) how_far = interrupted_text(options, done, input);
            note(how_far);
        }
        return worse(code, ExitCode::interrupted);
    };
    for (std::size_t number = 0; number < Input::count(options); ++number) {
        auto input = Input::open(options, number);
        if (!input) {
            if (interrupted()) return stop(number, nullptr);
            refuse(input.error());
            std::ranges::for_each(input.error().others, refuse);
            continue;
        }
        std::ranges::for_each(input->failures(), refuse);
        Progress progress(!options.no_progress && !is_quiet(), input->name());
        code = worse(code, command(*input, progress));
        progress.clear();
        if (const std::uint64_t lost = input->lost(); lost != 0 && !said_before)
            say("qpscope: {}: {} frames dropped by the capturing system\n", input->name(), lost);
        if (const std::uint64_t twice = input->had_twice(); twice != 0 && !said_before)
            remark("qpscope: {} that several files have: each counts once\n", transport::counted(twice, "packet"));
        for (const std::string& slice : input->slices())
            note(fmt::format("{} is a slice: what it lacks was left out", slice));
        if (code == ExitCode::output_failed) break;
        if (interrupted()) return stop(number, &*input);
        if (const Input::Undecoded& undecoded = input->undecoded(); undecoded.packets != 0) {
            const std::string sentence = undecoded_text(undecoded);
            if (!said_before) say("qpscope: {}: {}\n", input->name(), sentence);
            note(fmt::format("{}: {}", input->name(), sentence));
            code = worse(code, ExitCode::unjudged);
        }
        for (const InputProblem& problem : input->problems()) {
            if (!said_before) print(problem);
            note(fmt::format("{}: {}", problem.file, problem.sentence));
            code = worse(code, code_of(problem.kind));
        }
    }
    return code;
}

}  // namespace qps::cli
