// IwarpSuite: all probes of iWARP against a device that may die: which connection is made next, and what all of them
// together say.
//
//   while (const IwarpProbe* probe = suite.next()) { connect; IwarpProbeRun run(*probe, suite.flow(), suite.tallies(),
//   now); ...; suite.take(run.outcome()); }
//
// Before the first and after each the device has to show that it is alive. What it sends is judged by the passive
// checks, too. Sans I/O.
#pragma once

#include <transport-replay/checks/profile.hpp>
#include <transport-replay/conformance/iwarp/iwarp_probe.hpp>

#include <functional>
#include <optional>

namespace qps::transport::conformance {

class IwarpSuite {
public:
    // `wanted`: which checks are judged.
    IwarpSuite(const Address& device, std::uint16_t port, std::function<bool(const CheckRow&)> wanted);

    // The next connection; nothing: it is over.
    [[nodiscard]] const IwarpProbe* next() const;
    [[nodiscard]] FlowKey flow() const;
    [[nodiscard]] HostTallies& tallies() { return tallies_; }
    // What came of it.
    void take(ProbeOutcome outcome);
    // The device could not be connected to.
    void unreachable(std::string reason);

    [[nodiscard]] std::size_t number() const { return at_; }  // probes so far
    [[nodiscard]] std::size_t of() const { return probes_.size(); }
    [[nodiscard]] bool never_answered() const { return dead_ && at_ == 0; }
    [[nodiscard]] const std::string& silence() const { return silence_; }  // why it is taken for dead
    [[nodiscard]] bool died() const { return dead_ && at_ != 0; }

    // Call it once, at the end.
    [[nodiscard]] Report report(const Profile& profile);

private:
    void not_alive(const std::string& reason);

    Address device_;
    std::uint16_t port_;
    std::function<bool(const CheckRow&)> wanted_;
    std::vector<const IwarpProbe*> probes_;
    std::size_t at_ = 0;
    std::size_t times_ = 0;  // the probe was played, and passed
    bool asks_alive_ = true;
    bool dead_ = false;
    std::string silence_;
    std::uint32_t connections_ = 0;
    HostTallies tallies_;
    std::vector<CheckResult> results_;
};

}  // namespace qps::transport::conformance
