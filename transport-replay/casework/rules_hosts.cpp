// Rules about hosts: links that go down, events of the machine, refused commands, blocked tasks and storage.
#include <transport-replay/casework/claim_rows.hpp>
#include <transport-replay/casework/claims.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include <fmt/format.h>

namespace qps::casework {

namespace {

using Group = std::vector<const Event*>;

struct HostRow {
    EventKind kind;
    std::string_view id;
    Weight weight;
    Party party;  // local_host: by side_of()
    std::string_view words;
    std::string_view excludes;
    std::string_view command;
    std::string_view other;  // what it means where nothing more is found
};
constexpr std::array kHostRows{
    HostRow{EventKind::iommu_fault, "case-iommu-fault", Weight::decisive, Party::local_host,
            "the IOMMU refused a DMA of the device", "not the network: the fault is in the host",
            "dmesg around the fault; iommu=pt and the driver's version",
            "ask the vendor of the driver which mapping that address belonged to"},
    HostRow{EventKind::pcie_error, "case-pcie-error", Weight::shown, Party::local_host, "errors of PCIe",
            "not the network: the fault is on the bus of the host",
            "lspci -vvv -s that device (LnkSta, DevSta); reseat the card", "watch whether the errors grow under load"},
    HostRow{EventKind::machine_check, "case-machine-check", Weight::shown, Party::local_host,
            "a hardware error of the machine", "not the network: the machine itself",
            "mcelog or rasdaemon, EDAC counters", "replace the part that the record names"},
    HostRow{EventKind::gpu_error, "case-gpu-error", Weight::shown, Party::local_host,
            "an error of a GPU, which ends the rank that uses it", "not the network: the GPU or its program",
            "nvidia-smi -q -d ECC,PAGE_RETIREMENT; dmesg | grep Xid", "run the job on other GPUs"},
    HostRow{EventKind::gpu_memory, "case-gpu-memory", Weight::shown, Party::application,
            "the program wanted more memory of its GPU than there is, which ends its rank",
            "not the network: the GPU's memory", "nvidia-smi on that host; batch size and model of that rank",
            "another process holds memory of that GPU"},
    HostRow{EventKind::out_of_memory, "case-out-of-memory", Weight::decisive, Party::local_host,
            "the kernel ran out of memory and killed a process", "not the network: the process was killed",
            "dmesg | grep -i oom; the memory limit of the job", "raise the limit or lower the use"},
    HostRow{EventKind::cpu_stuck, "case-cpu-stuck", Weight::shown, Party::local_host,
            "a CPU was stuck and made no progress", "not the network: the host did not run",
            "dmesg: the stack below this line", "look at the task that it names"},
    HostRow{
        EventKind::kernel_bug, "case-kernel-bug", Weight::shown, Party::library,
        "the kernel reports a fault in its own code", "not the network: it is software of the host",
        "decode the trace (scripts/decode_stacktrace.sh) and report it to linux-rdma, or the list of that subsystem; try a newer kernel",
        "without the trace nobody can place it: get the lines below it"},
    HostRow{EventKind::transmit_stuck, "case-transmit-stuck", Weight::hint, Party::undecided,
            "a transmit queue was stuck: the NIC failed or was paused for long", "",
            "ethtool -S IF | grep -i pause, twice", "without pause frames the NIC or its driver is stuck"},
    HostRow{EventKind::device_fatal, "case-device-fatal", Weight::shown, Party::firmware,
            "the NIC or its firmware failed", "",
            "dmesg before this line; devlink health show; firmware version (ethtool -i)",
            "give the record to the vendor of the NIC"},
    HostRow{EventKind::queue_overrun, "case-queue-overrun", Weight::shown, Party::undecided,
            "a completion queue overran or could not be written: it was made too small",
            "not the network: the queue is the host's own",
            "the size of the completion queue against the work requests posted", "then look at the driver"},
    HostRow{EventKind::pause_storm, "case-pause-storm", Weight::shown, Party::undecided,
            "a PFC storm was detected: the device behind that port paused without end", "",
            "the device behind that port: ethtool -S IF | grep pause twice, and its PCIe and CPU",
            "look further along the pause"},
    HostRow{EventKind::lossy_pause, "case-lossy-pause", Weight::shown, Party::undecided,
            "pause frames came for a queue that is not lossless: priorities differ between the two ends", "",
            "show pfc and QoS maps of that port, mlnx_qos of the host behind it",
            "the two maps name one priority: then the switch names its queues wrongly"},
    HostRow{EventKind::queue_pair_error, "case-queue-pair-event", Weight::hint, Party::undecided,
            "an asynchronous error of a queue pair", "",
            "dmesg of this host, and the log of the peer of that queue pair", "rdma resource show qp on both ends"},
};

// Time between two events of one clock and host, in seconds.
std::optional<double> seconds_between(const Event* from, const Event* to) {
    if (from == nullptr || to == nullptr || from->clock == ClockKind::none || from->clock != to->clock ||
        from->host != to->host)
        return std::nullopt;
    return static_cast<double>(to->time_ns - from->time_ns) / 1e9;
}

const Event* last_before(const Group& events, const Event& event) {
    const Event* found = nullptr;
    for (const Event* each : events)
        if (each->place.file == event.place.file && each->place < event.place) found = each;
    return found;
}

}  // namespace

void judge_ports(const Facts& facts, Verdict& verdict) {
    Group down = events_of(facts.read, {EventKind::port_down});
    // While a host boots its links go down and up.
    constexpr std::int64_t kBooting = 120 * dissect::kNanosecondsPerSecond;
    constexpr std::size_t kDownWord = 4;  // "down"
    std::erase_if(down, [](const Event* event) {
        const bool link =
            event->text.size() <= kDownWord || event->text.contains("ink");  // a module has words of its own
        return link && event->clock == ClockKind::boot && event->time_ns < kBooting;
    });
    if (down.empty()) return;
    const Group up = events_of(facts.read, {EventKind::port_up});
    const auto hosts = hosts_of(down);
    const bool again = std::ranges::any_of(up, [&](const Event* event) { return hosts.contains(event->host); });
    std::set<std::string> ports;
    for (const Event* event : down)
        if (!event->device.empty())
            ports.insert(event->port != 0           ? fmt::format("{}:{}", event->device, event->port)
                         : event->operation.empty() ? event->device
                                                    : fmt::format("{} {}", event->device, event->operation));
    std::set<std::string> reasons;
    for (const Event* event : down)
        if (event->text.size() > kDownWord && !event->text.contains("port error")) reasons.insert(event->text);
    std::string text = fmt::format("port error or link down on {}{}{}{}", hosts.empty() ? "a host" : list_text(hosts),
                                   ports.empty() ? "" : fmt::format(" ({})", list_text(ports, 4)),
                                   reasons.empty() ? "" : fmt::format(": {}", list_text(reasons, 3)),
                                   again ? "; it came back (a flap)" : "");
    const Group gave_up = events_of(facts.read, {EventKind::completion_error});
    Group others, own;
    for (const Event* event : gave_up)
        if (event->status == 12) (hosts.contains(event->host) ? own : others).push_back(event);
    if (!others.empty() || !own.empty())
        text += "; retries exceeded (status 12) are what such a port looks like from its peers";
    if (hosts.size() > 1)
        text += fmt::format(
            "; {} hosts at once: a common piece (switch, power, subnet manager) is as likely as single cables",
            hosts.size());
    claim(verdict, "case-port-down", Weight::decisive, Party::undecided, hosts.empty() ? "" : *hosts.begin(),
          std::move(text), places_of(down, 6),
          {{facts::kNamedDevices, std::vector<std::string>(ports.begin(), ports.end())},
           {facts::kComplaining, std::vector<std::string>(hosts.begin(), hosts.end())}});
    for (const Event* event : others) {
        const bool named = hosts.contains(event->peer);
        consequence(
            verdict,
            fmt::format(
                "{}: status 12 towards {}: {}", at_host(event->host), event->peer.empty() ? "its peer" : event->peer,
                named ? "a consequence, its peer is a host whose port failed" : "it may follow from the same ports"),
            {event->place});
        if (verdict.consequences.size() > 8) break;
    }
    undecided(verdict,
              "undecided: why the port failed (cable, transceiver, switch port or NIC) is not in the material");
    next_step(verdict,
              "mlxlink -d DEVICE -m -c (or ethtool -m IF), dmesg, and the switch log of that port at this time",
              list_text(hosts),
              {{"signal errors or a bad transceiver", "replace cable or transceiver, then watch link_down"},
               {"the switch took the port down", "its log says why"},
               {"several ports of one switch",
                "look at that switch, its power, the subnet manager; ibqueryerrors over the fabric"}});
}

void judge_host_events(const Facts& facts, Verdict& verdict) {
    for (const HostRow& row : kHostRows) {
        std::map<std::string, Group> groups;
        for (const Event& event : facts.read.events)
            if (event.kind == row.kind &&
                !(row.kind == EventKind::device_fatal && event.text == "fatal error occurred"))
                groups[event.host].push_back(&event);
        for (const auto& [host, group] : groups) {
            const Event& first = *group.front();
            std::string what = first.device.empty() ? first.text : fmt::format("{} {}", first.device, first.text);
            if (row.kind == EventKind::gpu_memory)
                what = fmt::format("GPU: {}{}{}", first.text, first.process.starts_with("rank") ? ", " : "",
                                   first.process.starts_with("rank") ? first.process : "");
            if (row.kind == EventKind::gpu_error && first.number != 0)
                what = fmt::format("Xid {} of GPU {}", first.number, first.device);
            if (row.kind == EventKind::queue_pair_error && first.qpn)
                what = fmt::format("{}, {}{}", queue_pair_text(*first.qpn), first.device,
                                   first.code.empty() ? " " + first.text : ", " + first.code);
            if (row.kind == EventKind::kernel_bug) {
                what = first.text;
                for (const Event* event : group)
                    if (!event->operation.empty() && !what.contains(event->operation) && what.size() < 160)
                        what += fmt::format(", at {}", event->operation);
            }
            if (row.kind == EventKind::queue_overrun && !first.operation.empty())
                what = fmt::format("{}, CQ {}{}", first.device, first.operation,
                                   first.vendor == 1U ? ", syndrome 1: overrun" : "");
            if (row.kind == EventKind::pause_storm) what = fmt::format("port {}, queue {}", first.device, first.number);
            if (row.kind == EventKind::lossy_pause)
                what = fmt::format("port {}, queue {}, {}", first.device, first.operation,
                                   transport::counted(first.number, "frame"));
            std::string text = fmt::format("{}: {} ({})", at_host(host), row.words, what);
            if (!row.excludes.empty()) text += fmt::format("; {}", row.excludes);
            if (row.kind == EventKind::iommu_fault && !has_status(facts.read, 4) && !has_status(facts.read, 8) &&
                !has_status(facts.read, 11))
                text += ". No completion here names a local error beside it";
            // A kernel log holds weeks: an event that nothing ties to the complaints may be an old one.
            const Tie tie = tie_of(facts.read, first);
            const bool tied = !tie.complaints || ((tie.near || tie.named) && !tie.late);
            Weight weight = row.weight;
            Party party = row.party == Party::local_host && tie.named && !tie.own ? Party::remote_host : row.party;
            // A miss of the health counter may be the bus as well; corrected errors of PCIe are common.
            const bool named_firmware =
                first.text.contains("irmware") || first.text.contains("assert") || first.text.contains("Health issue");
            if (row.kind == EventKind::device_fatal && !named_firmware) party = Party::undecided;
            // What a program does wrong with a GPU shows as an error of it.
            const bool misused = row.kind == EventKind::gpu_error &&
                                 (first.text.contains("illegal memory access") ||
                                  first.text.contains("device-side assert") || first.text.contains("misaligned"));
            if (misused) party = Party::application;
            const bool corrected = row.kind == EventKind::pcie_error && !first.text.contains("Uncorrected");
            if (corrected) weight = Weight::hint;
            // A stuck queue or CPU makes the kernel print a trace of its own.
            const bool trace_of_other = row.kind == EventKind::kernel_bug &&
                                        !events_of(facts.read, {EventKind::transmit_stuck, EventKind::cpu_stuck,
                                                                EventKind::device_fatal, EventKind::pcie_error})
                                             .empty();
            if (trace_of_other) {
                weight = Weight::hint;
                party = Party::undecided;
            }
            if (!tied) {
                weight = tie.own ? Weight::shown : Weight::hint;
                party = Party::undecided;
                text +=
                    ". Whether it was at the time of the failure, and on the peer that others name, the material does not show";
            } else if (!tie.complaints && weight == Weight::decisive) weight = Weight::shown;
            claim(verdict, row.id, weight, party, host, std::move(text), places_of(group));
            if (!tied)
                undecided(
                    verdict,
                    fmt::format(
                        "undecided: whether the event of {} belongs to this failure: compare the times (date; uptime there)",
                        at_host(host)));
            next_step(verdict, std::string(row.command), at_host(host),
                      {{"it happened before the failure", "it explains what peers report afterwards"},
                       {"otherwise", std::string(row.other)}});
        }
    }
}

void judge_device(const Facts& facts, Verdict& verdict) {
    const Group refused = events_of(facts.read, {EventKind::command_refused});
    const Group failed = events_of(facts.read, {EventKind::resource_failed});
    if (refused.empty() && failed.empty()) return;
    const Event& first = refused.empty() ? *failed.front() : *refused.front();
    std::set<std::string> devices, lacks, codes;
    const bool silent = std::ranges::all_of(refused, [](const Event* event) { return event->text.contains("time"); });
    for (const Event* event : refused) {
        codes.insert(event->operation.empty() ? event->text : fmt::format("{}: {}", event->operation, event->text));
        if (!event->device.empty()) devices.insert(event->device);
    }
    for (const Event* event : failed) {
        devices.insert(event->device);
        lacks.insert(event->text);
    }
    if (devices.empty()) devices.insert(first.device);
    std::string text = fmt::format("{}: ", at_host(first.host));
    if (!refused.empty())
        text += fmt::format("the firmware of {} {} {} of the driver ({})", list_text(devices, 3),
                            silent ? "did not answer" : "refused", transport::counted(refused.size(), "command"),
                            list_text(codes, 3));
    else text += fmt::format("the driver of {} could not set itself up", list_text(devices, 3));
    if (!lacks.empty()) text += fmt::format("; so it lacks: {}", list_text(lacks, 5));
    const bool management = std::ranges::any_of(
        lacks, [](const std::string& each) { return each.contains("mad") || each.contains("port"); });
    if (management)
        text +=
            ". Without its MAD queue the port takes no part in connection management (rdma_cm, CM), although its link is up";
    claim(verdict, "case-command-refused", Weight::shown, Party::undecided, first.host, std::move(text),
          places_of(refused.empty() ? failed : refused));
    undecided(
        verdict,
        "undecided: whether the driver asks for what it may not, or the firmware is wrong; the versions are not in the material");
    next_step(
        verdict,
        "ethtool -i IF (driver and firmware version), devlink dev info; then the vendor's newest firmware, or an older kernel",
        at_host(first.host),
        {{"another firmware or kernel loads without refusals", "that version is the cause"},
         {"all refuse", "give dmesg and versions to the vendor"}});
}

void judge_storage(const Facts& facts, Verdict& verdict) {
    const Group expired = events_of(facts.read, {EventKind::keep_alive_expired});
    const Group timeouts = events_of(facts.read, {EventKind::storage_timeout});
    const Group created = events_of(facts.read, {EventKind::controller_created});
    const Group queues = events_of(facts.read, {EventKind::queues_created});
    if (!expired.empty()) {
        const Event& event = *expired.front();
        std::string text = fmt::format(
            "{}: the keep-alive timer{} of controller {} expired first, and the target gave the controller up",
            at_host(event.host), event.number != 0 ? fmt::format(" of {0} seconds ({0} s)", event.number) : "",
            event.operation);
        const Event* made = last_before(created, event);
        if (const auto after = seconds_between(made, &event))
            text += fmt::format(", {:.1f} s after it was created", *after);
        Weight weight = Weight::hint;
        Party party = Party::undecided;
        std::vector<Place> evidence = places_of(expired, 2);
        if (!queues.empty() && made != nullptr) {
            const Event* most = *std::ranges::max_element(queues, {}, &Event::number);
            text +=
                fmt::format(". Meanwhile {} was creating {} I/O queues, which took longer than the keep-alive allows",
                            at_host(most->host), most->number);
            weight = Weight::shown;
            party = Party::remote_host;
            evidence.push_back(most->place);
        }
        text += "; no link event and no completion error stands beside it";
        if (!events_of(facts.read, {EventKind::port_down, EventKind::completion_error}).empty())
            text.erase(text.rfind(';'));
        claim(verdict, "case-keep-alive-expired", weight, party, event.host, std::move(text), std::move(evidence));
        if (weight == Weight::hint)
            undecided(
                verdict,
                "undecided: the target heard nothing from its host; whether the host, the path or a slow set-up was the reason is not in the material");
        for (const Event* each : timeouts) {
            const Event* before = last_before(queues, *each);
            const auto waited = seconds_between(before, each);
            consequence(
                verdict,
                fmt::format(
                    "{}: {} {}{}: a consequence, the controller at the target no longer existed", at_host(each->host),
                    each->device, each->text,
                    waited ? fmt::format(", {:.1f} s after its queues were set up (the admin timeout, 60 s)", *waited)
                           : ""),
                {each->place});
            if (verdict.consequences.size() > 4) break;
        }
        next_step(
            verdict,
            "connect again with a longer keep-alive (nvme connect -k 30) or with fewer queues (--nr-io-queues / -i)",
            "the initiator",
            {{"it no longer happens", "setting up takes longer than the keep-alive"},
             {"it happens still", "capture at the target: does a keep-alive arrive in time?"}});
        return;
    }
    if (timeouts.empty()) return;
    const Event& event = *timeouts.front();
    claim(verdict, "case-storage-timeout", Weight::hint, Party::undecided, event.host,
          fmt::format("{}: {} {}: a request was not answered in time", at_host(event.host), event.device, event.text),
          places_of(timeouts));
    undecided(verdict, "undecided: whether the target was slow, gone or out of reach; its log is needed");
    next_step(verdict, "dmesg of the target from before this time (keep-alive, fatal error, link down)",
              event.peer.empty() ? "the target" : event.peer,
              {{"it gave the controller up first", "the host only waited for it"},
               {"nothing", "capture at the target: do commands arrive, are they answered?"}});
}

void judge_blocked(const Facts& facts, Verdict& verdict) {
    const auto& tasks = facts.read.blocked;
    if (tasks.empty()) return;
    std::set<std::string> modules, names;
    const BlockedTask* flusher = nullptr;
    const BlockedTask* worker = nullptr;
    std::set<std::string> wanted;
    std::vector<Place> evidence;
    const auto has = [](const BlockedTask& task, std::string_view part) {
        return std::ranges::any_of(task.functions, [&](const std::string& each) { return each.contains(part); });
    };
    for (const BlockedTask& task : tasks) {
        modules.insert(task.modules.begin(), task.modules.end());
        names.insert(task.name);
        if (evidence.size() < 4) evidence.push_back(task.place);
        const bool waits = has(task, "flush_work") || has(task, "cancel_work") || has(task, "wait_for_completion") ||
                           has(task, "drain_workqueue");
        if (waits && flusher == nullptr) flusher = &task;
        if (has(task, "mutex_lock") || has(task, "rwsem_down") || has(task, "down_write") || has(task, "down_read")) {
            if (!task.work_queue.empty()) worker = &task;
            for (const std::string& each : task.functions)
                if (!each.contains("mutex") && !each.contains("schedule") && !each.contains("rwsem")) {
                    wanted.insert(each);
                    break;
                }
        }
    }
    const bool rtnl = std::ranges::any_of(tasks, [&](const BlockedTask& task) {
        return has(task, "rtnl") || has(task, "rtnetlink") || has(task, "linkwatch");
    });
    std::set<std::string> rdma;
    for (const std::string& module : modules)
        if (module.starts_with("ib_") || module.starts_with("rdma") || module.starts_with("mlx") ||
            module.contains("irdma") || module == "ice" || module.starts_with("bnxt") || module.starts_with("bond"))
            rdma.insert(module);
    std::string text = fmt::format("{}: {} blocked for minutes, in {}", at_host(tasks.front().host),
                                   transport::counted(tasks.size(), "kernel task"),
                                   modules.empty() ? "the kernel" : list_text(modules, 8));
    if (flusher != nullptr && worker != nullptr && flusher != worker)
        text += fmt::format(
            ". They wait for each other, a deadlock: {} waits for work to be flushed ({}) while it holds {}, and the worker of \"{}\" waits for that mutex ({})",
            flusher->name,
            flusher->functions.empty()      ? ""
            : flusher->functions.size() > 1 ? flusher->functions[1]
                                            : flusher->functions[0],
            rtnl ? "the RTNL lock (rtnetlink)" : "a lock", worker->work_queue, list_text(wanted, 4));
    else
        text += fmt::format(": {} wait for a lock or for work that does not end ({})", list_text(names, 4),
                            list_text(wanted, 4));
    if (modules.contains("bonding")) text += "; a port was being enslaved to a bond";
    // Tasks also wait for answers of a target that is gone: only a cycle of locks excludes that.
    const bool cycle = flusher != nullptr && worker != nullptr && flusher != worker;
    if (cycle) text += ". Not the network: nothing of this is on a wire";
    else text += ". Whether they wait for each other, or for an answer that never comes, these stacks do not show";
    verdict.not_network |= cycle;
    const Party party = !cycle ? Party::undecided : rdma.empty() ? Party::local_host : Party::library;
    claim(verdict, "case-tasks-blocked", cycle ? Weight::decisive : Weight::hint, party, tasks.front().host,
          std::move(text), std::move(evidence));
    if (!cycle) undecided(verdict, "undecided: what the blocked tasks wait for");
    next_step(
        verdict,
        "echo w > /proc/sysrq-trigger, then dmesg: the stacks of all blocked tasks; boot the previous kernel, or without the bond or without the RDMA driver (modprobe blacklist)",
        at_host(tasks.front().host),
        {{"it does not happen there", "report the stacks to linux-rdma: the change between the kernels is the cause"},
         {"it happens as well", "an older driver, or another order of set-up"}});
}

}  // namespace qps::casework
