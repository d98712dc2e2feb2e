// What `pingpong` measured: rows as a table, the best of each size first, and what textbooks say of them; or for
// programs.
#pragma once

#include <cli/options/output_options.hpp>
#include <cli/output.hpp>
#include <transport-replay/live/pingpong/pingpong.hpp>

#include <span>
#include <string>
#include <vector>

namespace qps::cli {

struct PingpongReport {
    std::span<const transport::live::PingpongRow> rows;
    std::span<const transport::live::PingpongLeftOut> left_out;
    transport::live::ProgramCounts counts{};
    bool faults = false;  // in the way of RDMA; TCP and UDP go by the system
};
void print_pingpong(const OutputOptions& options, const transport::live::PingpongSettings& settings,
                    const PingpongReport& report, Output& output);

// "tcp-poll, tcp-notify are left out: ...", a sentence for each reason.
[[nodiscard]] std::vector<std::string> sentences_of(std::span<const transport::live::PingpongLeftOut> left_out);

}  // namespace qps::cli
