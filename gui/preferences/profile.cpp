#include <gui/packets/packet_columns.hpp>
#include <gui/packets/row_rules.hpp>
#include <gui/preferences/profile.hpp>
#include <gui/session/selection.hpp>

#include <QCoreApplication>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

namespace qps::gui {

namespace {

const QString kKind = QStringLiteral("qpscope_profile");
constexpr int kVersion = 1;
constexpr int kMostFilters = 100;

QStringList linesOf(const QJsonValue& value) {
    QStringList lines;
    for (const QJsonValue each : value.toArray())
        if (each.isString()) lines << each.toString();
    return lines;
}

QStringList filtersOf(const QStringList& lines) {
    QStringList filters;
    for (const QString& line : lines)
        if (const QString filter = line.section(QLatin1Char('|'), 1);
            !filter.isEmpty() && !Selection::mistake(filter) && filters.size() < kMostFilters)
            filters << line;
    return filters;
}

}  // namespace

QByteArray written(const Profile& profile) {
    QJsonObject object;
    object[kKind] = kVersion;
    object[QStringLiteral("icrc")] = savedPolicy(profile.reading.icrc);
    object[QStringLiteral("link_speed")] = speedText(profile.reading.linkSpeed);
    object[QStringLiteral("roce_ports")] = portsText(profile.reading.rocePorts);
    object[QStringLiteral("uet_protocol")] = protocolText(profile.reading.uetProtocol);
    object[QStringLiteral("out_of_order")] = hostsText(profile.reading.unorderedHosts);
    object[QStringLiteral("time")] = savedTime(profile.time);
    object[QStringLiteral("columns")] = QJsonArray::fromStringList(profile.columns);
    object[QStringLiteral("coloring_rules")] = QJsonArray::fromStringList(profile.rules);
    object[QStringLiteral("filters")] = QJsonArray::fromStringList(profile.filters);
    return QJsonDocument(object).toJson();
}

std::expected<Profile, QString> readProfile(const QByteArray& text) {
    const QJsonDocument document = text.size() <= kMostProfile ? QJsonDocument::fromJson(text) : QJsonDocument();
    if (!document.isObject() || !document.object().contains(kKind))
        return std::unexpected(QCoreApplication::translate("Profile", "no profile of qpscope"));
    const QJsonObject object = document.object();
    if (object[kKind].toInt() != kVersion)
        return std::unexpected(QCoreApplication::translate("Profile", "a profile of another version of qpscope (%1)")
                                   .arg(object[kKind].toInt()));
    Profile profile;
    profile.reading.icrc = restoredPolicy(object[QStringLiteral("icrc")].toString());
    profile.reading.linkSpeed =
        readSpeed(object[QStringLiteral("link_speed")].toString()).value_or(dissect::BitsPerSecond{});
    profile.reading.rocePorts =
        readPorts(object[QStringLiteral("roce_ports")].toString()).value_or(std::vector<std::uint16_t>{});
    profile.reading.uetProtocol =
        readProtocol(object[QStringLiteral("uet_protocol")].toString()).value_or(std::nullopt);
    profile.reading.unorderedHosts =
        readHosts(object[QStringLiteral("out_of_order")].toString()).value_or(std::vector<transport::Address>{});
    profile.time = restoredTime(object[QStringLiteral("time")].toString());
    profile.columns = savedColumns(restoredColumns(linesOf(object[QStringLiteral("columns")])));
    profile.rules = savedRules(restoredRules(linesOf(object[QStringLiteral("coloring_rules")])));
    profile.filters = filtersOf(linesOf(object[QStringLiteral("filters")]));
    return profile;
}

}  // namespace qps::gui
