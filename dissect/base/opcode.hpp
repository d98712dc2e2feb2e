// THE opcode table: transport service x operation (9.2, table 38; A14 for XRC, A17.9.3 for CNP, A19 for FLUSH and
// ATOMIC WRITE). Names, header lists, lengths, places and directions of all opcodes are computed from the two short
// tables below. To add an operation: one row; every_opcode.cpp then demands its evidence.
#pragma once

#include <dissect/base/field.hpp>
#include <dissect/base/layer.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace qps::dissect {

enum class Opcode : std::uint8_t {
    rc_acknowledge = 0x11,
    ud_send_only = 0x64,
    cnp_native = 0x80,  // native InfiniBand congestion notification
    cnp = 0x81,         // RoCEv2 congestion notification packet
};

// Bits 7:5 of an opcode; and iWARP and Ultra Ethernet, which have no opcodes of this table.
enum class Service : std::uint8_t {
    rc = 0,
    uc = 1,
    rd = 2,
    ud = 3,
    cnp = 4,
    xrc = 5,
    manufacturer_6 = 6,
    manufacturer_7 = 7,
    iwarp = 8,
    uet = 9
};

// Where in its message a packet stands.
enum class Place : std::uint8_t { first, middle, last, only };
[[nodiscard]] constexpr bool begins_message(Place place) { return place == Place::first || place == Place::only; }
[[nodiscard]] constexpr bool ends_message(Place place) { return place == Place::last || place == Place::only; }

enum class Verb : std::uint8_t {
    send,
    write,
    read_request,
    read_response,
    acknowledge,
    atomic_acknowledge,
    compare_swap,
    fetch_add,
    resync,
    flush,
    atomic_write,
    notify,
};
[[nodiscard]] constexpr bool is_atomic(Verb verb) { return verb == Verb::compare_swap || verb == Verb::fetch_add; }

struct Operation {
    std::uint8_t code;  // bits 4:0
    std::string_view name;
    Verb verb;
    Place place;
    bool request;  // from requester to responder
    bool carries_payload;
    std::array<LayerKind, 2> headers;  // after the service's own; data: none
    std::uint8_t services;             // bit n: exists in service n
};

namespace opcode_rows {
inline constexpr std::uint8_t kRc = 1, kUc = 2, kRd = 4, kUd = 8, kXrc = 32;
inline constexpr std::uint8_t kConnected = kRc | kXrc, kReliable = kConnected | kRd, kStream = kReliable | kUc;
inline constexpr auto kNone = LayerKind::data;

inline constexpr std::array kOperations{
    Operation{0x00, "SEND_FIRST", Verb::send, Place::first, true, true, {kNone, kNone}, kStream},
    Operation{0x01, "SEND_MIDDLE", Verb::send, Place::middle, true, true, {kNone, kNone}, kStream},
    Operation{0x02, "SEND_LAST", Verb::send, Place::last, true, true, {kNone, kNone}, kStream},
    Operation{
        0x03, "SEND_LAST_WITH_IMMEDIATE", Verb::send, Place::last, true, true, {LayerKind::immdt, kNone}, kStream},
    Operation{0x04, "SEND_ONLY", Verb::send, Place::only, true, true, {kNone, kNone}, kStream | kUd},
    Operation{0x05,
              "SEND_ONLY_WITH_IMMEDIATE",
              Verb::send,
              Place::only,
              true,
              true,
              {LayerKind::immdt, kNone},
              kStream | kUd},
    Operation{0x06, "RDMA_WRITE_FIRST", Verb::write, Place::first, true, true, {LayerKind::reth, kNone}, kStream},
    Operation{0x07, "RDMA_WRITE_MIDDLE", Verb::write, Place::middle, true, true, {kNone, kNone}, kStream},
    Operation{0x08, "RDMA_WRITE_LAST", Verb::write, Place::last, true, true, {kNone, kNone}, kStream},
    Operation{0x09,
              "RDMA_WRITE_LAST_WITH_IMMEDIATE",
              Verb::write,
              Place::last,
              true,
              true,
              {LayerKind::immdt, kNone},
              kStream},
    Operation{0x0a, "RDMA_WRITE_ONLY", Verb::write, Place::only, true, true, {LayerKind::reth, kNone}, kStream},
    Operation{0x0b,
              "RDMA_WRITE_ONLY_WITH_IMMEDIATE",
              Verb::write,
              Place::only,
              true,
              true,
              {LayerKind::reth, LayerKind::immdt},
              kStream},
    Operation{
        0x0c, "RDMA_READ_REQUEST", Verb::read_request, Place::only, true, false, {LayerKind::reth, kNone}, kReliable},
    Operation{0x0d,
              "RDMA_READ_RESPONSE_FIRST",
              Verb::read_response,
              Place::first,
              false,
              true,
              {LayerKind::aeth, kNone},
              kReliable},
    Operation{
        0x0e, "RDMA_READ_RESPONSE_MIDDLE", Verb::read_response, Place::middle, false, true, {kNone, kNone}, kReliable},
    Operation{0x0f,
              "RDMA_READ_RESPONSE_LAST",
              Verb::read_response,
              Place::last,
              false,
              true,
              {LayerKind::aeth, kNone},
              kReliable},
    Operation{0x10,
              "RDMA_READ_RESPONSE_ONLY",
              Verb::read_response,
              Place::only,
              false,
              true,
              {LayerKind::aeth, kNone},
              kReliable},
    Operation{0x11, "ACKNOWLEDGE", Verb::acknowledge, Place::only, false, false, {LayerKind::aeth, kNone}, kReliable},
    Operation{0x12,
              "ATOMIC_ACKNOWLEDGE",
              Verb::atomic_acknowledge,
              Place::only,
              false,
              false,
              {LayerKind::aeth, LayerKind::atomicacketh},
              kReliable},
    Operation{
        0x13, "COMPARE_SWAP", Verb::compare_swap, Place::only, true, false, {LayerKind::atomiceth, kNone}, kReliable},
    Operation{0x14, "FETCH_ADD", Verb::fetch_add, Place::only, true, false, {LayerKind::atomiceth, kNone}, kReliable},
    Operation{0x15, "RESYNC", Verb::resync, Place::only, true, false, {kNone, kNone}, kRd},
    Operation{
        0x16, "SEND_LAST_WITH_INVALIDATE", Verb::send, Place::last, true, true, {LayerKind::ieth, kNone}, kConnected},
    Operation{
        0x17, "SEND_ONLY_WITH_INVALIDATE", Verb::send, Place::only, true, true, {LayerKind::ieth, kNone}, kConnected},
    Operation{0x1c, "FLUSH", Verb::flush, Place::only, true, false, {LayerKind::feth, LayerKind::reth}, kReliable},
    Operation{0x1d, "ATOMIC_WRITE", Verb::atomic_write, Place::only, true, true, {LayerKind::reth, kNone}, kReliable},
};
}  // namespace opcode_rows

struct OpcodeRow {
    std::array<char, 40> name_storage{};
    std::uint8_t name_length = 0;
    bool defined = false;  // false: reserved or manufacturer specific
    Service service = Service::rc;
    Verb verb = Verb::send;
    Place place = Place::only;
    bool request = true;
    bool carries_payload = false;
    std::uint8_t header_count = 0;
    std::array<LayerKind, 4> headers{};  // after the BTH, in wire order

    [[nodiscard]] constexpr bool begins_message() const { return dissect::begins_message(place); }
    [[nodiscard]] constexpr bool ends_message() const { return dissect::ends_message(place); }
    [[nodiscard]] constexpr bool is_atomic() const { return dissect::is_atomic(verb); }
    [[nodiscard]] constexpr bool has_immediate() const {
        return std::find(headers.begin(), headers.begin() + header_count, LayerKind::immdt) !=
               headers.begin() + header_count;
    }

    [[nodiscard]] constexpr std::string_view name() const { return {name_storage.data(), name_length}; }
    constexpr void append(std::string_view text) {
        std::copy(text.begin(), text.end(), name_storage.begin() + name_length);
        name_length = static_cast<std::uint8_t>(name_length + text.size());
    }
    constexpr void add(LayerKind kind) { headers[header_count++] = kind; }
};

namespace opcode_rows {
struct ServicePrefix {
    Service service;
    std::string_view name;
    std::array<LayerKind, 2> on_requests;
    std::array<LayerKind, 2> on_responses;
};
inline constexpr std::array kServices{
    ServicePrefix{Service::rc, "RC_", {kNone, kNone}, {kNone, kNone}},
    ServicePrefix{Service::uc, "UC_", {kNone, kNone}, {kNone, kNone}},
    ServicePrefix{Service::rd, "RD_", {LayerKind::rdeth, LayerKind::deth}, {LayerKind::rdeth, kNone}},
    ServicePrefix{Service::ud, "UD_", {LayerKind::deth, kNone}, {kNone, kNone}},
    ServicePrefix{Service::xrc, "XRC_", {LayerKind::xrceth, kNone}, {kNone, kNone}},
};

consteval OpcodeRow compose(const ServicePrefix& service, const Operation& operation) {
    OpcodeRow row;
    row.defined = true;
    row.service = service.service;
    row.verb = operation.verb;
    row.place = operation.place;
    row.request = operation.request;
    row.carries_payload = operation.carries_payload;
    row.append(service.name);
    row.append(operation.name);
    for (LayerKind kind : operation.request ? service.on_requests : service.on_responses)
        if (kind != kNone) row.add(kind);
    for (LayerKind kind : operation.headers)
        if (kind != kNone) row.add(kind);
    return row;
}

consteval std::array<OpcodeRow, 256> make_table() {
    std::array<OpcodeRow, 256> table{};
    for (std::size_t code = 0; code < table.size(); ++code) table[code].service = static_cast<Service>(code >> 5);
    for (const ServicePrefix& service : kServices)
        for (const Operation& operation : kOperations)
            if ((operation.services >> std::to_underlying(service.service) & 1) != 0)
                table[static_cast<std::size_t>(std::to_underlying(service.service)) << 5 | operation.code] =
                    compose(service, operation);
    for (Opcode code : {Opcode::cnp_native, Opcode::cnp}) {
        OpcodeRow& row = table[std::to_underlying(code)];
        row.defined = true;
        row.verb = Verb::notify;
        row.append(code == Opcode::cnp ? "CNP" : "CNP_NATIVE");
        row.add(LayerKind::cnp_reserved);
    }
    for (OpcodeRow& row : table)
        if (!row.defined) row.append(row.service >= Service::manufacturer_6 ? "MANUFACTURER" : "RESERVED");
    return table;
}
}  // namespace opcode_rows

inline constexpr std::array<OpcodeRow, 256> kOpcodes = opcode_rows::make_table();

[[nodiscard]] constexpr const OpcodeRow& info(Opcode opcode) { return kOpcodes[std::to_underlying(opcode)]; }
[[nodiscard]] constexpr Service service_of(Opcode opcode) { return info(opcode).service; }

// The defined opcodes as value names of infiniband.bth.opcode.
inline constexpr auto kOpcodeNames = [] {
    constexpr auto count = static_cast<std::size_t>(std::ranges::count_if(kOpcodes, &OpcodeRow::defined));
    std::array<ValueName, count> names{};
    std::size_t next = 0;
    for (std::size_t code = 0; code < kOpcodes.size(); ++code)
        if (kOpcodes[code].defined) names[next++] = {code, kOpcodes[code].name()};
    return names;
}();

}  // namespace qps::dissect
