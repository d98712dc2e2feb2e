#include <dissect/mad/administration.hpp>
#include <dissect/mad/attributes.hpp>
#include <transport-replay/report/management_words.hpp>

#include <array>
#include <span>
#include <utility>

#include <fmt/format.h>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr Field kStatus = named(kMadFields, "infiniband.mad.status");
constexpr Field kStatusCode = named(kMadFields, "infiniband.mad.status.code");
constexpr std::uint16_t kBusy = 1, kRedirect = 2;

std::string name_or_number(std::span<const ValueName> names, std::uint64_t value, std::string_view what) {
    const std::string_view name = name_in(names, value);
    return name.empty() ? fmt::format("{} 0x{:02x}", what, value) : std::string(name);
}

}  // namespace

std::string request_text(ManagementClass management_class, ManagementMethod method, std::uint16_t attribute) {
    const MadAttribute* row = find_attribute(management_class, attribute);
    return fmt::format("{} {} {}", name_or_number(kManagementClasses, std::to_underlying(management_class), "class"),
                       name_or_number(kMethods, std::to_underlying(method), "method"),
                       row != nullptr ? std::string(row->name) : fmt::format("attribute 0x{:04x}", attribute));
}

std::string_view status_name(ManagementClass management_class, std::uint16_t status) {
    std::array<std::byte, kMadHeaderLength> header{};
    write_bits(header, kStatus.bit, kStatus.width, status);
    const std::uint64_t code = read(header, kStatusCode);
    const auto of_class = static_cast<std::uint64_t>(status >> 8);
    if (management_class == ManagementClass::subnet_administration && of_class != 0)
        return name_in(kSaStatusCodes, of_class);
    if (code != 0) return name_in(kMadStatusCodes, code);
    if ((status & kBusy) != 0) return "Busy";
    return (status & kRedirect) != 0 ? "Redirection required" : "";
}

std::string status_text(ManagementClass management_class, std::uint16_t status) {
    if (status == 0) return "ok";
    const std::string_view name = status_name(management_class, status);
    return name.empty() ? fmt::format("status 0x{:04x}", status) : fmt::format("{} (0x{:04x})", name, status);
}

}  // namespace qps::transport
