// What the queue pairs of a protection domain may reach: memory regions and the windows bound to them, by key.
//
// All memory is borrowed from its owner, and must outlive its region. Invariant: a span that reach() or local()
// gives lies in one region, and every right was granted by the region or window whose key was shown; a window lies in
// its region, which stays as long as the window does.
//
// A peer can show any key, address and length: a wrong one finds nothing, and sums of them do not overflow. Keys are
// counted (kMaxRegions).
#pragma once

#include <dissect/base/bytes.hpp>
#include <dissect/base/types.hpp>
#include <transport-replay/model/observation.hpp>

#include <cstdint>
#include <optional>

#include <boost/container/small_vector.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

namespace qps::transport {

// What a region or window grants, and what an operation wants (10.6.3.1). `read`, `write` and `atomic` are the peer's.
struct AccessRights {
    bool local_write = false;
    bool read = false;
    bool write = false;  // an ATOMIC WRITE wants it, too
    bool atomic = false;
    bool bind = false;              // windows may be bound to it
    bool flush_global = false;      // A19: global visibility
    bool flush_persistent = false;  // A19: persistence
    [[nodiscard]] bool operator==(const AccessRights&) const = default;
};
[[nodiscard]] bool covers(const AccessRights& granted, const AccessRights& wanted);

// Pieces of local memory, in order: what a work request or a posted receive is made of.
using Segments = boost::container::small_vector<dissect::MutableBytes, 2>;
inline constexpr std::size_t kMaxSegments = 32;  // of one request: as many as devices offer (30 is common)

[[nodiscard]] std::uint64_t length_of(const Segments& segments);
// Copies `bytes` to where they stand in the message, `offset` bytes from its beginning; what does not fit is left out.
void scatter(const Segments& segments, std::uint64_t offset, dissect::Bytes bytes);
// The bytes from `offset` on, at most `length`: of one segment they are that memory; of several they are copied into
// `room`, which then holds them (as many as it has place for).
[[nodiscard]] dissect::Bytes gather(const Segments& segments, std::uint64_t offset, std::uint32_t length,
                                    dissect::MutableBytes room);

struct MemoryRegion {
    dissect::Rkey key{};     // also the local key
    std::uint64_t base = 0;  // virtual address of the first byte
    AccessRights rights{};
    dissect::MutableBytes bytes{};
    bool valid = true;          // false once invalidated
    bool invalidatable = true;  // false: no SEND with invalidate and no local invalidate ends it (registered by reg_mr)
};

struct MemoryWindow {
    dissect::Rkey key{};
    dissect::Rkey region{};
    std::uint64_t base = 0;  // virtual address in the region
    std::uint64_t length = 0;
    AccessRights rights{};
    std::optional<dissect::Qpn> of{};  // type 2: this queue pair alone, and it may be invalidated; type 1: nothing
};

inline constexpr std::size_t kMaxRegions =
    1U << 16;  // regions and windows of a protection domain: what small devices offer

class Memory {
public:
    // False: the key is taken, or there are too many.
    [[nodiscard]] bool add(const MemoryRegion& region);
    // False: the key is taken, or the region is not there, grants no windows, or less than the window is to grant
    // (10.6.7.2.2).
    [[nodiscard]] bool bind(const MemoryWindow& window);
    // Fast registration: the region that is under that key, and not valid, is as given from now on, and under the new
    // key. False: no such region, or it is valid, or the new key is another's.
    bool register_again(dissect::Rkey key, const MemoryRegion& region);
    // Deregisters a region or unbinds a window. False: no such key, or windows are bound to the region.
    bool remove(dissect::Rkey key);
    // What SEND with invalidate and local invalidate do: a region is no longer valid, a type 2 window is unbound.
    // False: no such key, not valid, a type 1 window, another queue pair's window, or windows are bound to the region.
    [[nodiscard]] bool invalidate(dissect::Rkey key, dissect::Qpn by);

    // The bytes, or nothing where the key is unknown or invalid, the range leaves the region, or a right is missing.
    // `by` is the local queue pair that is asked.
    [[nodiscard]] std::optional<dissect::MutableBytes> reach(const RemoteAccess& access, const AccessRights& wanted,
                                                             dissect::Qpn by) const;
    // The same for all that the key covers (FLUSH of a memory region).
    [[nodiscard]] std::optional<dissect::MutableBytes> reach_all(dissect::Rkey key, const AccessRights& wanted,
                                                                 dissect::Qpn by) const;
    // For the segments of requests and receives: no window, and to be written only with the right of local writing.
    [[nodiscard]] std::optional<dissect::MutableBytes> local(dissect::Rkey key, std::uint64_t address,
                                                             std::uint32_t length, bool to_write) const;

    [[nodiscard]] std::size_t size() const { return entries_.size(); }  // regions and windows

private:
    struct Entry {
        std::uint64_t base = 0;
        dissect::MutableBytes bytes{};
        AccessRights rights{};
        bool window = false;
        bool valid = true;
        bool invalidatable = true;
        std::uint32_t windows = 0;  // bound to it
        dissect::Rkey region{};     // of a window
        std::optional<dissect::Qpn> of{};
    };

    [[nodiscard]] Entry* find(dissect::Rkey key);
    [[nodiscard]] const Entry* find(dissect::Rkey key) const;

    boost::unordered_flat_map<std::uint32_t, Entry> entries_;
};

}  // namespace qps::transport
