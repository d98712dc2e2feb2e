// Completion statuses of verbs: their numbers, what producers of logs call them, what each proves and excludes.
#pragma once

#include <transport-replay/casework/verdict.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace qps::casework {

struct CompletionStatus {
    std::uint32_t number;
    std::string_view words;  // "remote access error"
    Weight weight;
    Party party;  // nearest to the cause
    std::string_view proves;
    std::string_view excludes;
    std::string_view command;  // the next step
    std::string_view where;
    std::string_view seen;  // one outcome of it
    std::string_view means;
    std::string_view other;  // what any other outcome means
};

[[nodiscard]] const CompletionStatus* completion_status(std::uint32_t number);
// By the words of libibverbs, the kernel, UCX or by the name of the enumerator, whatever its case.
[[nodiscard]] std::optional<std::uint32_t> status_of_words(std::string_view words);
// Of an error CQE of mlx5, mlx4 and hns.
[[nodiscard]] std::optional<std::uint32_t> status_of_syndrome(std::uint32_t syndrome);
// What mlx5's kernel driver calls the syndrome of a QP event: it feeds it to the table of statuses.
[[nodiscard]] std::optional<std::uint32_t> status_of_kernel_event(std::string_view words);
// What vendors number by themselves: EFA's statuses, as libfabric prints them, and irdma's asynchronous events.
struct VendorCode {
    std::uint32_t first, last;  // codes that mean it
    std::uint32_t status;       // of verbs; 0: none
    std::string_view words;
};
[[nodiscard]] const VendorCode* efa_status(std::uint32_t code);
[[nodiscard]] const VendorCode* irdma_event(std::uint32_t code);
[[nodiscard]] const VendorCode* ionic_status(std::uint32_t code);  // of its error CQEs

}  // namespace qps::casework
