// TcpTails: where TCP connections were last, so that a later file can be told to go on with them.
//
// What an attacker could feed: any segments. A few bits of a hash stand for a connection and its way; the last one that
// has them stays.
#pragma once

#include <transport-replay/model/observation.hpp>

#include <array>
#include <cstdint>

namespace qps::transport {

class TcpTails {
public:
    void note(const Observation& segment);
    // Whether it begins at the byte where its way ended: no other connection of the same ports does.
    [[nodiscard]] bool continues(const Observation& segment) const;

private:
    struct Tail {
        std::uint32_t tag = 0;  // 0: none
        std::uint32_t next = 0;
    };
    struct Place {
        std::size_t at = 0;
        std::uint32_t tag = 0;
    };
    static constexpr std::size_t kTails =
        1024;  // both ways of as many connections as talk when a recorder goes to its next file
    [[nodiscard]] static Place place_of(const Observation& segment);
    std::array<Tail, kTails> tails_{};
};

}  // namespace qps::transport
