// Captures in which packets are more than once, are cut, or have no right ICRC: the findings are those of one tap, or
// fewer.
#include <tests/support/durations.hpp>
#include <tests/support/recordings.hpp>
#include <transport-replay/model/timeline.hpp>

#include <map>
#include <tuple>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::tests;

namespace {

using Said = std::map<std::tuple<std::string, Severity, Party>, std::uint64_t>;

// What the findings say, but of the capture as such.
Said said(const Timeline& timeline) {
    Said all;
    for (const Finding& finding : timeline.findings)
        if (finding.id != "capture-duplicates" && finding.id != "capture-truncated" &&
            finding.id != "clock-backwards" && finding.id != "clock-coarse")
            all[{std::string(finding.id), finding.severity, finding.party}] += finding.count;
    return all;
}

// Nothing but what one of the taps alone says; less of it where the network made copies too.
bool within(const Said& some, const Said& all) {
    return std::ranges::all_of(
        some, [&](const auto& row) { return all.contains(row.first) && row.second <= all.at(row.first); });
}

const Finding* find(const Timeline& timeline, std::string_view id) {
    const auto found = std::ranges::find(timeline.findings, id, &Finding::id);
    return found == timeline.findings.end() ? nullptr : &*found;
}

std::string text(const Timeline& timeline) {
    std::string all;
    for (const Finding& finding : timeline.findings) all += std::string(finding.id) + ": " + finding.summary + "\n";
    return all;
}

// The same packets on the other side of a path of 3 us: what the first host sends passes later there, what it gets
// earlier.
Recordings other_side(const Recordings& all) {
    std::vector<std::byte> sender;
    const auto from = [](const Recording& one) {
        return is_ipv6(one) ? std::vector(one.bytes.begin() + kIp + 8, one.bytes.begin() + kIp + 24)
                            : std::vector(one.bytes.begin() + kIp + 12, one.bytes.begin() + kIp + 16);
    };
    Recordings there = each(all, [&](Recording& one) {
        if (!is_ipv4(one) && !is_ipv6(one)) return;
        if (sender.empty()) sender = from(one);
        constexpr Duration kPath{3'000};
        one.time = from(one) == sender ? one.time + kPath : one.time - kPath;
    });
    std::ranges::stable_sort(there, {}, &Recording::time);
    return there;
}

constexpr std::array kSamples{"loss_write", "loss_read", "write_8k",  "rping_v4",
                              "dup_write",  "multi_qp",  "nvme_rdma", "err_rnr"};
constexpr std::array kOffsets{-5'000 * kMillisecond, -500 * kMillisecond, -2 * kMillisecond,
                              -20 * kMicrosecond,    std::int64_t{0},     20 * kMicrosecond,
                              2 * kMillisecond,      500 * kMillisecond,  5'000 * kMillisecond};
constexpr std::int64_t kDrift = 50;  // ppm

struct Change {
    std::string_view name;
    std::function<void(Recording&)> of_second_tap;
};
const std::array kChanges{
    Change{"TTL", lower_ttl},
    Change{"VLAN", add_vlan},
    Change{"interface", [](Recording& one) { one.interface = 1; }},
    Change{"nothing", [](Recording&) {}},
};

}  // namespace

TEST_CASE("two taps in one capture: the findings are those of one of them, whatever their clocks say") {
    for (const std::string_view sample : kSamples) {
        const Recordings here = recordings(sample);
        const Recordings there = other_side(here);
        const Timeline one = analyse_twice(here), other = analyse_twice(there);
        for (const Change& change : kChanges)
            for (const std::int64_t offset : kOffsets) {
                const Recordings second = each(by_clock(there, Duration{offset}, kDrift), change.of_second_tap);
                const Timeline both = analyse_twice(merged(here, second));
                INFO(sample << ", second tap differs in " << change.name << ", offset " << offset << "\n"
                            << text(both) << "alone:\n"
                            << text(one));
                const bool distinguishable = change.name != "nothing" || sample != std::string_view("dup_write");
                CHECK((within(said(both), said(one)) || within(said(both), said(other))));
                if (distinguishable) CHECK((said(both) == said(one) || said(both) == said(other)));
                if (distinguishable) CHECK(both.totals.retransmitted_packets == one.totals.retransmitted_packets);
                CHECK(both.totals.messages == one.totals.messages);
                const bool recognised = both.quality.left_out != 0 || both.quality.copies() != 0;
                CHECK(recognised);
            }
    }
}

TEST_CASE("files of two hosts are no pieces of one capture") {
    for (const std::string_view sample : kSamples) {
        const Recordings here = recordings(sample);
        Recordings both = here;
        for (const Recording& one : by_clock(other_side(here), Duration{2 * kMillisecond}, kDrift)) {
            both.push_back(one);
            both.back().file = 1;
        }
        const Timeline timeline = analyse_twice(both);
        INFO(sample << "\n" << text(timeline));
        CHECK(said(timeline) == said(analyse_twice(here)));
        CHECK(timeline.quality.vantage.taps == 2);
        CHECK(timeline.quality.vantage.by_file);
        CHECK(timeline.quality.backwards == analyse_once(here).quality.backwards);
        const Finding* finding = find(timeline, "capture-duplicates");
        REQUIRE(finding != nullptr);
        CHECK(finding->party == Party::capture);
        CHECK(finding->summary.find("2 taps, each with a file") != std::string::npos);
    }
}

TEST_CASE("rotated files stay one capture") {
    for (const std::string_view sample : kSamples) {
        Recordings all = recordings(sample);
        const Timeline whole = analyse_twice(all);
        for (std::size_t i = all.size() / 2; i < all.size(); ++i) all[i].file = 1;
        const Timeline rotated = analyse_twice(all);
        INFO(sample << "\n" << text(rotated));
        CHECK(said(rotated) == said(whole));
        CHECK(rotated.quality.left_out == 0);
        CHECK(rotated.quality.vantage.taps == 1);
    }
}

TEST_CASE("a stream is read once: copies that nobody could tell apart are said, and no losses made of them") {
    const Recordings here = recordings("write_8k");
    const Timeline timeline =
        analyse_once(merged(here, by_clock(other_side(here), Duration{5 * kMillisecond}, kDrift)));
    INFO(text(timeline));
    REQUIRE(timeline.findings.size() == 1);
    CHECK(timeline.findings[0].id == "capture-duplicates");
    CHECK(timeline.findings[0].severity == Severity::warning);
}

TEST_CASE("every ICRC wrong: all is analysed as if they were right, and one note says so") {
    for (const std::string_view sample : kSamples) {
        const Recordings here = recordings(sample);
        const Timeline right = analyse_twice(here);
        const Recordings wrong = each(here, spoil_icrc);
        Said expected = said(right);
        expected[{"icrc-wrong", Severity::note, Party::capture}] = right.quality.icrc_good + right.quality.icrc_bad;
        const Timeline judged = analyse_twice(wrong);
        INFO(sample << "\n" << text(judged));
        CHECK(said(judged) == expected);
        CHECK(judged.totals.messages == right.totals.messages);
        CHECK(said(analyse_twice(wrong, IcrcPolicy::ignore)) == expected);
        const Timeline checked = analyse_twice(wrong, IcrcPolicy::check);
        CHECK(checked.quality.icrc_not_judged == 0);
        CHECK(checked.connections.front().ways[0].incidents->corrupt +
                  checked.connections.front().ways[1].incidents->corrupt !=
              0);
    }
}

TEST_CASE("wrong ICRCs among right ones are corruption, unless they are to be ignored") {
    const Recordings here = recordings("corrupt_send");
    const Timeline checked = analyse_twice(here);
    const Finding* finding = find(checked, "icrc-wrong");
    REQUIRE(finding != nullptr);
    CHECK(finding->party == Party::fabric);
    const Timeline ignored = analyse_twice(here, IcrcPolicy::ignore);
    CHECK(ignored.quality.icrc_not_judged == checked.quality.icrc_bad);
    CHECK(ignored.connections.front().ways[0].incidents->corrupt == 0);
}

TEST_CASE("only the requests, every ICRC wrong: whose fault that is is not known") {
    Recordings one_way = each(recordings("write_8k"), spoil_icrc);
    std::erase_if(one_way, [](const Recording& one) { return is_roce(one) && one.bytes[kIp + 15] != std::byte{11}; });
    const Timeline timeline = analyse_twice(one_way);
    INFO(text(timeline));
    CHECK(std::ranges::none_of(timeline.findings,
                               [](const Finding& finding) { return finding.severity != Severity::note; }));
    CHECK(find(timeline, "icrc-wrong") != nullptr);
}

TEST_CASE("whatever the snap length: cutting adds no finding but that it was cut") {
    for (const std::string_view sample : kSamples) {
        const Recordings here = recordings(sample);
        const Said whole = said(analyse_twice(here));
        for (std::size_t length = 54; length <= 256; length += length < 128 ? 1 : 16) {
            const Timeline cut = analyse_twice(each(here, [&](Recording& one) { cut_at(one, length); }));
            INFO(sample << " cut at " << length << "\n" << text(cut));
            for (const auto& [finding, count] : said(cut)) {
                if (std::get<1>(finding) == Severity::note) continue;
                CHECK(whole.contains(finding));
                if (whole.contains(finding)) CHECK(count == whole.at(finding));
            }
        }
    }
}

TEST_CASE("ACKs whose AETH was cut off are answers") {
    const Recordings here = recordings("loss_write");
    const Timeline cut = analyse_twice(each(here, [](Recording& one) { cut_at(one, 54); }));
    const Timeline whole = analyse_twice(here);
    INFO(text(cut));
    CHECK(cut.totals.messages == whole.totals.messages);
    CHECK(cut.totals.retransmitted_packets == whole.totals.retransmitted_packets);
    CHECK(cut.totals.timeouts == 0);
    CHECK(cut.connections.front().ways[1].incidents->unread_answers ==
          whole.connections.front().ways[1].acks + whole.connections.front().ways[1].incidents->sequence_naks);
    CHECK(cut.findings.size() == 1);
    CHECK(cut.findings[0].id == "capture-truncated");
}

TEST_CASE("what a mirror cuts is cut as by a snap length of the same size") {
    for (const std::string_view sample : kSamples)
        for (const std::size_t length : {64U, 80U, 96U, 128U, 256U}) {
            const Recordings snapped = each(recordings(sample), [&](Recording& one) { cut_at(one, length); });
            const Recordings mirrored =
                each(snapped, [](Recording& one) { one.wire_length = static_cast<std::uint32_t>(one.bytes.size()); });
            const Timeline expected = analyse_twice(snapped), found = analyse_twice(mirrored);
            INFO(sample << " cut at " << length << "\n" << text(found) << "by a snap length:\n" << text(expected));
            CHECK(said(found) == said(expected));
            CHECK(found.quality.faulty == expected.quality.faulty);
            CHECK(found.totals.messages == expected.totals.messages);
            CHECK(found.totals.retransmitted_packets == expected.totals.retransmitted_packets);
        }
}
