// Rules about set-up: a queue pair or connection that was not made, and the address, listener or setting that it lacks.
#include <dissect/base/parse_value.hpp>
#include <transport-replay/casework/claims.hpp>
#include <transport-replay/casework/complaint_words.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace qps::casework {

namespace {

std::string_view set_up_id(EventKind kind) {
    switch (kind) {
        case EventKind::setup_failed: return "case-queue-pair-not-set-up";
        case EventKind::no_device: return "case-no-device";
        case EventKind::memory_refused: return "case-memory-refused";
        case EventKind::address_unresolved: return "case-address-unresolved";
        case EventKind::unreachable: return "case-connect-unanswered";
        case EventKind::rejected: return "case-connect-rejected";
        default: return "case-socket-failed";
    }
}

// perftest says that its buffer is of a GPU in lines of their own, and the errno behind.
bool speaks_of_gpu_memory(const Case& read, const Event& event) {
    return std::ranges::any_of(read.settings, [&](const Setting& each) {
        return each.subject == "buffer" && each.place.file == event.place.file && each.place < event.place;
    });
}

// Its limit is in the material, and is none.
bool locked_memory_is_free(const Case& read, const std::string& host) {
    return std::ranges::any_of(read.settings, [&](const Setting& each) {
        return each.name == "memlock" && each.value == "unlimited" && (each.host == host || each.host.empty());
    });
}

// What a device has in use against what it can have.
void judge_device_full(const Facts& facts, Verdict& verdict) {
    for (const Setting& used : facts.read.settings) {
        if (used.subject != "in use") continue;
        for (const Setting& most : facts.read.settings) {
            const bool same = most.subject == "most" && most.name == used.name && most.host == used.host &&
                              (most.device == used.device || most.device.empty());
            const auto in_use = dissect::parse_decimal(used.value);
            const auto limit = dissect::parse_decimal(most.value);
            if (!same || !in_use || !limit || *in_use == 0 || *in_use < *limit - *limit / 50) continue;
            const bool refused = !events_of(facts.read, {EventKind::memory_refused}).empty();
            claim(verdict, "case-device-full", refused ? Weight::decisive : Weight::shown, Party::local_host, used.host,
                  fmt::format("{}: {} has {} of {} {} in use, its limit (max_{}): no more can be made; not the network",
                              at_host(used.host), used.device, transport::grouped(*in_use), transport::grouped(*limit),
                              used.name == "qp" ? "queue pairs (QP)" : used.name, used.name),
                  {used.place, most.place});
            next_step(verdict, "rdma resource show qp (by process, pid and comm): who holds them; then again later",
                      at_host(used.host),
                      {{"one program holds most, and more each time", "it leaks them, or connects each to each"},
                       {"many programs", "fewer processes, or transports that share queue pairs (DC, UD, SRQ, XRC)"}});
        }
    }
}

}  // namespace

namespace {

// What a target of NVMe means by its status in a refusal.
std::string_view refusal_of(std::string_view operation) {
    if (operation.contains("status 6"))
        return ": the target has no resources left for one more queue (memory, completion queues, queue pairs)";
    if (operation.contains("status 3")) return ": the queue number is above what the target allows";
    if (operation.contains("status 4") || operation.contains("status 5"))
        return ": the target does not take a queue of that size (--queue-size)";
    if (operation.contains("status 7") || operation.contains("status 8"))
        return ": the number of outstanding reads does not fit the target";
    return {};
}

// Why a connection was rejected: reasons of REJ (IBA 12.6.7.2), and those of a login of SRP.
struct RejectRow {
    std::uint64_t reason;
    std::string_view words;
};
std::string_view reject_reason(const Event& event) {
    static constexpr std::array kReasons{
        RejectRow{1, "no queue pair is available there"},
        RejectRow{3, "no resources are left there"},
        RejectRow{4, "its own message was not answered in time"},
        RejectRow{5, "the request is not supported there"},
        RejectRow{9, "the transport service type does not fit"},
        RejectRow{10,
                  "stale connection: the peer still holds the queue pair of an older connection, as after a crash or "
                  "power loss of this side; it goes when that times out or the peer's program lets it go"},
        RejectRow{12, "the GID of the primary path is not one of the peer"},
        RejectRow{13, "the LID of the primary path does not fit"},
        RejectRow{14, "the service level of the primary path does not fit"},
        RejectRow{15, "the traffic class of the primary path does not fit"},
        RejectRow{17, "the packet rate does not fit"},
        RejectRow{26, "the path MTU that is asked for does not fit"},
        RejectRow{29, "the RNR retry count does not fit"},
        RejectRow{30, "a connection with that number exists already"}};
    static constexpr std::array kLogins{
        RejectRow{0x10000, "the target could not make the channel"},
        RejectRow{0x10001, "the target has no resources left for one more channel"},
        RejectRow{0x10002, "messages of that length are too long for the target"},
        RejectRow{0x10003, "the target knows no such port for this initiator"},
        RejectRow{0x10004, "the target does not support the format of descriptors"},
        RejectRow{0x10005, "the target does not support several channels"},
        RejectRow{0x10006, "the target's limit of channels is reached: no resources for one more"}};
    if (event.text.starts_with("SRP LOGIN")) {
        const auto reason = dissect::parse_number("0x" + event.operation);
        const auto row = std::ranges::find(kLogins, reason.value_or(0), &RejectRow::reason);
        return row == kLogins.end() ? std::string_view{} : row->words;
    }
    const auto row = std::ranges::find(kReasons, event.number, &RejectRow::reason);
    return row == kReasons.end() ? std::string_view{} : row->words;
}

}  // namespace

void judge_set_up(const Facts& facts, Verdict& verdict) {
    judge_device_full(facts, verdict);
    for (const Event& event : facts.read.events) {
        const std::string where = at_host(event.host);
        const auto say = [&](Weight weight, Party party, std::string text, std::string command, std::string at,
                             std::vector<Outcome> outcomes) {
            const bool told = std::ranges::any_of(verdict.claims, [&](const Claim& each) { return each.text == text; });
            if (told) return;
            claim(verdict, set_up_id(event.kind), weight, party, event.host, std::move(text), {event.place});
            next_step(verdict, std::move(command), std::move(at), std::move(outcomes));
        };
        const bool timed_out = event.number == 110 || event.text.contains("timed out");
        const bool invalid = event.number == 22 || event.text.contains("nvalid argument");
        const bool no_route = event.number == 113 || event.number == 101 || event.text.contains("o route") ||
                              event.text.contains("unreachable");
        const bool no_such_device = event.number == 19 || event.text.contains("o such device");
        const bool bad_address = event.number == 14 || event.text.contains("ad address");
        const std::string target =
            fmt::format("{}{}", event.operation.empty() ? "" : fmt::format(" ({} is the next state)", event.operation),
                        event.peer.empty() ? "" : " towards " + event.peer);
        const std::string number = event.text.contains("rror") || event.number == 0 ? "" : errno_text(event.number);
        const std::string said = number.empty() ? event.text : fmt::format("{} ({})", event.text, number);
        switch (event.kind) {
            case EventKind::setup_failed:
                if (timed_out)
                    say(Weight::hint, Party::undecided,
                        fmt::format(
                            "{}: a queue pair could not reach RTR{}, {}: the neighbour of the remote GID did not resolve (ARP, ND), or the device did not answer",
                            where, event.peer.empty() ? "" : " towards " + event.peer, said),
                        "ip neigh; ip route get the peer's address; show_gids on both hosts", where,
                        {{"FAILED or no entry", "addresses, VLAN or rail differ: compare GIDs of both hosts"},
                         {"it resolves", "look at driver and firmware"}});
                else if (invalid)
                    say(Weight::shown, Party::host_setting,
                        fmt::format(
                            "{}: a queue pair could not be set up, {}: the NIC refuses an attribute, most often a GID index or type that does not exist on both hosts, or an MTU",
                            where, said),
                        "show_gids on both hosts at the index in use (NCCL_IB_GID_INDEX, UCX_IB_GID_INDEX), active_mtu of both",
                        "both hosts",
                        {{"the index differs or is missing", "choose one that is alike on all hosts"},
                         {"they are alike", "look at active_mtu and the driver"}});
                else if (no_route)
                    say(Weight::shown, Party::host_setting,
                        fmt::format(
                            "{}: a queue pair could not be set up, {}: no route leads from the local GID's interface to the remote GID",
                            where, said),
                        "ip route get the peer's address from that interface; ip rule", where,
                        {{"no route", "set the address or route of that rail"},
                         {"a route", "compare the GID index on both hosts"}});
                else if (no_such_device)
                    say(Weight::hint, Party::undecided,
                        fmt::format(
                            "{}: a queue pair could not be set up (ibv_modify_qp){}, {}: behind the local GID index that is used no interface stands in this network namespace, as in a container that has the device without its interface, or where the address went away; not the network",
                            where, target, said),
                        "show_gids and ip addr inside the container or job, at the index in use; rdma system (shared or exclusive namespaces)",
                        where,
                        {{"no GID, or none with an address, stands there",
                          "give the container the interface of that device (host network, SR-IOV, macvlan of it), or choose an index that has one"},
                         {"the GID is there", "compare the index on both hosts"}});
                else
                    say(Weight::hint, Party::undecided,
                        fmt::format("{}: a queue pair could not be set up (ibv_modify_qp){}: {}", where, target, said),
                        "show_gids and ibv_devinfo -v on both hosts", "both hosts", {});
                break;
            case EventKind::no_device:
                say(Weight::shown, Party::host_setting,
                    fmt::format("{}: the library found no RDMA device it can use ({}): RDMA was not used at all", where,
                                event.text),
                    "ibv_devices; fi_info (providers of libfabric, FI_PROVIDER); ls /dev/infiniband; ulimit -l; the user-space driver (rdma-core) inside the container",
                    where,
                    {{"nothing is listed", "the driver, or the devices of the container, are missing"},
                     {"devices are listed",
                      "the library's own filter (NCCL_IB_HCA, UCX_NET_DEVICES) leaves them out"}});
                break;
            case EventKind::memory_refused:
                if (bad_address || speaks_of_gpu_memory(facts.read, event)) {
                    say(Weight::shown, Party::host_setting,
                        fmt::format(
                            "{}: memory could not be registered ({}{}Bad address): {}; not the network", where,
                            event.text, event.text.empty() || bad_address ? "" : ", ",
                            "memory of a GPU, which no driver lets the adapter reach (nvidia_peermem, nv_peer_mem or DMA-BUF), or an address that the program does not own"),
                        "lsmod | grep -E 'nvidia_peermem|nv_peer_mem'; modprobe nvidia_peermem; the same with memory of the host",
                        where,
                        {{"it works once the module is loaded", "that was the cause"},
                         {"it fails with memory of the host as well", "the program passes a wrong address"}});
                    break;
                }
                if (std::ranges::any_of(verdict.claims,
                                        [](const Claim& each) { return each.id == "case-device-full"; }))
                    break;
                say(Weight::hint, Party::undecided,
                    fmt::format(
                        "{}: memory could not be registered or a queue not be made ({}{}{}): {}; not the network",
                        where, event.operation, event.operation.empty() ? "" : ": ", event.text,
                        locked_memory_is_free(facts.read, event.host)
                            ? "the limit of locked memory is unlimited here, so it is not that: memory that the kernel "
                              "has left for DMA, a limit of the device or its driver"
                            : "most often the limit of locked memory (memlock)"),
                    "ulimit -l in the very job (Max locked memory in /proc/PID/limits); dmesg at that time; grep -i cma "
                    "/proc/meminfo; rdma resource show",
                    where,
                    {{"the limit is small", "set memlock to unlimited for the job, also of the daemon that starts it"},
                     {"it is unlimited",
                      "free memory, the number of memory regions, peer memory of the GPU (nvidia_peermem), kernel and driver"}});
                break;
            case EventKind::address_unresolved:
                say(Weight::shown, Party::undecided,
                    fmt::format(
                        "{}: the address or route of the peer did not resolve ({}{}): no connection request was sent{}",
                        where, event.text, event.number == 0 ? "" : fmt::format(", error {}", event.number),
                        no_such_device ? "; error 19 is ENODEV: no RDMA device of this network namespace (container) "
                                         "has the interface that leads there"
                                       : ""),
                    no_such_device
                        ? "rdma link, rdma system and ip addr in that container: the interface that leads to the "
                          "peer must belong to an RDMA device there (rdma system set netns exclusive with "
                          "rdma-cni, or the host's network)"
                        : "ip neigh and ip route get the peer's address; for InfiniBand the subnet manager "
                          "(sminfo)",
                    where,
                    {{"it does not resolve by IP either", "addresses or routes are wrong"},
                     {"IP works", "the address belongs to an interface without an RDMA device"}});
                undecided(verdict, "undecided: whether the address, the route or the subnet manager is wrong");
                break;
            case EventKind::unreachable:
                if (event.number == 104) {  // ECONNRESET: a REJ came
                    if (events_of(facts.read, {EventKind::rejected}).empty())
                        say(Weight::hint, Party::undecided,
                            fmt::format(
                                "{}: the peer refused the connection ({}, -104): it was reached; not the network",
                                where, event.text),
                            "the log of the peer at this time", "the peer", {});
                    break;
                }
                say(Weight::hint, Party::undecided,
                    fmt::format(
                        "{}: a connection request of RDMA CM got no answer ({}): the listener's host is down, or UDP 4791 or QP 1 does not get through",
                        where, event.text),
                    "capture udp port 4791 at the listener while connecting", "the listener's host",
                    {{"the REQ arrives", "the listener or its driver does not answer"},
                     {"it does not arrive", "the path or a filter drops it"}});
                break;
            case EventKind::rejected:
                if (event.number == 8)
                    say(Weight::shown, Party::remote_host,
                        fmt::format(
                            "{}: the peer rejected the connection with reason 8 (invalid service ID): its host was reached, but nobody listens on that port; not the network",
                            where),
                        "is the service running, and on that port and address? (rdma resource show cm_id)", "the peer",
                        {{"no listener", "start it"}, {"a listener", "it listens on another address or device"}});
                else if (event.text.contains("allow"))
                    say(Weight::shown, Party::host_setting,
                        fmt::format(
                            "{}: the target does not allow the host NQN {} ({}): the target answered and refused by its list of hosts; not the network",
                            where, event.peer, event.text),
                        "at the target: add that host NQN to allowed_hosts of the subsystem (nvmetcli, configfs, nvmf_subsystem_add_host); at the host: /etc/nvme/hostnqn",
                        "the target",
                        {{"the list lacks it", "add it, or connect with the NQN that is listed (--hostnqn)"},
                         {"it is listed", "subsystem or port differ: compare their names"}});
                else if (event.number == 28)
                    say(Weight::shown, Party::remote_host,
                        fmt::format(
                            "{}: the peer's application refused the connection (reason 28, consumer defined{}){}; not the network",
                            where, event.operation.empty() ? "" : ": " + event.operation, refusal_of(event.operation)),
                        "the log of the peer's application at this time; its memory, and how many queues it allows (fewer by --nr-io-queues)",
                        "the peer", {});
                else
                    say(event.text.starts_with("SRP LOGIN") ? Weight::shown : Weight::hint, Party::remote_host,
                        fmt::format("{}: the connection was rejected ({}{}){}{}: the peer was reached; not the network",
                                    where, event.text, event.number != 0 ? fmt::format(", {}", event.number) : "",
                                    reject_reason(event).empty() ? "" : ": ", reject_reason(event)),
                        "the log of the peer at this time; rdma resource show qp and cm_id there", "the peer", {});
                break;
            case EventKind::socket_failed:
                say(Weight::hint, Party::undecided,
                    fmt::format(
                        "{}: a TCP connection of the program itself failed{} ({}): TCP is not RDMA, and this line says nothing of a queue pair",
                        where, event.peer.empty() ? "" : " towards " + event.peer, event.text),
                    "is the other side running, and listening on that address and port (ss -ltnp)? which interface is chosen (NCCL_SOCKET_IFNAME)?",
                    "the peer",
                    {{"nothing listens", "its process ended, or was not started: its log"},
                     {"it listens", "address, interface or a filter between"}});
                break;
            default: break;
        }
    }
}

}  // namespace qps::casework
