#include <dissect/filter/line_filter.hpp>
#include <dissect/packet/notation.hpp>
#include <dissect/packet/render_value.hpp>
#include <gui/base/names.hpp>
#include <gui/packets/packet_columns.hpp>
#include <gui/packets/packet_info.hpp>

#include <array>
#include <string>
#include <utility>

namespace qps::gui {

using namespace dissect;

namespace {

struct Standard {
    ColumnKind kind;
    const char* name;  // in settings
    const char* title;
    const char* tip;
    const char* usual;
    bool right;
};

constexpr std::array kStandard{
    Standard{ColumnKind::Number, "number", "No.", "Number of the packet in the capture, from 1", "00000000", true},
    Standard{ColumnKind::Time, "time", "Time", "Time since the first packet; the context menu has other formats",
             "00000.000000000", true},
    Standard{ColumnKind::Source, "source", "Source",
             "Where it comes from: innermost IP address, GID, LID or MAC address", "192.168.100.100", false},
    Standard{ColumnKind::Destination, "destination", "Destination",
             "Where it goes to: innermost IP address, GID, LID or MAC address", "192.168.100.100", false},
    Standard{ColumnKind::Protocol, "protocol", "Protocol", "Innermost protocol that is decoded", "InfiniBand ", false},
    Standard{ColumnKind::Length, "length", "Length", "Length on the wire, in bytes", "0000000", true},
    Standard{ColumnKind::Info, "info", "Info",
             "The message, or the transport headers: opcode (9.2.1), QP, PSN (9.2), then the extended headers (9.3)",
             "RC_RDMA_WRITE_FIRST qp=00000000 psn=00000000 va=0x0000000000000000", false},
};

const Standard* standard(ColumnKind kind) {
    for (const Standard& row : kStandard)
        if (row.kind == kind) return &row;
    return nullptr;
}

PacketColumn made(const Standard& row) {
    PacketColumn column;
    column.kind = row.kind;
    column.title = QString::fromLatin1(row.title);
    column.right = row.right;
    return column;
}

void appendValues(std::string& out, const PacketColumn& column, const Packet& packet) {
    for_each_value(packet, *column.field, [&](const Layer&, const Field& field, const Value& value) {
        if (out.size() > std::size_t{kMostText}) return;
        if (!out.empty()) out += ", ";
        append_words(out, field, value);
    });
}

// The fields that a standard column stands for, the innermost layer first.
std::vector<std::string_view> fieldsOf(const PacketColumn& column) {
    switch (column.kind) {
        case ColumnKind::Number: return {"frame.number"};
        case ColumnKind::Time: return {"frame.time_relative"};
        case ColumnKind::Source: return {"ip.src", "ipv6.src", "infiniband.grh.sgid", "infiniband.lrh.slid", "eth.src"};
        case ColumnKind::Destination:
            return {"ip.dst", "ipv6.dst", "infiniband.grh.dgid", "infiniband.lrh.dlid", "eth.dst"};
        case ColumnKind::Length: return {"frame.len"};
        case ColumnKind::Info: return {"infiniband.bth.opcode"};
        case ColumnKind::Protocol: return {"rdma.encapsulation"};
        case ColumnKind::Field: return {column.field->name};
    }
    return {};
}

std::optional<Qpn> destinationOf(const Packet& packet) {
    static const auto field = column("infiniband.bth.destqp");
    std::optional<Qpn> number;
    if (field)
        for_each_value(packet, *field, [&](const Layer&, const Field&, const Value& value) {
            number = Qpn{static_cast<std::uint32_t>(value.number)};
        });
    return number;
}

// What the user calls the host, or the queue pair that the packet goes to; else the address.
QString addressText(const std::string& address, const std::optional<Qpn>& number, const Names* names) {
    QString text = QString::fromStdString(address);
    if (names == nullptr) return text;
    const QString host = names->host(text);
    const QString label = number ? names->queuePair(text, *number) : QString();
    if (label.isEmpty()) return host.isEmpty() ? text : host;
    return QStringLiteral("%1 (%2), %3").arg(label).arg(std::to_underlying(*number)).arg(host.isEmpty() ? text : host);
}

}  // namespace

std::vector<PacketColumn> standardColumns() {
    std::vector<PacketColumn> columns;
    for (const Standard& row : kStandard) {
        if (row.kind == ColumnKind::Info)
            if (auto connection = fieldColumn(QStringLiteral("rdma.connection"))) {
                connection->title = QStringLiteral("Connection");
                columns.push_back(std::move(*connection));
            }
        columns.push_back(made(row));
    }
    return columns;
}

std::optional<PacketColumn> fieldColumn(const QString& name) {
    const auto found = dissect::column(name.trimmed().toStdString());
    if (!found) return std::nullopt;
    PacketColumn column;
    column.title = QString::fromUtf8(found->name.data(), static_cast<qsizetype>(found->name.size()));
    column.field = *found;
    const ValueType type = value_type(found->places.front().field->format);
    column.right = found->places.front().field->names.empty() &&
                   (type == ValueType::unsigned_integer || type == ValueType::fixed_point);
    return column;
}

bool isSame(const PacketColumn& one, const PacketColumn& other) {
    return one.kind == other.kind && (one.kind != ColumnKind::Field || one.field->name == other.field->name);
}

QString cellText(const PacketColumn& column, const Packet& packet, const Names* names) {
    std::string text;
    switch (column.kind) {
        case ColumnKind::Number: text = std::to_string(std::to_underlying(packet.frame.index)); break;
        case ColumnKind::Time: break;
        case ColumnKind::Source:
            append_source(text, packet);
            return addressText(text, std::nullopt, names).left(kMostText);
        case ColumnKind::Destination:
            append_destination(text, packet);
            return addressText(text, destinationOf(packet), names).left(kMostText);
        case ColumnKind::Protocol: text = shownProtocol(packet); break;
        case ColumnKind::Length: text = std::to_string(packet.frame.wire_bytes()); break;
        case ColumnKind::Info: appendInfo(text, packet); break;
        case ColumnKind::Field: appendValues(text, column, packet); break;
    }
    return QString::fromStdString(text).left(kMostText);
}

QString columnTip(const PacketColumn& column) {
    if (const Standard* row = standard(column.kind)) return QString::fromLatin1(row->tip);
    const Field& field = *column.field->places.front().field;
    return QStringLiteral("%1\n%2").arg(
        QString::fromStdString(std::string(column.field->name)),
        QString::fromUtf8(field.meaning.data(), static_cast<qsizetype>(field.meaning.size())));
}

QString usualText(const PacketColumn& column) {
    if (const Standard* row = standard(column.kind)) return QString::fromLatin1(row->usual);
    const Field& field = *column.field->places.front().field;
    return field.names.empty() ? QStringLiteral("00000000") : QStringLiteral("RC_ACKNOWLEDGE (00)");
}

QString cellFilter(const PacketColumn& column, const Packet& packet) {
    if (column.kind == ColumnKind::Protocol)
        if (const std::string filter = protocolFilter(packet); !filter.empty()) return QString::fromStdString(filter);
    const std::vector<TreeLine> lines = tree(packet);
    // From the inside out: of a tunnel the packet it carries is meant, as the column shows it.
    for (const std::string_view name : fieldsOf(column))
        for (auto line = lines.rbegin(); line != lines.rend(); ++line)
            if (line->field != nullptr && line->field->name == name) {
                std::string filter;
                append_filter(filter, packet, *line);
                if (!filter.empty()) return QString::fromStdString(filter);
            }
    // A name that stands for several fields, as ip.addr does.
    if (column.field)
        for (const TreeLine& line : lines)
            for (const FieldPlace& place : column.field->places)
                if (line.field == place.field) {
                    std::string filter;
                    append_filter(filter, packet, line);
                    return QString::fromStdString(filter);
                }
    return {};
}

// "number|No.|right|shown|120"; a field has its name where standard columns have theirs.
QStringList savedColumns(const std::vector<PacketColumn>& columns) {
    QStringList lines;
    for (const PacketColumn& column : columns) {
        const Standard* row = standard(column.kind);
        const QString name = row != nullptr ? QString::fromLatin1(row->name)
                                            : QString::fromUtf8(column.field->name.data(),
                                                                static_cast<qsizetype>(column.field->name.size()));
        lines.append(QStringList{name, QString(column.title).remove(QLatin1Char('|')),
                                 column.right ? QStringLiteral("right") : QStringLiteral("left"),
                                 column.hidden ? QStringLiteral("hidden") : QStringLiteral("shown"),
                                 QString::number(column.width)}
                         .join(QLatin1Char('|')));
    }
    return lines;
}

std::vector<PacketColumn> restoredColumns(const QStringList& lines) {
    constexpr int kMostWidth = 1 << 14;
    std::vector<PacketColumn> columns;
    for (const QString& line : lines) {
        const QStringList parts = line.split(QLatin1Char('|'));
        if (parts.size() != 5 || columns.size() == kMostColumns) continue;
        std::optional<PacketColumn> column;
        for (const Standard& row : kStandard)
            if (parts[0] == QLatin1String(row.name)) column = made(row);
        if (!column) column = fieldColumn(parts[0]);
        if (!column) continue;
        if (!parts[1].isEmpty()) column->title = parts[1];
        column->right = parts[2] == QLatin1String("right");
        column->hidden = parts[3] == QLatin1String("hidden");
        column->width = std::clamp(parts[4].toInt(), 0, kMostWidth);
        columns.push_back(std::move(*column));
    }
    return columns;
}

}  // namespace qps::gui
