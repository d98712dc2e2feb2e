#include <transport-replay/model/collective_report.hpp>

namespace qps::transport {

std::string_view name(CollectivePattern pattern) { return kCollectivePatternNames[static_cast<std::size_t>(pattern)]; }
std::string_view name(CollectiveLibrary library) { return kCollectiveLibraryNames[static_cast<std::size_t>(library)]; }
std::string_view name(CollectiveOperation operation) {
    return kCollectiveOperationNames[static_cast<std::size_t>(operation)];
}
std::string_view name(NcclProtocol protocol) { return kNcclProtocolNames[static_cast<std::size_t>(protocol)]; }

}  // namespace qps::transport
