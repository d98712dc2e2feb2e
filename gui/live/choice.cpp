#include <gui/live/choice.hpp>
#include <gui/live/remote.hpp>

#include <QSettings>
#include <algorithm>

namespace qps::gui {

namespace {

// Keys in the settings.
QString key(QLatin1String name) { return QLatin1String("capture/") + name; }
const QLatin1String kInterface("interface");
const QLatin1String kFilters("filters");
const QLatin1String kFilter("filter");
const QLatin1String kPackets("packets");
const QLatin1String kSeconds("seconds");
const QLatin1String kSnapLength("snap-length");
const QLatin1String kHost("host");
const QLatin1String kStopOn("stop-on");
const QLatin1String kWithoutSsh("without-ssh");
const QLatin1String kFileMegabytes("file-megabytes");
const QLatin1String kFileSeconds("file-seconds");
const QLatin1String kKeptFiles("kept-files");

}  // namespace

QStringList recorderArguments(const CaptureChoice& choice) {
    QStringList words{QStringLiteral("-i"), choice.interface};
    if (!choice.filter.isEmpty()) words << QStringLiteral("-f") << choice.filter;
    if (choice.packets > 0) words << QStringLiteral("-c") << QString::number(choice.packets);
    if (choice.seconds > 0) words << QStringLiteral("-a") << QString::number(choice.seconds);
    if (choice.snapLength > 0) words << QStringLiteral("-s") << QString::number(choice.snapLength);
    if (choice.file.isEmpty()) return words;
    words << QStringLiteral("-w") << choice.file;
    if (choice.fileMegabytes > 0) words << QStringLiteral("-C") << QString::number(choice.fileMegabytes);
    if (choice.fileSeconds > 0) words << QStringLiteral("-G") << QString::number(choice.fileSeconds);
    if (choice.keptFiles > 0) words << QStringLiteral("-W") << QString::number(choice.keptFiles);
    return words;
}

QString captureTitle(const CaptureChoice& choice) {
    const QString where =
        choice.host.isEmpty() ? choice.interface : QStringLiteral("%1: %2").arg(choice.host, choice.interface);
    return choice.filter.isEmpty() ? where : QStringLiteral("%1 (%2)").arg(where, choice.filter);
}

CaptureChoice lastChoice() {
    const QSettings settings;
    CaptureChoice choice;
    choice.interface = settings.value(key(kInterface)).toString();
    choice.filter = settings.value(key(kFilter)).toString();
    choice.packets = std::max(0LL, settings.value(key(kPackets)).toLongLong());
    choice.seconds = std::max(0, settings.value(key(kSeconds)).toInt());
    choice.snapLength = std::max(0, settings.value(key(kSnapLength)).toInt());
    choice.host = settings.value(key(kHost)).toString();
    if (!isHost(choice.host)) choice.host.clear();
    choice.withoutSsh = settings.value(key(kWithoutSsh), true).toBool();
    choice.stopOn =
        static_cast<StopOn>(std::clamp(settings.value(key(kStopOn)).toInt(), 0, static_cast<int>(StopOn::Warning)));
    choice.fileMegabytes = std::max(0, settings.value(key(kFileMegabytes)).toInt());
    choice.fileSeconds = std::max(0, settings.value(key(kFileSeconds)).toInt());
    choice.keptFiles = std::max(0, settings.value(key(kKeptFiles)).toInt());
    return choice;
}

QStringList recentCaptureFilters() {
    return QSettings().value(key(kFilters)).toStringList().mid(0, kMostRecentFilters);
}

void rememberChoice(const CaptureChoice& choice) {
    QSettings settings;
    settings.setValue(key(kInterface), choice.interface);
    settings.setValue(key(kFilter), choice.filter);
    settings.setValue(key(kPackets), choice.packets);
    settings.setValue(key(kSeconds), choice.seconds);
    settings.setValue(key(kSnapLength), choice.snapLength);
    settings.setValue(key(kHost), choice.host);
    settings.setValue(key(kStopOn), static_cast<int>(choice.stopOn));
    settings.setValue(key(kWithoutSsh), choice.withoutSsh);
    if (!choice.file.isEmpty()) {
        settings.setValue(key(kFileMegabytes), choice.fileMegabytes);
        settings.setValue(key(kFileSeconds), choice.fileSeconds);
        settings.setValue(key(kKeptFiles), choice.keptFiles);
    }
    if (choice.filter.isEmpty()) return;
    QStringList filters = recentCaptureFilters();
    filters.removeAll(choice.filter);
    filters.prepend(choice.filter);
    settings.setValue(key(kFilters), filters.mid(0, kMostRecentFilters));
}

}  // namespace qps::gui
