#include <dissect/capture/file_map.hpp>

#include <array>
#include <atomic>
#include <csignal>
#include <mutex>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

namespace qps::dissect {

namespace {

constexpr std::size_t kMaps = 256;  // files that are open at once, several of each window
constexpr std::uintptr_t kFree = 0, kTaken = 1;
constexpr std::uint64_t kNothing = UINT64_MAX;

// What the handler reads. A slot counts once its start is an address.
struct Slot {
    std::atomic<std::uintptr_t> start = kFree;
    std::atomic<std::size_t> size = 0;
    std::atomic<std::uint64_t> lost = kNothing;
};
static_assert(std::atomic<std::uintptr_t>::is_always_lock_free);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

std::array<Slot, kMaps>
    slots;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): a handler has nothing else
struct sigaction handled_before = {};  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

// Zeros for all of the map from the page of `address` on. mmap() is a system call and nothing else.
bool replace(Slot& slot, std::uintptr_t address) {
    const std::uintptr_t start = slot.start.load();
    const std::size_t size = slot.size.load();
    if (start <= kTaken || address < start || address - start >= size) return false;
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const std::uintptr_t from = address / page * page;
    void* place = reinterpret_cast<void*>(from);  // NOLINT(performance-no-int-to-ptr): where the system says
    if (::mmap(place, start + size - from, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
        return false;
    const std::uint64_t offset = from - start;
    std::uint64_t known = slot.lost.load();
    while (offset < known && !slot.lost.compare_exchange_weak(known, offset)) {
    }
    return true;
}

void handle(int signal, siginfo_t* info, void* context) {
    const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    for (Slot& slot : slots)
        if (info->si_code > 0 && replace(slot, address)) return;  // else somebody sent it
    if ((handled_before.sa_flags & SA_SIGINFO) != 0) return handled_before.sa_sigaction(signal, info, context);
    if (handled_before.sa_handler != SIG_DFL && handled_before.sa_handler != SIG_IGN)
        return handled_before.sa_handler(signal);
    ::signal(signal, SIG_DFL);
    ::raise(signal);  // once this returns: it ends the process, also where somebody sent it
}

void install_handler() {
    static std::once_flag once;
    std::call_once(once, [] {
        struct sigaction action = {};
        action.sa_sigaction = handle;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK;
        ::sigemptyset(&action.sa_mask);
        ::sigaction(SIGBUS, &action, &handled_before);
    });
}

std::optional<std::size_t> free_slot() {
    for (std::size_t i = 0; i < slots.size(); ++i) {
        std::uintptr_t free = kFree;
        if (slots[i].start.compare_exchange_strong(free, kTaken)) return i;
    }
    return {};
}

}  // namespace

FileMap::FileMap(int file, std::size_t size) : size_(size) {
    const auto slot = free_slot();
    if (!slot) return;
    slot_ = *slot;
    void* start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (start == MAP_FAILED) {
        slots[slot_].start.store(kFree);
        return;
    }
    install_handler();
    start_ = start;
    slots[slot_].size.store(size);
    slots[slot_].lost.store(kNothing);
    slots[slot_].start.store(reinterpret_cast<std::uintptr_t>(start));
    ::madvise(start_, size_, MADV_SEQUENTIAL);
}

FileMap::FileMap(FileMap&& other) noexcept
    : start_(std::exchange(other.start_, nullptr)), size_(other.size_), slot_(other.slot_) {}

FileMap& FileMap::operator=(FileMap&& other) noexcept {
    std::swap(start_, other.start_);
    std::swap(size_, other.size_);
    std::swap(slot_, other.slot_);
    return *this;
}

FileMap::~FileMap() {
    if (start_ == nullptr) return;
    ::munmap(start_, size_);
    slots[slot_].start.store(kFree);
}

std::optional<std::uint64_t> FileMap::lost_from() const {
    if (start_ == nullptr) return {};
    const std::uint64_t lost = slots[slot_].lost.load();
    return lost == kNothing ? std::nullopt : std::optional(lost);
}

}  // namespace qps::dissect
