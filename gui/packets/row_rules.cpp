#include <gui/packets/row_rules.hpp>

#include <algorithm>
#include <array>

namespace qps::gui {

using transport::Severity;

namespace {

struct Standard {
    const char* name;
    const char* filter;
    RowInk ink;
};

// The worst first: a packet has one colour.
constexpr std::array kStandard{
    Standard{"Bad ICRC or VCRC", "rdma.icrc.status == bad or rdma.vcrc.status == bad", Severity::error},
    Standard{"NAK", "infiniband.aeth.syndrome.opcode == NAK", Ink::NegativeAcknowledgment},
    Standard{"RNR NAK", "infiniband.aeth.syndrome.opcode == RNR_NAK", Ink::Wait},
    Standard{"Mirror copy", "rdma.mirror_copy", Ink::Other},
    Standard{"Retransmission", "rdma.retransmission", Ink::Retransmission},
    Standard{"PSN gap", "rdma.psn_missing", Severity::warning},
    Standard{"Malformed or truncated", "rdma.frame.fault and not rdma.frame.fault == none", Severity::warning},
    Standard{"CNP", "rdma.service == CNP", Ink::Notification},
    Standard{"Congestion mark (CE or FECN)", "ip.dsfield.ecn == 3 or ipv6.tclass.ecn == 3 or infiniband.bth.fecn == 1",
             Ink::Congestion},
    Standard{"Pause", "macc", Ink::Pause},
    Standard{"Connection management", "infiniband.mad.mgmtclass == 7", Severity::note},
};

constexpr std::array kInks{
    InkName{Severity::error, "error", "Error"},
    InkName{Severity::warning, "warning", "Warning"},
    InkName{Severity::note, "note", "Note"},
    InkName{Ink::Request, "request", "Request"},
    InkName{Ink::Response, "response", "Response"},
    InkName{Ink::Acknowledgment, "acknowledgment", "Acknowledgment"},
    InkName{Ink::Retransmission, "retransmission", "Retransmission"},
    InkName{Ink::NegativeAcknowledgment, "nak", "NAK"},
    InkName{Ink::Wait, "wait", "Wait"},
    InkName{Ink::Congestion, "congestion", "Congestion"},
    InkName{Ink::Notification, "notification", "Notification"},
    InkName{Ink::Pause, "pause", "Pause"},
    InkName{Ink::Other, "other", "Grey"},
};

}  // namespace

std::span<const InkName> inkNames() { return kInks; }

// "on|nak|NAK|infiniband.aeth.syndrome.opcode == NAK": the filter comes last, for it may have bars of its own.
QStringList savedRules(const std::vector<RowRule>& rules) {
    QStringList lines;
    for (const RowRule& rule : rules) {
        if (rule.temporary) continue;
        const auto* const name = std::ranges::find(kInks, rule.ink, &InkName::ink);
        lines.append(QStringList{rule.on ? QStringLiteral("on") : QStringLiteral("off"),
                                 QLatin1String(name != kInks.end() ? name->saved : "other"),
                                 QString(rule.name).remove(QLatin1Char('|')), rule.filter}
                         .join(QLatin1Char('|')));
    }
    return lines;
}

std::vector<RowRule> restoredRules(const QStringList& lines) {
    std::vector<RowRule> rules;
    for (const QString& line : lines) {
        const QString filter = line.section(QLatin1Char('|'), 3);
        const QString saved = line.section(QLatin1Char('|'), 1, 1);
        const auto* const name =
            std::ranges::find_if(kInks, [&](const InkName& each) { return saved == QLatin1String(each.saved); });
        if (filter.isEmpty() || name == kInks.end() || rules.size() == RowRules::kMost) continue;
        rules.push_back(
            {line.section(QLatin1Char('|'), 2, 2), filter, name->ink, line.startsWith(QLatin1String("on|"))});
    }
    return rules;
}

std::vector<RowRule> standardRules() {
    std::vector<RowRule> rules;
    for (const Standard& row : kStandard)
        rules.push_back({QString::fromLatin1(row.name), QString::fromLatin1(row.filter), row.ink});
    return rules;
}

QColor inkOf(const RowInk& ink, const QPalette& palette) {
    if (const Ink* drawn = std::get_if<Ink>(&ink)) return color(*drawn, palette);
    return textColor(std::get<Severity>(ink), palette);
}

QColor groundOf(const RowInk& ink, const QPalette& palette) {
    constexpr double kShare = 0.16;  // as rowColor() mixes: WCAG's contrast of text holds in light and dark
    return mixed(palette.color(QPalette::Base), inkOf(ink, palette), kShare);
}

RowRules::RowRules(std::vector<RowRule> rules) : rules_(std::move(rules)) {
    if (rules_.size() > kMost) rules_.resize(kMost);
    for (const RowRule& rule : rules_) {
        auto compiled = dissect::Filter::compile(rule.filter.toStdString());
        const bool used = rule.on && compiled && !rule.filter.trimmed().isEmpty();
        filters_.push_back(used ? std::optional(std::move(*compiled)) : std::nullopt);
    }
}

const RowRule* RowRules::of(const dissect::Packet& packet) const {
    for (std::size_t i = 0; i < rules_.size(); ++i)
        if (filters_[i] && filters_[i]->matches(packet)) return &rules_[i];
    return nullptr;
}

}  // namespace qps::gui
