#include "decoding.hpp"
#include "message.hpp"

#include <transport-replay/index/named_sets.hpp>

#include <algorithm>
#include <cstdio>
#include <thread>

#include <fmt/format.h>

namespace qps::cli {

using namespace dissect;

Jobs jobs_for(const Options& options, const Input& input) {
    return input.live() ? Jobs{1} : jobs_for(options);
}

Jobs jobs_for(const Options& options) {
    if (options.jobs != 0) return {options.jobs};
    constexpr unsigned kEnough = 8;  // one reader cannot feed more, and each costs a few MB
    return {std::clamp(std::thread::hardware_concurrency(), 1U, kEnough)};
}

std::optional<Filter> compile_filter(const Options& options, FilterSets sets) {
    const auto text = transport::without_sets(options.filter);
    auto filter = text ? Filter::compile(*text) : std::unexpected(text.error());
    if (!filter) {
        say("qpscope: invalid display filter:\n{}\n", explain(options.filter, filter.error()));
    } else if (sets == FilterSets::refused && transport::names_sets(options.filter)) {
        say("qpscope: this command cannot filter by rdma.message or rdma.finding: write the packets with qpscope packets -w first\n");
    } else {
        return std::move(*filter);
    }
    return std::nullopt;
}

void decode_all(Input& input, Progress& progress, Jobs jobs, const Decoding& decoding) {
    std::uint64_t packets = 0;
    const auto read = [&](Batch& batch) {
        const bool more = input.read(batch);
        packets += batch.frames.size();
        if (const CaptureFile* file = input.file()) progress.update(file->bytes_read(), file->size(), packets);
        if (more && decoding.seen) decoding.seen(batch);
        return more;
    };
    const auto work = [&](std::size_t slot, const Batch& batch) {
        Packet packet;
        decoding.begin(slot);
        for (const Frame& frame : batch.frames) {
            decode(frame, packet);
            if (decoding.annotator != nullptr) decoding.annotator->annotate(packet);
            if (decoding.filter.matches(packet)) decoding.each(slot, packet);
        }
    };
    run({read, work, decoding.consume, decoding.gate, decoding.follow, decoding.lanes}, decoding.annotator == nullptr ? jobs : Jobs{1});
}

ExitCode finish(Output& output) {
    output.flush();
    if (output.ok() || output.closed()) return ExitCode::done;
    say("qpscope: {}\n", output.problem());
    return output.refused() ? ExitCode::usage : ExitCode::output_failed;
}

}  // namespace qps::cli
