#include <dissect/base/types.hpp>
#include <transport-replay/index/row_fields.hpp>

#include <array>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

template <auto kRead> constexpr IndexedField field(std::string_view name) { return indexed<RowView, kRead>(name); }

// Of the transport packet of a row. Other rows have none, but for those whose headers the capture cut off.
template <auto kOf> constexpr IndexedField transport_field(std::string_view name) {
    return field<[](const RowView& view, RowValues& values) {
        if (view.row.kind() == ObservationKind::transport) kOf(view.row, values);
        else if (view.row.kind() == ObservationKind::unreadable) values.set_incomplete();
    }>(name);
}

// Of the RDMA conclusions, which packets have that are no transport packets too.
template <auto kOf> constexpr IndexedField conclusion(std::string_view name) {
    return field<[](const RowView& view, RowValues& values) {
        if (view.row.kind() == ObservationKind::transport) kOf(view, values);
        else values.set_incomplete();
    }>(name);
}

// Of those, what TCP segments have that belong to a connection.
template <auto kOf> constexpr IndexedField followed(std::string_view name) {
    return field<[](const RowView& view, RowValues& values) {
        if (view.row.kind() == ObservationKind::transport) kOf(view, values);
        else if (view.row.kind() != ObservationKind::stream) values.set_incomplete();
        else if (view.row.connection()) kOf(view, values);
    }>(name);
}

template <Mark kMark> constexpr IndexedField marked(std::string_view name) {
    return followed<[](const RowView& view, RowValues& values) {
        if (view.row.has(kMark)) values.add(1);
    }>(name);
}

// What only packets have that ended a message, or miss some before them.
template <Mark kMark, auto kMember> constexpr IndexedField annotated(std::string_view name) {
    return followed<[](const RowView& view, RowValues& values) {
        if (!view.row.has(kMark)) return;
        const Annotation annotation = view.index.annotation(view.frame);
        if constexpr (std::is_integral_v<std::remove_cvref_t<decltype(annotation.*kMember)>>) {
            if (annotation.*kMember != 0) values.add(annotation.*kMember);
        } else if (annotation.*kMember) {
            values.add(static_cast<std::uint64_t>(std::to_underlying(*(annotation.*kMember))));
        }
    }>(name);
}

void present(const PacketRow&, RowValues& values) { values.add(1); }

void relative_time(const RowView& view, RowValues& values) {
    const auto start = view.index.start();
    if (!view.row.has(Mark::timeless) && start)
        values.add(static_cast<std::uint64_t>(std::to_underlying(view.row.time() - *start)));
}

constexpr std::array kRowFields{
    field<[](const RowView& view, RowValues& values) { values.add(std::to_underlying(view.frame)); }>("frame.number"),
    field<[](const RowView& view, RowValues& values) {
        // Longer ones are kept as so long.
        if (view.row.wire_length() == PacketRow::kMaxLength) values.set_incomplete();
        else values.add(view.row.wire_length());
    }>("frame.len"),
    field<[](const RowView& view, RowValues& values) {
        if (!view.row.has(Mark::timeless)) values.add(static_cast<std::uint64_t>(std::to_underlying(view.row.time())));
    }>("frame.time_epoch"),
    field<relative_time>("frame.time_relative"),
    field<[](const RowView& view, RowValues& values) {
        if (const auto since = view.index.since_previous(view.frame))
            values.add(static_cast<std::uint64_t>(std::to_underlying(*since)));
    }>("frame.time_delta"),
    transport_field<present>("infiniband.bth"),
    transport_field<[](const PacketRow& row, RowValues& values) { values.add(std::to_underlying(row.opcode())); }>(
        "infiniband.bth.opcode"),
    transport_field<[](const PacketRow& row, RowValues& values) { values.add(row.psn().value()); }>(
        "infiniband.bth.psn"),
    transport_field<[](const PacketRow& row, RowValues& values) { values.add(std::to_underlying(row.dest_qp())); }>(
        "infiniband.bth.destqp"),
    transport_field<[](const PacketRow& row, RowValues& values) {
        if (row.syndrome()) values.add(*row.syndrome());
    }>("infiniband.aeth.syndrome"),
    transport_field<[](const PacketRow& row, RowValues& values) {
        if (row.syndrome()) values.add(*row.syndrome() >> 5U & 3U);
    }>("infiniband.aeth.syndrome.opcode"),
    conclusion<[](const RowView& view, RowValues& values) { values.add(std::to_underlying(view.row.icrc())); }>(
        "rdma.icrc.status"),
    conclusion<[](const RowView& view, RowValues& values) {
        values.add(std::to_underlying(view.row.encapsulation()));
    }>("rdma.encapsulation"),
    followed<[](const RowView& view, RowValues& values) {
        if (view.row.connection()) values.add(std::to_underlying(*view.row.connection()));
    }>("rdma.connection"),
    followed<[](const RowView& view, RowValues& values) {
        if (view.row.connection()) values.add(std::to_underlying(view.row.from()));
    }>("rdma.from"),
    followed<[](const RowView& view, RowValues& values) {
        if (view.row.arrival()) values.add(std::to_underlying(*view.row.arrival()));
    }>("rdma.arrival"),
    marked<Mark::retransmission>("rdma.retransmission"),
    marked<Mark::duplicated>("rdma.duplicated"),
    marked<Mark::mirror_copy>("rdma.mirror_copy"),
    marked<Mark::unmatched>("rdma.unmatched"),
    annotated<Mark::gap, &Annotation::psn_missing>("rdma.psn_missing"),
    annotated<Mark::completes, &Annotation::messages_completed>("rdma.message.completed"),
    annotated<Mark::completes, &Annotation::latency>("rdma.message.latency"),
};

}  // namespace

std::span<const IndexedField> row_fields() { return kRowFields; }

}  // namespace qps::transport
