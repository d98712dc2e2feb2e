// Colours of rows: a table of rules, each a display filter and the colour of the packets it lets through. The first one that
// matches wins. Asked only of packets that are in sight.
#pragma once

#include <dissect/filter/filter.hpp>
#include <gui/look.hpp>

#include <QString>
#include <variant>
#include <vector>

namespace qps::gui {

using RowInk = std::variant<Ink, transport::Severity>;

struct RowRule {
    QString name;    // "Retransmission": what tooltips and legends say
    QString filter;  // of the display filter language
    RowInk ink{};
    bool on = true;
};

[[nodiscard]] std::vector<RowRule> standardRules();

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
