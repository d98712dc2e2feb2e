#include <gui/tables/operation_model.hpp>

#include <algorithm>

namespace qps::gui {

using namespace transport;
using dissect::FrameIndex;

namespace {

constexpr std::array kOperationMeanings{
    Meaning{"#", "Connection"},
    Meaning{"time", "Time when the request was complete, in seconds since the start of the capture"},
    Meaning{"from", "Initiator or client: address and queue pair"},
    Meaning{"to", "Target or server: address and queue pair"},
    Meaning{"protocol", "Upper-layer protocol of the connection"},
    Meaning{"tag", "Identifier that matches the response: command identifier, task tag, XID"},
    Meaning{"subject", "Subject, in terms of the protocol"},
    Meaning{"bytes", "Data transferred, in the message and by READs and WRITEs"},
    Meaning{"operation", "Command, call or request of the protocol"},
    Meaning{"outcome", "Status of the response"},
    Meaning{"depth", "Operations outstanding at this end at its start, itself included"},
    Meaning{"latency", "From request to response"},
    Meaning{"wait", "From request to first data packet"},
    Meaning{"transfer", "From first to last data packet"},
    Meaning{"complete", "From last data packet to response"},
    Meaning{"frame", "Packet of the request"},
    Meaning{"answer", "Packet of the response"},
};

}  // namespace

OperationModel::OperationModel(QObject* parent) : OperationModel(Columns(operation_columns()), parent) {}

OperationModel::OperationModel(Columns columns, QObject* parent)
    : IndexModel(columns.headings(kOperationMeanings), parent), m_columns(std::move(columns)) {}

ReportedOperation OperationModel::reported(Row row) const {
    if (m_last != row) {
        m_operation = at(row).restored();
        m_last = row;
    }
    return {m_operation, endpoint(m_operation.connection, m_operation.requester),
            endpoint(m_operation.connection, other(m_operation.requester)), start()};
}

RowPlace OperationModel::place(Row row) const {
    const OperationRow& operation = at(row);
    return {operation.connection(), operation.asked_frame(), operation.asked_frame(), operation.last_frame()};
}

// Of several that were under way at that time the one that it asked for or answered.
std::optional<TableModel::Row> OperationModel::rowOfPacket(FrameIndex frame) const {
    if (capture() == nullptr || !capture()->has(frame)) return std::nullopt;
    const auto connection = capture()->row(frame).connection();
    if (!connection) return std::nullopt;
    std::optional<Row> under_way;
    for (Row row = 0; row < sources(); ++row) {
        const OperationRow& operation = at(row);
        if (operation.connection() != *connection || frame < operation.asked_frame() || frame > operation.last_frame())
            continue;
        if (frame == operation.asked_frame() || frame == operation.last_frame()) return row;
        if (!under_way) under_way = row;
    }
    return under_way;
}

QString OperationModel::text(Row row, int column) const {
    const std::string_view heading = m_columns.at(column).heading;
    if (names() == nullptr || (heading != "from" && heading != "to")) return m_columns.text(reported(row), column);
    const auto ends = reported(row);
    return ofEnd(heading == "from" ? ends.from : ends.to);
}

Cell OperationModel::value(Row row, int column) const {
    const std::string_view heading = m_columns.at(column).heading;
    if (names() == nullptr || (heading != "from" && heading != "to")) return m_columns.value(reported(row), column);
    return text_cell(text(row, column).toStdString());
}

Tone OperationModel::tone(Row row) const { return tone_of(reported(row).operation); }

// What rows of the index have themselves needs no operation: millions are sorted at once.
SortKeys OperationModel::keys(int column) const {
    const auto by = [this](auto of) { return sortKeys(sources(), [&](Row row) { return number(of(at(row))); }); };
    const std::string_view heading = column == whenColumn() ? "time" : m_columns.at(column).heading;
    if (heading == "#") return by([](const OperationRow& row) { return row.connection(); });
    if (heading == "bytes") return by([](const OperationRow& row) { return row.bytes(); });
    if (heading == "time") return by([](const OperationRow& row) { return row.asked(); });
    if (heading == "frame") return by([](const OperationRow& row) { return row.asked_frame(); });
    return TableModel::keys(column);
}

std::optional<TimeRange> OperationModel::life(Row row) const {
    const UlpOperation& operation = reported(row).operation;
    return TimeRange{operation.asked, std::max({operation.asked, operation.data_last, operation.answered})};
}

// What went wrong on its connection while somebody waited for it.
std::vector<Moment> OperationModel::moments(Row row) const {
    std::vector<Moment> all;
    const UlpOperation& operation = reported(row).operation;
    for (const End end : {End::a, End::b}) {
        const std::vector<Moment> some = troubles().of(operation.connection, end, *life(row));
        all.insert(all.end(), some.begin(), some.end());
    }
    return all;
}

}  // namespace qps::gui
