// Profile: the habits of a user as a file for others: preferences, columns, coloring rules, saved filters. It has
// nothing of a capture, and no paths.
//
// What an attacker could feed: any file. It has a bound, and what is no profile changes nothing; a filter or field that
// is none is left out.
#pragma once

#include <gui/preferences/preferences.hpp>

#include <QByteArray>
#include <QStringList>
#include <expected>
#include <optional>

namespace qps::gui {

inline constexpr qint64 kMostProfile = 1 << 20;  // bytes

struct Profile {
    Reading reading;
    TimeFormat time = TimeFormat::SinceFirst;
    QStringList columns;  // as savedColumns()
    QStringList rules;    // as savedRules()
    QStringList filters;  // "name|filter"
};

[[nodiscard]] QByteArray written(const Profile& profile);
// The error is a sentence.
[[nodiscard]] std::expected<Profile, QString> readProfile(const QByteArray& text);

}  // namespace qps::gui
