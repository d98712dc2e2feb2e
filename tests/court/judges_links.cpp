// Judges of links of InfiniBand in ERF records: who waited for credits (flow control packets, 7.9.4), which LIDs send
// with a GID.
#include <tests/court/judges.hpp>

#include <algorithm>
#include <array>

#include <arpa/inet.h>
#include <fmt/format.h>

namespace qps::court {

namespace {

constexpr std::uint32_t kErf = 197, kPacket = 21, kFlowControl = 25;
constexpr std::size_t kHeader = 16;  // of a record
constexpr std::uint32_t kCircle = 4096;

// What a record says of one lane.
struct CreditWords {
    std::int64_t time = 0;
    std::uint32_t port = 0;
    bool flow_control = false;
    std::uint32_t sent = 0, limit = 0;  // blocks
    std::uint32_t bytes = 0;            // of a packet, without its VCRC
};

std::vector<CreditWords> read_lane(const Recording& recording, std::uint32_t lane) {
    std::vector<CreditWords> out;
    if (recording.link != kErf) return out;
    for (const Record& record : recording.records) {
        const Octets& bytes = record.bytes;
        if (bytes.size() < kHeader + 6) continue;
        CreditWords said{.time = record.time, .port = bytes[9] & 3U, .flow_control = bytes[8] == kFlowControl};
        const std::uint32_t of = said.flow_control ? bytes[kHeader + 2] >> 4U : bytes[kHeader] >> 4U;
        if (of != lane || (!said.flow_control && bytes[8] != kPacket)) continue;
        said.sent = number_at(bytes, kHeader, 2) & 0xfffU;
        said.limit = number_at(bytes, kHeader + 2, 2) & 0xfffU;
        said.bytes = (number_at(bytes, kHeader + 4, 2) & 0x7ffU) * 4;
        out.push_back(said);
    }
    return out;
}

struct Wait {
    std::int64_t length = 0, followed = 0;
    std::uint64_t grants = 0;
    std::uint32_t credits = 0, needed = 0;
};

// The wait of the packet at `at`, where it had one: from the packet before it on.
std::optional<Wait> wait_of(const std::vector<CreditWords>& all, std::size_t at, std::uint32_t port,
                            std::uint32_t granter) {
    std::size_t before = at;
    while (before > 0 && (all[before - 1].port != port || all[before - 1].flow_control)) --before;
    std::optional<std::uint32_t> sent;  // as the sender said behind the packet before
    Wait wait{.needed = (all[at].bytes + 63) / 64};
    std::int64_t first = 0, last = 0, enough = 0;
    for (std::size_t i = before; i < at && enough == 0; ++i) {
        if (all[i].port == port) {
            if (sent && *sent != all[i].sent) return {};
            sent = all[i].sent;
            continue;
        }
        if (all[i].port != granter || !sent) continue;
        const std::uint32_t credits = (all[i].limit + kCircle - *sent) % kCircle;
        if (credits >= wait.needed) {
            enough = all[i].time;
            break;
        }
        if (wait.grants++ == 0) first = all[i].time;
        last = all[i].time;
        wait.credits = std::max(wait.credits, credits);
    }
    const auto after = std::find_if(all.begin() + static_cast<std::ptrdiff_t>(at), all.end(),
                                    [&](const CreditWords& one) { return one.flow_control && one.port == port; });
    if (enough == 0 || wait.grants < 3 || after == all.end()) return {};
    const std::uint32_t took = (after->sent + kCircle - *sent) % kCircle;
    if (took < wait.needed || took > wait.needed + 1) return {};
    wait.length = last - first;
    wait.followed = all[at].time - enough;
    return wait.length >= 1'000'000 && wait.followed <= 20'000 ? std::optional(wait) : std::nullopt;
}

void credit_starvation(Hearing& hearing) {
    const auto number = [&](const std::string& name) {
        return static_cast<std::uint32_t>(hearing.number(name).value_or(99));
    };
    const std::uint32_t port = number("capture_port"), granter = number("granter_port");
    const std::vector<CreditWords> all = read_lane(hearing.recording(), number("virtual_lane"));
    std::uint64_t waits = 0, moved = 0;
    std::int64_t total = 0;
    Wait longest;
    std::optional<std::uint32_t> sent;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].port == port && all[i].flow_control) {
            if (sent) moved += (all[i].sent + kCircle - *sent) % kCircle;
            sent = all[i].sent;
        }
        if (all[i].port != port || all[i].flow_control) continue;
        const auto wait = wait_of(all, i, port, granter);
        if (!wait) continue;
        ++waits;
        total += wait->length;
        if (wait->length > longest.length) longest = *wait;
    }
    hearing.equal_fact("credit_waits", static_cast<double>(waits));
    const auto said_total = hearing.number("credit_wait_total_ns");
    hearing.expect(said_total.has_value() == (waits != 1), "the total of one wait, or none of several");
    if (said_total) hearing.equal_fact("credit_wait_total_ns", static_cast<double>(total));
    hearing.equal_fact("longest_credit_wait_ns", static_cast<double>(longest.length));
    hearing.equal_fact("credit_blocks", longest.credits);
    hearing.equal_fact("needed_blocks", longest.needed);
    hearing.equal_fact("followed_after_ns", static_cast<double>(longest.followed));
    hearing.expect(moved >= kCircle, "too little traffic to tell which port grants");
}

std::string gid_at(const Octets& bytes, std::size_t at) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    return inet_ntop(AF_INET6, bytes.data() + at, text.data(), text.size()) == nullptr ? "" : text.data();
}

void gid_conflict(Hearing& hearing) {
    const auto gid = hearing.word("gid");
    if (!gid) return hearing.object("does not say which GID");
    constexpr std::size_t kGrh = kHeader + 8, kSource = kGrh + 8, kDestination = kGrh + 24;
    std::vector<std::uint32_t> lids;
    std::uint64_t changes = 0;
    for (const Record& record : hearing.recording().records) {
        const Octets& bytes = record.bytes;
        if (bytes.size() < kGrh + 40 || bytes[8] != kPacket || (bytes[kHeader + 1] & 3U) != 3 ||
            gid_at(bytes, kSource) != *gid)
            continue;
        const bool local = number_at(bytes, kSource, 4) == 0xfe800000 ||
                           std::equal(&bytes[kSource], &bytes[kSource + 8], &bytes[kDestination]);
        hearing.expect(local, "it may come from another subnet");
        const std::uint32_t lid = number_at(bytes, kHeader + 6, 2);
        changes += !lids.empty() && lids.back() != lid ? 1U : 0U;
        if (std::ranges::find(lids, lid) == lids.end() || lids.back() != lid) lids.push_back(lid);
    }
    hearing.equal_fact("lid_changes", static_cast<double>(changes));
    hearing.expect(lids.size() >= 4, "a LID that was changed");
    if (lids.size() < 2) return;
    hearing.equal_fact("first_lid", lids[0]);
    hearing.equal_fact("second_lid", lids[1]);
    hearing.expect((lids[0] ^ lids[1]) >= 128, "one port may have both");
}

constexpr std::array kLinkJudges{Judge{"credit-starvation", credit_starvation}, Judge{"gid-conflict", gid_conflict}};

}  // namespace

std::span<const Judge> link_judges() { return kLinkJudges; }

}  // namespace qps::court
