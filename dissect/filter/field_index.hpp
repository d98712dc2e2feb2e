// Field index: every name a filter or a column may use, and where it stands in the header tables.
//
// A name may stand in several tables (infiniband.reth.va is in the RETH and the AtomicETH), so it has a list of places.
// Built once, from header() over all kinds of layer; immutable afterwards, so threads share it freely.
#pragma once

#include <dissect/base/field.hpp>
#include <dissect/base/layer.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace qps::dissect {

struct FieldPlace {
    LayerKind kind;
    const Field* field;  // never null, lives as long as the program
};

// One name. It may be a field, a header, or both (infiniband.immdt).
struct NameEntry {
    std::string_view name;
    std::span<const FieldPlace> fields{};  // empty for the name of a header
    std::span<const LayerKind> layers{};   // the headers of that name, or of that group
    bool alias = false;                    // ip.addr stands for ip.src and ip.dst
    bool group = false;                    // "infiniband": all headers named infiniband.*
};

// All names: fields in the order of headers and rows, then aliases; names of headers stand before their fields,
// groups at the end.
[[nodiscard]] std::span<const NameEntry> all_names();

// Whether it may be what somebody types: fields of packets that ICMP quotes are not, before that is said.
[[nodiscard]] bool is_meant(const NameEntry& entry, std::string_view typed);

// The entry of that name, or nullptr.
[[nodiscard]] const NameEntry* find_name(std::string_view name);

// What was probably meant by a name that does not exist; empty where nothing is near.
[[nodiscard]] std::string nearest_name(std::string_view name);

// Edits (insertions, deletions, substitutions, swaps of neighbours) from one text to the other, not counting case;
// nothing where there are more than `limit`.
[[nodiscard]] std::optional<std::size_t> edit_distance(std::string_view a, std::string_view b, std::size_t limit);

}  // namespace qps::dissect
