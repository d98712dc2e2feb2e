// Words of management datagrams: their requests and their status.
#pragma once

#include <transport-replay/model/management_report.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace qps::transport {

// "SubnAdm GetTable NodeRecord"; numbers where there is no name.
[[nodiscard]] std::string request_text(dissect::ManagementClass management_class, ManagementMethod method,
                                       std::uint16_t attribute);
// "No records", "Busy"; empty where it has no name, and of 0.
[[nodiscard]] std::string_view status_name(dissect::ManagementClass management_class, std::uint16_t status);
// "no records", "busy", "status 0x1234"; "ok" of 0.
[[nodiscard]] std::string status_text(dissect::ManagementClass management_class, std::uint16_t status);

}  // namespace qps::transport
