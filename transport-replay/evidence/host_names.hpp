// Names of hosts, for the name resolution block of a capture file: those that the traffic tells, and those of a file as
// /etc/hosts is.
//
// What an attacker could feed: any text; names are taken as far as they are names (RFC 1123, and the underscore), at
// most kMostHosts.
#pragma once

#include <dissect/capture/writer.hpp>

#include <string_view>
#include <vector>

namespace qps::transport {

struct Timeline;

inline constexpr std::size_t kMostHosts = 4096;

// Of NFS clients, which send the name of their machine (RFC 5531, AUTH_SYS).
[[nodiscard]] std::vector<dissect::HostName> host_names(const Timeline& timeline);
// Lines "ADDRESS NAME..."; # begins a comment. Of several names the first counts.
[[nodiscard]] std::vector<dissect::HostName> read_hosts(std::string_view text);

}  // namespace qps::transport
