// The scripts of the active checks of NVMe over RDMA: a host that breaks one rule, or keeps all, against any target
// that CM reaches.
//
// They are made and not files, because they have names of hosts and subsystems in them; they are played by the suite as
// all scripts are. A target may READ the data of a Connect in pieces, in any order; in 40 pieces or more, it is not
// judged.
#pragma once

#include <dissect/base/types.hpp>
#include <transport-replay/conformance/script/script.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace qps::transport::conformance::nvme {

inline constexpr std::uint16_t kUsualPort = 4420;
inline constexpr std::string_view kDiscovery = "nqn.2014-08.org.nvmexpress.discovery";
inline constexpr std::string_view kUsualHost = "nqn.2014-08.org.nvmexpress:uuid:51525354-5556-5758-595a-5b5c5d5e5f60";
inline constexpr std::size_t kMostNqn = 223;                  // bytes of a name (Base 4.5)
inline constexpr dissect::Duration kPatience{4'000'000'000};  // a target may have to make a controller

struct Names {
    std::string subsystem{kDiscovery};
    std::string host{kUsualHost};
};

// Which checks they decide, in the order of the catalogue.
[[nodiscard]] std::span<const std::string_view> scripted_checks();
// One for each of these, those that may bring a target down last.
[[nodiscard]] std::vector<script::Script> scripts(const Names& names);
// That there is a target, and that it takes this host: a Connect is answered.
[[nodiscard]] script::Script sign_of_life(const Names& names);

}  // namespace qps::transport::conformance::nvme
