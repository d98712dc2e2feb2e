// What the connections of a capture carried, for people: protocols, what they asked for, how long it took, who they
// said they are.
#include <cli/analyzing.hpp>
#include <cli/report.hpp>
#include <cli/wrapped.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/report/operations.hpp>

#include <algorithm>
#include <map>
#include <ranges>
#include <vector>

#include <fmt/format.h>

namespace qps::cli {

using namespace dissect;
using namespace transport;

namespace {

constexpr std::size_t kCarriedIndent = 8;
constexpr std::size_t kHanging = 12;    // of the lines of a paragraph
constexpr std::size_t kKindsShown = 6;  // operations of a protocol
constexpr std::size_t kFactsShown = 6;  // values of facts of a protocol
constexpr std::size_t kConnectionsNamed = 4;

// All connections of a protocol that are wanted.
struct Carried {
    std::vector<const UlpConversation*> conversations;
    std::uint64_t operations = 0;
    std::uint64_t failed = 0;
    std::uint64_t unanswered = 0;
    std::uint64_t bytes = 0;
};

std::string connections_text(const std::vector<const UlpConversation*>& conversations) {
    std::string text = counted(conversations.size(), "connection") + ":";
    for (std::size_t i = 0; i < std::min(conversations.size(), kConnectionsNamed); ++i)
        text += fmt::format(" #{}", std::to_underlying(conversations[i]->connection));
    if (conversations.size() > kConnectionsNamed) text += " ...";
    return text;
}

// How it is known, where anybody may doubt it.
std::string doubt(const std::vector<const UlpConversation*>& conversations) {
    const auto least = *std::ranges::min_element(conversations, {}, &UlpConversation::certainty);
    return least->certainty >= 100
               ? std::string()
               : fmt::format("; identified {}", spoken_text(*least).substr(info(least->protocol).word.size() + 1));
}

void append_carried_line(std::string& out, std::string_view words) {
    append_wrapped(out, std::string(kHanging, ' '), kHanging + 2, words);
}

void append_sums(std::string& out, const transport::Timeline& timeline, UlpProtocol protocol) {
    std::vector<const OperationSum*> sums;
    for (const OperationSum& sum : timeline.ulp.sums)
        if (sum.protocol == protocol) sums.push_back(&sum);
    std::ranges::stable_sort(sums, std::greater{}, &OperationSum::count);
    for (std::size_t i = 0; i < std::min(sums.size(), kKindsShown); ++i) {
        const OperationSum& sum = *sums[i];
        std::string text = fmt::format("{} {}", grouped(sum.count), operation_name(protocol, sum.code));
        if (sum.bytes != 0) text += fmt::format(", {}", bytes_text(sum.bytes));
        if (sum.latency.count != 0)
            text += fmt::format(", median {}, p99 {}, max {}", duration_text(percentile_of(sum, 50)),
                                duration_text(percentile_of(sum, 99)), duration_text(sum.latency.most));
        if (sum.data.count != 0)
            text += fmt::format(" (mean: wait {}, transfer {}, complete {})", duration_text(sum.until_data.mean()),
                                duration_text(sum.data.mean()), duration_text(sum.to_answer.mean()));
        if (sum.failed != 0) text += fmt::format(", {} failed", grouped(sum.failed));
        if (sum.unanswered != 0) text += fmt::format(", {} unanswered", grouped(sum.unanswered));
        append_carried_line(out, text);
    }
    if (sums.size() > kKindsShown)
        append_carried_line(out,
                            fmt::format("and {} more: see qpscope operations", grouped(sums.size() - kKindsShown)));
}

bool says(const UlpConversation& conversation, const UlpFact& fact) {
    return conversation.fact(fact.name) == fact.value;
}

// "host: nqn...; subsystem: nqn...", as many as are wanted in a line.
class FactLine {
public:
    void add(const UlpFact& fact) {
        if (++count_ > kFactsShown) return;
        text_ += fmt::format("{}{}: {}", text_.empty() ? "" : "; ", fact.name, fact.value);
    }
    [[nodiscard]] std::string text() const { return count_ > kFactsShown ? text_ + "; ..." : text_; }

private:
    std::string text_;
    std::size_t count_ = 0;
};

// What all connections of a protocol say alike in a line; then in one each what only some say.
void append_facts(std::string& out, const Carried& carried) {
    const auto by_all = [&](const UlpFact& fact) {
        return std::ranges::all_of(carried.conversations,
                                   [&](const UlpConversation* other) { return says(*other, fact); });
    };
    FactLine common;
    for (const UlpFact& fact : carried.conversations.front()->facts)
        if (by_all(fact)) common.add(fact);
    if (!common.text().empty()) append_carried_line(out, common.text());
    for (const UlpConversation* conversation : carried.conversations | std::views::take(kConnectionsNamed)) {
        FactLine own;
        for (const UlpFact& fact : conversation->facts)
            if (!by_all(fact)) own.add(fact);
        if (!own.text().empty())
            append_carried_line(out, fmt::format("#{} {}", std::to_underlying(conversation->connection), own.text()));
    }
}

}  // namespace

void append_carried(std::string& out, const AnalysisOptions& options, const transport::Timeline& timeline) {
    std::map<UlpProtocol, Carried> protocols;
    for (const UlpConversation& conversation : timeline.ulp.conversations) {
        if (!wanted(options, conversation.connection)) continue;
        Carried& carried = protocols[conversation.protocol];
        carried.conversations.push_back(&conversation);
        carried.operations += conversation.operations;
        carried.failed += conversation.failed;
        carried.unanswered += conversation.unanswered;
        carried.bytes += conversation.bytes;
    }
    if (protocols.empty()) return;
    out += "\nupper-layer protocols\n";
    for (const auto& [protocol, carried] : protocols) {
        std::string text = fmt::format("{}, {}", info(protocol).name, connections_text(carried.conversations));
        if (carried.operations != 0) text += fmt::format("; {}", counted(carried.operations, "operation"));
        if (carried.bytes != 0) text += fmt::format(", {}", bytes_text(carried.bytes));
        if (carried.failed != 0) text += fmt::format(", {} failed", grouped(carried.failed));
        if (carried.unanswered != 0) text += fmt::format(", {} unanswered", grouped(carried.unanswered));
        append_wrapped(out, std::string(kCarriedIndent - 4, ' '), kCarriedIndent, text + doubt(carried.conversations));
        append_facts(out, carried);
        append_sums(out, timeline, protocol);
    }
}

}  // namespace qps::cli
