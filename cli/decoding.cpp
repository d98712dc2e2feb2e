#include <cli/decoding.hpp>
#include <cli/message.hpp>
#include <transport-replay/index/named_sets.hpp>
#include <transport-replay/model/renamed.hpp>

#include <algorithm>
#include <cstdio>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace qps::cli {

using namespace dissect;

Jobs jobs_for(const InputOptions& options, const Input& input) { return input.live() ? Jobs{1} : jobs_for(options); }

Jobs jobs_for(const InputOptions& options) {
    if (options.jobs != 0) return {options.jobs};
    constexpr unsigned kEnough =
        16;  // what is left to one thread (bench_lanes) keeps no more of them busy, and each costs a few MB
    return {std::clamp(std::thread::hardware_concurrency(), 1U, kEnough)};
}

std::string with_times(const FilterOptions& options, const std::string& filter) {
    std::string text;
    for (const std::string* condition : {&options.since, &options.until})
        if (!condition->empty()) text += fmt::format("{}{}", text.empty() ? "" : " && ", *condition);
    if (text.empty()) return filter;
    return filter.empty() ? text : fmt::format("{} && ({})", text, filter);
}

std::optional<Filter> compile_filter(const FilterOptions& options, FilterSets sets) {
    auto filter = Filter::compile(options.text, transport::set_names());
    if (filter) filter = Filter::compile(with_times(options, options.text), transport::set_names());
    if (!filter) {
        say("qpscope: invalid display filter:\n{}\n", explain(options.text, filter.error()));
    } else if (sets == FilterSets::refused && !filter->sets().empty()) {
        say("qpscope: this command cannot filter by rdma.message or rdma.finding: write the packets with qpscope packets -w first\n");
    } else if (sets != FilterSets::with_fields && filter->needs_whole_capture()) {
        say("qpscope: only packets and show can filter by fields of messages: use rdma.message == N, or qpscope packets -w first\n");
    } else {
        for (const transport::Renamed* old : transport::old_names_in(*filter)) remark("qpscope: {}\n", sentence(*old));
        return std::move(*filter);
    }
    return std::nullopt;
}

void decode_all(Input& input, Progress& progress, Jobs jobs, const Decoding& decoding) {
    std::uint64_t packets = 0;
    const auto read_one = [&](const Batch& batch) {
        packets += batch.frames.size();
        if (!input.is_interface()) progress.update(input.bytes_read(), input.size(), packets);
    };
    const auto read = [&](Batch& batch) {
        const bool more = input.read(batch);
        read_one(batch);
        if (more && decoding.seen) decoding.seen(batch);
        return more;
    };
    const auto reach = [&](Batch& batch) { return input.reach(batch); };
    const auto walk = [&](Batch& batch) { input.walk(batch); };
    const auto settle = [&](Batch& batch) {
        input.settle(batch);
        read_one(batch);
        if (!batch.frames.empty() && decoding.seen) decoding.seen(batch);
    };
    // What a slot was told of: its batch, and how many frames of that were there.
    struct Told {
        const Batch* batch = nullptr;
        std::size_t frames = 0;
    };
    if (decoding.annotator != nullptr) jobs = Jobs{1};
    std::vector<Told> told(jobs.slots());
    const bool all = decoding.filter.matches_all();
    const bool straight = all && decoding.straight && decoding.forgets && decoding.annotator == nullptr;
    const auto tell = [&](std::size_t slot) {
        Packet packet;
        decoding.begin(slot);
        for (const Frame& frame : std::span(told[slot].batch->frames).first(told[slot].frames)) {
            if (straight && decoding.straight(slot, frame)) continue;
            decode(frame, packet);
            if (!decoding.forgets && input.still_there({&frame, 1}) == 0) return;
            if (decoding.annotator != nullptr) decoding.annotator->annotate(packet);
            if (all || decoding.filter.matches(packet)) decoding.each(slot, packet);
        }
    };
    const auto work = [&](std::size_t slot, Batch& batch) {
        input.finish(batch);
        told[slot] = {&batch, input.still_there(batch.frames)};
        tell(slot);
    };
    // The file was truncated meanwhile: who forgets is told of what is there once more.
    const auto tell_again = [&](std::size_t slot) {
        if (!decoding.forgets || decoding.annotator != nullptr) return;
        const std::size_t left = input.still_there(told[slot].batch->frames);
        if (std::exchange(told[slot].frames, left) != left) tell(slot);
    };
    const auto gate = [&](std::size_t slot) {
        tell_again(slot);
        decoding.gate(slot);
    };
    const auto consume = [&](std::size_t slot) {
        if (decoding.lanes == 0) tell_again(slot);
        return decoding.consume(slot);
    };
    run({read, work, consume, gate, decoding.follow, decoding.lanes, reach, walk, settle, decoding.sift,
         decoding.sieves},
        jobs);
}

ExitCode finish(Output& output, bool result) {
    if (result) output.commit();
    else output.flush();
    if (output.ok() || output.closed()) return ExitCode::done;
    say("qpscope: {}\n", output.problem());
    return output.refused() ? ExitCode::usage : ExitCode::output_failed;
}

}  // namespace qps::cli
