// Registrations: protection domains, memory regions and windows, and the keys that name them; who uses which.
//
// A key is an index (24 bits) and a tag (8 bits). An index that is used again has another tag, so that a key kept from
// before finds nothing. Whether a key, an address and a right go together is judged by Memory; here is who owns a key,
// what work has borrowed of its memory (a region in use is not deregistered), which window is bound under which key,
// and under which one a region is that work requests register.
//
// Everything is asked for by the application; keys that a peer shows go to Memory. Bounds: kMaxMrs, kMaxPds.
#pragma once

#include <transport-replay/live/verbs/adapter.hpp>
#include <transport-replay/queue_pair/memory.hpp>

#include <boost/container/small_vector.hpp>

namespace qps::transport::verbs {

struct ProtectionDomain {
    Memory memory{};
    std::uint32_t users = 0;  // regions, windows, queue pairs and shared receive queues
};

[[nodiscard]] AccessRights rights_of(const Access& access);

// The regions that a work request has borrowed, by index.
using Pins = boost::container::small_vector<std::uint32_t, 4>;

// Pieces of memory as a work request names them, found.
struct Resolved {
    Segments segments{};
    Pins pins{};
    bool usable = true;  // false: a key, a range or a right was wrong; nothing is pinned then
};

class Registrations {
public:
    explicit Registrations(std::uint64_t first_address) : next_address_(first_address) {}

    [[nodiscard]] Result<Mr> add(ProtectionDomain& pd, dissect::MutableBytes bytes, const Access& access,
                                 std::optional<std::uint64_t> iova);
    // A region without memory, not valid, for fast registrations of so many bytes.
    [[nodiscard]] Result<Mr> allocate(ProtectionDomain& pd, std::uint64_t max_length);
    Result<void> remove(dissect::Rkey lkey);
    // What a fast registration asks of Memory, to be done when its turn comes.
    [[nodiscard]] Result<MemoryRegion> prepare(const ProtectionDomain& pd, const MrRegistration& registration);
    // Its turn has come. False: the region is valid, and is to be invalidated first.
    [[nodiscard]] bool register_again(const MemoryRegion& region);
    // A region whose registration is posted stays until that is done.
    void pin(const MemoryRegion& region, Pins& pins);

    [[nodiscard]] Resolved resolve(const ProtectionDomain& pd, std::span<const Sge> pieces, bool to_write);
    void release(const Pins& pins);
    // A window whose bind is posted stays until that is done.
    void pin(const MemoryWindow& window, Pins& pins);

    [[nodiscard]] Result<Window> add_window(ProtectionDomain& pd, MwType type);
    Result<void> remove_window(Mw window);
    // What a bind asks of Memory, to be done when its turn comes; of type 1 under a new key, which is given out now.
    [[nodiscard]] Result<MemoryWindow> prepare(const ProtectionDomain& pd, const MwBind& bind, dissect::Qpn by,
                                               MwType type);
    // The bind's turn has come. False: it cannot be.
    [[nodiscard]] bool bind(const MemoryWindow& window);
    // SEND with invalidate or local invalidate ended what this key named.
    void invalidated(dissect::Rkey key);

private:
    enum class Kind : std::uint8_t { none, region, window };
    struct Row {
        ProtectionDomain* pd = nullptr;
        Kind kind = Kind::none;
        MwType type = MwType::type_1;
        bool bound = false;         // a window
        std::uint32_t users = 0;    // posted work that borrowed from a region or binds a window
        dissect::Rkey key{};        // of a window: under which it is bound, or was last
        bool fast = false;          // a region that work requests register
        std::uint64_t most = 0;     // bytes of it then
        dissect::Rkey given_out{};  // of a type 1 window: the key of the last bind posted
    };
    [[nodiscard]] static std::uint32_t index_of(dissect::Rkey key) { return static_cast<std::uint32_t>(key) >> 8; }
    [[nodiscard]] Row* find(dissect::Rkey key, Kind kind);
    [[nodiscard]] Row* find_window(Mw window);
    [[nodiscard]] std::optional<std::uint32_t> take_index();
    void free_index(std::uint32_t index);

    std::vector<Row> rows_{1};  // index 0 is no key
    std::vector<std::uint32_t> free_;
    std::uint64_t next_address_;
};

}  // namespace qps::transport::verbs
