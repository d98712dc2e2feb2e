// What a replay came to, for people and for programs: a row for each recorded message, and all of it as a document.
#pragma once

#include <transport-replay/live/replay/answer_comparison.hpp>
#include <transport-replay/report/document.hpp>
#include <transport-replay/report/table.hpp>

#include <span>
#include <string>

namespace qps::transport::live {

// A recorded message and what became of it.
struct ComparedRow {
    const RecordedConversation& conversation;
    const ReplayComparison& comparison;
    End ours{};
    std::size_t index = 0;  // in the conversation

    [[nodiscard]] const RecordedMessage& recorded() const { return conversation.messages[index]; }
    [[nodiscard]] const ComparedMessage& live() const { return comparison.messages[index]; }
};

[[nodiscard]] std::span<const TableColumn<ComparedRow>> compared_columns();
[[nodiscard]] Tone tone_of(const ComparedRow& row);

// Some lines: how it ended, how much differs, what was not recorded, what nothing translates.
[[nodiscard]] std::string summary_text(const RecordedConversation& conversation, const ReplayComparison& comparison,
                                       End ours);
// One object with a schema, every message in it.
void add_comparison(Document& document, const RecordedConversation& conversation, const ReplayComparison& comparison,
                    End ours);

}  // namespace qps::transport::live
