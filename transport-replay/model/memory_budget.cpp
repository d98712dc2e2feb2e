#include <transport-replay/model/memory_budget.hpp>

#include <fstream>

#include <unistd.h>

namespace qps::transport {

namespace {

// What the control group may use (cgroup v2; "max" is no number: no bound).
std::uint64_t group_memory() {
    std::ifstream file("/sys/fs/cgroup/memory.max");
    std::uint64_t bytes = 0;
    return file >> bytes ? bytes : std::numeric_limits<std::uint64_t>::max();
}

}  // namespace

MemoryBudget MemoryBudget::of_machine() {
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long page = sysconf(_SC_PAGESIZE);
    if (pages <= 0 || page <= 0) return MemoryBudget{};
    const std::uint64_t machine = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page);
    return MemoryBudget(std::max(kLeast, std::min(machine, group_memory()) / 4));
}

}  // namespace qps::transport
