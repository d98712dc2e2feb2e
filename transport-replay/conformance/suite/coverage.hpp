// Coverage: who decides each check of the catalogue: a script, a probe of iWARP, the host of NVMe, the passive suite,
// or nobody, and why.
#pragma once

#include <transport-replay/checks/catalogue.hpp>
#include <transport-replay/conformance/script/script.hpp>

namespace qps::transport::conformance {

struct CoverageRow {
    const CheckRow* check = nullptr;
    std::vector<std::string> scripts;  // names of those that judge it
    bool passive = false;              // a capture is enough, and it is judged there
    bool probed = false;               // over TCP: a probe of iWARP judges it
    bool probed_nvme = false;          // as host of NVMe over RDMA

    [[nodiscard]] bool decided() const { return passive || probed || probed_nvme || !scripts.empty(); }
    // Decided, or exempt with a reason; not both.
    [[nodiscard]] bool accounted_for() const { return decided() == check->exempt.empty(); }
};

// A row for each check of the catalogue, in its order.
[[nodiscard]] std::vector<CoverageRow> coverage(std::span<const script::Script> scripts);

}  // namespace qps::transport::conformance
