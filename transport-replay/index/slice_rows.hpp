// The packets of an open capture that a slice takes, as `extract` takes them on the command line; and what chosen
// packets give away to who gets them: how much, and of which hosts.
//
// What an attacker could feed: packets that cannot be read any more, which are left out; more addresses than anybody
// reads, which are counted past a bound.
#pragma once

#include <transport-replay/evidence/slice.hpp>
#include <transport-replay/index/extract.hpp>

#include <functional>
#include <map>
#include <optional>

namespace qps::transport {

// Nothing where `stopped` said so.
[[nodiscard]] std::optional<RowSet> slice_rows(const CaptureIndex& index, const Timeline& timeline,
                                               const SliceRequest& request, const std::function<bool()>& stopped = {});

struct Leaving {
    static constexpr std::size_t kMostAddresses = 4096;  // a larger list is not read, and costs some 200 bytes each

    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;                     // captured
    std::uint64_t payload = 0;                   // of them, of messages
    std::uint64_t unreadable = 0;                // chosen, but not to be read any more
    std::map<Address, std::uint64_t> addresses;  // of networks and links, with the packets that name them
    std::uint64_t more_addresses = 0;            // mentions of addresses past the bound
};

// Nothing where the watch stopped it.
[[nodiscard]] std::optional<Leaving> leaving(const CaptureIndex& index, const Chosen& chosen,
                                             const ExtractWatch& watch = {});

}  // namespace qps::transport
