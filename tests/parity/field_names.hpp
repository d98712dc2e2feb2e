// The fields that tshark and qpscope both know, and the one form in which their values are compared.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace qps::test {

struct SharedField {
    std::string name;
    std::string our_type;    // integer, boolean, mac, ...: `qpscope fields`
    std::string their_type;  // FT_UINT16, ...: `tshark -G fields`
};

// By name, in our order. A header has no value of its own with us (it is there or not), so headers are left out.
// `ours` is the output of `qpscope fields -f tsv`, `theirs` that of `tshark -G fields`.
[[nodiscard]] std::vector<SharedField> shared_fields(std::string_view ours, std::string_view theirs);

// Whose output a cell is from.
enum class Writer { qpscope, tshark };

// Cells of a row.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

// The values of a cell, in the form in which both sides are equal if they mean the same: numbers in decimal, flags 0 or
// 1, bytes as hex digits, seconds without trailing zeros. What has no such form stays as it is.
[[nodiscard]] std::vector<std::string> canonical_values(const SharedField& field, Writer writer, std::string_view cell);

}  // namespace qps::test
