// LogText: a log that was opened beside the capture, as lines with their times. Only the times are read when it is
// opened; what a line says is read when it is looked at.
//
// What an attacker could feed: any bytes. Size and number of lines have bounds; what is past them is said to be left
// out.
#pragma once

#include <dissect/base/types.hpp>

#include <QByteArray>
#include <QString>
#include <expected>
#include <optional>
#include <string_view>
#include <vector>

namespace qps::gui {

struct LogEntry {
    std::uint32_t begin = 0;  // in the text
    std::uint32_t length = 0;
    std::optional<dissect::Instant> time;  // since boot where the log counts so
};

struct LogText {
    static constexpr qint64 kMostBytes = 64 << 20;
    static constexpr std::size_t kMostLines = 500'000;

    QString name;  // of the file, without its folder
    QByteArray text;
    std::vector<LogEntry> entries;  // in the order of the file; a line without a time has that of the one before
    bool since_boot = false;        // its times count from an instant that nobody knows
    bool cut = false;               // there is more than the bounds let in

    [[nodiscard]] std::string_view line(std::size_t entry) const {
        return std::string_view(text.constData(), static_cast<std::size_t>(text.size()))
            .substr(entries[entry].begin, entries[entry].length);
    }
    [[nodiscard]] bool has_times() const;
};

// `around`: when the capture was; years that a log leaves out are taken from there. Else a sentence that says why it
// cannot be read.
[[nodiscard]] std::expected<LogText, QString> readLog(const QString& path, dissect::Instant around);
// Whether the file begins as text does.
[[nodiscard]] bool looksLikeText(const QString& path);

}  // namespace qps::gui
