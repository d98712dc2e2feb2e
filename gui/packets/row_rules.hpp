// Colours of rows: a table of rules, each a display filter and the colour of the packets it lets through. The first one
// that matches wins. Asked only of packets that are in sight.
#pragma once

#include <dissect/filter/filter.hpp>
#include <gui/base/look.hpp>

#include <QString>
#include <QStringList>
#include <span>
#include <variant>
#include <vector>

namespace qps::gui {

using RowInk = std::variant<Ink, transport::Severity>;

struct RowRule {
    QString name;    // "Retransmission": what tooltips and legends say
    QString filter;  // of the display filter language
    RowInk ink{};
    bool on = true;
    bool temporary = false;  // of one capture, as the colour of a connection is: not for settings
};

[[nodiscard]] std::vector<RowRule> standardRules();

// The colours there are: "nak" in settings, "NAK" to be chosen.
struct InkName {
    RowInk ink;
    const char* saved;
    const char* shown;
};
[[nodiscard]] std::span<const InkName> inkNames();

// For settings: a line for each rule. What is no rule any more is left out.
[[nodiscard]] QStringList savedRules(const std::vector<RowRule>& rules);
[[nodiscard]] std::vector<RowRule> restoredRules(const QStringList& lines);

[[nodiscard]] QColor inkOf(const RowInk& ink, const QPalette& palette);     // strong: a bar beside the row
[[nodiscard]] QColor groundOf(const RowInk& ink, const QPalette& palette);  // of the row, text stays readable on it

class RowRules {
public:
    static constexpr std::size_t kMost = 200;

    RowRules() : RowRules(standardRules()) {}
    explicit RowRules(std::vector<RowRule> rules);
    [[nodiscard]] const std::vector<RowRule>& rules() const { return rules_; }
    // The rule of a packet, or nullptr. Rules that are off, or whose filter is none, never match.
    [[nodiscard]] const RowRule* of(const dissect::Packet& packet) const;

private:
    std::vector<RowRule> rules_;
    std::vector<std::optional<dissect::Filter>> filters_;
};

}  // namespace qps::gui
