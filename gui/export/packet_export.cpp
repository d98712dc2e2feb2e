#include <dissect/filter/field_index.hpp>
#include <dissect/filter/lexer.hpp>
#include <gui/export/packet_export.hpp>
#include <gui/session/session.hpp>
#include <transport-replay/model/timeline.hpp>

#include <QCoreApplication>
#include <QFileInfo>
#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace qps::gui {

using namespace transport;
using dissect::FrameIndex;

namespace {

// Protocols whose fields have Wireshark's names. Numbers and times that count from the beginning of a file are others
// in another file.
constexpr std::array<std::string_view, 5> kShared{"infiniband", "ip", "eth", "udp", "frame"};
constexpr std::array<std::string_view, 2> kOfTheFile{"frame.number", "frame.time_relative"};

bool isShared(std::string_view name) {
    if (std::ranges::find(kOfTheFile, name) != kOfTheFile.end()) return false;
    return std::ranges::find(kShared, name.substr(0, name.find('.'))) != kShared.end();
}

// Numbers and addresses are written alike; words for values are our own.
bool isNumber(std::string_view word) {
    return (word.front() >= '0' && word.front() <= '9') || word.front() == '-' ||
           word.find(':') != std::string_view::npos;
}

}  // namespace

RowSet withSetUp(const Session& session, const Selection& selection) {
    const auto wanted = selection.connection();
    return wanted ? withSetUp(*session.index(), *session.timeline(), *wanted) : RowSet();
}

RowSet withSetUp(const CaptureIndex& index, const Timeline& timeline, ConnectionId connection,
                 const std::function<bool()>& stop) {
    constexpr std::uint64_t kAskEvery = 1U << 16;
    RowSet rows;
    const std::uint64_t packets = index.packets.size();
    for (std::uint64_t at = 0; at < packets; ++at) {
        if (at % kAskEvery == 0 && stop && stop()) return rows;
        if (index.packets[at].connection() == connection) rows.set(FrameIndex{at + 1}, true);
    }
    const Connection* known = timeline.find(connection);
    if (known == nullptr || !known->cm_attempt) return rows;
    for (const CmAttempt& attempt : timeline.cm.attempts)
        if (attempt.uid == *known->cm_attempt)
            for (const CmRung& step : attempt.ladder)
                if (index.has(step.frame)) rows.set(step.frame, true);
    return rows;
}

Packets likeliest(std::uint64_t selected, const Selection& selection) {
    if (selected > 1) return Packets::Selected;
    if (selection.hits() == nullptr) return Packets::All;
    const auto connection = selection.connection();
    const bool of_connection =
        connection && !selection.range() &&
        selection.filter() == QStringLiteral("rdma.connection == %1").arg(std::to_underlying(*connection));
    return of_connection ? Packets::Connection : Packets::Displayed;
}

Chosen choose(Packets packets, const Ranges& selected, const Session& session, const Selection& selection) {
    switch (packets) {
        case Packets::Selected: return selected;
        case Packets::Marked: return selection.marks();
        case Packets::Displayed:
            if (selection.hits() != nullptr) return *selection.hits();
            break;
        case Packets::Connection: return withSetUp(session, selection);
        case Packets::All: break;
    }
    return AllFrames{};
}

QString offeredName(const QString& capture, const QString& ending) {
    QString name = QFileInfo(capture).fileName();
    for (const char* known : {".gz", ".zst", ".pcap", ".pcapng", ".cap"})
        if (name.endsWith(QLatin1String(known), Qt::CaseInsensitive))
            name.chop(static_cast<int>(std::string_view(known).size()));
    return (name.isEmpty() ? QStringLiteral("capture") : name) + ending;
}

QString ending(Packets packets) {
    switch (packets) {
        case Packets::Selected: return QStringLiteral("-selected.pcapng");
        case Packets::Marked: return QStringLiteral("-marked.pcapng");
        case Packets::Displayed: return QStringLiteral("-displayed.pcapng");
        case Packets::Connection: return QStringLiteral("-connection.pcapng");
        case Packets::All: break;
    }
    return QStringLiteral("-saved.pcapng");
}

bool wiresharkKnows(const QString& filter) {
    using namespace dissect::filter_language;
    const std::string text = filter.toStdString();
    const auto tokens = tokenize(text);
    return tokens && std::ranges::all_of(*tokens, [&](const Token& token) {
               if (token.kind != TokenKind::word) return true;
               const std::string_view word = std::string_view(text).substr(token.offset, token.length);
               return dissect::find_name(word) != nullptr ? isShared(word) : isNumber(word);
           });
}

QString statusText(const Extracted& outcome, const QString& path) {
    const auto tr = [](const char* text) { return QCoreApplication::translate("Export", text); };
    if (outcome.stopped) return tr("Cancelled; nothing was written.");
    if (outcome.unreadable == 0) return tr("%L1 packets written to %2.").arg(outcome.written).arg(path);
    return tr("%L1 packets written to %2; %L3 could not be read.")
        .arg(outcome.written)
        .arg(path)
        .arg(outcome.unreadable);
}

}  // namespace qps::gui
