#include <cli/live/options/exchange_options.hpp>
#include <cli/live/options/number.hpp>
#include <cli/options/choice.hpp>

namespace qps::cli {

namespace {

dissect::Service read_service(const std::string& text) {
    struct Choice {
        std::string_view name;
        dissect::Service service;
    };
    for (const Choice& each :
         {Choice{"RC", dissect::Service::rc}, Choice{"UC", dissect::Service::uc}, Choice{"UD", dissect::Service::ud}})
        if (text == each.name) return each.service;
    refuse(fmt::format("invalid service '{}': expected RC, UC or UD", text));
}

constexpr std::string_view kPerftest = "perftest and ibv_*_pingpong";

}  // namespace

void ExchangeOptions::add(OptionTable& table) {
    const auto time = [](const std::string& text) { return read_time(text); };
    table.under({}).flag("-R,--rdma-cm", rdma_cm, "Connect and exchange parameters over rdma_cm, not TCP (ib_* -R)");
    table.under(kPerftest);
    table.add(
        "--tcp", "HOST", tcp,
        "Exchange queue pairs over TCP with HOST (default: the peer), or listen at HOST (default: the system's address on the interface; of agent: 127.0.0.1; 0.0.0.0, ::: all)");
    table.add(
        "-c,--service", "WORD", [this](const std::string& text) { service = read_service(text); },
        "Service of ib_*: RC, UC or UD (default: RC)");
    table.add("--qps", "N", number_into(queue_pairs, std::uint32_t{1}, std::uint32_t{1024}, "number of queue pairs"),
              "Use N queue pairs (ib_*_bw -q, ibv_srq_pingpong)");
    table.flag("-b,--bidirectional", both_ways, "Send in both directions at once (ib_*_bw)");
    table.flag("--all-sizes", all_sizes, "Run all message sizes (ib_* -a)");
    table.add("-D,--duration", "TIME", into(duration, time),
              "Run for this time instead of a number of messages (ib_*): 10s, ...");
    table.add("--gap", "TIME", into(gap, time),
              "Wait between messages (ib_*): 1ms, ...; UC and UD have no other flow control");
    table.flag("--compare-swap", compare_swap, "Use COMPARE SWAP instead of FETCH ADD (ib_atomic_*)");
}

}  // namespace qps::cli
