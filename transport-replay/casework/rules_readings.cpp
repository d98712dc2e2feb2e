// Rules about readings: traffic that flows, two readings that contradict each other, and the limit of software.
#include <transport-replay/casework/counter_words.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace qps::casework {

using transport::grouped;

namespace {

bool is_rxe(const Facts& facts, const std::string& host) {
    const auto its = facts.of_host.find(host);
    if (its == facts.of_host.end()) return false;
    for (const CounterChange* change : its->second)
        if (change->device.starts_with("rxe") || change->vendor_name == "ack_deferred" ||
            change->vendor_name == "completer_retry_err" || change->vendor_name == "rcvd_pkts")
            return true;
    return std::ranges::any_of(
        facts.read.settings, [&](const Setting& each) { return each.host == host && each.device.starts_with("rxe"); });
}

std::string wrap_text(const CounterChange& change) {
    if (!change.wrapped) return {};
    return fmt::format(" (it is a counter of 32 bits and went round: {} to {}; not a reset)", grouped(change.before),
                       grouped(change.after));
}

// What a benchmark of the case reached; empty: there is none.
std::string fastest_text(const Case& read) {
    const Measurement* most = nullptr;
    for (const Measurement& each : read.measurements)
        if (each.rdma && (most == nullptr || each.bits_per_second > most->bits_per_second)) most = &each;
    if (most == nullptr) return {};
    return fmt::format("; {} reached {:.1f} Gb/s", most->what.empty() ? "a benchmark of RDMA" : most->what,
                       most->bits_per_second / 1e9);
}

}  // namespace

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
                    parts.push_back((counts_bytes
                                         ? fmt::format("{} grew by {} bytes ({:.1f} GB)", change->vendor_name,
                                                       grouped(change->grown), static_cast<double>(change->grown) / 1e9)
                                         : fmt::format("{} grew by {}", change->vendor_name, grouped(change->grown))) +
                                    wrap_text(*change));
            text += fmt::format("RDMA traffic flows (not idle): {}", fmt::join(parts, ", "));
            const Changes brakes = of(
                facts,
                {Counter::ce_received, Counter::cnp_sent, Counter::cnp_handled, Counter::pause_in, Counter::pause_out,
                 Counter::receive_discard, Counter::transmit_discard, Counter::signal_error, Counter::link_down},
                &host);
            const bool congested = growth(brakes) > 0;
            const bool clean = !errors.empty() && growth(errors) == 0 && !congested;
            if (congested && growth(errors) == 0)
                text += fmt::format(
                    "; meanwhile {}, but no timeout, NAK or retransmission was counted: traffic is slowed down, and nothing was lost here",
                    grown_text(brakes, 3));
            if (clean)
                text +=
                    fmt::format("; no error, timeout, NAK or retransmission in the same time ({} stayed 0): healthy",
                                transport::counted(errors.size(), "counter"));
            // A healthy host says nothing of the others, nor of what a log reports.
            if (clean && growth(of(facts, kErrors)) == 0 && !anything_failed(facts.read)) verdict.not_network = true;
            if (clean) text += fastest_text(facts.read);
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
                claim(verdict, "case-traffic-flows", Weight::decisive, Party::library, host, std::move(text),
                      evidence_of(bytes));
                next_step(
                    verdict,
                    "let the collector (dashboard, exporter) read hw_counters: rdma statistic show link, rx_rdma_ucast_bytes",
                    at_host(host),
                    {{"it shows the traffic", "nothing was wrong but the collector"},
                     {"otherwise", "compare the names with rdma statistic"}});
            } else {
                claim(verdict, "case-traffic-flows", clean ? Weight::shown : Weight::remark, Party::undecided, host,
                      std::move(text), evidence_of(bytes));
                if (clean)
                    next_step(
                        verdict,
                        "nothing more for the network; if it is slower than wanted: ib_write_bw -q 4 against the rate of the port (ibstat), then a profile of the application",
                        at_host(host),
                        {{"several queue pairs reach the rate of the port",
                          "one queue pair or its process is the limit"},
                         {"they do not", "PCIe (lspci -vvv, LnkSta), NUMA placement, MTU"}});
            }
        }
        for (const CounterChange* change : of(facts, {Counter::port_data}, &host))
            if (change->grown > 0 &&
                (change->source == "counters" || change->source == "perfquery" || change->source == "hw_counters")) {
                claim(verdict, "case-words-of-four-bytes", Weight::remark, Party::undecided, host,
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

// Counters of the netdev that are taken for those of RDMA.
void judge_netdev(const Facts& facts, Verdict& verdict) {
    for (const CounterChange& change : facts.changes) {
        const bool netdev = change.vendor_name == "rx_out_of_buffer" || change.vendor_name == "rx_wqe_err" ||
                            change.vendor_name == "tx_cqe_err";
        if (!netdev || change.grown == 0) continue;
        claim(
            verdict, "case-netdev-counter", Weight::hint, Party::undecided, change.host,
            fmt::format(
                "{}: {} grew by {}: it counts the receive rings of the network interface (TCP/IP), not RDMA; no queue pair has a part in it",
                at_host(change.host), change.vendor_name, grouped(change.grown)),
            {change.place});
        undecided(verdict, "undecided: this counter says nothing of RDMA, for or against");
        next_step(
            verdict,
            "out_of_buffer in /sys/class/infiniband/*/ports/*/hw_counters (that of RDMA) before and after; for TCP/IP a larger ring (ethtool -G)",
            at_host(change.host),
            {{"out_of_buffer grows", "RDMA receivers post too few receives"},
             {"it stands still", "only TCP/IP is concerned"}});
        return;
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
                verdict, "case-pfc-readings-differ", Weight::decisive, Party::library, none.host,
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
            claim(verdict, "case-marks-without-cnp", Weight::hint, Party::undecided, host,
                  fmt::format(
                      "{}: {}, but no CNP was sent: the notification point is off for this priority, or not counted",
                      at_host(host), grown_text(marks, 1)),
                  evidence_of(marks));
            next_step(verdict, "cat /sys/class/net/IF/ecn/roce_np/enable/PRIO on receivers and roce_rp on senders",
                      at_host(host));
        }
        const Changes handled = of(facts, {Counter::cnp_handled}, &host);
        if (!handled.empty() && total(handled) > 0 && !cnp.empty() && total(cnp) == 0)
            claim(verdict, "case-cnp-handled", Weight::remark, Party::undecided, host,
                  fmt::format("{}: {} is {}: its peers saw marked packets of it, so something on the way marks ECN",
                              at_host(host), handled.front()->vendor_name, grouped(total(handled))),
                  {handled.front()->place});
        const Changes books = of(facts, {Counter::cqe_error}, &host);
        const Changes flushed = of(facts, {Counter::cqe_flush}, &host);
        if (!books.empty() && !flushed.empty() && total(flushed) > 0 && total(books) > total(flushed))
            claim(
                verdict, "case-flushes-among-errors", Weight::remark, Party::undecided, host,
                fmt::format("{}: of {} error completions {} are flushes, which only follow; {} are not", at_host(host),
                            grouped(total(books)), grouped(total(flushed)), grouped(total(books) - total(flushed))),
                {books.front()->place, flushed.front()->place});
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
        if (change.swapped && change.grown != 0) {
            contradiction(verdict,
                          fmt::format("{}: the two readings are named in the other order than they were made: the date "
                                      "in the one called before is later, and its counters are higher. They are taken "
                                      "in the order of their dates, the earlier reading first",
                                      at_host(change.host)),
                          {change.place_before, change.place});
            break;
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
        claim(verdict, "case-software-limit", slow ? Weight::decisive : Weight::remark,
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
