// What textbooks say of ways to move bytes, and what the rows measured say of it: polling is faster than waiting for
// events, work that is not awaited faster than work that is, RDMA faster than TCP.
//
// Two rows differ where they do by more than kSamePlace, by more than either differs from itself (PingpongRow::drift),
// and where the one's median cannot be as high as the other's may be low (median_low, median_high). No difference was
// seen, which contradicts nobody, within kSamePlace, or where both medians may be the same and neither row drifted.
// What is left is undecided.
#pragma once

#include <transport-replay/live/pingpong/pingpong.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace qps::transport::live {

struct TextbookRule {
    std::string_view rule;    // "polling < events"
    std::string_view faster;  // names of modes
    std::string_view slower;
};
inline constexpr std::array kTextbookRules{
    TextbookRule{"polling < events", "send-poll", "send-notify"},
    TextbookRule{"polling < events", "write-poll", "write-notify"},
    TextbookRule{"polling < events", "tcp-poll", "tcp-notify"},
    TextbookRule{"unsignaled < signaled", "write-poll", "write-read-poll"},
    TextbookRule{"unsignaled < signaled", "write-notify", "write-read-notify"},
    TextbookRule{"RDMA < TCP", "send-poll", "tcp-poll"},
    TextbookRule{"RDMA < TCP", "send-notify", "tcp-notify"},
    TextbookRule{"RDMA < TCP", "write-stream", "tcp-stream"},
};

enum class TextbookVerdict : std::uint8_t { holds, no_difference, fails, too_few, drifted, kept_from_processor };
inline constexpr std::array<std::string_view, 6> kTextbookVerdicts{
    "holds",
    "no difference seen",
    "does not hold",
    "undecided: too few rounds",
    "undecided: its times drifted",
    "undecided: polled with less than a processor",
};

// Whether the times say that the one is faster than the other; both have rounds, and both pour or none does.
[[nodiscard]] TextbookVerdict judged(const PingpongRow& faster, const PingpongRow& slower);

// Who polls and has less than this of a processor was kept from it: its times are of other programs as well. Nobody
// polls with none at all: that is not known.
inline constexpr double kWholeProcessor = 0.9;
[[nodiscard]] bool kept_from_processor(const PingpongRow& row);

struct TextbookComparison {
    std::size_t rule = 0;    // of kTextbookRules
    std::size_t faster = 0;  // rows of those given
    std::size_t slower = 0;
    TextbookVerdict verdict = TextbookVerdict::no_difference;
};

// Each rule whose two rows were measured to their end with messages of the same size. Where faults were put into RDMA
// alone, what goes by the system is not compared with it.
[[nodiscard]] std::vector<TextbookComparison> compared_with_textbooks(std::span<const PingpongRow> rows,
                                                                      bool faults = false);

// The slower's cost by the faster's: 1 and more where the rule holds.
[[nodiscard]] double ratio_of(const TextbookComparison& comparison, std::span<const PingpongRow> rows);
// "21.1 us": the median, or "3.2 Gbit/s" of a row that pours.
[[nodiscard]] std::string figure_of(const PingpongRow& row);
// "send-notify was faster than send-poll here: 21.1 us and 22.4 us", of one that does not hold.
[[nodiscard]] std::string sentence_of(const TextbookComparison& comparison, std::span<const PingpongRow> rows);

}  // namespace qps::transport::live
