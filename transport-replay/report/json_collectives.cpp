// Groups of hosts that work in steps together, for programs.
#include <transport-replay/model/collective_report.hpp>
#include <transport-replay/report/json.hpp>

#include <algorithm>
#include <vector>

namespace qps::transport {

namespace {

void add_ranks(Document& document, const Collective& collective) {
    document.open_list("ranks");
    for (const CollectiveRank& rank : collective.ranks) {
        document.open();
        document.add("address", text(rank.address));
        document.add("rank", rank.number);
        document.add("sent_bytes", rank.sent);
        document.add("received_bytes", rank.received);
        document.add("sending_bits_per_second", static_cast<std::uint64_t>(rank.rate));
        document.add("started_last", rank.started_last);
        document.add("ended_last", rank.ended_last);
        document.close();
    }
    document.close_list();
}

// In the order in which they began.
void add_beginnings(Document& document, const Collective& collective, const CollectiveStep& step) {
    std::vector<std::pair<dissect::Instant, std::size_t>> begun;
    for (std::size_t rank = 0; rank < step.begun.size(); ++rank)
        if (step.begun[rank]) begun.emplace_back(*step.begun[rank], rank);
    std::ranges::sort(begun);
    document.open_list("starts");
    for (const auto& [time, rank] : begun) {
        document.open();
        document.add("address", text(collective.ranks[rank].address));
        document.add("time_ns", time);
        document.close();
    }
    document.close_list();
}

void add_steps(Document& document, const Collective& collective) {
    document.open_list("steps");
    for (const CollectiveStep& step : collective.steps) {
        document.open();
        document.add("packet", step.frame);
        document.add("start_ns", step.begin);
        document.add("duration_ns", step.length);
        document.add("bytes", step.bytes);
        document.add("last_to_start",
                     step.last ? std::optional(text(collective.ranks[*step.last].address)) : std::nullopt);
        document.add("wait_ns", step.waited);
        document.add("certainty_percent", step.certainty);
        add_beginnings(document, collective, step);
        document.close();
    }
    document.close_list();
}

void add_straggler(Document& document, const Collective& collective) {
    if (!collective.straggler) return;
    const CollectiveStraggler& late = *collective.straggler;
    document.open("straggler");
    document.add("address", text(collective.ranks[late.rank].address));
    document.add("delay", kCollectiveDelayNames[static_cast<std::size_t>(late.delay)]);
    document.add("steps", late.steps);
    document.add("of_steps", late.of);
    document.add("wait_ns", late.waited);
    document.add("share_percent", late.share);
    document.add("confidence_percent", late.confidence);
    document.add_numbers("packets", late.frames);
    document.close();
}

void add_incast(Document& document, const Collective& collective) {
    if (!collective.incast) return;
    const CollectiveIncast& incast = *collective.incast;
    document.open("incast");
    document.add("address", text(collective.ranks[incast.rank].address));
    document.add("max_senders", incast.senders);
    document.add("steps", incast.steps);
    document.add("of_steps", incast.of);
    document.add("bytes", incast.bytes);
    document.add_numbers("packets", incast.frames);
    document.close();
}

}  // namespace

void add_collective(Document& document, const Collective& collective) {
    document.add("pattern", name(collective.pattern));
    document.add("library", name(collective.made_by));
    document.add("certainty_percent", collective.certainty);
    document.add("operation", name(collective.operation));
    document.add("protocol", name(collective.protocol));
    document.add("members", collective.members == 0 ? std::nullopt : std::optional(std::uint64_t{collective.members}));
    document.add("channels",
                 collective.channels == 0 ? std::nullopt : std::optional(std::uint64_t{collective.channels}));
    std::vector<std::string> chain;
    for (const std::uint32_t rank : collective.chain) chain.push_back(text(collective.ranks[rank].address));
    document.add_texts("chain", chain);
    document.add("connections", collective.connections);
    document.add("bytes", collective.bytes);
    document.add("typical_step_bytes", collective.step_bytes);
    document.add("mean_step_ns", collective.step_length.mean());
    document.add("mean_between_ns", collective.between.mean());
    document.add("bus_bits_per_second", static_cast<std::uint64_t>(collective.bus_rate));
    document.add("algorithm_bits_per_second", static_cast<std::uint64_t>(collective.algorithm_rate));
    add_straggler(document, collective);
    add_incast(document, collective);
    add_ranks(document, collective);
    add_steps(document, collective);
}

}  // namespace qps::transport
