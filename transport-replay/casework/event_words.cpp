#include <transport-replay/casework/event_words.hpp>

namespace qps::casework {

namespace {

using enum EventKind;
using Group = EventGroup;

// By EventKind.
constexpr std::array kRows{
    EventWords{completion_error, Group::queue_pair, "completion error"},
    EventWords{work_request, Group::queue_pair, "work request of the error"},
    EventWords{port_down, Group::link, "port down"},
    EventWords{port_up, Group::link, "port up"},
    EventWords{queue_pair_error, Group::queue_pair, "queue pair error"},
    EventWords{queue_overrun, Group::queue_pair, "completion queue overrun"},
    EventWords{device_fatal, Group::device, "device failed"},
    EventWords{command_refused, Group::device, "firmware refused a command"},
    EventWords{resource_failed, Group::device, "queue not created"},
    EventWords{setup_failed, Group::setup, "queue pair not set up"},
    EventWords{no_device, Group::setup, "no RDMA device found"},
    EventWords{memory_refused, Group::setup, "memory not registered"},
    EventWords{address_unresolved, Group::setup, "address not resolved"},
    EventWords{unreachable, Group::setup, "connection request not answered"},
    EventWords{rejected, Group::setup, "connection rejected"},
    EventWords{disconnected, Group::setup, "disconnected"},
    EventWords{peer_closed, Group::job, "peer closed its connection"},
    EventWords{socket_failed, Group::job, "TCP connection failed"},
    EventWords{remote_error, Group::job, "remote side failed"},
    EventWords{watchdog, Group::job, "collective timed out"},
    EventWords{transport_timeout, Group::queue_pair, "transport timed out"},
    EventWords{storage_timeout, Group::storage, "I/O timed out"},
    EventWords{keep_alive_expired, Group::storage, "keep-alive expired"},
    EventWords{controller_created, Group::storage, "controller created"},
    EventWords{queues_created, Group::storage, "I/O queues created"},
    EventWords{controller_reset, Group::storage, "controller reset"},
    EventWords{iommu_fault, Group::device, "IOMMU fault"},
    EventWords{pcie_error, Group::device, "PCIe error"},
    EventWords{machine_check, Group::device, "machine check"},
    EventWords{gpu_error, Group::device, "GPU error"},
    EventWords{gpu_memory, Group::job, "out of GPU memory"},
    EventWords{out_of_memory, Group::job, "out of memory"},
    EventWords{process_ended, Group::job, "process ended"},
    EventWords{cpu_stuck, Group::device, "CPU stuck"},
    EventWords{task_blocked, Group::device, "task blocked"},
    EventWords{kernel_bug, Group::device, "kernel bug"},
    EventWords{lock_warning, Group::device, "lock warning"},
    EventWords{transmit_stuck, Group::link, "transmit queue stuck"},
    EventWords{pause_storm, Group::link, "pause storm"},
    EventWords{lossy_pause, Group::link, "pause for a lossy class"},
    EventWords{reboot, Group::device, "boot"},
    EventWords{exception, Group::job, "exception of a rank"},
    EventWords{notice, Group::other, "notice"},
    EventWords{unexplained, Group::other, "complaint"},
};
static_assert([] {
    for (std::size_t i = 0; i < kRows.size(); ++i)
        if (kRows[i].kind != static_cast<EventKind>(i)) return false;
    return kRows.size() == static_cast<std::size_t>(unexplained) + 1;
}());

}  // namespace

const EventWords& words_of(EventKind kind) { return kRows[static_cast<std::size_t>(kind)]; }

}  // namespace qps::casework
