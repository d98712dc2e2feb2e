// The passive suite beside the analysis of a command: what it must hear of the packets, and what it says at the end.
#pragma once

#include <transport-replay/checks/passive/passive_suite.hpp>

#include <vector>

#include "analyzing.hpp"
#include "verdicts.hpp"

namespace qps::cli {

// Facts of the packets of a batch, kept from one batch to the next so that nothing is allocated anew.
class FactBatch {
public:
    void clear() {
        used_ = 0;
        not_judged_.clear();
    }
    void add(const dissect::Packet& packet);
    void skip() { next(); }  // a packet that nobody will ask for
    // The packet at that place, as --icrc says, with what the analysis said of it.
    void follow(std::size_t place, const transport::Observation& observation, const transport::PacketRecord& record,
                transport::conformance::PassiveSuite& suite) const;

private:
    transport::conformance::PacketFacts& next() {
        if (used_ == all_.size()) all_.emplace_back();
        return all_[used_++];
    }

    std::vector<transport::conformance::PacketFacts> all_;
    std::size_t used_ = 0;
    // Of those whose ICRC is wrong, should it not count; by place.
    std::vector<std::pair<std::size_t, transport::conformance::PacketFacts>> not_judged_;
};

// All that the suite must hear; it forgets nothing when the files are read again. Both outlive the listening.
[[nodiscard]] Listening listening_of(transport::conformance::PassiveSuite& suite, std::vector<FactBatch>& facts);

// What the suite says of a capture whose files are those of the options, written as the options want it. The exit code is that of
// --fail-on and of a device that is not there.
struct Verdicts {
    transport::conformance::Report report;
    ExitCode code = ExitCode::done;
};
[[nodiscard]] Verdicts write_verdicts(const Options& options, const Measures& measures, const transport::Timeline& timeline,
                                      const transport::conformance::PassiveRecord& record, Output& output);

}  // namespace qps::cli
