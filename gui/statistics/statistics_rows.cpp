#include <dissect/filter/filter.hpp>
#include <dissect/packet/render_value.hpp>
#include <gui/base/text.hpp>
#include <gui/statistics/statistics_rows.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/census.hpp>
#include <transport-replay/report/figures.hpp>

#include <QCoreApplication>
#include <QFileInfo>
#include <cmath>
#include <numeric>

namespace qps::gui {

using namespace transport;
using series::HostsPorts;
using series::kLengthBounds;
using series::Share;
using series::Statistics;

namespace {

QString tr(const char* text) { return QCoreApplication::translate("Statistics", text); }

double shareOf(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// Count and share; the whole is that of the packets counted.
SheetRow countRow(const QString& name, std::uint64_t count, std::uint64_t whole, const QString& filter) {
    return {{{name, {}, {}}, countCell(count), shareCell(shareOf(count, whole))}, filter, {}, Tone::plain};
}

SheetCell sizeCell(std::uint64_t bytes) { return {shown(bytes_text(bytes)), static_cast<double>(bytes), {}}; }
// "4,096 or more": where not all are told apart.
SheetCell atLeast(std::size_t count, bool more) {
    SheetCell cell = countCell(count);
    if (more) cell.text = tr("%1 or more").arg(cell.text);
    return cell;
}
SheetCell plainNumber(unsigned number) { return {QString::number(number), static_cast<double>(number), {}}; }

Heading text(const char* title, const char* meaning) { return {tr(title), tr(meaning), false}; }
Heading figure(const char* title, const char* meaning) { return {tr(title), tr(meaning), true}; }

// RFC 2474, 2597, 3246, 5865: the names that switches are configured by; empty where there is none.
std::string dscpName(unsigned dscp) {
    if (dscp == 46) return "EF";
    if (dscp == 44) return "VOICE-ADMIT";
    if (dscp % 8 == 0) return "CS" + std::to_string(dscp / 8);
    if (dscp % 2 == 0 && dscp / 8 >= 1 && dscp / 8 <= 4 && dscp % 8 <= 6)
        return "AF" + std::to_string(dscp / 8) + std::to_string(dscp % 8 / 2);
    return {};
}

QString classFilter(const series::TrafficClass& of) {
    QString filter =
        QStringLiteral(
            "(ip.dsfield.dscp == %1 and ip.dsfield.ecn == %2 or ipv6.tclass.dscp == %1 and ipv6.tclass.ecn == %2)")
            .arg(of.dscp)
            .arg(of.ecn);
    filter +=
        of.pcp == kNoPcp ? QStringLiteral(" and not vlan") : QStringLiteral(" and vlan.priority == %1").arg(of.pcp);
    return filter + QStringLiteral(" and rdma.encapsulation");
}

}  // namespace

std::vector<StatisticsPage> statisticsPages() {
    const Heading packets = figure("Packets", "Number of packets");
    const Heading share = figure("Share", "Of the packets counted");
    const Heading bytes = figure("Bytes", "On the wire, with headers");
    return {
        {tr("Properties"),
         tr("The capture files and what they hold"),
         {text("Property", "Of the capture files or of the packets counted"), text("Value", "Of the property")}},
        {tr("Protocols"),
         tr("Packets by encapsulation, others by their innermost protocol"),
         {text("Protocol", "Encapsulation, or innermost protocol of what is no RDMA"), packets, share}},
        {tr("Opcodes"),
         tr("Packets by operation of the transport (IBA 9.2.1)"),
         {text("Opcode", "BTH opcode (IBA 9.2.1), or RDMAP opcode of iWARP (RFC 5040, 4.2)"), packets, share}},
        {tr("Lengths"),
         tr("Packets by length on the wire"),
         {figure("Length", "On the wire, in bytes"), packets, share, bytes}},
        {tr("Traffic classes"),
         tr("RDMA packets over IP by DSCP, VLAN priority and ECN"),
         {figure("DSCP", "Differentiated services code point (RFC 2474)"), text("Name", "Of the DSCP"),
          figure("PCP", "Priority of the VLAN tag; - without a tag"),
          text("ECN", "Explicit congestion notification (RFC 3168, 5; IBA A17.9.3)"), packets, share, bytes}},
        {tr("Source ports"),
         tr("UDP source ports between hosts, by which ECMP chooses a path"),
         {text("From", "Host that sends"), text("To", "Host that receives"), packets, bytes,
          figure("Queue pairs", "Of the receiving host"), figure("Ports", "Different UDP source ports"),
          figure("Entropy", "Of the source ports, in bits: n bits spread like 2^n ports used alike"),
          figure(
              "Even paths",
              "How many ports used alike would spread the packets as much: 1 means that ECMP has nothing to choose by"),
          figure("Busiest port", "Share of the packets with the most frequent source port")}},
    };
}

FileFacts fileFacts(const CaptureIndex& index) {
    FileFacts facts;
    const auto files = index.files();
    for (std::size_t at = 0; at < files.size(); ++at) {
        facts.names << shown(files[at].name);
        const QFileInfo file(shown(files[at].name));
        if (file.exists()) facts.stored += static_cast<std::uint64_t>(file.size());
        const auto layout = index.layout(at);
        if (layout == nullptr) continue;
        const QString format = layout->pcap ? QStringLiteral("pcap") : QStringLiteral("pcapng");
        if (!facts.formats.contains(format)) facts.formats << format;
        for (const std::string& name : layout->names)
            if (const QString one = shown(dissect::printable(name)); !one.isEmpty() && !facts.interfaces.contains(one))
                facts.interfaces << one;
    }
    return facts;
}

std::vector<SheetRow> propertyRows(const Statistics& statistics, const FileFacts& files, const Timeline& timeline) {
    constexpr qsizetype kNamed = 16;  // files and interfaces; a ring has many
    const dissect::Census& census = statistics.census;
    std::vector<SheetRow> rows;
    const auto add = [&](const char* name, const QString& value) {
        if (!value.isEmpty()) rows.push_back({{{tr(name), {}, {}}, {value, {}, {}}}, {}, {}, Tone::plain});
    };
    const auto few = [](const QStringList& all) {
        const QString named = all.mid(0, kNamed).join(QStringLiteral(", "));
        return all.size() > kNamed ? tr("%1 and %L2 more").arg(named).arg(all.size() - kNamed) : named;
    };
    add("Files", few(files.names));
    add("Format", files.formats.join(QStringLiteral(", ")));
    if (files.stored != 0) add("Size of the files", shown(bytes_text(files.stored)));
    add("Interfaces", few(files.interfaces));
    add("Packets", shown(grouped(census.packets)));
    add("Bytes on the wire", shown(grouped(census.bytes)));
    add("Bytes captured", shown(grouped(census.captured_bytes)));
    if (census.cut != 0) add("Truncated by the capture", shown(counted(census.cut, "packet")));
    if (statistics.unreadable != 0) add("No longer readable", shown(counted(statistics.unreadable, "packet")));
    if (census.time) {
        add("First packet", shown(dissect::utc(census.time->first)));
        add("Last packet", shown(dissect::utc(census.time->last)));
        const dissect::Duration length = duration_of(census);
        add("Duration", shown(duration_text(length)));
        if (length > dissect::Duration{}) {
            add("Average rate", shown(rate_text(8 * per_second(census.bytes, length))));
            add("Average packets/s", QStringLiteral("%L1").arg(per_second(census.packets, length), 0, 'f', 0));
        }
        if (census.backwards != 0) add("Older than the one before", shown(counted(census.backwards, "packet")));
    }
    if (census.packets != 0)
        add("Average length", QStringLiteral("%1 B").arg(
                                  static_cast<double>(census.bytes) / static_cast<double>(census.packets), 0, 'f', 1));
    if (census.without_time != 0) add("Without a timestamp", shown(counted(census.without_time, "packet")));
    add("RDMA packets", rdma_packets(census) == 0 ? tr("none") : shown(list_of(encapsulation_counts(census))));
    if (rdma_packets(census) != 0) add("Payload", shown(grouped(census.payload_bytes)));
    if (infiniband_packets(census) != 0) add("ICRC", shown(crc_text(census.icrc, unchecked_counts(census))));
    if (census.iwarp != 0) add("MPA CRC", shown(crc_text(census.fpdu_crc)));
    if (census.vcrc[0] != census.packets) add("VCRC", shown(crc_text(census.vcrc)));
    if (rdma_packets(census) != 0) add("CE marks", shown(grouped(census.congestion_experienced)));
    if (ultra_ethernet_packets(census) != 0) add("Ultra Ethernet", shown(ultra_ethernet_text(census)));
    add("Faults", shown(list_of(fault_counts(census))));
    const auto& drops = timeline.quality.drops;
    add("Dropped by the capture", drops.known ? shown(counted(drops.dropped + drops.dropped_by_system, "packet"))
                                              : tr("unknown: the file has no drop counters"));
    return rows;
}

std::vector<SheetRow> protocolRows(const Statistics& statistics) {
    const dissect::Census& census = statistics.census;
    std::vector<SheetRow> rows;
    for (const NamedCount& one : encapsulation_counts(census))
        rows.push_back(countRow(shown(one.name), one.count, census.packets,
                                one.code == 0 ? QStringLiteral("iwarp or rdma.iwarp")
                                              : QStringLiteral("rdma.encapsulation == %1").arg(one.code)));
    if (const std::uint64_t packets = ultra_ethernet_packets(census); packets != 0)
        rows.push_back(countRow(tr("Ultra Ethernet"), packets, census.packets, QStringLiteral("uet.pds or uet.tss")));
    for (const NamedCount& one : other_counts(census)) {
        const bool asks = dissect::Filter::compile(one.name).has_value();
        rows.push_back(countRow(shown(one.name), one.count, census.packets, asks ? shown(one.name) : QString()));
    }
    for (SheetRow& row : rows)
        if (!row.filter.isEmpty() && !dissect::Filter::compile(row.filter.toStdString())) row.filter.clear();
    return rows;
}

std::vector<SheetRow> opcodeRows(const Statistics& statistics) {
    const dissect::Census& census = statistics.census;
    std::vector<SheetRow> rows;
    for (const NamedCount& one : opcode_counts(census))
        rows.push_back(countRow(shown(one.name), one.count, infiniband_packets(census),
                                QStringLiteral("infiniband.bth.opcode == %1").arg(one.code)));
    const std::uint64_t all = std::accumulate(census.rdmap.begin(), census.rdmap.end(), std::uint64_t{0});
    for (const NamedCount& one : rdmap_counts(census))
        rows.push_back(
            countRow(shown(one.name), one.count, all, QStringLiteral("iwarp_rdma.opcode == %1").arg(one.code)));
    for (const NamedCount& one : ultra_ethernet_counts(census))
        rows.push_back(countRow(shown(one.name), one.count, ultra_ethernet_packets(census),
                                QStringLiteral("uet.pds.type == %1 or uet.tss.type == %1").arg(one.code)));
    return rows;
}

std::vector<SheetRow> lengthRows(const Statistics& statistics) {
    std::vector<SheetRow> rows;
    for (std::size_t i = 0; i < kLengthBounds.size(); ++i) {
        const Share& share = statistics.lengths[i];
        if (share.packets == 0) continue;
        const std::uint32_t from = kLengthBounds[i];
        const bool last = i + 1 == kLengthBounds.size();
        const QString name =
            last ? tr("%1 and more").arg(from) : QStringLiteral("%1 - %2").arg(from).arg(kLengthBounds[i + 1] - 1);
        QString filter = QStringLiteral("frame.len >= %1").arg(from);
        if (!last) filter += QStringLiteral(" and frame.len < %1").arg(kLengthBounds[i + 1]);
        SheetRow row = countRow(name, share.packets, statistics.census.packets, filter);
        row.cells.front().number = from;
        row.cells.push_back(sizeCell(share.bytes));
        rows.push_back(std::move(row));
    }
    return rows;
}

std::vector<SheetRow> classRows(const Statistics& statistics) {
    std::uint64_t all = 0;
    for (const auto& [of, share] : statistics.classes) all += share.packets;
    std::vector<SheetRow> rows;
    for (const auto& [of, share] : statistics.classes)
        rows.push_back({{plainNumber(of.dscp), textCell(dscpName(of.dscp)),
                         of.pcp == kNoPcp ? SheetCell{QStringLiteral("-"), -1, {}} : plainNumber(of.pcp),
                         textCell(series::ecn_name(of.ecn)), countCell(share.packets),
                         shareCell(shareOf(share.packets, all)), sizeCell(share.bytes)},
                        classFilter(of),
                        {},
                        Tone::plain});
    return rows;
}

std::vector<SheetRow> portRows(const Statistics& statistics) {
    std::vector<SheetRow> rows;
    for (const auto& [hosts, ports] : statistics.ports) {
        const QString from = shown(transport::text(hosts.first)), to = shown(transport::text(hosts.second));
        const double entropy = ports.entropy();
        const double paths = std::exp2(entropy);
        const QString ip = from.contains(QLatin1Char(':')) ? QStringLiteral("ipv6") : QStringLiteral("ip");
        // Several queue pairs that all go one way: ECMP was to spread them, and cannot.
        const bool starved = ports.queue_pairs.size() > 1 && ports.packets.size() == 1 && ports.untold == 0;
        rows.push_back({{{from, {}, {}},
                         {to, {}, {}},
                         countCell(ports.all.packets),
                         sizeCell(ports.all.bytes),
                         atLeast(ports.queue_pairs.size(), ports.more_queue_pairs),
                         atLeast(ports.packets.size(), ports.untold != 0),
                         {QStringLiteral("%1").arg(entropy, 0, 'f', 2), entropy, {}},
                         {QStringLiteral("%1").arg(paths, 0, 'f', 1), paths, {}},
                         shareCell(ports.greatest_share())},
                        QStringLiteral("%1.src == %2 and %1.dst == %3 and rdma.encapsulation").arg(ip, from, to),
                        {},
                        starved ? Tone::warning : Tone::plain});
    }
    return rows;
}

}  // namespace qps::gui
