#include <dissect/base/parse_value.hpp>
#include <dissect/headers/roce_ports.hpp>
#include <dissect/ultra_ethernet/native.hpp>
#include <gui/preferences/preferences.hpp>
#include <transport-replay/analysis/unordered_hosts.hpp>
#include <transport-replay/collectives/nccl_log.hpp>

#include <QCoreApplication>
#include <QFile>
#include <QSettings>
#include <algorithm>
#include <array>
#include <cmath>

namespace qps::gui {

using transport::IcrcPolicy;

namespace {

constexpr qint64 kMostBytes = 64 << 20;  // of a file of names, as of a log

constexpr std::array kPolicies{std::pair{IcrcPolicy::automatic, "automatic"}, std::pair{IcrcPolicy::check, "check"},
                               std::pair{IcrcPolicy::ignore, "ignore"}};
constexpr std::array kTimes{std::pair{TimeFormat::SinceFirst, "since-first"},
                            std::pair{TimeFormat::SinceFirstShown, "since-first-displayed"},
                            std::pair{TimeFormat::SincePreviousShown, "since-previous-displayed"},
                            std::pair{TimeFormat::Utc, "utc"}, std::pair{TimeFormat::Local, "local"}};

template <class Rows, class Value> QString nameIn(const Rows& rows, Value value) {
    const auto* const row = std::ranges::find(rows, value, [](const auto& each) { return each.first; });
    return QLatin1String(row == rows.end() ? rows.front().second : row->second);
}

template <class Rows> auto valueIn(const Rows& rows, const QString& name) {
    const auto* const row =
        std::ranges::find_if(rows, [&](const auto& each) { return name == QLatin1String(each.second); });
    return row == rows.end() ? rows.front().first : row->first;
}

QString said(const char* text) { return QCoreApplication::translate("Preferences", text); }

std::expected<QByteArray, QString> contentOf(const QString& path) {
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return std::unexpected(said("%1: cannot read: %2.").arg(path, file.errorString()));
    return file.read(kMostBytes);
}

std::string_view viewOf(const QByteArray& bytes) { return {bytes.constData(), static_cast<std::size_t>(bytes.size())}; }

const QString kPolicy = QStringLiteral("preferences/icrc");
const QString kSpeed = QStringLiteral("preferences/linkSpeed");
const QString kPorts = QStringLiteral("preferences/rocePorts");
const QString kUetProtocol = QStringLiteral("preferences/uetProtocol");
const QString kUnorderedHosts = QStringLiteral("preferences/outOfOrder");
const QString kUseNames = QStringLiteral("preferences/names");
const QString kNamesFile = QStringLiteral("preferences/namesFile");
const QString kNcclLog = QStringLiteral("preferences/ncclLog");

// What a function of the library reads; its sentences begin with a capital here.
template <class Value>
std::expected<Value, QString> readBy(std::expected<Value, std::string> (*read)(std::string_view), const QString& text) {
    auto value = read(text.trimmed().toStdString());
    if (value) return *std::move(value);
    QString sentence = QString::fromStdString(value.error());
    sentence[0] = sentence[0].toUpper();
    return std::unexpected(sentence);
}

}  // namespace

QString savedPolicy(IcrcPolicy policy) { return nameIn(kPolicies, policy); }
IcrcPolicy restoredPolicy(const QString& name) { return valueIn(kPolicies, name); }
QString savedTime(TimeFormat format) { return nameIn(kTimes, format); }
TimeFormat restoredTime(const QString& name) { return valueIn(kTimes, name); }

QString speedText(dissect::BitsPerSecond speed) {
    const auto bits = std::to_underlying(speed);
    constexpr std::uint64_t kGiga = 1'000'000'000;
    constexpr std::uint64_t kMega = 1'000'000;
    if (bits == 0) return {};
    if (bits % kGiga == 0) return QStringLiteral("%1G").arg(bits / kGiga);
    return bits % kMega == 0 ? QStringLiteral("%1M").arg(bits / kMega) : QString::number(bits);
}

std::expected<dissect::BitsPerSecond, QString> readSpeed(const QString& text) {
    constexpr double kMost = 1e15;
    const std::string typed = text.trimmed().toStdString();
    if (typed.empty()) return dissect::BitsPerSecond{};
    const auto real = dissect::parse_real(typed);
    const double factor = !real                                        ? 0
                          : real->second.empty()                       ? 1
                          : real->second == "G" || real->second == "g" ? 1e9
                          : real->second == "M" || real->second == "m" ? 1e6
                                                                       : 0;
    if (factor == 0 || !(real->first > 0) || real->first * factor > kMost)
        return std::unexpected(said("Invalid link speed '%1': expected a number with G or M, such as 100G").arg(text));
    return dissect::BitsPerSecond{static_cast<std::uint64_t>(std::llround(real->first * factor))};
}

QString portsText(const std::vector<std::uint16_t>& ports) {
    return QString::fromStdString(dissect::roce_ports_text(ports));
}

std::expected<std::vector<std::uint16_t>, QString> readPorts(const QString& text) {
    return readBy(dissect::read_roce_ports, text);
}

QString protocolText(std::optional<std::uint8_t> protocol) { return protocol ? QString::number(*protocol) : QString(); }

std::expected<std::optional<std::uint8_t>, QString> readProtocol(const QString& text) {
    return readBy(dissect::read_uet_protocol, text);
}

QString hostsText(const std::vector<transport::Address>& hosts) {
    return QString::fromStdString(transport::unordered_hosts_text(hosts));
}

std::expected<std::vector<transport::Address>, QString> readHosts(const QString& text) {
    return readBy(transport::read_unordered_hosts, text);
}

Preferences savedPreferences() {
    const QSettings settings;
    Preferences preferences;
    preferences.reading.icrc = restoredPolicy(settings.value(kPolicy).toString());
    preferences.reading.linkSpeed = readSpeed(settings.value(kSpeed).toString()).value_or(dissect::BitsPerSecond{});
    preferences.reading.rocePorts = readPorts(settings.value(kPorts).toString()).value_or(std::vector<std::uint16_t>{});
    preferences.reading.uetProtocol = readProtocol(settings.value(kUetProtocol).toString()).value_or(std::nullopt);
    preferences.reading.unorderedHosts =
        readHosts(settings.value(kUnorderedHosts).toString()).value_or(std::vector<transport::Address>{});
    preferences.useNames = settings.value(kUseNames, true).toBool();
    preferences.namesFile = settings.value(kNamesFile).toString();
    preferences.ncclLog = settings.value(kNcclLog).toString();
    return preferences;
}

void save(const Preferences& preferences) {
    QSettings settings;
    settings.setValue(kPolicy, savedPolicy(preferences.reading.icrc));
    settings.setValue(kSpeed, speedText(preferences.reading.linkSpeed));
    settings.setValue(kPorts, portsText(preferences.reading.rocePorts));
    settings.setValue(kUetProtocol, protocolText(preferences.reading.uetProtocol));
    settings.setValue(kUnorderedHosts, hostsText(preferences.reading.unorderedHosts));
    settings.setValue(kUseNames, preferences.useNames);
    settings.setValue(kNamesFile, preferences.namesFile);
    settings.setValue(kNcclLog, preferences.ncclLog);
}

ReadNames readNames(const Preferences& preferences) {
    ReadNames read;
    if (!preferences.useNames) return read;
    auto names = std::make_shared<Names>();
    if (!preferences.namesFile.isEmpty()) {
        const auto content = contentOf(preferences.namesFile);
        if (!content) read.problems << content.error();
        else if (const auto outcome = names->readHosts(viewOf(*content)); outcome.malformed != 0 || outcome.full)
            read.problems
                << (outcome.full
                        ? said("%1: only the first %L2 names are used.").arg(preferences.namesFile).arg(Names::kMost)
                        : said("%1: %L2 lines are no address and name.")
                              .arg(preferences.namesFile)
                              .arg(outcome.malformed));
    }
    if (!preferences.ncclLog.isEmpty()) {
        const auto content = contentOf(preferences.ncclLog);
        if (!content) read.problems << content.error();
        else if (names->addRanks(transport::read_nccl_log(viewOf(*content))) == 0)
            read.problems << said("%1: no rank with an address: expected the output of NCCL_DEBUG=INFO.")
                                 .arg(preferences.ncclLog);
    }
    if (!names->empty()) read.names = std::move(names);
    return read;
}

}  // namespace qps::gui
