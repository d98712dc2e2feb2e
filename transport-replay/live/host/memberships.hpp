// Memberships: the multicast groups that we listen to, and what routers and snooping switches must hear of it, so that
// they forward the groups' frames: reports of IGMP and MLD when we join, leave or are asked.
//
// After RFC 3376 and RFC 3810, without source filters; as soon as a querier of an older version is heard, reports are
// of that version for a while (RFC 2236, 2710). A group is joined as often as somebody joins it, and left with the
// last. Bound: kMaxGroups. Queries of strangers make us report, at most once a group and answer time.
#pragma once

#include <transport-replay/live/host/messages.hpp>

#include <array>
#include <optional>
#include <vector>

namespace qps::transport::live {

inline constexpr std::size_t kMaxGroups = 256;  // as many as a careful switch has room for, of one host
inline constexpr std::uint8_t kRobustness = 2;  // RFC 3376, 8.1: a report may be lost
inline constexpr dissect::Duration kReportAgain = microseconds(1'000'000);     // unsolicited report interval
inline constexpr dissect::Duration kOlderQuerier = microseconds(260'000'000);  // RFC 3376, 8.12
inline constexpr dissect::Duration kLongestAnswer =
    microseconds(10'000'000);  // default of queriers; what asks for more time gets this

class Memberships {
public:
    // Reports are spread by the MAC address, so that hosts do not answer all at once.
    explicit Memberships(Mac own) : own_(own) {}

    // False where no group fits any more. The groups of all nodes and all hosts need no report and are never reported.
    bool join(const Address& group, dissect::Instant now);
    void leave(const Address& group, dissect::Instant now);
    [[nodiscard]] bool joined(const Address& group) const;
    // Whether some group's frames go to that MAC address.
    [[nodiscard]] bool listens_to(Mac mac) const;
    // What an interface must let through, each once.
    [[nodiscard]] std::vector<Mac> macs() const;

    void queried(const GroupQuery& query, dissect::Instant now);

    // The next report that is due, which then counts as sent. Poll until there is none.
    [[nodiscard]] std::optional<GroupReport> due(dissect::Instant now);
    [[nodiscard]] std::optional<dissect::Instant> due_at() const;

private:
    struct Group {
        Address address;
        Mac mac{};
        std::uint32_t members = 0;  // 0: left, and being reported so
        std::uint8_t reports = 0;   // still to send
        GroupRecord record = GroupRecord::to_exclude;
        dissect::Instant due{};
    };
    [[nodiscard]] QueryVersion version_of(Family family, dissect::Instant now) const;
    [[nodiscard]] dissect::Duration delay(const Address& group, dissect::Duration within) const;
    [[nodiscard]] Group* find(const Address& group);

    Mac own_;
    std::vector<Group> groups_;
    std::array<std::optional<dissect::Instant>, 2> older_until_{};  // by family
};

}  // namespace qps::transport::live
