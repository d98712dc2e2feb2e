// Rules about jobs: ranks that are ahead or behind, watchdogs, and cases that are not about RDMA.
#include <transport-replay/casework/claims.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

namespace qps::casework {

namespace {

// Processes and ranks that RAS got no data of. Blocks name a process twice (INCOMPLETE, DEAD) and its rank in a third.
void judge_silent(const Facts& facts, Verdict& verdict) {
    struct Silent {
        std::string who, host;
        std::set<std::string> states;
        std::vector<Place> places;
    };
    std::map<std::string, Silent> all;
    std::set<std::string> ranks;
    std::vector<Place> headings;
    for (const RankState& state : facts.read.ranks) {
        if (state.state.empty()) continue;
        std::string who;
        if (!state.process.empty()) who = fmt::format("process {}", state.process);
        else if (state.ranks.size() == 1 && !state.host.empty()) who = fmt::format("rank {}", state.ranks.front());
        for (const std::uint32_t rank : state.ranks) ranks.insert(std::to_string(rank));
        if (who.empty()) {
            headings.push_back(state.place);
            continue;
        }
        if (!state.host.empty()) who += " on " + state.host;
        Silent& silent = all[who];
        silent.who = who;
        silent.host = state.host;
        silent.states.insert(state.state);
        if (silent.places.size() < 4) silent.places.push_back(state.place);
    }
    constexpr std::size_t kMost = 8;
    std::size_t told = 0;
    for (const auto& [who, silent] : all) {
        if (++told > kMost) break;
        const bool dead = std::ranges::any_of(silent.states, [](const std::string& each) {
            return each.contains("dead") || each.contains("unresponsive") || each.contains("missing") ||
                   each.contains("unreachable");
        });
        // With one silent process, the ranks that are missing are its own.
        const bool own = all.size() == 1 && !ranks.empty() && !who.starts_with("rank");
        claim(verdict, "case-rank-silent", dead ? Weight::shown : Weight::hint, Party::undecided, silent.host,
              fmt::format("RAS: {}{} is {}: errors of other ranks towards it follow from that", who,
                          own ? fmt::format(" (rank {})", list_text(ranks)) : "", list_text(silent.states)),
              silent.places);
        undecided(verdict, "undecided: why that process does not respond is in its own log");
        next_step(verdict,
                  silent.host.empty() ? "the log, dmesg and stack (py-spy dump) of that process"
                                      : fmt::format("the log, dmesg and stack (py-spy dump) of {}", who),
                  silent.host.empty() ? "its host" : silent.host,
                  {{"it crashed or was killed", "it is the cause"}, {"it lives and waits", "query RAS a second time"}});
    }
    if (!all.empty() || headings.empty()) return;
    headings.resize(std::min<std::size_t>(headings.size(), 4));
    claim(verdict, "case-rank-silent", Weight::hint, Party::undecided, "",
          ranks.empty() ? std::string("RAS got no data of some ranks, and does not name them here")
                        : fmt::format("RAS: rank {} is missing: errors of other ranks towards it follow from that",
                                      list_text(ranks)),
          std::move(headings));
    undecided(verdict, "undecided: why that process does not respond is in its own log");
    next_step(verdict,
              "query RAS again (ncclras -v); then the log, dmesg and stack (py-spy dump) of the silent process",
              "its host",
              {{"it crashed or was killed", "it is the cause"}, {"it lives and waits", "query RAS a second time"}});
}

}  // namespace

namespace {

// Ranks that launched as many operations are one group.
std::vector<RankState> by_count(const std::vector<const RankState*>& states) {
    constexpr std::size_t kMostNamed = 16;
    std::map<std::uint64_t, RankState> groups;
    for (const RankState* state : states) {
        const auto [at, fresh] = groups.try_emplace(state->launched, *state);
        if (fresh) continue;
        RankState& group = at->second;
        group.count += state->count;
        for (const std::uint32_t rank : state->ranks)
            if (group.ranks.size() < kMostNamed) group.ranks.push_back(rank);
        if (group.host != state->host) group.host.clear();
    }
    std::vector<RankState> merged;
    for (auto& [launched, group] : groups) {
        if (group.count > group.ranks.size() && group.count > kMostNamed) group.ranks.clear();
        merged.push_back(std::move(group));
    }
    return merged;
}

}  // namespace

void judge_ranks(const Facts& facts, Verdict& verdict) {
    judge_silent(facts, verdict);
    std::map<std::pair<std::string, std::string>, std::vector<const RankState*>> groups;  // communicator, operation
    for (const RankState& state : facts.read.ranks) {
        if (!state.state.empty()) continue;
        if (state.launched != 0 || state.count != 0) groups[{state.communicator, state.operation}].push_back(&state);
    }
    for (const auto& [key, all] : groups) {
        const std::vector<RankState> merged = by_count(all);
        std::vector<const RankState*> states;
        for (const RankState& state : merged) states.push_back(&state);
        if (states.size() < 2) continue;
        const auto [least, most] = std::ranges::minmax(states, {}, &RankState::launched);
        if (least->launched == most->launched) continue;
        const auto names = [](const RankState& state) {
            std::string text = fmt::format("{}", transport::counted(state.count, "rank"));
            if (!state.ranks.empty())
                text = fmt::format("{} {}{}", state.ranks.size() == 1 ? "rank" : "ranks", fmt::join(state.ranks, ", "),
                                   state.host.empty() ? "" : " on " + state.host);
            return text;
        };
        std::uint64_t behind = 0;
        for (const RankState* state : states)
            if (state->launched == least->launched) behind += state->count;
        const bool few_ahead = most->count < least->count;
        const bool sampled = most->sampled || least->sampled;
        std::string text =
            fmt::format("{}: {} launched operation {}, {} only {}: {} ahead, {} behind",
                        key.second.empty() ? "the communicator" : key.second, names(*most), most->launched,
                        names(*least), least->launched, names(*most), transport::counted(behind, "rank"));
        if (few_ahead)
            text += fmt::format(
                ". RAS lists the smaller group, which here is the one ahead: not the stragglers. The {} behind have not launched operation {} yet",
                transport::counted(behind, "other rank"), most->launched);
        else if (sampled) text += ". Ranks of a job that runs differ so at any moment: one reading shows no straggler";
        else text += ". The smaller count is what the others wait for: a straggler in software, or its GPU";
        text += ". Nothing here is about the network";
        claim(verdict, "case-ranks-apart", few_ahead || sampled ? Weight::hint : Weight::shown, Party::undecided,
              few_ahead ? "" : least->host, std::move(text), {least->place, most->place});
        undecided(
            verdict,
            "undecided: one reading of a running job may be a moment between two operations; it does not show that the job hangs, nor why");
        next_step(
            verdict,
            "query RAS again after some seconds (twice); if the counts stand still: stack of the ranks behind (py-spy dump) or the flight recorder",
            few_ahead ? "the hosts of the ranks behind" : at_host(least->host),
            {{"the counts move on", "the job runs"},
             {"they stand still", "the ranks behind never launched the operation: their stacks say where they are"}});
    }
}

namespace {

// Ranks that gave one collective different sizes wait for each other without end.
bool judge_sizes(const Facts& facts, Verdict& verdict) {
    // Those whose input is as large on every rank; an uneven one is right elsewhere.
    constexpr std::array<std::string_view, 5> kEven{"nccl:all_reduce ", "nccl:broadcast ", "nccl:reduce ",
                                                    "nccl:_all_gather_base ", "nccl:_reduce_scatter_base "};
    struct Size {
        std::set<std::string> ranks;
        Place place;
    };
    std::map<std::pair<std::string, std::string>, std::map<std::string, Size>> calls;  // of a group: sizes
    for (const Setting& each : facts.read.settings)
        if (each.subject.starts_with("collective of ") &&
            std::ranges::any_of(kEven, [&](std::string_view name) { return each.name.starts_with(name); })) {
            Size& size = calls[{each.subject, each.name}][each.value];
            if (size.ranks.empty()) size.place = each.place;
            size.ranks.insert(each.device);
        }
    for (const auto& [call, sizes] : calls) {
        if (sizes.size() < 2) continue;
        const auto fewest =
            std::ranges::min_element(sizes, {}, [](const auto& each) { return each.second.ranks.size(); });
        std::vector<std::string> parts;
        std::vector<Place> evidence;
        for (const auto& [elements, size] : sizes) {
            if (evidence.size() == 4) break;
            parts.push_back(fmt::format("{} elements on rank {}", elements, list_text(size.ranks)));
            evidence.push_back(size.place);
        }
        claim(verdict, "case-collective-sizes", Weight::shown, Party::application, "",
              fmt::format("{}, {}: its size differs between ranks: {}. Such a collective does not end; the programs of "
                          "the ranks do not agree. Nothing here shows the network failing",
                          call.second, call.first, fmt::join(parts, ", ")),
              std::move(evidence));
        next_step(
            verdict,
            fmt::format("the stack (frames of the flight recorder) and shapes of rank {} at that call: batch, last "
                        "batch of the data, parameters",
                        list_text(fewest->second.ranks)),
            "the program",
            {{"another code path or batch", "make all ranks take the same"},
             {"the same code", "the model or its parameters differ between ranks"}});
        return true;
    }
    return false;
}

}  // namespace

namespace {

// The program of a rank ended by an exception of its own; the others then wait for it.
void judge_exceptions(const Case& read, bool waited, Verdict& verdict) {
    const auto raised = events_of(read, {EventKind::exception});
    if (raised.empty()) return;
    const bool other = std::ranges::any_of(read.events, [](const Event& event) {
        return event.kind == EventKind::completion_error || event.kind == EventKind::port_down ||
               event.kind == EventKind::gpu_error || event.kind == EventKind::out_of_memory;
    });
    const auto of_rank =
        std::ranges::find_if(raised, [](const Event* event) { return event->process.starts_with("rank"); });
    const Event& first = of_rank == raised.end() ? *raised.front() : **of_rank;
    const bool shown = waited && !other && first.process.starts_with("rank");  // so torchrun prints what nobody caught
    constexpr std::size_t kMost = 160;
    claim(
        verdict, "case-program-exception", shown ? Weight::shown : Weight::hint,
        shown ? Party::application : Party::undecided, first.host,
        fmt::format(
            "{}{}: its program raised an exception ({}){}", at_host(first.host),
            first.process.empty() ? "" : ", " + first.process, first.text.substr(0, kMost),
            shown ? ": it no longer takes part, and the others wait for it until their timeout; not the network" : ""),
        places_of(raised));
    if (!shown) undecided(verdict, "undecided: whether the exception came first, or follows from what else failed");
    next_step(verdict, "the traceback above it, and the first lines of that rank's log that differ from the others",
              at_host(first.host),
              {{"its program or data (memory, disk, a worker)", "mend that; the timeouts of others follow"},
               {"it passes on an error of a library", "look at that error"}});
}

}  // namespace

void judge_watchdogs(const Facts& facts, Verdict& verdict) {
    if (judge_sizes(facts, verdict)) return;
    using Enqueued = std::map<std::string, std::pair<std::uint64_t, const Event*>>;  // of each rank, the last
    std::map<std::string, Enqueued> groups;                                          // of each process group
    std::vector<const Event*> dogs;
    for (const Event& event : facts.read.events) {
        if (event.kind == EventKind::transport_timeout) {
            claim(verdict, "case-transport-timeout", Weight::hint, Party::undecided, event.host,
                  fmt::format(
                      "{}: the {} transport of UCX gave up on {}: {}; its peer stopped answering, or never could",
                      at_host(event.host), event.operation, event.peer.empty() ? "its peer" : event.peer, event.text),
                  {event.place});
            undecided(verdict, "undecided: a timeout of UD does not say whether peer, path or address is wrong");
            next_step(
                verdict,
                "show_gids on both hosts; ibv_ud_pingpong or ib_send_bw -c UD between them with the same device and GID index",
                "both hosts");
        }
        if (event.kind != EventKind::watchdog) continue;
        dogs.push_back(&event);
        if (!event.text.contains("ast enqueued")) continue;
        Enqueued& ranks = groups[event.device];
        const auto found = ranks.find(event.process);
        if (found == ranks.end() || found->second.first < event.number) ranks[event.process] = {event.number, &event};
    }
    judge_exceptions(facts.read, !dogs.empty(), verdict);
    if (dogs.empty()) return;
    const bool cause = std::ranges::any_of(facts.read.events, [](const Event& event) {
        return event.kind == EventKind::completion_error || event.kind == EventKind::port_down ||
               event.kind == EventKind::out_of_memory || event.kind == EventKind::gpu_memory;
    });
    if (cause)
        return consequence(verdict,
                           fmt::format("{} of collectives or endpoints: a consequence of the failure",
                                       transport::counted(dogs.size(), "timeout")),
                           places_of(dogs, 2));
    // Sequence numbers are of one process group; the one that most ranks name is judged.
    Enqueued enqueued;
    for (const auto& [group, ranks] : groups)
        if (ranks.size() > enqueued.size()) enqueued = ranks;
    if (enqueued.size() >= 2) {
        const auto by_number = [](const auto& each) { return each.second.first; };
        const auto [least, most] = std::ranges::minmax_element(enqueued, {}, by_number);
        if (least->second.first != most->second.first) {
            std::set<std::string> behind;
            for (const auto& [rank, last] : enqueued)
                if (last.first == least->second.first) behind.insert(rank);
            claim(
                verdict, "case-rank-behind", Weight::shown, Party::application, "",
                fmt::format(
                    "rank {} enqueued work up to {} only, others up to {}: the others wait for it; it never issued the call, so its program (or its GPU) is behind. Nothing here shows the network failing",
                    list_text(behind), least->second.first, most->second.first),
                {least->second.second->place, most->second.second->place});
            next_step(verdict, "the stack of that rank (py-spy dump) and its flight recorder",
                      "the host of rank " + *behind.begin(),
                      {{"it waits elsewhere", "the programs of the ranks do not agree"},
                       {"it computes", "it is slow: data loader, checkpoint, GPU"}});
            return;
        }
        claim(
            verdict, "case-ranks-equal", Weight::hint, Party::undecided, "",
            fmt::format(
                "all ranks here enqueued work up to {}: none is behind in software, so a GPU or the network did not complete it",
                most->second.first),
            {most->second.second->place});
    } else {
        claim(
            verdict, "case-collective-timeout", Weight::hint, Party::undecided, dogs.front()->host,
            fmt::format(
                "a collective timed out ({}): the rank that says so first only waited longest; the cause lies that much earlier",
                dogs.front()->text.substr(0, 80)),
            places_of(dogs));
    }
    undecided(verdict, "undecided: which rank or link holds the collective up");
    next_step(
        verdict,
        "NCCL_DEBUG=INFO logs of all ranks, the flight recorder (fr_trace) or RAS of the running job, from before the timeout",
        "all ranks",
        {{"one rank is behind", "its program or GPU"},
         {"all launched it", "hosts with NCCL or kernel errors in that time"}});
}

// Which failure came first, of hosts whose stamps are one clock.
void judge_order(const Facts& facts, Verdict& verdict) {
    std::map<std::string, const Event*> first;  // of each host
    for (const Event& event : facts.read.events) {
        if (event.clock != ClockKind::utc || event.host.empty() || event.kind != EventKind::completion_error ||
            event.status == 5)
            continue;
        const Event*& kept = first[event.host];
        if (kept == nullptr || event.time_ns < kept->time_ns) kept = &event;
    }
    if (first.size() < 2) return;
    std::vector<const Event*> order;
    for (const auto& [host, event] : first) order.push_back(event);
    std::ranges::stable_sort(order, {}, &Event::time_ns);
    claim(verdict, "case-failed-first", Weight::remark, Party::undecided, order.front()->host,
          fmt::format("by their UTC stamps {} failed first, {} {:.3f} s later; clocks of hosts may be apart by more",
                      order.front()->host, order[1]->host,
                      static_cast<double>(order[1]->time_ns - order[0]->time_ns) / 1e9),
          {order[0]->place, order[1]->place});
}

void judge_unrelated(const Facts& facts, Verdict& verdict) {
    const Case& read = facts.read;
    using enum EventKind;
    const auto rdma =
        events_of(read, {completion_error, work_request, port_down, port_up, queue_pair_error, queue_overrun,
                         command_refused, resource_failed, setup_failed, no_device, address_unresolved, unreachable,
                         rejected, transport_timeout, pause_storm, lossy_pause});
    const auto locks = events_of(read, {lock_warning});
    const auto sockets = events_of(read, {socket_failed});
    const bool nccl_sockets = std::ranges::any_of(read.settings, [](const Setting& each) {
        return each.subject == "NCCL" && each.name == "network" && each.value.contains("Socket");
    });
    const auto off = std::ranges::find_if(
        read.settings, [](const Setting& each) { return each.name == "NCCL_IB_DISABLE" && each.value == "1"; });
    if (nccl_sockets && rdma.empty()) {
        const auto said = std::ranges::find_if(
            read.settings, [](const Setting& each) { return each.subject == "NCCL" && each.name == "network"; });
        const bool set = off != read.settings.end();
        std::vector<Place> evidence{said->place};
        if (set) evidence.push_back(off->place);
        claim(verdict, "case-sockets-not-rdma", Weight::shown, set ? Party::host_setting : Party::undecided, said->host,
              fmt::format("{}: NCCL used sockets (TCP) here, not RDMA{}: nothing of this is about a queue pair",
                          at_host(said->host), set ? ", because NCCL_IB_DISABLE=1 is set in its environment" : ""),
              std::move(evidence));
        if (!set) undecided(verdict, "undecided: why RDMA was not chosen (NCCL_IB_DISABLE, no device, no plugin)");
        next_step(verdict,
                  set ? "unset NCCL_IB_DISABLE and run again with NCCL_DEBUG=INFO"
                      : "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET: the lines before \"Using network\"; ibv_devices",
                  at_host(said->host),
                  {{"NET/IB: Using ...", "RDMA is used from then on"},
                   {"No device found", "driver, container or NCCL_IB_HCA"}});
    }
    if (read.mentions_rdma || !rdma.empty() || !facts.changes.empty() || !read.ranks.empty()) return;
    // What was not read may be about it.
    const auto unread = [](const CaseFile& file) { return file.capture || file.binary || file.cut; };
    // A capture without a packet of RDMA says nothing of what it does not show.
    if (read.left_out != 0 || std::ranges::any_of(read.files, unread)) return;
    std::string text = "nothing here is about RDMA: no line is of an RDMA device, a queue pair or a verb";
    std::vector<Place> evidence;
    Party party = Party::undecided;
    if (!sockets.empty()) {
        text += fmt::format("; the transport that shows is TCP ({})",
                            sockets.front()->operation.empty() ? sockets.front()->text : sockets.front()->operation);
        evidence.push_back(sockets.front()->place);
    }
    if (!locks.empty()) {
        text +=
            fmt::format("; the kernel warns of its own locks ({}), a matter of the kernel's code", locks.front()->text);
        evidence.push_back(locks.front()->place);
        party = Party::library;
    }
    // What else is here may be about RDMA although no line says so: a keep-alive of NVMe, a dead process.
    const auto other =
        events_of(read, {keep_alive_expired, storage_timeout, controller_reset, watchdog, remote_error, peer_closed,
                         device_fatal, iommu_fault, pcie_error, out_of_memory, cpu_stuck, transmit_stuck});
    if (const auto bugs = events_of(read, {kernel_bug}); !bugs.empty()) {
        text += fmt::format("; the kernel reports a fault in its own code ({} {})", bugs.front()->text,
                            bugs.front()->operation);
        evidence.push_back(bugs.front()->place);
        party = Party::library;
    }
    if (evidence.empty() || !other.empty()) return;
    verdict.unrelated = true;
    claim(verdict, "case-unrelated", Weight::decisive, party, "", std::move(text), std::move(evidence));
    if (!locks.empty())
        next_step(
            verdict,
            "report the lockdep trace to the kernel list of that subsystem (linux-nvme, linux-block), or try a newer kernel; nothing more to do for RDMA",
            "");
    else next_step(verdict, "nothing more for RDMA; look at the program's own errors", "");
}

}  // namespace qps::casework
