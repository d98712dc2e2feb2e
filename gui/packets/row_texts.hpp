// RowTexts: the rows of the list as they are drawn: a text for each column, the colour, the comment. Made when a row
// comes into sight, kept for a while.
#pragma once

#include <gui/packets/packet_columns.hpp>
#include <gui/packets/packet_notes.hpp>
#include <gui/packets/packet_rows.hpp>
#include <gui/packets/row_rules.hpp>

#include <memory>
#include <unordered_map>

namespace qps::gui {

enum class TimeFormat {
    SinceFirst,          // packet of the capture, or since the time reference before it
    SinceFirstShown,     // or since the time reference before it
    SincePreviousShown,  // packet
    Utc,
    Local,
};

struct RowText {
    bool readable = false;
    std::vector<QString> cells;  // one for each column
    const RowRule* rule = nullptr;
    QString comment;
};

class RowTexts {
public:
    static constexpr std::size_t kMostKept = 4096;  // rows: some screens full

    explicit RowTexts(const PacketNotes& notes) : notes_(notes) {}

    void setRows(PacketRows* rows);
    void setColumns(std::vector<PacketColumn> columns);
    void setRules(RowRules rules);
    void setTimeFormat(TimeFormat format);
    void setNames(std::shared_ptr<const Names> names);  // nullptr: addresses stay as they are
    [[nodiscard]] const std::vector<PacketColumn>& columns() const { return columns_; }
    // For widths, titles and order; what it shows stays.
    [[nodiscard]] std::vector<PacketColumn>& columns() { return columns_; }
    [[nodiscard]] const RowRules& rules() const { return rules_; }
    [[nodiscard]] TimeFormat timeFormat() const { return time_; }

    // What was made is out of date: notes have changed, or which packets are shown.
    void forget() { kept_.clear(); }
    // Of a position below the count of the rows. Valid until the next call.
    [[nodiscard]] const RowText& at(std::uint64_t position);

private:
    [[nodiscard]] RowText made(dissect::FrameIndex frame);
    [[nodiscard]] QString timeText(dissect::FrameIndex frame) const;
    // What times of a packet count from.
    [[nodiscard]] std::optional<dissect::Instant> origin(dissect::FrameIndex frame) const;

    const PacketNotes& notes_;
    PacketRows* rows_ = nullptr;
    std::vector<PacketColumn> columns_ = standardColumns();
    RowRules rules_;
    TimeFormat time_ = TimeFormat::SinceFirst;
    std::shared_ptr<const Names> names_;
    std::unordered_map<std::uint64_t, RowText> kept_;
};

// "1.000000500", "-0.000000001".
[[nodiscard]] QString secondsText(dissect::Duration time);

}  // namespace qps::gui
