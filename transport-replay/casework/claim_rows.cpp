// Rows of claims, in the order of rules.
#include <transport-replay/casework/claim_rows.hpp>

#include <algorithm>
#include <array>

namespace qps::casework {

namespace {

constexpr auto kError = transport::Severity::error, kWarning = transport::Severity::warning,
               kNote = transport::Severity::note;

// clang-format off
constexpr std::array kRows{
    // Completions.
    ClaimRow{"case-completion-error", kError, "completions in logs and dumps", "A work request failed with a status that is not 5", "a flush (status 5), which only follows", "Which of two ends is wrong where the status takes part of both (10, 12)."},
    ClaimRow{"case-peer-named-by-many", kWarning, "completions in logs", "Several hosts gave up on one peer", "one switch between all of them and the peer", "Whether the peer, its port or its switch port failed."},
    ClaimRow{"case-many-peers-of-one-host", kWarning, "completions in logs", "One host gave up on many peers", "logs of the other hosts that are missing", "Whether its adapter, its port or its switch port failed."},
    ClaimRow{"case-message-longer-than-receive", kError, "completions of both ends", "A message was longer than the receive that it met", "", "Which of the two programs has the wrong length."},
    ClaimRow{"case-flushed-only", kWarning, "completions in logs", "Only flushed work requests are logged", "a log that begins too late", "The first error of the queue pair: nobody logged it."},
    ClaimRow{"case-peer-closed-first", kWarning, "bootstrap sockets of NCCL", "A peer process closed its bootstrap connection first", "a network of its own for TCP that failed", "Why that process ended."},
    ClaimRow{"case-process-ended", kWarning, "logs of programs and kernels", "A process crashed or was ended", "an end that somebody asked for", "Why it ended, without its backtrace."},
    // Captures.
    ClaimRow{"case-line-on-wire", kNote, "a log beside a capture", "A line of a log is about a connection of a capture", "another queue pair with the same number", "Whether the capture shows what the line complains of at that very time."},
    ClaimRow{"case-counters-and-wire", kNote, "counters beside a capture", "What counters counted stands beside what the wire showed", "", "Whether both are of one time: nothing ties them."},
    ClaimRow{"case-capture-clean", kNote, "a capture", "The analysis of a capture has no warning and no error", "a capture of another place or time", "What was not captured."},
    // Hosts.
    ClaimRow{"case-port-down", kError, "logs of kernels, libraries and switches", "A port or link went down", "an administrator who set the interface down", "Why: cable, transceiver, adapter or switch port."},
    ClaimRow{"case-iommu-fault", kError, "kernel log", "The IOMMU refused a DMA of the adapter", "a fault of another device with a similar address", "Which buffer the address belonged to."},
    ClaimRow{"case-pcie-error", kError, "kernel log", "PCIe reported errors", "corrected errors, which are common", "Whether slot, card or riser is at fault."},
    ClaimRow{"case-machine-check", kError, "kernel log", "The machine reported a hardware error", "", "Whether it touched the job."},
    ClaimRow{"case-gpu-error", kError, "kernel log, logs of programs", "A GPU failed, which ends the rank that uses it", "a program that misused the GPU", "Whether the GPU or its program was first."},
    ClaimRow{"case-gpu-memory", kError, "logs of programs", "A program wanted more memory of its GPU than there is", "another process on that GPU", "What else held the memory."},
    ClaimRow{"case-out-of-memory", kError, "kernel log", "The kernel ran out of memory and killed a process", "a limit of the container", "Whether that process was part of the job, where no number ties it."},
    ClaimRow{"case-cpu-stuck", kError, "kernel log", "A CPU was stuck and made no progress", "a virtual machine that was not scheduled", "What held it, without the stack."},
    ClaimRow{"case-kernel-bug", kError, "kernel log", "The kernel reports a fault in its own code", "a trace that another failure printed", "Which change caused it."},
    ClaimRow{"case-transmit-stuck", kWarning, "kernel log", "A transmit queue was stuck", "a pause that lasted long", "Whether the adapter failed or was paused."},
    ClaimRow{"case-device-fatal", kError, "kernel log", "The adapter or its firmware failed", "a bus error that looks so", "Whether the failure of the job came after it, where no time ties them."},
    ClaimRow{"case-queue-overrun", kError, "kernel log, logs of programs", "A completion queue overran or could not be written", "", "Which program made it too small."},
    ClaimRow{"case-pause-storm", kError, "log of a switch", "A switch detected a PFC storm behind a port", "a port whose device reboots", "Why the device behind the port paused."},
    ClaimRow{"case-lossy-pause", kError, "log of a switch", "Pause frames came for a class that is not lossless", "", "Which end has the wrong map of priorities."},
    ClaimRow{"case-queue-pair-event", kWarning, "logs of kernels and programs", "An adapter reported an error of a queue pair", "", "Which request caused it."},
    ClaimRow{"case-queue-pair-not-set-up", kError, "logs of libraries", "A queue pair could not reach RTR or RTS", "a peer that is gone", "Which attribute the adapter refused."},
    ClaimRow{"case-no-device", kError, "logs of libraries", "A library found no RDMA device that it can use", "a container without devices", "Why the device was left out."},
    ClaimRow{"case-memory-refused", kError, "logs of programs", "Memory could not be registered or allocated", "", "Which limit it was, where none is here."},
    ClaimRow{"case-address-unresolved", kError, "logs of programs and kernels", "The address or route of a peer did not resolve", "a peer that is down", "Whether address, route or subnet manager is wrong."},
    ClaimRow{"case-connect-unanswered", kWarning, "logs of programs and kernels", "A request to connect got no answer", "a listener that is stopped", "Whether the request arrived."},
    ClaimRow{"case-connect-rejected", kError, "logs of programs and kernels", "A peer rejected a connection", "", "The reason of its application, where the number alone is here."},
    ClaimRow{"case-socket-failed", kWarning, "logs of programs", "A TCP connection of a program failed", "", "Anything of RDMA: the line is of TCP."},
    ClaimRow{"case-command-refused", kError, "kernel log", "Firmware refused commands of its driver", "a driver that asks for what is not supported", "Whether driver or firmware is wrong."},
    ClaimRow{"case-keep-alive-expired", kError, "kernel log of a storage target", "The keep-alive of a controller expired first", "", "Whether host, path or slow set-up was the reason, where no set-up is logged."},
    ClaimRow{"case-storage-timeout", kWarning, "kernel log", "A storage request was not answered in time", "", "Whether the target was slow, gone or out of reach."},
    ClaimRow{"case-tasks-blocked", kError, "kernel log", "Tasks of the kernel were blocked for minutes", "tasks that wait for a target that is gone", "What they wait for, where their stacks form no cycle."},
    // Lines that say by themselves what is wrong (notices.hpp).
    ClaimRow{"case-neighbours-full", kError, "kernel log", "The kernel's table of neighbours is full", "", "Which addresses fill it."},
    ClaimRow{"case-multicast-refused", kError, "kernel log", "A port may not join a multicast group of InfiniBand", "a subnet manager that restarts", "Which of P_Key, MTU and rate does not fit."},
    ClaimRow{"case-bus-narrow", kError, "kernel log", "The bus carries less than the adapter could", "a slot that is narrow by design", "Whether the traffic needs more."},
    ClaimRow{"case-device-not-opened", kError, "logs of NCCL", "A process may not open the device that it sees", "a driver without its user-space part", "Which of rights, device file and driver is missing."},
    ClaimRow{"case-gpu-direct-off", kWarning, "logs of NCCL", "GPU Direct RDMA is not used", "a GPU far from the adapter", "Why: the module, its build or the distance."},
    ClaimRow{"case-named-option-missing", kWarning, "logs of RCCL", "A library names an option that it wants and lacks", "", "Whether the job would run with it."},
    ClaimRow{"case-no-way-to-peer", kWarning, "logs of UCX", "A library calls its peer unreachable before it sends", "a peer of another fabric", "Which check of its addresses failed."},
    ClaimRow{"case-host-unreachable", kWarning, "logs of libfabric's users", "A provider calls its peer unreachable", "", "Which rule between the two drops."},
    ClaimRow{"case-openib-not-started", kWarning, "output of Open MPI", "Open MPI's old transport could not start a device", "a device that UCX uses well", "Whether MPI then used RDMA."},
    ClaimRow{"case-firewall", kError, "rules of a firewall", "A firewall drops packets of RoCE", "", "Whether the adapter lets its rules see them."},
    ClaimRow{"case-optics", kError, "readings of a transceiver", "A transceiver receives too little light", "a port at the other end that is down", "Fibre or transceiver."},
    ClaimRow{"case-hot", kError, "kernel log", "An adapter is hot", "", "Whether it slowed anything down."},
    ClaimRow{"case-link-below-best", kError, "iblinkinfo", "A link runs below what both of its ends can", "a speed that somebody set", "Whether it was set so."},
    ClaimRow{"case-port-left-fabric", kError, "log of opensm", "The subnet manager removed a port from the fabric", "a host that rebooted", "Why it stopped answering."},
    ClaimRow{"case-job-ended", kError, "output of a scheduler", "The scheduler ended the job", "a job that hung until its limit", "What the job did before."},
    // What hosts say of themselves.
    ClaimRow{"case-driver-mismatch", kError, "kernel log, output of libibverbs", "Drivers or libraries of RDMA are of different builds", "a module that another one replaces", "Which of the two should be replaced."},
    ClaimRow{"case-module-refused", kError, "output of modprobe", "The kernel refuses to load a module", "a container that may load none", "Whether Secure Boot or a lockdown asks for the signature, where nobody says."},
    ClaimRow{"case-verbs-not-loaded", kError, "output of programs", "A kernel module that programs of RDMA need is not loaded", "a container without its devices", "Why it was not loaded."},
    ClaimRow{"case-firmware-not-starting", kError, "kernel log", "The firmware of an adapter does not start", "an adapter that is being reset", "Whether the image or the adapter is defect."},
    ClaimRow{"case-device-limited", kError, "kernel log", "An adapter runs in a mode without RDMA", "", "Which package its firmware wants."},
    ClaimRow{"case-slot-power", kWarning, "kernel log", "A slot promises little power to an adapter", "a message of cards that need less", "Whether the card draws more."},
    ClaimRow{"case-access-denied", kError, "audit log, output of programs", "A program may not use its RDMA devices", "", "Which further right is missing behind the first."},
    ClaimRow{"case-limit-reached", kError, "output of programs", "A process has reached a limit of its host", "a leak of the program", "Whether the limit is small or the use is large."},
    ClaimRow{"case-shared-memory-full", kError, "output of programs", "Shared memory of a host or container is used up", "", "What fills it."},
    ClaimRow{"case-disk-full", kError, "output of programs", "A program could not write: no space or no quota", "", "Which path it was, where the line does not say."},
    ClaimRow{"case-disk-error", kWarning, "kernel log", "A disk or file system reports errors", "a remote disk whose transport failed", "Whether the job uses that disk."},
    ClaimRow{"case-conntrack-full", kError, "kernel log", "The table of tracked connections is full", "", "Whose connections fill it."},
    ClaimRow{"case-firewall-blocks", kError, "kernel log", "A firewall logs what it drops", "strangers that knock", "Whether what it drops is of the job, where it is TCP."},
    ClaimRow{"case-duplicate-address", kError, "kernel log", "Another machine has the same address", "a loop that sends packets back", "Which of the two should have it."},
    ClaimRow{"case-interface-taken-down", kWarning, "system log", "An interface was taken down or lost its address", "a link that went down first", "Who asked for it."},
    ClaimRow{"case-host-crashed", kError, "kernel log", "The kernel of a host panicked", "", "Why, without the trace before it."},
    ClaimRow{"case-memory-fragmented", kWarning, "kernel log", "The kernel found no memory in one piece", "", "What failed for it."},
    ClaimRow{"case-throttled", kWarning, "kernel log", "CPUs of a host are too hot and run slower", "", "Whether the job ran there then."},
    ClaimRow{"case-gpu-driver", kError, "output of programs", "A program and the GPU driver of its host do not fit", "", "Which version the others have, where nobody says."},
    ClaimRow{"case-peermem-not-loaded", kError, "output of modprobe", "The module for GPU direct could not be loaded", "", "Which drivers it was built with."},
    // What lies between hosts.
    ClaimRow{"case-port-error-disabled", kError, "log of a switch", "A switch took a port out of use by itself", "", "What made its link flap, where that was the reason."},
    ClaimRow{"case-mac-moves", kError, "log of a switch", "An address moves between ports of a switch", "a virtual machine that moved", "Which of loop and bond it is."},
    ClaimRow{"case-route-lost", kError, "log of a router", "A router lost a neighbour and the routes through it", "a session that was restarted", "Whether other routes were there."},
    ClaimRow{"case-switch-table-full", kError, "log of a switch", "A table of a switch is full", "", "Which entry found no room."},
    ClaimRow{"case-subnet-manager-error", kWarning, "log of opensm", "The subnet manager reports an error", "errors of nodes that are switched off", "Whether it is of the hosts that fail."},
    ClaimRow{"case-duplicate-guid", kError, "logs of fabric tools", "Two ports of a fabric have the same GUID", "a cable that leads back", "Which of the two should have it."},
    ClaimRow{"case-fabric-check", kError, "ibdiagnet", "The check of a fabric finds an error", "errors from before counters were cleared", "Whether the job used that link."},
    ClaimRow{"case-bond-without-partner", kError, "kernel log", "A bond gets no answer to LACP", "a switch that restarts", "Which ports of the switch its legs hang on."},
    ClaimRow{"case-larger-mtu-asked", kError, "output of programs", "A program asks for a larger MTU than its port has", "", "Which of the two ends is smaller."},
    ClaimRow{"case-gid-not-added", kError, "kernel log", "A GID did not find room in an adapter's table", "", "Why the driver refused it."},
    ClaimRow{"case-interface-not-for-rdma", kError, "kernel log", "Soft RoCE was not put on an interface", "", "Which of missing, taken and unfit it is."},
    // Jobs that do not begin, and those that end.
    ClaimRow{"case-name-unresolved", kError, "output of programs", "A name does not resolve", "a name that was not there yet", "Which of DNS and hosts files is wrong."},
    ClaimRow{"case-port-in-use", kError, "output of programs", "A port that a program wants is taken", "", "Who has it."},
    ClaimRow{"case-no-bootstrap-interface", kError, "logs of NCCL", "NCCL finds no interface for its bootstrap", "", "Which interface it should be."},
    ClaimRow{"case-launcher-refused", kError, "output of launchers", "A launcher could not start processes on a host", "", "What that host would have done."},
    ClaimRow{"case-node-lost", kError, "logs of schedulers", "A scheduler lost a host", "a management network that failed", "Why the host does not respond."},
    ClaimRow{"case-pod-ended", kError, "events of a cluster", "A cluster ended a pod", "", "Whether the job would have failed without it."},
    ClaimRow{"case-no-rdma-resource", kError, "events of a cluster, logs of device plugins", "A pod gets no RDMA device", "other jobs that hold them", "Why the plugin found none, where it does not say."},
    ClaimRow{"case-network-namespace", kError, "logs of device plugins", "RDMA devices belong to one network namespace each", "", "Which mode the cluster wants."},
    ClaimRow{"case-pod-without-network", kError, "events of a cluster", "The network of a pod could not be made", "", "What its plugins lack, where they do not say."},
    ClaimRow{"case-program-abort", kError, "output of MPI", "The program of a rank ended the job itself", "an abort that follows an error of MPI", "Which check of the program it was."},
    ClaimRow{"case-rank-ended", kError, "output of schedulers", "The process of a rank ended", "processes that the scheduler ended", "Why, without its core or log."},
    ClaimRow{"case-launcher-lost-host", kWarning, "output of MPI", "A launcher lost its daemon on a host", "", "Whether the host or its network failed."},
    ClaimRow{"case-setting-names-nothing", kError, "logs of UCX, output of perftest", "A setting names what is not there", "a host that differs from the others", "What was meant."},
    ClaimRow{"case-library-mismatch", kError, "logs of libraries", "A program runs with another library than it was built for", "", "Which of two copies is found first."},
    ClaimRow{"case-cannot-listen", kError, "output of programs", "A program cannot listen at its address", "", "Whether address or port is wrong, where the line does not say."},
    ClaimRow{"case-mount-failed", kWarning, "output of mount", "A mount of NFS failed", "", "What the server saw."},
    ClaimRow{"case-connect-failed", kWarning, "output of nvme", "A connection of NVMe failed", "", "Which step failed: the kernel's log has it."},
    ClaimRow{"case-contexts-used-up", kError, "output of PSM2", "An adapter has no context left for a process", "", "Which processes hold them."},
    // Settings that do not fit together.
    ClaimRow{"case-vlans-differ", kError, "VLANs and addresses of two hosts", "Addresses of one subnet are in two VLANs", "a router between the two", "Which VLAN is meant."},
    ClaimRow{"case-reverse-path-filter", kError, "settings and addresses of a host", "A host drops what comes in by its second interface", "", "Which interface the peer asked."},
    ClaimRow{"case-partitions-apart", kError, "P_Key tables of two hosts", "Two ports are in no partition together", "a P_Key at another index", "What the subnet manager was told."},
    ClaimRow{"case-bond-leg-alone", kError, "state of a bond", "A leg of a bond has no partner", "", "What is at the other end of its cable."},
    ClaimRow{"case-neighbour-unresolved", kError, "table of neighbours", "Nobody answers for an address", "an address that is not used", "Whether the host, its VLAN or the path is wrong."},
    ClaimRow{"case-virtual-function-off", kError, "ip link of a host", "The link of a virtual function is switched off", "a function that is not used", "Which guest has it."},
    ClaimRow{"case-fec-differs", kError, "FEC of a host and of a switch port", "Both ends of a link that is down use different FEC", "a port that leads elsewhere", "Which end is wrong."},
    ClaimRow{"case-no-atomics", kWarning, "limits of a device, a completion", "A device has no atomic operations", "", "Whether the program asked for one, where its log does not say."},
    ClaimRow{"case-more-than-device", kError, "a request, limits of a device", "A program asks for more than its device has", "", "Whether it would run with less."},
    ClaimRow{"case-tcp-filtered", kError, "rules of a firewall, a connection that failed", "A firewall lists no port that a program wants", "a program that is not running", "Whether the program listens."},
    // Settings.
    ClaimRow{"case-port-waits-for-sm", kError, "a list of ports", "No subnet manager has set up a port", "a port that came up a moment ago", "Whether a subnet manager runs."},
    ClaimRow{"case-gid-table-empty", kError, "a GID table", "The GID table is empty", "an interface that is down", "Where the interface of the device is."},
    ClaimRow{"case-roce-mode-differs", kError, "RoCE modes of two hosts", "Hosts use different versions of RoCE", "", "What programs without rdma_cm use."},
    ClaimRow{"case-path-mtu", kError, "ping of two sizes", "A path carries no large packets", "a firewall that drops large pings", "Which hop it is."},
    ClaimRow{"case-device-full", kError, "what a device has in use, its limits", "A device can make no more of something", "", "Which program should have fewer."},
    ClaimRow{"case-gid-index", kError, "a GID table, the index in use", "The GID in use does not lead to the peer", "", "The path itself."},
    ClaimRow{"case-gid-tables-differ", kError, "GID tables of two hosts", "One GID index means different things on two hosts", "hosts of different jobs", "Whether the index is used, where nobody names it."},
    ClaimRow{"case-queue-pair-in-error", kError, "a list of queue pairs", "A queue pair is in an error state", "a queue pair that its program is closing", "Whether it failed before its peer gave up."},
    ClaimRow{"case-queue-pair-alone", kWarning, "lists of queue pairs of two hosts", "A queue pair has no partner in the other list", "a partner on a third host", "When the partner was closed."},
    ClaimRow{"case-acs", kError, "lspci, a local error", "ACS redirects DMA between GPU and adapter", "", "Which of the bridges lies between the two."},
    ClaimRow{"case-retries-too-short", kError, "an environment, retries exceeded", "An adapter is told to give up within milliseconds", "", "Whether the answer would have come later."},
    ClaimRow{"case-device-not-there", kError, "an environment, a list of devices", "An environment names a device that is not there", "a device that appears later", "What the program saw in its container."},
    ClaimRow{"case-settings-differ", kWarning, "settings of several hosts", "MTU, rate or firmware differ between hosts", "", "Whether the difference is the cause."},
    ClaimRow{"case-port-is-down", kWarning, "a list of ports", "A port is down", "a port that is not used", "Since when."},
    ClaimRow{"case-locked-memory", kError, "limits of a process", "The limit of locked memory is small", "", "Whether more was asked for, where no refusal is logged."},
    ClaimRow{"case-pcie-narrow", kError, "lspci", "A PCIe link runs below what it can", "a slot that is narrow by design", "Whether the traffic needs more."},
    ClaimRow{"case-qos-differs", kError, "QoS settings of several hosts", "QoS settings differ between hosts", "", "What the switch has."},
    ClaimRow{"case-class-not-lossless", kWarning, "an environment, QoS settings", "The class in use has no PFC", "a map of DSCP that is not the default one", "The map that the adapter has."},
    // Counters.
    ClaimRow{"case-packets-lost", kError, "counters before and after", "Packets were lost or reordered, or answers did not come", "adaptive routing, which reorders", "Where: the counters of the switch are needed."},
    ClaimRow{"case-counters-once", kWarning, "one reading of counters", "Counters show that something happened at some time", "", "When: one reading has no difference."},
    ClaimRow{"case-receiver-not-ready", kError, "RNR counters", "Requests came while no receive was posted", "", "Which queue pair: counters are of the port."},
    ClaimRow{"case-pause-at-switch", kWarning, "PFC counters of a switch", "A switch was paused, or paused", "", "Whether the device behind the port is the root."},
    ClaimRow{"case-pause-sent", kError, "PFC counters of a host", "A host cannot take what it is sent", "a burst that a deeper buffer would take", "Whether bus, memory or receiver is slow, where none counts."},
    ClaimRow{"case-pause-received", kWarning, "PFC counters of a host", "The switch paused a host", "", "Which port behind the switch is congested."},
    ClaimRow{"case-dropped-in-nic", kError, "counters of an adapter", "An adapter dropped packets that it received", "", "Why its buffer was full."},
    ClaimRow{"case-class-without-pfc", kError, "PFC settings, counters by priority", "All traffic is in a priority without PFC", "", "Whether RDMA is all of that traffic, where no counter says."},
    ClaimRow{"case-pause-of-other-class", kWarning, "PFC counters by priority", "Pause moves on another priority than the traffic", "", "Which of the two maps is wrong."},
    ClaimRow{"case-pause-storm-counted", kError, "watchdog counters", "A pause lasted so long that it counts as a storm", "", "Why the device behind it paused."},
    ClaimRow{"case-link-went-down", kError, "link counters", "A link went down between two readings", "", "Why."},
    ClaimRow{"case-signal-errors", kError, "link counters", "A link has errors on its receive side", "", "Whether cable, transceiver or port."},
    ClaimRow{"case-receive-errors", kWarning, "port counters of switches", "A port receives frames that it counts as wrong", "frames longer than its MTU", "Which kind of error it is."},
    ClaimRow{"case-bit-errors", kError, "mlxlink", "A link has bit errors that FEC does not mend", "errors from before it was cabled anew, where nobody cleared", "Which end of the link is bad."},
    ClaimRow{"case-queue-drops", kError, "queue counters of a switch", "A switch drops packets of a full queue", "", "Whether RDMA is in that queue."},
    ClaimRow{"case-relay-discards", kNote, "port counters of InfiniBand", "A switch did not send packets back to where they came from", "", "Whether other errors of those ports matter."},
    ClaimRow{"case-upstream-errors", kWarning, "port counters of InfiniBand", "A switch passed on broken packets", "", "Which link further up is bad."},
    ClaimRow{"case-waits-for-credits", kWarning, "port counters of InfiniBand", "Data waited for credits of the next hop", "", "Where the congestion begins."},
    ClaimRow{"case-bad-icrc", kWarning, "counters of an adapter", "Packets came with a wrong ICRC", "an adapter that miscounts tunnelled packets", "Whether the sender or a device on the way made it wrong."},
    ClaimRow{"case-traffic-flows", kError, "byte and error counters", "RDMA traffic flows, as far as counters tell", "", "Whether it is as fast as it should be."},
    ClaimRow{"case-words-of-four-bytes", kNote, "port counters", "Port counters count words of four bytes", "", "What a dashboard makes of them."},
    ClaimRow{"case-netdev-counter", kWarning, "ethtool -S", "A counter of the network interface is none of RDMA", "", "Anything of queue pairs."},
    ClaimRow{"case-pfc-readings-differ", kError, "two readings of a switch", "Two readings of one PFC counter contradict each other", "", "Which software reads wrongly."},
    ClaimRow{"case-marks-without-cnp", kWarning, "congestion counters", "Marked packets came, and no CNP was sent", "an adapter that does not count CNPs", "Whether the notification point is off."},
    ClaimRow{"case-cnp-handled", kNote, "congestion counters", "CNPs came, so something on the way marks packets", "", "What marks them."},
    ClaimRow{"case-flushes-among-errors", kNote, "completion counters", "Of the failed completions some are flushes", "", "Which came first."},
    ClaimRow{"case-software-limit", kError, "counters of soft-RoCE, benchmarks", "Software RDMA lost nothing, and is slow by itself", "", "What hardware would reach."},
    // Jobs.
    ClaimRow{"case-rank-silent", kError, "a RAS dump", "A process or rank of the job does not answer", "", "Why it does not."},
    ClaimRow{"case-ranks-apart", kError, "a RAS dump", "Ranks have launched different numbers of operations", "a moment between two operations", "Whether the job hangs: one reading shows no time."},
    ClaimRow{"case-collective-sizes", kError, "flight recorders", "Ranks gave one collective different sizes", "", "Which rank is right."},
    ClaimRow{"case-transport-timeout", kWarning, "logs of UCX", "A software transport gave up on its peer", "", "Whether peer, path or address is wrong."},
    ClaimRow{"case-rank-behind", kError, "watchdogs, flight recorders", "A rank never issued a call that others wait for", "", "What holds its program up."},
    ClaimRow{"case-ranks-equal", kWarning, "watchdogs, flight recorders", "All ranks issued the call that did not end", "", "Whether a GPU or the network held it up."},
    ClaimRow{"case-collective-timeout", kWarning, "watchdogs", "A collective did not end in time", "", "Which rank or link held it up."},
    ClaimRow{"case-failed-first", kNote, "stamps of one clock", "Which host failed first", "clocks that are apart by more", "The order within that error."},
    ClaimRow{"case-sockets-not-rdma", kError, "logs of NCCL", "NCCL used sockets, not RDMA", "", "Why, where no setting says."},
    ClaimRow{"case-bootstrap-address", kError, "logs of NCCL", "Hosts meet at an address that others do not reach", "one host with several names", "Whether the interface that it should be is up."},
    ClaimRow{"case-counter-unexplained", kWarning, "counters before and after", "A counter of something wrong grew, and no rule knows it", "a counter that always grows", "What it counts."},
    ClaimRow{"case-line-unexplained", kWarning, "logs of programs and kernels", "A line complains, and no rule explains it", "a line that is always there", "What it means."},
    ClaimRow{"case-program-exception", kError, "logs of ranks", "The program of a rank raised an exception", "an exception that passes on another failure", "What lies behind it, without the traceback."},
    ClaimRow{"case-unrelated", kError, "all lines that were read", "Nothing that was read is about RDMA", "a log that is missing", "What was not handed over."},
};
// clang-format on

constexpr std::array kFacts{&facts::kCompletionStatus, &facts::kVendorError, &facts::kOwnQueuePairs,
                            &facts::kNamedPeers,       &facts::kComplaining, &facts::kGrown,
                            &facts::kNamedDevices};

}  // namespace

std::span<const ClaimRow> claim_rows() { return kRows; }

const ClaimRow* claim_row(std::string_view id) {
    const auto row = std::ranges::find(kRows, id, &ClaimRow::id);
    return row == kRows.end() ? nullptr : &*row;
}

std::span<const transport::FactRow* const> claim_facts() { return kFacts; }

}  // namespace qps::casework
