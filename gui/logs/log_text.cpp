#include <gui/logs/log_text.hpp>
#include <transport-replay/logs/log_time.hpp>

#include <QDateTime>
#include <QFile>
#include <QFileInfo>
#include <QObject>
#include <algorithm>

namespace qps::gui {

using dissect::Instant;
using transport::LogClock;

namespace {

constexpr qint64 kBeginning = 4096;

// Of this machine's time zone, which is asked once for each quarter of an hour: rules change at no other time.
class LocalTime {
public:
    [[nodiscard]] Instant utc(Instant local) {
        constexpr std::int64_t kQuarter = 15 * 60 * dissect::kNanosecondsPerSecond;
        const std::int64_t quarter = std::to_underlying(local) / kQuarter;
        if (quarter != m_quarter) {
            m_quarter = quarter;
            const QDateTime asked = QDateTime::fromMSecsSinceEpoch(std::to_underlying(local) / 1'000'000, Qt::UTC);
            m_east = QDateTime(asked.date(), asked.time(), Qt::LocalTime).offsetFromUtc();
        }
        return local - dissect::Duration{m_east * dissect::kNanosecondsPerSecond};
    }

private:
    std::int64_t m_quarter = -1;
    std::int64_t m_east = 0;  // seconds
};

}  // namespace

bool LogText::has_times() const {
    return std::ranges::any_of(entries, [](const LogEntry& entry) { return entry.time.has_value(); });
}

std::expected<LogText, QString> readLog(const QString& path, Instant around) {
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly)) return std::unexpected(QObject::tr("%1: %2").arg(path, file.errorString()));
    LogText log;
    log.name = QFileInfo(path).fileName();
    log.text = file.read(LogText::kMostBytes);
    log.cut = !file.atEnd();
    if (log.text.isEmpty()) return std::unexpected(QObject::tr("%1: the file is empty").arg(path));
    if (log.text.left(kBeginning).contains('\0'))
        return std::unexpected(QObject::tr("%1: no text, so no log").arg(path));
    LocalTime local;
    std::optional<LogClock> clock;
    std::optional<Instant> time;
    for (qsizetype begin = 0; begin < log.text.size();) {
        if (log.entries.size() == LogText::kMostLines) {
            log.cut = true;
            break;
        }
        const qsizetype found = log.text.indexOf('\n', begin);
        const qsizetype end = found < 0 ? log.text.size() : found;
        const std::string_view line(log.text.constData() + begin, static_cast<std::size_t>(end - begin));
        if (const auto read = transport::read_log_time(line, around);
            read && (!clock || (*clock == LogClock::boot) == (read->clock == LogClock::boot))) {
            clock = read->clock;
            time = read->clock == LogClock::local ? local.utc(read->time) : read->time;
        }
        if (!line.empty())
            log.entries.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(line.size()), time});
        begin = end + 1;
    }
    log.since_boot = clock == LogClock::boot;
    return log;
}

bool looksLikeText(const QString& path) {
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly)) return false;
    const QByteArray beginning = file.read(kBeginning);
    return !beginning.isEmpty() &&
           std::ranges::none_of(beginning, [](char c) { return static_cast<unsigned char>(c) < 9; });
}

}  // namespace qps::gui
