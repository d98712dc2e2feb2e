// Frames that the recorder lost, as the capture says.
#pragma once

#include <cstdint>

namespace qps::dissect {

// Frames lost while capturing, over all interfaces that say so.
struct Drops {
    bool known = false;
    std::uint64_t received = 0;           // isb_ifrecv
    std::uint64_t dropped = 0;            // isb_ifdrop: by the interface
    std::uint64_t dropped_by_system = 0;  // isb_osdrop

    // Of several files: known where one says so.
    Drops& operator+=(const Drops& other) {
        known = known || other.known;
        received += other.received;
        dropped += other.dropped;
        dropped_by_system += other.dropped_by_system;
        return *this;
    }
};

}  // namespace qps::dissect
