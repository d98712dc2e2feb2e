// Rate control compared:  bench_rate_control
//
// One endpoint writes to another through a queue of 1 Gbit/s, four queue pairs at a time, under a virtual clock:
// without rate control, with DCQCN, with round trips. How much of the line is used, how long packets stand in the queue
// (p50, p99), what was marked and lost. The same everywhere: nothing of it depends on the machine.
#include <array>
#include <string_view>
#include <utility>

#include "bottleneck.hpp"
#include <fmt/format.h>

int main() {
    using namespace qps::transport::verbs;
    struct Row {
        std::string_view name;
        AdapterSettings settings;
    };
    const std::array rows{Row{"none", {}}, Row{"dcqcn", {.dcqcn = DcqcnSettings{}}},
                          Row{"rtt", {.timely = TimelySettings{}}}};
    fmt::print("{:<8}{:>8}{:>12}{:>12}{:>10}{:>8}{:>8}\n", "control", "used", "p50 us", "p99 us", "marked", "CNPs",
               "lost");
    for (const Row& row : rows) {
        const auto figures = qps::bench::run({}, row.settings);
        const auto microseconds = [](qps::dissect::Duration time) {
            return static_cast<double>(std::to_underlying(time)) / 1000;
        };
        fmt::print("{:<8}{:>7.1f}%{:>12.1f}{:>12.1f}{:>10}{:>8}{:>8}\n", row.name, 100 * figures.used,
                   microseconds(figures.p50), microseconds(figures.p99), figures.marked, figures.cnps, figures.lost);
    }
}
