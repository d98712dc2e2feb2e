// Rules about counters: differences decide, totals do not; loss has a direction, a pause has one, RNR has none on the
// wire.
#include <transport-replay/casework/claims.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace qps::casework {

namespace {

using transport::grouped;
using Changes = std::vector<const CounterChange*>;

Changes of(const Facts& facts, std::initializer_list<Counter> counters, const std::string* host = nullptr) {
    Changes found;
    for (const CounterChange& change : facts.changes)
        if (std::ranges::find(counters, change.what.counter) != counters.end() &&
            (host == nullptr || change.host == *host))
            found.push_back(&change);
    return found;
}

std::uint64_t growth(const Changes& changes) {
    std::uint64_t sum = 0;
    for (const CounterChange* change : changes) sum += change->grown;
    return sum;
}

bool paired(const Changes& changes) {
    return std::ranges::any_of(changes, [](const CounterChange* change) { return change->paired && !change->reset; });
}

// "out_of_sequence grew by 59,729 (181,204 to 240,933)", of those that grew, the largest first.
std::string grown_text(Changes changes, std::size_t most = 4) {
    std::erase_if(changes, [](const CounterChange* change) { return change->grown == 0; });
    std::ranges::stable_sort(changes, std::ranges::greater{}, &CounterChange::grown);
    std::vector<std::string> parts;
    for (const CounterChange* change : changes) {
        if (parts.size() == most) break;
        parts.push_back(fmt::format("{} grew by {} ({} to {}{})", change->vendor_name, grouped(change->grown),
                                    grouped(change->before), grouped(change->after),
                                    change->wrapped ? ", over a wrap of 32 bits" : ""));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<Place> evidence_of(Changes changes, std::size_t most = 4) {
    std::erase_if(changes, [](const CounterChange* change) { return change->grown == 0; });
    std::vector<Place> places;
    for (const CounterChange* change : changes) {
        if (places.size() + 2 > most) break;
        if (change->paired) places.push_back(change->place_before);
        places.push_back(change->place);
    }
    return places;
}

std::set<std::string> hosts_of(const Facts& facts) {
    std::set<std::string> hosts;
    for (const CounterChange& change : facts.changes) hosts.insert(change.host);
    return hosts;
}

// The priorities that carried traffic in the time between, and whether more were counted.
struct Priorities {
    std::set<int> used, counted;
};
Priorities priorities_of(const Facts& facts, const std::string& host) {
    Priorities found;
    for (const CounterChange* change : of(facts, {Counter::priority_volume}, &host)) {
        if (!change->paired) continue;
        found.counted.insert(change->what.priority);
        if (change->grown > 0) found.used.insert(change->what.priority);
    }
    return found;
}

constexpr std::initializer_list<Counter> kErrors{
    Counter::ack_timeout,     Counter::retry_exceeded, Counter::sequence_nak_received,
    Counter::implied_nak,     Counter::rnr_received,   Counter::rnr_exceeded,
    Counter::remote_access,   Counter::remote_invalid, Counter::remote_operation,
    Counter::local_error,     Counter::cqe_error,      Counter::out_of_sequence,
    Counter::duplicate,       Counter::no_receive,     Counter::response_length,
    Counter::response_access, Counter::adaptive_retry};

bool is_rxe(const Facts& facts, const std::string& host) {
    for (const CounterChange& change : facts.changes)
        if (change.host == host && (change.device.starts_with("rxe") || change.vendor_name == "ack_deferred" ||
                                    change.vendor_name == "completer_retry_err" || change.vendor_name == "rcvd_pkts"))
            return true;
    return std::ranges::any_of(
        facts.read.settings, [&](const Setting& each) { return each.host == host && each.device.starts_with("rxe"); });
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
        else text += ": the peer did not answer in time, or the last packets of messages were lost";
        if (priorities.used.size() == 1 && priorities.counted.size() > 1)
            text += fmt::format("; all traffic is in priority {} (one class)", *priorities.used.begin());
        const bool braked = growth(brakes) > 0;
        if (!braked && paired(brakes))
            text +=
                "; no pause frame, CNP or ECN mark was counted in the same time, so nothing slows the senders down: neither PFC nor ECN works for this class";
        else if (braked) text += fmt::format("; meanwhile {}", grown_text(brakes, 2));
        claim(verdict, "loss", Weight::shown, Party::undecided, host, std::move(text), std::move(evidence));
        undecided(
            verdict,
            "undecided: where the packets were lost, and whether the switch or the NICs lack the setting; counters of the switch are needed");
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
                Counter::transmit_discard, Counter::receive_discard, Counter::pause_storm},
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
            parts.push_back(fmt::format("{} {}{} is {}{}", change->vendor_name,
                                        change->device.empty() ? "" : "of " + change->device,
                                        change->port != 0 ? fmt::format(" port {}", change->port) : "",
                                        grouped(change->after), full ? " (its maximum: at least so many)" : ""));
            evidence.push_back(change->place);
        }
        claim(verdict, "loss", Weight::hint, Party::undecided, host,
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
    }
}

void judge_receivers(const Facts& facts, Verdict& verdict) {
    const Changes sent = of(facts, {Counter::no_receive});
    const Changes received = of(facts, {Counter::rnr_received, Counter::rnr_exceeded});
    const std::uint64_t missing = growth(sent);
    const std::uint64_t naks = growth(received);
    if (missing == 0 && naks == 0) return;
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
    claim(verdict, "receivers", loss ? Weight::hint : Weight::shown, loss ? Party::undecided : Party::application,
          where, std::move(text), evidence_of(all));
    next_step(
        verdict,
        "the stack of the receiving process (py-spy, gdb) while it grows; its receive queue depth; compare with peers of the same job",
        at_host(where),
        {{"it is busy or stopped", "look at what holds it"}, {"it runs", "post more receives (deeper queue, SRQ)"}});
}

void judge_pauses(const Facts& facts, Verdict& verdict) {
    for (const std::string& host : hosts_of(facts)) {
        const Changes in = of(facts, {Counter::pause_in}, &host);
        const Changes out = of(facts, {Counter::pause_out}, &host);
        const Changes stalls = of(facts, {Counter::pcie_stall}, &host);
        const Changes discards = of(facts, {Counter::receive_discard}, &host);
        if (growth(out) > 0) {
            const bool pcie = growth(stalls) > 0;
            claim(verdict, "pauses", pcie ? Weight::shown : Weight::hint, pcie ? Party::local_host : Party::undecided,
                  host,
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
            claim(verdict, "pauses", Weight::hint, Party::undecided, host,
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
            claim(verdict, "pauses", Weight::shown, Party::undecided, host,
                  fmt::format("{}: {}: packets were dropped in this NIC, on receive; the loss point is found",
                              at_host(host), grown_text(discards, 3)),
                  evidence_of(discards));
            next_step(
                verdict,
                "PFC or the receive buffers of that priority (mlnx_qos, dcb buffer); the rate of the receiving process",
                at_host(host));
        }
        // Pause on one priority, traffic on another.
        const Priorities priorities = priorities_of(facts, host);
        for (const CounterChange* change : in)
            if (change->grown > 0 && change->what.priority >= 0 && !priorities.used.empty() &&
                !priorities.used.contains(change->what.priority)) {
                claim(
                    verdict, "pauses", Weight::hint, Party::undecided, host,
                    fmt::format(
                        "{}: pause frames move on priority {}, traffic on priority {}: the map of DSCP to priority of NIC and switch differ",
                        at_host(host), change->what.priority, *priorities.used.begin()),
                    {change->place});
                next_step(verdict, "dscp2prio (mlnx_qos -i IF) against the map of the switch port", "host and switch");
                break;
            }
        const Changes storms = of(facts, {Counter::pause_storm}, &host);
        if (growth(storms) > 0) {
            claim(verdict, "pauses", Weight::shown, Party::undecided, host,
                  fmt::format("{}: {}: a pause lasted so long that the watchdog took it for a storm", at_host(host),
                              grown_text(storms, 2)),
                  evidence_of(storms));
            next_step(verdict, "the device behind that port: pause counters twice, PCIe, stopped processes",
                      at_host(host));
        }
    }
}

void judge_signals(const Facts& facts, Verdict& verdict) {
    for (const std::string& host : hosts_of(facts)) {
        const Changes down = of(facts, {Counter::link_down}, &host);
        const Changes signal = of(facts, {Counter::signal_error}, &host);
        const Changes upstream = of(facts, {Counter::upstream_signal_error}, &host);
        const Changes wait = of(facts, {Counter::transmit_wait}, &host);
        const auto say = [&](const Changes& changes, Weight weight, Party party, std::string_view means,
                             std::string command) {
            if (growth(changes) == 0) return;
            claim(verdict, "signals", weight, party, host,
                  fmt::format("{}: {}: {}", at_host(host), grown_text(changes, 3), means), evidence_of(changes));
            next_step(verdict, std::move(command), at_host(host),
                      {{"errors go on growing", "replace cable or transceiver of this link, then read again"},
                       {"they stand still", "it is over: compare their time with the failure"}});
        };
        say(down, Weight::shown, Party::undecided,
            "the link of this port went down in the time between; every status 12 of that port can follow from it; why it went down cannot be told from here",
            "mlxlink -d DEVICE -m -c; dmesg; the log of the switch port");
        say(signal, Weight::shown, Party::network,
            "signal errors on the receive side of this very link (cable, transceiver, port)",
            "mlxlink -d DEVICE -m -c (BER, FEC), ethtool -m IF");
        say(upstream, Weight::hint, Party::undecided,
            "a switch passed on packets that were broken before: the bad link is further up",
            "ibqueryerrors over the fabric");
        if (growth(down) + growth(signal) == 0)
            say(wait, Weight::hint, Party::undecided, "data waited for credits: the next hop is slow or congested",
                "perfquery of the switch ports on the path, twice");
    }
}

void judge_traffic(const Facts& facts, Verdict& verdict) {
    for (const std::string& host : hosts_of(facts)) {
        Changes bytes = of(facts, {Counter::rdma_bytes}, &host);
        const bool counts_bytes = growth(bytes) > 0;
        if (!counts_bytes) bytes = of(facts, {Counter::requests_in}, &host);
        Changes errors = of(facts, kErrors, &host);
        std::erase_if(errors, [](const CounterChange* change) { return !change->paired; });
        if (growth(bytes) > 0) {
            std::string text = fmt::format("{}: ", at_host(host));
            std::vector<std::string> parts;
            for (const CounterChange* change : bytes)
                if (change->grown > 0 && parts.size() < 2)
                    parts.push_back(counts_bytes
                                        ? fmt::format("{} grew by {} bytes ({:.1f} GB)", change->vendor_name,
                                                      grouped(change->grown), static_cast<double>(change->grown) / 1e9)
                                        : fmt::format("{} grew by {}", change->vendor_name, grouped(change->grown)));
            text += fmt::format("RDMA traffic flows (not idle): {}", fmt::join(parts, ", "));
            const bool clean = !errors.empty() && growth(errors) == 0;
            if (clean)
                text +=
                    fmt::format("; no error, timeout, NAK or retransmission in the same time ({} stayed 0): healthy",
                                transport::counted(errors.size(), "counter"));
            if (clean) verdict.not_network = true;
            const Setting* missing = nullptr;
            for (const Setting& each : facts.read.settings)
                if (each.subject == "counter" && each.value == "missing" && each.host == host) missing = &each;
            Changes ports = of(facts, {Counter::port_data}, &host);
            const bool flat = paired(ports) && growth(ports) == 0;
            if (missing != nullptr || flat) {
                contradiction(
                    verdict,
                    fmt::format(
                        "{}: port_rcv_data and port_xmit_data {}, while rx_rdma_ucast_bytes and its like in hw_counters grow: this driver does not fill the standard port counters, so a collector that reads those sees 0",
                        at_host(host), missing != nullptr ? "do not exist" : "stay flat"),
                    {missing != nullptr ? missing->place : ports.front()->place, bytes.front()->place});
                text +=
                    "; port_rcv_data and port_xmit_data show nothing of it: this driver does not fill them, the totals stand in hw_counters";
                claim(verdict, "traffic", Weight::decisive, Party::library, host, std::move(text), evidence_of(bytes));
                next_step(
                    verdict,
                    "let the collector (dashboard, exporter) read hw_counters: rdma statistic show link, rx_rdma_ucast_bytes",
                    at_host(host),
                    {{"it shows the traffic", "nothing was wrong but the collector"},
                     {"otherwise", "compare the names with rdma statistic"}});
            } else {
                claim(verdict, "traffic", clean ? Weight::shown : Weight::remark, Party::undecided, host,
                      std::move(text), evidence_of(bytes));
            }
        }
        for (const CounterChange* change : of(facts, {Counter::port_data}, &host))
            if (change->grown > 0 &&
                (change->source == "counters" || change->source == "perfquery" || change->source == "hw_counters")) {
                claim(verdict, "traffic", Weight::remark, Party::undecided, host,
                      fmt::format("{}: {} grew by {} words of 4 bytes, {} bytes ({:.2f} GB)", at_host(host),
                                  change->vendor_name, grouped(change->grown), grouped(4 * change->grown),
                                  4 * static_cast<double>(change->grown) / 1e9),
                      {change->place});
                next_step(
                    verdict,
                    "compare the counter with what the dashboard shows: port_xmit_data and port_rcv_data count words of 4 bytes; some exporters multiply, others do not",
                    at_host(host),
                    {{"the dashboard shows a quarter", "multiply by 4; nothing is wrong with the traffic"},
                     {"it shows the bytes", "the rate is what the port carried"}});
            }
    }
}

// Two readings of one thing that cannot both be right.
void judge_readings(const Facts& facts, Verdict& verdict) {
    // A switch that counts pause frames in one place and none in another.
    for (const CounterChange& none : facts.changes) {
        if (none.what.counter != Counter::pause_in || none.source != "switch PFC" || none.after != 0) continue;
        for (const CounterChange& some : facts.changes) {
            const bool other = some.what.counter == Counter::pause_in && some.source != none.source &&
                               some.device == none.device && some.after != 0;
            if (!other || (some.what.priority >= 0 && some.what.priority != none.what.priority)) continue;
            if (some.what.priority < 0) continue;
            contradiction(
                verdict,
                fmt::format(
                    "{}: {} counts {} pause frames received in priority {} ({} of {}), but the table of PFC counters shows 0 for it",
                    at_host(none.host), some.device, grouped(some.after), some.what.priority, some.vendor_name,
                    some.source),
                {some.place, none.place});
            claim(
                verdict, "readings", Weight::decisive, Party::library, none.host,
                fmt::format(
                    "{}: two readings of {} contradict each other: the hardware counted {} pause frames in priority {} (PFC{}), the command (pfcstat, show pfc counters) shows 0. The frames came; the command does not count them, so its zeros say nothing of the host behind the port",
                    at_host(none.host), some.device, grouped(some.after), some.what.priority, some.what.priority),
                {some.place, none.place});
            next_step(
                verdict,
                "redis-cli -n 2 hgetall COUNTERS:OID of the port (COUNTERS_DB) beside the SAI counters; sonic-clear pfccounters, then show pfc counters; another image of the switch",
                at_host(none.host),
                {{"COUNTERS_DB has the frames", "the command subtracts a wrong snapshot"},
                 {"COUNTERS_DB has none", "the switch software does not read them from the hardware"}});
            return;
        }
    }
    for (const std::string& host : hosts_of(facts)) {
        const Changes cnp = of(facts, {Counter::cnp_sent}, &host);
        const Changes marks = of(facts, {Counter::ce_received}, &host);
        const auto total = [](const Changes& changes) {
            std::uint64_t sum = 0;
            for (const CounterChange* change : changes) sum += change->after;
            return sum;
        };
        if (!cnp.empty() && !marks.empty() && total(cnp) > 0 && total(marks) == 0)
            contradiction(
                verdict,
                fmt::format(
                    "{}: {} is {} although {} is 0: CNPs are sent for marked packets, so this NIC does not count the marks; its zero does not say that nothing was marked",
                    at_host(host), cnp.front()->vendor_name, grouped(total(cnp)), marks.front()->vendor_name),
                {cnp.front()->place, marks.front()->place});
        if (growth(marks) > 0 && paired(cnp) && growth(cnp) == 0) {
            claim(verdict, "readings", Weight::hint, Party::undecided, host,
                  fmt::format(
                      "{}: {}, but no CNP was sent: the notification point is off for this priority, or not counted",
                      at_host(host), grown_text(marks, 1)),
                  evidence_of(marks));
            next_step(verdict, "cat /sys/class/net/IF/ecn/roce_np/enable/PRIO on receivers and roce_rp on senders",
                      at_host(host));
        }
        const Changes errors = of(facts, kErrors, &host);
        const bool logged = std::ranges::any_of(facts.read.events, [&](const Event& event) {
            return event.kind == EventKind::completion_error && event.host == host && event.status != 5;
        });
        if (logged && paired(errors) && growth(errors) == 0)
            contradiction(
                verdict,
                fmt::format(
                    "{}: its log has error completions, its counters grew by nothing: another function or port, a queue pair without a counter set, or readings at other times",
                    at_host(host)),
                {errors.front()->place});
    }
    for (const CounterChange& change : facts.changes)
        if (change.saturated)
            return contradiction(
                verdict,
                fmt::format("{}: {} stands at its maximum ({}) in both readings: it saturates, and says nothing",
                            at_host(change.host), change.vendor_name, grouped(change.after)),
                {change.place});
}

void judge_software(const Facts& facts, Verdict& verdict) {
    for (const std::string& host : hosts_of(facts)) {
        if (!is_rxe(facts, host)) continue;
        Changes errors = of(facts, kErrors, &host);
        const Changes packets = of(facts, {Counter::rdma_packets}, &host);
        if (!paired(packets) || growth(packets) == 0 || growth(errors) > 0) continue;
        std::uint64_t sent = 0;
        for (const CounterChange* change : packets)
            if (change->vendor_name == "sent_pkts") sent = change->grown;
        double rdma = 0, tcp = 0;
        std::vector<Place> evidence = evidence_of(packets);
        for (const Measurement& each : facts.read.measurements) {
            (each.rdma ? rdma : tcp) = std::max(each.rdma ? rdma : tcp, each.bits_per_second);
            evidence.push_back(each.place);
        }
        std::string mtu;
        for (const Setting& each : facts.read.settings)
            if (each.name == "active MTU" && (each.host == host || each.host.empty())) mtu = each.value;
        std::string text = fmt::format(
            "{}: soft-RoCE (rxe) sent {} packets without a single retransmission, sequence error, RNR or other error: nothing was lost, not the network",
            at_host(host), grouped(sent));
        if (!mtu.empty()) text += fmt::format("; each of at most {} bytes (active MTU)", mtu);
        text +=
            ". The limit is the software of the host: one CPU core builds every packet and its CRC, where TCP has segmentation offload";
        if (rdma > 0 && tcp > 0)
            text += fmt::format(". {:.2f} Gbit/s of RDMA beside {:.2f} Gbit/s of TCP is expected of it", rdma / 1e9,
                                tcp / 1e9);
        const bool slow = rdma > 0 && !anything_failed(facts.read);
        if (slow) verdict.not_network = true;
        claim(verdict, "software", slow ? Weight::decisive : Weight::remark,
              slow ? Party::local_host : Party::undecided, host, std::move(text), std::move(evidence));
        next_step(
            verdict,
            "ib_write_bw -q 4 (several queue pairs or processes), a larger MTU (ip link set IF mtu 9000), and top or perf meanwhile",
            at_host(host),
            {{"one core is at 100 % and more queue pairs are faster",
              "the CPU is the limit: use hardware RoCE for more"},
             {"cores are free and it stays slow", "look at the virtual interface below rxe"}});
    }
}

}  // namespace qps::casework
