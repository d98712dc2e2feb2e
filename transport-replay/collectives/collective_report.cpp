#include <transport-replay/collectives/collective_report.hpp>

namespace qps::transport {

std::string_view name(CollectivePattern pattern) { return kCollectivePatternNames[static_cast<std::size_t>(pattern)]; }
std::string_view name(CollectiveLibrary library) { return kCollectiveLibraryNames[static_cast<std::size_t>(library)]; }

}  // namespace qps::transport
