#include <dissect/ulp/iwarp.hpp>
#include <transport-replay/iwarp/iwarp_words.hpp>

#include <algorithm>
#include <span>

#include <fmt/format.h>

namespace qps::transport {

using namespace dissect;

namespace {

std::string named_or(std::span<const ValueName> names, std::uint64_t value, std::string_view what) {
    const auto found = std::ranges::find(names, value, &ValueName::value);
    return found != names.end() ? std::string(found->name) : fmt::format("{} {}", what, value);
}

}  // namespace

std::string terminate_text(const Terminated& terminated) {
    constexpr std::uint8_t kRdmap = 0, kDdp = 1, kMpa = 2;
    constexpr std::uint8_t kTagged = 1, kUntagged = 2;
    std::span<const ValueName> types, codes;
    if (terminated.layer == kRdmap) {
        types = kRdmapErrorTypes;
        codes = kRdmapErrorCodes;
    } else if (terminated.layer == kDdp) {
        types = kDdpErrorTypes;
        if (terminated.type == kTagged) codes = kTaggedErrorCodes;
        if (terminated.type == kUntagged) codes = kUntaggedErrorCodes;
    } else if (terminated.layer == kMpa) {
        types = kMpaErrorTypes;
        codes = kMpaErrorCodes;
    }
    return fmt::format("{}, {}: {}", named_or(kTerminateLayerNames, terminated.layer, "layer"),
                       named_or(types, terminated.type, "type"), named_or(codes, terminated.code, "code"));
}

}  // namespace qps::transport
