// What a capture shows of a device, judged over the packets of a script: the passive checks, of the device alone.
//
// The tester breaks rules on purpose: its packets never count against the device. Where a script exchanged more than is
// kept, nothing is concluded from what did not come.
#pragma once

#include <transport-replay/checks/verdict.hpp>
#include <transport-replay/conformance/stage/stage.hpp>

namespace qps::transport::conformance {

// Of each passive check but those of captures as such (TRC), in the order of the catalogue. Evidence counts the frames
// of the script from 1, as its capture does. `nvme`: a port of the device where a target of NVMe listens, besides the
// usual ones.
[[nodiscard]] std::vector<CheckResult> check_exchange(const stage::ScriptOutcome& outcome, const Address& device,
                                                      live::IpPort nvme = {});

}  // namespace qps::transport::conformance
