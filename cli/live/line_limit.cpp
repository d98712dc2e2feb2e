#include <cli/live/line_limit.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace qps::cli {

using dissect::Instant;

namespace {

// The line without its words that have a digit.
std::string kind_of(std::string_view line) {
    std::string kind;
    while (!line.empty()) {
        const std::string_view word = line.substr(0, std::min(line.find(' '), line.size()));
        line.remove_prefix(std::min(word.size() + 1, line.size()));
        if (word.find_first_of("0123456789") == std::string_view::npos) kind.append(word).append(1, ' ');
    }
    return kind;
}

}  // namespace

bool LineLimit::admit(std::string_view line, Instant now) {
    std::string name = kind_of(line);
    if (kinds_.size() >= kMaxKinds && !kinds_.contains(name)) name.clear();
    Kind& kind = kinds_[name];
    if (kind.lines == 0) kind.since = now;
    if (++kind.lines <= kBurst) return true;
    kind.last = line;
    return false;
}

std::vector<std::string> LineLimit::take_sums(Instant now) {
    std::vector<std::string> sums;
    for (auto next = kinds_.begin(); next != kinds_.end();) {
        const auto here = next++;
        if (now - here->second.since < kWindow) continue;
        if (here->second.lines > kBurst) sums.push_back(sum_of(here->second, now));
        kinds_.erase(here);
    }
    return sums;
}

std::vector<std::string> LineLimit::take_all(Instant now) {
    std::vector<std::string> sums;
    for (const auto& [name, kind] : kinds_)
        if (kind.lines > kBurst) sums.push_back(sum_of(kind, now));
    kinds_.clear();
    return sums;
}

std::string LineLimit::sum_of(const Kind& kind, Instant now) {
    return fmt::format("and {} more like this in {} s: {}", transport::grouped(kind.lines - kBurst),
                       static_cast<std::int64_t>(now - kind.since) / 1'000'000'000, kind.last);
}

}  // namespace qps::cli
