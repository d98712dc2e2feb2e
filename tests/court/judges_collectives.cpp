// Judges of groups of hosts that work in steps. A step is what lies between the long pauses of all of them together.
#include <tests/court/judges.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>

namespace qps::court {

namespace {

struct Burst {
    std::int64_t first = 0, last = 0;
    std::uint64_t bytes = 0;
};
using Pair = std::pair<std::string, std::string>;  // from, to

struct Step {
    std::map<Pair, Burst> sent;
    std::int64_t begin = 0, end = 0;
};

std::vector<const Wire*> data_of(const Hearing& hearing) {
    std::vector<const Wire*> data;
    for (const Wire& wire : hearing.wires())
        if (wire.request() && wire.payload != 0) data.push_back(&wire);
    return data;
}

// Divided where nobody sends for half as long as the longest pause.
std::vector<Step> steps_of(const std::vector<const Wire*>& data) {
    std::int64_t longest = 0;
    for (std::size_t i = 1; i < data.size(); ++i) longest = std::max(longest, data[i]->time - data[i - 1]->time);
    std::vector<Step> steps;
    for (std::size_t i = 0; i < data.size(); ++i) {
        if (i == 0 || data[i]->time - data[i - 1]->time > longest / 2)
            steps.push_back({.sent = {}, .begin = data[i]->time});
        steps.back().end = data[i]->time;
        auto [place, fresh] = steps.back().sent.try_emplace({data[i]->from, data[i]->to});
        Burst& sent = place->second;
        if (fresh) sent.first = data[i]->time;
        sent.last = data[i]->time;
        sent.bytes += data[i]->payload;
    }
    return steps;
}

// Ranks and steps of the group; the number of the rank is the library's, which the court does not read.
void of_group(Hearing& hearing, std::size_t ranks, std::size_t steps) {
    hearing.equal_fact("ranks", static_cast<double>(ranks));
    hearing.at_most_fact("judged_steps", static_cast<double>(steps));
    (void)hearing.number("rank");
}

void straggler(Hearing& hearing) {
    const std::string rank = hearing.word("host").value_or("");
    hearing.expect(hearing.word("delay") == "starts", "the court judges who starts last alone");
    const std::vector<Step> steps = steps_of(data_of(hearing));
    std::set<std::string> ranks;
    std::uint64_t last = 0;
    std::int64_t waited = 0, length = 0, longest = 0;
    for (const Step& step : steps) {
        std::map<std::string, std::int64_t> began;
        for (const auto& [pair, sent] : step.sent) {
            const auto place = began.try_emplace(pair.first, sent.first).first;
            place->second = std::min(place->second, sent.first);
            ranks.insert(pair.first);
        }
        length += step.end - step.begin;
        longest = std::max(longest, step.end - step.begin);
        const auto own = began.find(rank);
        if (own == began.end()) continue;
        const std::int64_t start = own->second;
        began.erase(own);
        std::int64_t others = step.begin;
        for (const auto& [host, time] : began) others = std::max(others, time);
        if (start > others) ++last, waited += start - others;
    }
    of_group(hearing, ranks.size(), steps.size());
    hearing.at_most_fact("steps", static_cast<double>(last));
    hearing.at_most_fact("mean_step_ns", static_cast<double>(longest));
    hearing.at_most_fact("others_waited_ns", static_cast<double>(waited));
    hearing.at_most_fact("share_of_time",
                         static_cast<double>(waited) / static_cast<double>(std::max<std::int64_t>(1, length)));
    hearing.at_most_fact("confidence", 0.99);
}

// How many of them sent to the host at the same time.
std::uint64_t at_once(const Step& step, const std::string& host) {
    std::uint64_t most = 0;
    for (const auto& [pair, sent] : step.sent) {
        if (pair.second != host) continue;
        const auto also = std::ranges::count_if(step.sent, [&](const auto& other) {
            return other.first.second == host && other.second.first <= sent.first && sent.first <= other.second.last;
        });
        most = std::max(most, static_cast<std::uint64_t>(also));
    }
    return most;
}

void incast(Hearing& hearing) {
    constexpr std::uint64_t kSeveral = 3;
    const std::string rank = hearing.word("host").value_or("");
    const std::vector<Step> steps = steps_of(data_of(hearing));
    std::set<std::string> ranks;
    std::uint64_t several = 0, most = 0, bytes = 0;
    for (const Step& step : steps) {
        const std::uint64_t here = at_once(step, rank);
        several += here >= kSeveral ? 1U : 0U;
        most = std::max(most, here);
        for (const auto& [pair, sent] : step.sent) {
            ranks.insert(pair.first);
            if (pair.second == rank) bytes += sent.bytes;
        }
    }
    of_group(hearing, ranks.size(), steps.size());
    hearing.at_most_fact("steps", static_cast<double>(several));
    hearing.at_most_fact("senders_at_once", static_cast<double>(most));
    hearing.at_most_fact("received_bytes", static_cast<double>(bytes));
}

constexpr std::array kCollectiveJudges{
    Judge{"collective-straggler", straggler},
    Judge{"collective-incast", incast},
};

}  // namespace

std::span<const Judge> collective_judges() { return kCollectiveJudges; }

}  // namespace qps::court
