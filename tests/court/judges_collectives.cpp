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
        if (i == 0 || data[i]->time - data[i - 1]->time > longest / 2) steps.push_back({.sent = {}, .begin = data[i]->time});
        steps.back().end = data[i]->time;
        auto [place, fresh] = steps.back().sent.try_emplace({data[i]->from, data[i]->to});
        Burst& sent = place->second;
        if (fresh) sent.first = data[i]->time;
        sent.last = data[i]->time;
        sent.bytes += data[i]->payload;
    }
    return steps;
}

std::uint64_t said_number(const std::string& words) { return count_of(words).value_or(0); }

const std::string kSteps = "^In " + kNumber + " of " + kNumber + " (?:steps?|all-reduces?) of an? [^,(]*?of (\\d+) ranks?";

void straggler(Hearing& hearing) {
    const auto said = hearing.must_say(kSteps + " \\(mean step " + kQuantity + "\\) " + kHost + "(?: \\(rank \\d+\\))? was the last to start");
    const auto cost = hearing.must_say("the others waited " + kQuantity + " for it, (\\d+) % of the time of these steps \\(confidence (\\d+) %\\)");
    if (!said || !cost) return;
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
        const auto own = began.find((*said)[5]);
        if (own == began.end()) continue;
        const std::int64_t start = own->second;
        began.erase(own);
        std::int64_t others = step.begin;
        for (const auto& [host, time] : began) others = std::max(others, time);
        if (start > others) ++last, waited += start - others;
    }
    hearing.at_most("steps in which it began last", said_number((*said)[1]), last);
    hearing.at_most("steps", said_number((*said)[2]), steps.size());
    hearing.equal("ranks", said_number((*said)[3]), ranks.size());
    hearing.at_most("mean step", (*said)[4], static_cast<double>(longest));
    hearing.at_most("waited", (*cost)[1], static_cast<double>(waited));
    hearing.at_most("percent of the time", said_number((*cost)[2]), static_cast<std::uint64_t>(100 * waited / std::max<std::int64_t>(1, length)));
    hearing.at_most("percent of certainty", said_number((*cost)[3]), 99);
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
    const auto said = hearing.must_say(kSteps + ", up to " + kNumber + " ranks? sent to " + kHost + "(?: \\(rank \\d+\\))? at once, " + kQuantity + " in total");
    if (!said) return;
    const std::vector<Step> steps = steps_of(data_of(hearing));
    std::set<std::string> ranks;
    std::uint64_t several = 0, most = 0, bytes = 0;
    for (const Step& step : steps) {
        const std::uint64_t here = at_once(step, (*said)[5]);
        several += here >= kSeveral ? 1U : 0U;
        most = std::max(most, here);
        for (const auto& [pair, sent] : step.sent) {
            ranks.insert(pair.first);
            if (pair.second == (*said)[5]) bytes += sent.bytes;
        }
    }
    hearing.at_most("steps in which several sent at once", said_number((*said)[1]), several);
    hearing.at_most("steps", said_number((*said)[2]), steps.size());
    hearing.equal("ranks", said_number((*said)[3]), ranks.size());
    hearing.at_most("ranks at once", said_number((*said)[4]), most);
    hearing.at_most("received", (*said)[6], static_cast<double>(bytes));
}

constexpr std::array kCollectiveJudges{
    Judge{"collective-straggler", straggler},
    Judge{"collective-incast", incast},
};

}  // namespace

std::span<const Judge> collective_judges() { return kCollectiveJudges; }

}  // namespace qps::court
