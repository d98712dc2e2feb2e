// Bytes of messages, written number by number as they are on the wire.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace qps::tests {

using Octets = std::vector<std::byte>;

// Appends numbers as they are on the wire.
struct WireBytes {
    Octets bytes;
    bool little = false;

    template <class T> WireBytes& put(T number) {
        for (std::size_t i = 0; i < sizeof(T); ++i) {
            const std::size_t shift = 8 * (little ? i : sizeof(T) - 1 - i);
            bytes.push_back(static_cast<std::byte>(static_cast<std::uint64_t>(number) >> shift));
        }
        return *this;
    }
    WireBytes& zeros(std::size_t count) {
        bytes.resize(bytes.size() + count);
        return *this;
    }
    WireBytes& add(const Octets& more) {
        bytes.insert(bytes.end(), more.begin(), more.end());
        return *this;
    }
};

}  // namespace qps::tests
