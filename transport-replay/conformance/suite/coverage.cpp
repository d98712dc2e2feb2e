#include <transport-replay/checks/passive/passive_suite.hpp>
#include <transport-replay/conformance/iwarp/iwarp_probe.hpp>
#include <transport-replay/conformance/nvme/nvme_scripts.hpp>
#include <transport-replay/conformance/suite/coverage.hpp>

#include <algorithm>

namespace qps::transport::conformance {

std::vector<CoverageRow> coverage(std::span<const script::Script> scripts) {
    std::vector<CoverageRow> rows;
    for (const CheckRow& check : checks()) {
        CoverageRow row{.check = &check, .scripts = {}, .passive = is_decided_passively(check)};
        row.probed_nvme = std::ranges::find(nvme::scripted_checks(), check.id) != nvme::scripted_checks().end();
        row.probed = std::ranges::find(iwarp_probes(), check.id, &IwarpProbe::check) != iwarp_probes().end();
        for (const script::Script& script : scripts)
            for (const std::string& id : script.checks)
                if (find_check(id) == &check) row.scripts.push_back(script.files.front().name);
        rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace qps::transport::conformance
