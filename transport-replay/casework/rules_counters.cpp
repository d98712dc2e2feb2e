// Rules about counters: differences decide, totals do not; loss has a direction, a pause has one, RNR has none on the
// wire.
#include <transport-replay/casework/counter_words.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace qps::casework {

using transport::grouped;

namespace {

// Requests that came twice at another host, where only one has any.
Changes duplicates_of_others(const Facts& facts, const std::string& host) {
    Changes others = of(facts, {Counter::duplicate});
    std::erase_if(others, [&](const CounterChange* change) { return change->host == host || change->grown == 0; });
    const bool one =
        std::ranges::all_of(others, [&](const CounterChange* each) { return each->host == others.front()->host; });
    return one ? others : Changes{};
}

}  // namespace

void judge_loss(const Facts& facts, Verdict& verdict) {
    for (const std::string& host : hosts_of(facts)) {
        const Changes timeouts = of(facts, {Counter::ack_timeout, Counter::retry_exceeded}, &host);
        const Changes order =
            of(facts, {Counter::out_of_sequence, Counter::sequence_nak_received, Counter::implied_nak}, &host);
        const Changes duplicates = of(facts, {Counter::duplicate}, &host);
        Changes all = timeouts;
        all.insert(all.end(), order.begin(), order.end());
        if (!paired(all) || growth(all) == 0) continue;
        std::string text = fmt::format("{}: {}", at_host(host), grown_text(all));
        const Changes brakes =
            of(facts,
               {Counter::pause_in, Counter::pause_out, Counter::cnp_sent, Counter::cnp_handled, Counter::ce_received},
               &host);
        const Changes discards = of(facts, {Counter::receive_discard, Counter::transmit_discard}, &host);
        const Priorities priorities = priorities_of(facts, host);
        std::vector<Place> evidence = evidence_of(all);
        const bool lost = growth(order) > 0;
        if (growth(discards) > 0)
            text += fmt::format("; {}: packets were dropped in this NIC", grown_text(discards, 2));
        if (lost)
            text += growth(timeouts) > 0 ? ": packets were lost on the way (or reordered), some until a timeout"
                                         : ": packets were lost or reordered on the way";
        else if (growth(duplicates) > 0)
            text += fmt::format(", and {}: responses or ACKs got lost, or the peer answers later than the timer",
                                grown_text(duplicates, 1));
        else if (const Changes others = duplicates_of_others(facts, host); growth(others) > 0) {
            text += fmt::format(": no answer in time; {}, {}, so requests came twice there: if it is the peer, its "
                                "responses or ACKs got lost on the way back, or came later than the timer",
                                at_host(others.front()->host), grown_text(others, 1));
            const auto more = evidence_of(others, 2);
            evidence.insert(evidence.end(), more.begin(), more.end());
        } else text += ": the peer did not answer in time, or the last packets of messages were lost";
        if (priorities.used.size() == 1 && priorities.counted.size() > 1)
            text += fmt::format("; all traffic is in priority {} (one class)", *priorities.used.begin());
        const bool braked = growth(brakes) > 0;
        if (!braked && paired(brakes)) {
            const auto counted = [&](std::initializer_list<Counter> counters) {
                return paired(of(facts, counters, &host));
            };
            std::vector<std::string> none;
            if (counted({Counter::pause_in, Counter::pause_out})) none.emplace_back("pause frame");
            if (counted({Counter::cnp_sent, Counter::cnp_handled})) none.emplace_back("CNP");
            if (counted({Counter::ce_received})) none.emplace_back("ECN mark");
            text += fmt::format("; no {} was counted in the same time, so nothing slowed the senders down",
                                fmt::join(none, ", no "));
        } else if (braked) text += fmt::format("; meanwhile {}", grown_text(brakes, 2));
        claim(verdict, "case-packets-lost", Weight::shown, Party::undecided, host, std::move(text), std::move(evidence),
              grown_facts(all));
        undecided(
            verdict,
            "undecided: where that is (a loss or a reordering), and whether the switch or the NICs lack the setting; counters of the switch are needed");
        next_step(
            verdict,
            "mlnx_qos -i IF (trust, PFC, dscp2prio) and cma_roce_tos on each host; PFC, ECN and queue drops of the switch ports (show queue counters, show pfc counters) before and after",
            "hosts and switch",
            {{"a queue drops in the same time", "that port is the place: enable PFC or ECN for the class in use"},
             {"no drops anywhere",
              "reordering (adaptive routing, LAG), or a device without counters: capture at both ends"}});
    }
    // A single dump says that it happened once.
    for (const std::string& host : hosts_of(facts)) {
        Changes alone =
            of(facts,
               {Counter::ack_timeout, Counter::retry_exceeded, Counter::out_of_sequence, Counter::sequence_nak_received,
                Counter::rnr_received, Counter::no_receive, Counter::link_down, Counter::signal_error,
                Counter::receive_error, Counter::transmit_discard, Counter::receive_discard, Counter::pause_storms,
                Counter::pause_in, Counter::pause_out},
               &host);
        if (paired(alone)) continue;
        std::erase_if(alone, [](const CounterChange* change) { return change->after == 0; });
        if (alone.empty()) continue;
        std::ranges::stable_sort(alone, std::ranges::greater{}, &CounterChange::after);
        std::vector<std::string> parts;
        std::vector<Place> evidence;
        for (const CounterChange* change : alone) {
            if (parts.size() == 5) break;
            const bool full = change->source == "perfquery" && (change->after == 0xffff || change->after == 0xff);
            parts.push_back(fmt::format("{}{}{} is {}{}", change->vendor_name,
                                        change->device.empty() ? "" : " of " + change->device,
                                        change->port != 0 ? fmt::format(" port {}", change->port) : "",
                                        grouped(change->after), full ? " (its maximum: at least so many)" : ""));
            evidence.push_back(change->place);
        }
        claim(verdict, "case-counters-once", Weight::hint, Party::undecided, host,
              fmt::format(
                  "{}: {}: one reading, so this happened at some time since the counters began, not necessarily now",
                  at_host(host), fmt::join(parts, ", ")),
              std::move(evidence));
        undecided(verdict, "undecided: a single dump of counters does not show what grew during the failure");
        next_step(
            verdict,
            "the same counters before and after the failure (or 10 s apart under load): grep . /sys/class/infiniband/*/ports/*/hw_counters/*, ethtool -S, ibqueryerrors, the tables of the switch",
            at_host(host),
            {{"a counter grows", "what it counts happens now, there"},
             {"none grows", "it is old, and not the reason"}});
        const bool link = std::ranges::any_of(alone, [](const CounterChange* change) {
            return change->what.counter == Counter::signal_error || change->what.counter == Counter::receive_error;
        });
        if (link)
            next_step(verdict, "mlxlink -d DEVICE -m -c (BER, FEC), ethtool -m IF: cable and transceiver of that port",
                      at_host(host),
                      {{"they are bad, or errors grow", "clean or replace cable or transceiver of this link"},
                       {"they are good, and errors stand still", "it is over"}});
    }
}

void judge_receivers(const Facts& facts, Verdict& verdict) {
    const Changes sent = of(facts, {Counter::no_receive});
    const Changes received = of(facts, {Counter::rnr_received, Counter::rnr_exceeded});
    const std::uint64_t missing = growth(sent);
    const std::uint64_t naks = growth(received);
    if (missing == 0 && naks == 0) {
        // One reading: equal numbers on both sides still say what they are.
        for (const CounterChange* there : sent)
            for (const CounterChange* here : received)
                if (!there->paired && !here->paired && there->after == here->after && there->after > 10) {
                    claim(
                        verdict, "case-receiver-not-ready", Weight::hint, Party::undecided, there->host,
                        fmt::format(
                            "{} and {} are equal ({}): every request without a posted receive was answered by RNR NAK, so the network carried both; the application did not keep up with posting receives, at some time since the counters began",
                            there->vendor_name, here->vendor_name, grouped(there->after)),
                        {there->place, here->place});
                    next_step(
                        verdict,
                        "the same counters 10 s apart under load, and the depth of the receive queue of the application",
                        at_host(there->host),
                        {{"both grow alike", "the receiver is too slow: post more receives"},
                         {"none grows", "it is over"}});
                    return;
                }
        return;
    }
    Changes all = sent;
    all.insert(all.end(), received.begin(), received.end());
    std::string where;
    for (const CounterChange* change : sent)
        if (change->grown > 0) where = change->host;
    std::string text = grown_text(all);
    if (missing > 0) text = fmt::format("{}: {}: requests came while no receive was posted", at_host(where), text);
    else
        text =
            fmt::format("{}: {}: the peer answered that no receive was posted", at_host(received.front()->host), text);
    if (missing > 0 && naks > 0) text += "; both ends count it, so the network carried request and RNR NAK";
    text += "; the application does not keep up with posting receives; not the network";
    if (growth(of(facts, {Counter::rnr_exceeded})) == 0 && !has_status(facts.read, 13))
        text += ". No retry limit was reached: it costs time only";
    const bool loss =
        growth(of(facts, {Counter::out_of_sequence, Counter::sequence_nak_received, Counter::ack_timeout})) > 0;
    claim(verdict, "case-receiver-not-ready", loss ? Weight::hint : Weight::shown,
          loss ? Party::undecided : Party::application, where, std::move(text), evidence_of(all), grown_facts(all));
    next_step(
        verdict,
        "the stack of the receiving process (py-spy, gdb) while it grows; its receive queue depth; compare with peers of the same job",
        at_host(where),
        {{"it is busy or stopped", "look at what holds it"}, {"it runs", "post more receives (deeper queue, SRQ)"}});
}

namespace {

// Frames that a switch dropped at a port, where its tables count them by port alone.
void judge_port_drops(const Facts& facts, const std::string& host, Verdict& verdict) {
    Changes drops = of(facts, {Counter::receive_discard, Counter::transmit_discard}, &host);
    std::erase_if(drops, [](const CounterChange* change) { return change->source != "switch port errors"; });
    if (growth(drops) == 0) return;
    const CounterChange& most = **std::ranges::max_element(drops, {}, &CounterChange::grown);
    const bool in = most.what.counter == Counter::receive_discard;
    claim(verdict, "case-port-drops", Weight::shown, Party::undecided, host,
          fmt::format("{}: the switch drops packets that {} {}: {}: {}", at_host(host), in ? "come in by" : "go out by",
                      most.device, grown_text(drops, 3),
                      in ? "their buffer or its headroom was full, or a rule (VLAN, MTU, ACL) refused them"
                         : "its queue was full"),
          evidence_of(drops), grown_facts(drops));
    undecided(verdict,
              "undecided: whether RDMA is among what is dropped: the queue or priority is not in the material");
    next_step(
        verdict,
        "show priority-group drop counters and show queue counters twice; buffer profile and headroom of that "
        "port (show buffer, pg_lossless), show pfc counters; VLAN and MTU of what comes in",
        at_host(host),
        {{"a lossless group drops", "its headroom is too small for cable and speed, or PFC does not reach the sender"},
         {"a lossy one", "traffic of another class, or RDMA in the wrong class"}});
}

}  // namespace

void judge_pauses(const Facts& facts, Verdict& verdict) {
    for (const std::string& host : hosts_of(facts)) {
        const Changes in = of(facts, {Counter::pause_in}, &host);
        const Changes out = of(facts, {Counter::pause_out}, &host);
        const Changes stalls = of(facts, {Counter::pcie_stall}, &host);
        const Changes discards = of(facts, {Counter::receive_discard}, &host);
        // Of a switch each port has a device behind it, and the directions are the other way round.
        const auto of_switch = [](const CounterChange* change) {
            return change->source.starts_with("switch") || change->source == "SAI";
        };
        const bool is_switch = std::ranges::any_of(in, of_switch) || std::ranges::any_of(out, of_switch);
        if (is_switch) {
            for (
                const auto& [changes, means] :
                {std::pair{
                     &in,
                     "the device behind that port paused the switch: it does not take what it is sent, and the congestion spreads from it"},
                 std::pair{
                     &out,
                     "the switch paused the device behind that port: the congestion is on another port, to which that device sends"}}) {
                const CounterChange* most = nullptr;
                for (const CounterChange* change : *changes)
                    if (change->grown > 0 && (most == nullptr || change->grown > most->grown)) most = change;
                if (most == nullptr) continue;
                claim(verdict, "case-pause-at-switch", Weight::hint, Party::undecided, host,
                      fmt::format("{}: port {}, {} grew by {} ({} to {}): {}", at_host(host), most->device,
                                  most->vendor_name, grouped(most->grown), grouped(most->before), grouped(most->after),
                                  means),
                      {most->place_before, most->place});
                undecided(
                    verdict,
                    "undecided: whether the device behind a port or the load on another one is the root of the pause");
                next_step(
                    verdict,
                    "PFC counters of all ports for that priority, twice, 10 s apart; ethtool -S IF | grep -E 'pause|discard|pci' on the host behind the port",
                    "switch and host",
                    {{"one port alone receives pause", "the host behind it is the root: its bus, memory or receiver"},
                     {"several do", "the port whose queue fills, downstream"}});
            }
            continue;
        }
        if (growth(out) > 0) {
            const bool pcie = growth(stalls) > 0;
            claim(verdict, "case-pause-sent", pcie ? Weight::shown : Weight::hint,
                  pcie ? Party::local_host : Party::undecided, host,
                  fmt::format("{}: {}: this host cannot take what it is sent{}", at_host(host), grown_text(out, 2),
                              pcie ? fmt::format(", and {}: its bus or memory is the bottleneck, the root of the pause",
                                                 grown_text(stalls, 1))
                                   : "; its bus, memory or receiver is slow"),
                  evidence_of(out));
            next_step(verdict,
                      "ethtool -S IF | grep -E 'pci|discard|pause' twice, 10 s apart; lspci -vvv (LnkSta) of the NIC",
                      at_host(host),
                      {{"outbound_pci_stalled grows", "the host's bus or memory"},
                       {"it does not", "the receiving application or the buffers of the NIC"}});
        }
        if (growth(in) > 0) {
            claim(verdict, "case-pause-received", Weight::hint, Party::undecided, host,
                  fmt::format("{}: {}: the switch paused this NIC, so the congestion is behind the switch",
                              at_host(host), grown_text(in, 2)),
                  evidence_of(in));
            undecided(verdict, "undecided: which port behind the switch is congested");
            next_step(verdict, "PFC counters of every port of the switch for that priority, twice, 10 s apart",
                      "the switch",
                      {{"a port receives pause from its host", "that host is the root"},
                       {"none", "the port whose queue fills"}});
        }
        if (growth(discards) > 0 && growth(of(facts, {Counter::out_of_sequence, Counter::ack_timeout}, &host)) == 0) {
            claim(verdict, "case-dropped-in-nic", Weight::shown, Party::undecided, host,
                  fmt::format("{}: {}: packets were dropped in this NIC, on receive; the loss point is found",
                              at_host(host), grown_text(discards, 3)),
                  evidence_of(discards));
            next_step(
                verdict,
                "PFC or the receive buffers of that priority (mlnx_qos, dcb buffer); the rate of the receiving process",
                at_host(host));
        }
        // PFC on one priority, traffic on another.
        for (const Setting& setting : facts.read.settings) {
            const std::set<int> used = priorities_of(facts, host).used;
            if (setting.name != "PFC enabled" || setting.host != host || used.empty()) continue;
            std::string bits;
            for (const char c : setting.value)
                if (c == '0' || c == '1') bits += c;
            if (bits.size() != 8 || !bits.contains('1')) continue;
            if (std::ranges::any_of(used,
                                    [&](int priority) { return bits[static_cast<std::size_t>(priority)] == '1'; }))
                continue;
            const bool rdma =
                growth(of(facts,
                          {Counter::requests_in, Counter::rdma_bytes, Counter::out_of_sequence, Counter::ack_timeout},
                          &host)) > 0;
            claim(
                verdict, "case-class-without-pfc", rdma ? Weight::shown : Weight::hint,
                rdma ? Party::host_setting : Party::undecided, host,
                fmt::format(
                    "{}: all traffic is in priority {}, but PFC is enabled for priority {} only: no pause protects it",
                    at_host(host), *used.begin(), bits.find('1')),
                {setting.place});
            next_step(
                verdict,
                "trust (mlnx_qos -i IF --trust=dscp), dscp2prio, and the traffic class of the job (NCCL_IB_TC, cma_roce_tos)",
                at_host(host),
                {{"traffic moves to the priority with PFC", "the class was set wrongly"},
                 {"it does not", "the switch or the sender marks it anew"}});
            break;
        }
        // Pause on one priority, traffic on another.
        const Priorities priorities = priorities_of(facts, host);
        for (const CounterChange* change : in)
            if (change->grown > 0 && change->what.priority >= 0 && !priorities.used.empty() &&
                !priorities.used.contains(change->what.priority)) {
                claim(
                    verdict, "case-pause-of-other-class", Weight::hint, Party::undecided, host,
                    fmt::format(
                        "{}: pause frames move on priority {}, traffic on priority {}: the map of DSCP to priority of NIC and switch differ",
                        at_host(host), change->what.priority, *priorities.used.begin()),
                    {change->place});
                next_step(verdict, "dscp2prio (mlnx_qos -i IF) against the map of the switch port", "host and switch");
                break;
            }
        judge_port_drops(facts, host, verdict);
        Changes queues = of(facts, {Counter::transmit_discard}, &host);
        std::erase_if(queues, [](const CounterChange* change) { return change->source != "switch queues"; });
        if (growth(queues) > 0) {
            const CounterChange& most = **std::ranges::max_element(queues, {}, &CounterChange::grown);
            claim(verdict, "case-queue-drops", Weight::shown, Party::undecided, host,
                  fmt::format("{}: the switch drops packets on the way out of {}: {}: the queue was full, and neither "
                              "PFC nor ECN kept senders from filling it",
                              at_host(host), most.device, grown_text(queues, 3)),
                  evidence_of(queues));
            undecided(
                verdict,
                "undecided: whether that queue should be lossless: the class of RDMA there is not in the material");
            next_step(
                verdict,
                "which DSCP goes to that queue (show qos map, dscp_to_tc), whether PFC and ECN are set for it (show "
                "pfc, show ecn), its buffer; traffic class of the hosts (mlnx_qos, cma_roce_tos)",
                at_host(host),
                {{"RDMA is in that queue, without PFC or ECN", "set them, on switch and hosts alike"},
                 {"RDMA is in another queue", "these drops are of other traffic"}});
        }
        const Changes storms = of(facts, {Counter::pause_storms}, &host);
        if (growth(storms) > 0) {
            std::set<std::string> ports;
            for (const CounterChange* change : storms)
                if (change->grown > 0 && !change->device.empty()) ports.insert(change->device);
            const Changes dropped = of(facts, {Counter::transmit_discard, Counter::receive_discard}, &host);
            claim(verdict, "case-pause-storm-counted", Weight::shown, Party::undecided, host,
                  fmt::format("{}: {}{}: a pause lasted so long that the watchdog took it for a storm{}", at_host(host),
                              ports.empty() ? "" : fmt::format("{}: ", list_text(ports, 4)), grown_text(storms, 2),
                              growth(dropped) > 0 ? fmt::format("; meanwhile {}: the watchdog drops what it stops",
                                                                grown_text(dropped, 2))
                                                  : ""),
                  evidence_of(storms));
            next_step(verdict, "the device behind that port: pause counters twice, PCIe, stopped processes",
                      at_host(host));
        }
    }
}

namespace {

// An ICRC is checked at the end, an FCS at each link: what is wrong in the one alone was changed within a device, or
// sent so.
void judge_icrcs(const Facts& facts, const std::string& host, Verdict& verdict) {
    const Changes bad = of(facts, {Counter::bad_icrc}, &host);
    if (growth(bad) == 0) return;
    Changes frames = of(facts, {Counter::signal_error}, &host);
    std::erase_if(frames, [](const CounterChange* change) { return !change->paired || change->reset; });
    std::string text = fmt::format("{}: {}: packets came with a wrong ICRC, and this NIC dropped them", at_host(host),
                                   grown_text(bad, 1));
    std::vector<Place> evidence = evidence_of(bad, 2);
    if (!frames.empty() && growth(frames) == 0) {
        text += fmt::format("; {} did not grow, so the FCS of their last link was right: they were changed within a "
                            "device on the way, or sent so",
                            frames.front()->vendor_name);
        evidence.push_back(frames.front()->place);
    }
    claim(verdict, "case-bad-icrc", Weight::hint, Party::undecided, host, std::move(text), std::move(evidence));
    undecided(verdict, "undecided: whether the sender or a device on the way made the ICRC wrong");
    next_step(verdict,
              "capture udp port 4791 at the sender and at this host, and compare one packet in both: qpscope packets "
              "-f 'infiniband.invariant.crc' shows the ICRC; what on the path rewrites headers (router, NAT, tunnel)?",
              "sender and receiver",
              {{"it is right where it was sent", "a device on the path changes packets: its firmware, or go around it"},
               {"it is wrong there", "the sender: its firmware and driver"}});
}

}  // namespace

void judge_signals(const Facts& facts, Verdict& verdict) {
    for (const std::string& host : hosts_of(facts)) {
        judge_icrcs(facts, host, verdict);
        const Changes down = of(facts, {Counter::link_down}, &host);
        const Changes signal = of(facts, {Counter::signal_error}, &host);
        const Changes upstream = of(facts, {Counter::upstream_signal_error}, &host);
        Changes relayed = of(facts, {Counter::relay_discard}, &host);
        std::erase_if(relayed, [](const CounterChange* change) { return change->after == 0; });
        if (!relayed.empty())
            claim(verdict, "case-relay-discards", Weight::remark, Party::undecided, host,
                  fmt::format("{}: {} is {}: packets that would leave by the port they came in, such as multicast and "
                              "what goes to ports that are away: normal, no fault of a link",
                              at_host(host), relayed.front()->vendor_name, grouped(relayed.front()->after)),
                  {relayed.front()->place});
        if (!relayed.empty())
            next_step(verdict, "ibqueryerrors --suppress PortRcvSwitchRelayErrors, twice: what else grows",
                      at_host(host));
        const Changes wait = of(facts, {Counter::transmit_wait}, &host);
        const auto say = [&](std::string_view id, const Changes& changes, Weight weight, Party party,
                             std::string_view means, std::string command) {
            if (growth(changes) == 0) return;
            claim(verdict, id, weight, party, host,
                  fmt::format("{}: {}: {}", at_host(host), grown_text(changes, 3), means), evidence_of(changes),
                  grown_facts(changes));
            next_step(verdict, std::move(command), at_host(host),
                      {{"errors go on growing", "replace cable or transceiver of this link, then read again"},
                       {"they stand still", "it is over: compare their time with the failure"}});
        };
        say("case-signal-errors", signal, Weight::shown, Party::network,
            "signal errors on the receive side of this very link (cable, transceiver, port)",
            "mlxlink -d DEVICE -m -c (BER, FEC), ethtool -m IF");
        const bool only_recovered = std::ranges::none_of(down, [](const CounterChange* change) {
            return change->grown > 0 && !change->vendor_name.contains("ecover");
        });
        say("case-link-went-down", down, Weight::shown, Party::undecided,
            only_recovered
                ? "the link of this port had errors and recovered by itself (it was trained anew) in the time between; what was on its way then was lost; why cannot be told from here"
                : "the link of this port went down in the time between; every status 12 of that port can follow from it; why it went down cannot be told from here",
            "mlxlink -d DEVICE -m -c; dmesg; the log of the switch port");
        say("case-receive-errors", of(facts, {Counter::receive_error}, &host), Weight::hint, Party::undecided,
            "frames came that this port counts as wrong: a bad signal (cable, transceiver), or frames longer than its MTU",
            "the counters of that port by kind (FCS, symbol, oversize), its MTU and that of its neighbour; cable and transceiver");
        say("case-upstream-errors", upstream, Weight::hint, Party::undecided,
            "a switch passed on packets that were broken before: the bad link is further up",
            "ibqueryerrors over the fabric");
        if (growth(down) + growth(signal) == 0)
            say("case-waits-for-credits", wait, Weight::hint, Party::undecided,
                "data waited for credits: the next hop is slow or congested",
                "perfquery of the switch ports on the path, twice");
    }
}

}  // namespace qps::casework
