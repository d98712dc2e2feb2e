#include <dissect/packet/render_value.hpp>
#include <gui/base/look.hpp>
#include <gui/base/text.hpp>
#include <gui/casework/case_text.hpp>
#include <transport-replay/casework/case_report.hpp>

#include <QCoreApplication>
#include <QUrl>
#include <algorithm>

namespace qps::gui {

using casework::Claim;
using casework::Place;

namespace {

constexpr std::size_t kMostOfList = 200;  // the rest is counted
const QString kScheme = QStringLiteral("place");

QString tr(const char* text) { return QCoreApplication::translate("CaseText", text); }
QString escaped(std::string_view text) { return shown(dissect::printable(text)).toHtmlEscaped(); }
QString heading(const char* text) { return QStringLiteral("<h3>%1</h3>").arg(tr(text)); }

QString linkTo(const OpenedCase& opened, const Place& place) {
    QString text = QStringLiteral("<a href=\"%1:%2,%3\">%4</a>")
                       .arg(kScheme)
                       .arg(place.file)
                       .arg(place.line)
                       .arg(escaped(casework::place_text(opened.read, place)));
    if (const auto line = casework::quote(opened.read, place); !line.empty())
        text += QStringLiteral("<br><code>%1</code>").arg(escaped(line));
    return QStringLiteral("<li>%1</li>").arg(text);
}

QString claimText(const OpenedCase& opened, const Claim& claim, const QPalette& palette) {
    QString text;
    if (!claim.id.empty()) {
        const auto severity = casework::severity_of(claim.weight);
        text += QStringLiteral("<span style=\"color:%1\">%2</span> <b>%3</b> ")
                    .arg(textColor(severity, palette).name(),
                         shown(transport::kSeverityNames[static_cast<std::size_t>(severity)]), escaped(claim.id));
    }
    text += escaped(claim.text);
    QString places;
    for (const Place& place : claim.evidence) places += linkTo(opened, place);
    if (!places.isEmpty()) text += QStringLiteral("<ul>%1</ul>").arg(places);
    return QStringLiteral("<li>%1</li>").arg(text);
}

template <class List, class Text> QString listOf(const char* title, const List& list, Text text) {
    if (list.empty()) return {};
    QString items;
    for (std::size_t i = 0; i < std::min(list.size(), kMostOfList); ++i) items += text(list[i]);
    if (list.size() > kMostOfList)
        items += QStringLiteral("<li>%1</li>").arg(tr("and %L1 more").arg(list.size() - kMostOfList));
    return heading(title) + QStringLiteral("<ul>%1</ul>").arg(items);
}

QString stepText(const casework::NextStep& step) {
    QString text = step.where.empty() ? QString() : QStringLiteral("[%1] ").arg(escaped(step.where));
    text += QStringLiteral("<code>%1</code>").arg(escaped(step.command));
    for (const casework::Outcome& outcome : step.outcomes)
        if (!outcome.means.empty())
            text += QStringLiteral("<br>%1: %2").arg(escaped(outcome.seen), escaped(outcome.means));
    return QStringLiteral("<li>%1</li>").arg(text);
}

QString fileText(const casework::CaseFile& file) {
    QString text = escaped(file.name);
    if (!file.host.empty()) text += QStringLiteral(" [%1]").arg(escaped(file.host));
    text += QStringLiteral(": ") + escaped(casework::kinds_text(file));
    return QStringLiteral("<li>%1</li>").arg(text);
}

}  // namespace

QString caseText(const OpenedCase& opened, const QPalette& palette) {
    const casework::Verdict& verdict = opened.verdict;
    QString text = QStringLiteral("<h2>%1</h2>").arg(escaped(casework::head_text(verdict)));
    const auto claim = [&](const Claim& one) { return claimText(opened, one, palette); };
    text += listOf(QT_TRANSLATE_NOOP("CaseText", "What the material shows"), verdict.claims, claim);
    text += listOf(QT_TRANSLATE_NOOP("CaseText", "What follows from it"), verdict.consequences, claim);
    text += listOf(QT_TRANSLATE_NOOP("CaseText", "What contradicts"), verdict.contradictions, claim);
    text += listOf(
        QT_TRANSLATE_NOOP("CaseText", "What stays open"), verdict.undecided,
        [](const casework::OpenQuestion& open) { return QStringLiteral("<li>%1</li>").arg(escaped(open.text)); });
    text += listOf(QT_TRANSLATE_NOOP("CaseText", "Next"), verdict.next, stepText);
    text += listOf(QT_TRANSLATE_NOOP("CaseText", "What was read"), opened.read.files, fileText);
    if (opened.read.left_out != 0)
        text += QStringLiteral("<p>%1</p>")
                    .arg(tr("%L1 values beyond the bounds of memory were left out").arg(opened.read.left_out));
    for (const QString& problem : opened.problems) text += QStringLiteral("<p>%1</p>").arg(problem.toHtmlEscaped());
    return text;
}

std::optional<Place> placeOf(const QUrl& link, const OpenedCase& opened) {
    if (link.scheme() != kScheme) return std::nullopt;
    const QStringList numbers = link.path().split(QLatin1Char(','));
    bool file = false, line = false;
    if (numbers.size() != 2) return std::nullopt;
    const Place place{numbers[0].toUInt(&file), numbers[1].toUInt(&line)};
    return file && line && place.file < opened.read.files.size() ? std::optional(place) : std::nullopt;
}

}  // namespace qps::gui
