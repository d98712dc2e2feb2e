// The fields that rows of an index can answer for, so that a filter on them needs no packet to be read again: THE
// table. A test holds that each says what the decoded packet says.
#pragma once

#include <dissect/filter/indexed.hpp>
#include <transport-replay/index/capture_index.hpp>

#include <span>

namespace qps::transport {

// What the functions of the table read.
struct RowView {
    const CaptureIndex& index;
    dissect::FrameIndex frame{};
    const PacketRow& row;
};

[[nodiscard]] std::span<const dissect::IndexedField> row_fields();

}  // namespace qps::transport
