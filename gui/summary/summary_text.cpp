#include <gui/base/look.hpp>
#include <gui/base/names.hpp>
#include <gui/base/text.hpp>
#include <gui/summary/facts.hpp>
#include <gui/summary/summary_text.hpp>
#include <gui/summary/words.hpp>
#include <gui/tables/finding_model.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/connections.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/report/findings.hpp>
#include <transport-replay/report/ulp.hpp>

#include <QObject>
#include <algorithm>

namespace qps::gui {

using namespace transport;

namespace {

QString escaped(std::string_view text) { return shown(text).toHtmlEscaped(); }
QString link(const QString& target, const QString& text) {
    return QStringLiteral("<a href=\"%1\">%2</a>").arg(target.toHtmlEscaped(), text);
}
QString toned(const QString& text, const QColor& ink) {
    return QStringLiteral("<span style=\"color:%1\">%2</span>").arg(ink.name(), text);
}

QString rows(const QStringList& all) {
    return QStringLiteral("<table cellspacing=\"0\" cellpadding=\"2\">%1</table>").arg(all.join(QString()));
}
QString row(const QString& name, const QString& text) {
    return QStringLiteral("<tr><td style=\"white-space:nowrap\">%1&nbsp;&nbsp;</td><td>%2</td></tr>").arg(name, text);
}

// Check mark, question mark, exclamation mark, cross: told apart without colours.
QString symbol(Verdict verdict, const QPalette& palette) {
    switch (verdict) {
        case Verdict::Good: return toned(QStringLiteral("\u2713"), color(Ink::Acknowledgment, palette));
        case Verdict::Unknown: return toned(QStringLiteral("?"), color(Ink::Other, palette));
        case Verdict::Doubtful: return toned(QStringLiteral("<b>!</b>"), textColor(Severity::warning, palette));
        case Verdict::Bad: break;
    }
    return toned(QStringLiteral("\u2717"), textColor(Severity::error, palette));
}

QString overall(Verdict verdict) {
    switch (verdict) {
        case Verdict::Good:
        case Verdict::Unknown: return tr("The capture is reliable.");
        case Verdict::Doubtful: return tr("The capture is usable, with limitations:");
        case Verdict::Bad: break;
    }
    return tr("The capture is unreliable: the results below may be wrong.");
}

QString plural(Severity severity, std::uint64_t count) {
    QString text = number(count) + QLatin1Char(' ') + shown(kSeverityNames[static_cast<std::size_t>(severity)]);
    if (count != 1) text += QLatin1Char('s');
    return text;
}

QString evidence(const Finding& finding) {
    QStringList links;
    for (std::size_t i = 0; i < std::min(finding.packets.size(), kFramesShown); ++i) {
        const QString frame = QString::number(std::to_underlying(finding.packets[i]));
        links.append(link(QStringLiteral("frame:") + frame, frame));
    }
    QString text;
    if (!links.isEmpty())
        text = (links.size() == 1 ? tr("packet ") : tr("packets ")) + links.join(QStringLiteral(", "));
    if (finding.packets.size() > kFramesShown) text += QStringLiteral(", ...");
    const QString filter = evidenceFilter(finding);
    if (!filter.isEmpty())
        text += (text.isEmpty() ? QString() : QStringLiteral(" &nbsp; ")) +
                link(QStringLiteral("filter:") + filter, tr("apply as filter"));
    if (finding.connection) {
        const auto uid = std::to_underlying(*finding.connection);
        text +=
            QStringLiteral(" &nbsp; ") + link(QStringLiteral("connection:%1").arg(uid), tr("connection #%1").arg(uid));
    }
    return text;
}

QString groupText(const FindingGroup& group, const QPalette& palette, const Names* names) {
    const Finding& finding = *group.first;
    QString head =
        QStringLiteral("<b>%1</b> &nbsp;%2")
            .arg(toned(escaped(finding.id), textColor(finding.severity, palette)), escaped(party_name(finding)));
    if (group.findings > 1) head += tr(", %1 findings").arg(number(group.findings));
    if (group.count > 1) head += tr(", %1 times").arg(number(group.count));
    QString text = head + QStringLiteral("<br>") + sentence(inText(names, finding.summary));
    if (!finding.advice.empty()) text += QStringLiteral("<br>\u2192 ") + sentence(inText(names, finding.advice));
    return QStringLiteral("<p style=\"margin-left:12px\">%1<br>%2</p>").arg(text, evidence(finding));
}

QString cell(const QString& text, bool right = true) {
    return QStringLiteral("<td align=\"%1\" style=\"white-space:nowrap\">%2&nbsp;&nbsp;&nbsp;</td>")
        .arg(right ? QStringLiteral("right") : QStringLiteral("left"), text);
}
QString unlessZero(std::uint64_t count) { return count == 0 ? QString() : number(count); }

QString connectionRow(const ConnectionRow& of, const QPalette& palette, const Names* names) {
    const Connection& connection = of.connection;
    const auto uid = std::to_underlying(connection.uid);
    const auto naks = both(connection, [](const Way& way) {
        const Incidents& had = *way.incidents;
        return had.sequence_naks + had.rnr_naks + had.fatal_naks;
    });
    const QString speaks = of.ulp == nullptr ? QString() : QStringLiteral(" ") + escaped(spoken_text(*of.ulp));
    QString state = escaped(state_of(of));
    if (tone_of(of) == Tone::error) state = toned(state, textColor(Severity::error, palette));
    return QStringLiteral("<tr>") +
           cell(link(QStringLiteral("connection:%1").arg(uid), QStringLiteral("#%1").arg(uid)) +
                    QStringLiteral(" %1 %2").arg(escaped(service_name(connection.service)),
                                                 endsText(names, connection).toHtmlEscaped()) +
                    speaks,
                false) +
           cell(shown(bytes_text(connection.all_bytes()))) +
           cell(number(both(connection, [](const Way& way) { return way.all_messages(); }))) +
           cell(unlessZero(both(connection, [](const Way& way) { return way.incidents->retransmitted; }))) +
           cell(unlessZero(naks)) + cell(state, false) + QStringLiteral("</tr>");
}

}  // namespace

QString captureText(const Timeline& timeline, const QStringList& files, const QStringList& problems,
                    const QPalette& palette) {
    QStringList all;
    if (files.size() > 1)
        all.append(
            row(tr("Files"),
                files.join(QLatin1Char('\n')).toHtmlEscaped().replace(QLatin1Char('\n'), QStringLiteral("<br>"))));
    for (const Label& label : captureLabels(timeline)) all.append(row(label.name, label.text.toHtmlEscaped()));
    for (const QString& problem : problems)
        all.append(row(symbol(Verdict::Bad, palette) + tr(" Read error"), problem.toHtmlEscaped()));
    return rows(all);
}

QString qualityText(const Timeline& timeline, const ReadExtent& extent, const QPalette& palette) {
    const std::vector<Judgement> all = judgements(timeline, extent);
    if (all.empty()) return tr("No packets yet.");
    QStringList lines;
    for (const Judgement& one : all) lines.append(row(symbol(one.verdict, palette), one.text.toHtmlEscaped()));
    return QStringLiteral("<b>%1</b>").arg(overall(worst(all))) + rows(lines);
}

QString findingsText(const Timeline& timeline, const QPalette& palette, const Names* names) {
    if (timeline.findings.empty())
        return timeline.packets == 0 ? tr("No packets to judge.") : tr("None: no problems recognised.");
    QString text;
    std::optional<Severity> severity;
    const std::vector<FindingGroup> groups = findingGroups(timeline);
    for (std::size_t i = 0; i < std::min(groups.size(), kFindingsShown); ++i) {
        const Severity own = groups[i].first->severity;
        if (severity != own) {
            const auto count =
                static_cast<std::uint64_t>(std::ranges::count(timeline.findings, own, &Finding::severity));
            text += QStringLiteral("<p><b>%1</b></p>").arg(toned(plural(own, count), textColor(own, palette)));
            severity = own;
        }
        text += groupText(groups[i], palette, names);
    }
    return text + QStringLiteral("<p>%1</p>").arg(link(QStringLiteral("view:findings"), tr("All findings")));
}

QString connectionsText(const Timeline& timeline, const QPalette& palette, const Names* names) {
    if (timeline.connections.empty()) return tr("None.");
    const auto over = given_up(timeline);
    QStringList all{QStringLiteral("<tr>") + cell(QString()) + cell(tr("<b>bytes</b>")) + cell(tr("<b>messages</b>")) +
                    cell(tr("<b>retrans</b>")) + cell(tr("<b>NAKs</b>")) + cell(tr("<b>state</b>"), false) +
                    QStringLiteral("</tr>")};
    for (const Connection* connection : noteworthy(timeline, kConnectionsShown))
        all.append(connectionRow({*connection, over.contains(connection->uid), {}, timeline.ulp.find(connection->uid)},
                                 palette, names));
    return rows(all) + link(QStringLiteral("view:connections"), tr("All connections"));
}

QString messagesText(const Timeline& timeline) {
    QStringList all;
    for (const Label& label : messageLabels(timeline)) all.append(row(label.name, label.text.toHtmlEscaped()));
    if (all.isEmpty()) return tr("None.");
    return rows(all) + link(QStringLiteral("view:messages"), tr("All messages"));
}

}  // namespace qps::gui
