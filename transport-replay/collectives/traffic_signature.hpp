// TrafficSignature: by which habits of its messages a connection shows what library uses it.
//
// It counts what each end does; library() judges. Counters only: nothing grows. What an attacker could feed: anything
// that looks like a library; then it is called one.
#pragma once

#include <transport-replay/model/collective_report.hpp>
#include <transport-replay/model/observation.hpp>

namespace qps::transport {

class TrafficSignature {
public:
    // A request packet of that end, not seen before.
    void take(const Observation& observation, End from) {
        const dissect::OpcodeRow& row = info(observation.opcode);
        if (row.place != dissect::Place::middle) return take_begun_or_ended(observation, from);
        if (row.verb == dissect::Verb::write) ends_[static_cast<std::size_t>(from)].since += observation.payload_length;
    }
    [[nodiscard]] CollectiveLibrary library() const;

private:
    friend struct PrivateMembers;              // parts/private_members.hpp
    static constexpr std::size_t kOffers = 8;  // remembered; more are seldom outstanding
    struct Habits {
        std::uint32_t writes = 0;      // without an immediate, offers left out
        std::uint32_t immediates = 0;  // WRITEs that have one
        std::uint32_t sized = 0;       // of them: the immediate is how many bytes were written since the last
        std::uint32_t offers = 0;      // short WRITEs of a whole number of 32 bytes
        std::uint32_t used = 0;        // WRITEs to where the other end had offered
        std::uint32_t numbered = 0;    // offers that have the number behind that of the last
        std::uint64_t number = 0;      // of the last
        std::uint64_t since = 0;       // bytes written since the last immediate
        std::array<std::uint64_t, kOffers> offered{};
        std::uint32_t sends = 0;
        std::uint32_t active = 0;         // SENDs that begin with a number of UCX' active messages
        std::uint32_t ready = 0;          // of them: ready to send
        std::uint32_t acknowledged = 0;   // of them: that was READ, or WRITTEN
        std::uint32_t reliable_data = 0;  // SENDs that begin with the headers of libfabric
        std::uint32_t reads = 0;
    };
    void take_begun_or_ended(const Observation& observation, End from);
    void take_write(const Observation& observation, End from);
    void take_send(const Observation& observation, Habits& habits);
    [[nodiscard]] bool is_nccl(End sender) const;
    [[nodiscard]] bool is_ucx(End sender) const;
    [[nodiscard]] bool is_libfabric() const;

    std::array<Habits, 2> ends_{};
};

}  // namespace qps::transport
