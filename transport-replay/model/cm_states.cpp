#include <transport-replay/model/cm_states.hpp>

#include <utility>

namespace qps::transport {

namespace {

constexpr std::array<std::string_view, kCmMessages> kCmMessageNames{
    "REQ", "MRA", "REJ", "REP", "RTU", "DREQ", "DREP", "SIDR_REQ", "SIDR_REP", "LAP", "APR"};

}  // namespace

std::string_view name(CmMessage message) { return kCmMessageNames[std::to_underlying(message)]; }
std::string_view name(CmEvent event) { return kCmEventNames[std::to_underlying(event)]; }
std::string_view name(CmState state) { return kCmStateNames[std::to_underlying(state)]; }

}  // namespace qps::transport
