#include <dissect/base/parse_value.hpp>
#include <gui/base/names.hpp>
#include <transport-replay/collectives/nccl_log.hpp>
#include <transport-replay/report/connections.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/report/words.hpp>

#include <QRegularExpression>
#include <QStringList>
#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace qps::gui {

using transport::Address;
using transport::AddressSpace;
using transport::Endpoint;

namespace {

constexpr std::string_view kBlanks = " \t\r";

std::string_view nextWord(std::string_view& line) {
    const std::size_t begin = std::min(line.find_first_not_of(kBlanks), line.size());
    const std::size_t end = std::min(line.find_first_of(kBlanks, begin), line.size());
    const std::string_view word = line.substr(begin, end - begin);
    line.remove_prefix(end);
    return word;
}

// What may stand in a cell: the rest of a file is none of our business.
QString printable(std::string_view text) {
    QString name;
    const std::string_view part = text.substr(0, 4 * Names::kLongest);
    for (const QChar letter : QString::fromUtf8(part.data(), static_cast<qsizetype>(part.size())))
        if (letter.isPrint() && name.size() < Names::kLongest) name += letter;
    return name.trimmed();
}

std::uint64_t bigEndian(const std::array<std::byte, 16>& bytes, std::size_t from, std::size_t count) {
    std::uint64_t value = 0;
    for (std::size_t i = from; i < from + count; ++i) value = value << 8U | std::to_integer<std::uint64_t>(bytes[i]);
    return value;
}

// "10.0.0.1:17", "[fe80::1]:0x11"; nothing where it names no queue pair.
std::optional<std::pair<std::string_view, dissect::Qpn>> splitQueuePair(std::string_view word) {
    const std::size_t colon = word.rfind(':');
    if (colon == std::string_view::npos || colon == 0) return std::nullopt;
    std::string_view address = word.substr(0, colon);
    const bool quoted = address.size() > 2 && address.front() == '[' && address.back() == ']';
    if (quoted) address = address.substr(1, address.size() - 2);
    else if (address.find(':') != std::string_view::npos || address == "lid") return std::nullopt;  // IPv6, MAC, a LID
    const auto number = dissect::parse_number(word.substr(colon + 1), 0xffffff);
    if (!number) return std::nullopt;
    return std::pair(address, dissect::Qpn{static_cast<std::uint32_t>(*number)});
}

}  // namespace

QString plainAddress(std::string_view text) {
    Address address;
    if (const auto ip = dissect::parse_ip(text)) {
        constexpr std::uint64_t kMapped = 0xffff;
        if (ip->ipv4) address.bits = {0, kMapped << 32U | bigEndian(ip->bytes, 0, 4)};
        else address.bits = {bigEndian(ip->bytes, 0, 8), bigEndian(ip->bytes, 8, 8)};
        address.space = AddressSpace::roce_v2;
    } else if (const auto mac = dissect::parse_mac(text)) {
        address = {{0, *mac}, AddressSpace::ethernet};
    } else if (text.starts_with("lid:")) {
        const auto lid = dissect::parse_number(text.substr(4), 0xffffffff);
        if (!lid) return {};
        address = {{0, *lid}, AddressSpace::infiniband_lid};
    } else {
        return {};
    }
    return QString::fromStdString(transport::text(address));
}

QString Names::keyOf(const QString& address, dissect::Qpn number) {
    return QStringLiteral("%1 %2").arg(address).arg(std::to_underlying(number));
}

bool Names::add(QHash<QString, QString>& names, const QString& key, const QString& name, Outcome& outcome) {
    if (names.contains(key)) return true;
    if (m_hosts.size() + m_queuePairs.size() >= kMost) {
        outcome.full = true;
        return false;
    }
    names.insert(key, name);
    ++outcome.names;
    return true;
}

Names::Outcome Names::readHosts(std::string_view text) {
    Outcome outcome;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        line = line.substr(0, std::min(line.find('#'), line.size()));
        const std::string_view first = nextWord(line);
        if (first.empty()) continue;
        const auto pair = splitQueuePair(first);
        const QString address = plainAddress(pair ? pair->first : first);
        // Labels of queue pairs may have blanks; of a host the words behind the first are other names of it.
        const QString name = printable(pair ? line : nextWord(line));
        if (address.isEmpty() || name.isEmpty()) ++outcome.malformed;
        else if (!add(pair ? m_queuePairs : m_hosts, pair ? keyOf(address, pair->second) : address, name, outcome))
            return outcome;
    }
    return outcome;
}

std::uint64_t Names::addRanks(const transport::NcclLog& log) {
    constexpr qsizetype kMostSaid = 4;  // ranks of one address
    std::map<QString, std::set<std::uint32_t>> ranks;
    for (const transport::NcclLogRank& each : log.ranks)
        for (const Address& address : each.addresses)
            if (each.rank) ranks[QString::fromStdString(transport::text(address))].insert(*each.rank);
    for (const auto& [address, numbers] : ranks) {
        QStringList said;
        for (const std::uint32_t number : numbers) {
            if (said.size() == kMostSaid) {
                said.back() = QStringLiteral("...");
                said << QString::number(*numbers.rbegin());
                break;
            }
            said << QString::number(number);
        }
        const QString name =
            (numbers.size() == 1 ? QStringLiteral("rank ") : QStringLiteral("ranks ")) + said.join(QLatin1Char(','));
        const QString known = m_hosts.value(address);
        m_hosts.insert(address, known.isEmpty() ? name : QStringLiteral("%1 (%2)").arg(known, name));
    }
    return ranks.size();
}

QString Names::queuePair(const QString& address, dissect::Qpn number) const {
    return m_queuePairs.isEmpty() ? QString() : m_queuePairs.value(keyOf(address, number));
}

QString Names::named(const QString& address) const {
    const QString name = host(address);
    return name.isEmpty() ? address : QStringLiteral("%1 (%2)").arg(name, address);
}

QString Names::inText(const QString& text) const {
    // Between backticks, or what may be an address (IPv4, IPv6, MAC, LID), with a queue pair behind it.
    static const QRegularExpression kPlaces(QStringLiteral(
        "`[^`]*`|(?<![\\w.:])(lid [0-9]+|[0-9A-Fa-f:][0-9A-Fa-f.:]*[0-9A-Fa-f])(?![\\w:])(?: QP ([0-9]+))?"));
    QString said;
    qsizetype done = 0;
    for (auto places = kPlaces.globalMatch(text); places.hasNext();) {
        const QRegularExpressionMatch place = places.next();
        const QString address = place.captured(1);
        if (address.isEmpty()) continue;
        bool isNumber = false;
        const std::uint32_t number = place.captured(2).toUInt(&isNumber);
        const QString label = isNumber ? queuePair(address, dissect::Qpn{number}) : QString();
        const QString name = host(address);
        if (label.isEmpty() && name.isEmpty()) continue;
        said += text.mid(done, place.capturedStart() - done);
        if (label.isEmpty()) {
            said += named(address);
            done = place.capturedEnd(1);
        } else {
            said += QStringLiteral("%1 (%2)").arg(name.isEmpty() ? label : QStringLiteral("%1, %2").arg(label, name),
                                                  place.captured());
            done = place.capturedEnd();
        }
    }
    return said + text.mid(done);
}

QString Names::end(const Endpoint& end) const {
    const QString address = QString::fromStdString(transport::text(end.address));
    if (end.qpn && !end.is_port)
        if (const QString label = queuePair(address, *end.qpn); !label.isEmpty())
            return QStringLiteral("%1 (%2)").arg(label).arg(std::to_underlying(*end.qpn));
    const QString name = host(address);
    if (name.isEmpty()) return QString::fromStdString(transport::text(end));
    return end.qpn ? QStringLiteral("%1:%2").arg(name).arg(std::to_underlying(*end.qpn)) : name;
}

QString Names::whoIs(const Endpoint& end) const {
    const QString address = QString::fromStdString(transport::text(end.address));
    const QString label = end.qpn && !end.is_port ? queuePair(address, *end.qpn) : QString();
    const QString name = host(address);
    if (label.isEmpty() && name.isEmpty()) return QString::fromStdString(transport::words::who(end));
    const QString first = label.isEmpty() ? name : QStringLiteral("%1, %2").arg(label, name.isEmpty() ? address : name);
    return end.qpn ? QStringLiteral("%1 %2 %3")
                         .arg(first, end.is_port ? QStringLiteral("port") : QStringLiteral("QP"))
                         .arg(std::to_underlying(*end.qpn))
                   : first;
}

QString inText(const Names* names, const std::string& text) {
    const QString plain = QString::fromStdString(text);
    return names == nullptr ? plain : names->inText(plain);
}

QString endsText(const Names* names, const transport::Connection& connection) {
    if (names == nullptr) return QString::fromStdString(transport::ends_text(connection));
    return QStringLiteral("%1 <-> %2").arg(names->end(connection.ends[0]), names->end(connection.ends[1]));
}

}  // namespace qps::gui
