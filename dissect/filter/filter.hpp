// The display filter language: Wireshark's, over our field tables. Text -> Filter -> yes or no for a packet.
//
//   infiniband.bth.opcode == RC_SEND_ONLY && ip.addr == 10.0.0.0/8
//   rdma.icrc.status == bad or not infiniband.bth.psn in {0..15, 0xffffff}
//   eth.src[0:3] == 00:02:c9 and infiniband.payload contains "NVMe"
#pragma once

#include <dissect/base/packet.hpp>
#include <dissect/filter/field_index.hpp>
#include <dissect/filter/filter_error.hpp>

#include <expected>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

namespace qps::dissect {

struct NamedSet;
struct SetReader;
namespace filter_language {
struct Program;
}

// A compiled filter. Immutable; a copy shares what was compiled, and threads may share one.
class Filter {
public:
    Filter();  // matches every packet, as the empty text does

    // Errors: whatever is no filter, with the place and, where it can be guessed, what was meant.
    [[nodiscard]] static std::expected<Filter, FilterError> compile(std::string_view text);
    // Of a text that may name sets.
    [[nodiscard]] static std::expected<Filter, FilterError> compile(std::string_view text, const SetReader& sets);

    // Allocates nothing, but for what RE2 keeps of a regular expression.
    [[nodiscard]] bool matches(const Packet& packet) const;
    // Whether it lets every packet through, as the empty text does: nobody needs to ask it.
    [[nodiscard]] bool matches_all() const;

    // Whether it asks for a field that only an annotated packet has.
    [[nodiscard]] bool needs_annotation() const;
    // Whether it asks for what is right of the first packets only once later ones were read: which connection they are
    // of, and what upper protocol it has.
    [[nodiscard]] bool needs_look_ahead() const;
    // Whether it asks for a field that is known only when all packets were read.
    [[nodiscard]] bool needs_whole_capture() const;
    // The sets that it names, in its order.
    [[nodiscard]] std::span<const NamedSet> sets() const;

private:
    friend class IndexedFilter;
    explicit Filter(filter_language::Program&& program);
    std::shared_ptr<const filter_language::Program> program_;
};

// A field by its name (or alias), for columns.
struct Column {
    std::string_view name;
    std::span<const FieldPlace> places;  // never empty
    [[nodiscard]] bool needs_annotation() const;
    [[nodiscard]] bool needs_look_ahead() const;
    [[nodiscard]] bool needs_whole_capture() const;
};

// Errors: a name that is no field; headers and groups have no value of their own.
[[nodiscard]] std::expected<Column, FilterError> column(std::string_view name);

// Calls visit(layer, field, value) for each value the packet has of the column, in the order of the packet.
template <class Visit> void for_each_value(const Packet& packet, const Column& column, Visit&& visit) {
    for (const Layer& layer : packet.layers())
        for (const FieldPlace& place : column.places)
            if (place.kind == layer.kind)
                if (const std::optional<Value> value = value_of(packet, layer, *place.field))
                    visit(layer, *place.field, *value);
}

}  // namespace qps::dissect
