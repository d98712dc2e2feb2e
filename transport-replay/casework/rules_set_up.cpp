// Rules about set-up: a queue pair or connection that was not made, and the address, listener or setting that it lacks.
#include <transport-replay/casework/claims.hpp>

#include <algorithm>

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

}  // namespace

void judge_set_up(const Facts& facts, Verdict& verdict) {
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
        switch (event.kind) {
            case EventKind::setup_failed:
                if (timed_out)
                    say(Weight::hint, Party::undecided,
                        fmt::format(
                            "{}: a queue pair could not reach RTR, {}: the neighbour of the remote GID did not resolve (ARP, ND), or the device did not answer",
                            where, event.text),
                        "ip neigh; ip route get the peer's address; show_gids on both hosts", where,
                        {{"FAILED or no entry", "addresses, VLAN or rail differ: compare GIDs of both hosts"},
                         {"it resolves", "look at driver and firmware"}});
                else if (invalid)
                    say(Weight::shown, Party::host_setting,
                        fmt::format(
                            "{}: a queue pair could not be set up, {}: the NIC refuses an attribute, most often a GID index or type that does not exist on both hosts, or an MTU",
                            where, event.text),
                        "show_gids on both hosts at the index in use (NCCL_IB_GID_INDEX, UCX_IB_GID_INDEX), active_mtu of both",
                        "both hosts",
                        {{"the index differs or is missing", "choose one that is alike on all hosts"},
                         {"they are alike", "look at active_mtu and the driver"}});
                else if (no_route)
                    say(Weight::shown, Party::host_setting,
                        fmt::format(
                            "{}: a queue pair could not be set up, {}: no route leads from the local GID's interface to the remote GID",
                            where, event.text),
                        "ip route get the peer's address from that interface; ip rule", where,
                        {{"no route", "set the address or route of that rail"},
                         {"a route", "compare the GID index on both hosts"}});
                else
                    say(Weight::hint, Party::undecided,
                        fmt::format("{}: a queue pair could not be set up: {}", where, event.text),
                        "show_gids and ibv_devinfo -v on both hosts", "both hosts", {});
                break;
            case EventKind::no_device:
                say(Weight::shown, Party::host_setting,
                    fmt::format("{}: the library found no RDMA device it can use ({}): RDMA was not used at all", where,
                                event.text),
                    "ibv_devices; ls /dev/infiniband; ulimit -l; the user-space driver (rdma-core) inside the container",
                    where,
                    {{"nothing is listed", "the driver, or the devices of the container, are missing"},
                     {"devices are listed",
                      "the library's own filter (NCCL_IB_HCA, UCX_NET_DEVICES) leaves them out"}});
                break;
            case EventKind::memory_refused:
                say(event.operation.empty() ? Weight::hint : Weight::shown,
                    event.operation.empty() ? Party::undecided : Party::host_setting,
                    fmt::format(
                        "{}: memory could not be registered or a queue not be made ({}{}{}): most often the limit of locked memory; not the network",
                        where, event.operation, event.operation.empty() ? "" : ": ", event.text),
                    "ulimit -l in the very job (Max locked memory in /proc/PID/limits)", where,
                    {{"it is small", "set memlock to unlimited for the job, also of the daemon that starts it"},
                     {"it is unlimited",
                      "free memory, the number of memory regions, peer memory of the GPU (nvidia_peermem)"}});
                break;
            case EventKind::address_unresolved:
                say(Weight::shown, Party::undecided,
                    fmt::format(
                        "{}: the address or route of the peer did not resolve ({}): no connection request was sent",
                        where, event.text),
                    "ip neigh and ip route get the peer's address; for InfiniBand the subnet manager (sminfo)", where,
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
                            "{}: the peer's application refused the connection (reason 28, consumer defined); not the network",
                            where),
                        "the log of the peer's application at this time", "the peer", {});
                else
                    say(Weight::hint, Party::remote_host,
                        fmt::format("{}: the connection was rejected ({}{}): the peer was reached; not the network",
                                    where, event.text, event.number != 0 ? fmt::format(", {}", event.number) : ""),
                        "the log of the peer at this time", "the peer", {});
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
