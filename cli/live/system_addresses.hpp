// The addresses that the system has, and which of them the callers of a program that exchanges queue pairs over TCP can
// reach: TCP is the system's, RDMA the endpoint's, whose address need not be one of the system's.
#pragma once

#include <transport-replay/model/address.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace qps::cli {

struct SystemAddress {
    std::string interface{};
    transport::Address address{};
    std::uint8_t prefix_length = 0;
};

// Of all interfaces, in the order in which the system lists them.
[[nodiscard]] std::vector<SystemAddress> system_addresses();

// Where TCP listens for callers of an endpoint with the address `own` on `interface`: at that address if it is the
// system's; else at one of the system in the network of `own`, preferably of that interface (a port of a bridge has
// none, the bridge has); else at one of the interface. Nothing where the system has none of these: no caller would come
// there.
[[nodiscard]] std::optional<transport::Address> listening_place(std::span<const SystemAddress> systems,
                                                                std::string_view interface,
                                                                const transport::Address& own,
                                                                std::uint8_t prefix_length);

}  // namespace qps::cli
