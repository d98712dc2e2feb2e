// IndexedFilter: a filter asked of rows that hold a few fields of each packet, so that most packets of a large capture
// are judged without being read and decoded again.
//
// What it answers with yes or no is what Filter::matches() says of the packet, given that the rows tell the truth; a
// test on anything the rows do not hold is unknown.
#pragma once

#include <dissect/filter/filter.hpp>
#include <dissect/filter/verdict.hpp>

#include <array>
#include <span>
#include <vector>

namespace qps::dissect {

// What a row tells of a name: its numbers, as value_of() gives them (fixed-point numbers as counts, names as values).
class RowValues {
public:
    static constexpr std::size_t kMost =
        8;  // fields in a row rarely come twice; more are not kept but make the row incomplete

    void add(std::uint64_t number) {
        if (count_ < kMost) numbers_[count_++] = number;
        else incomplete_ = true;
    }
    // The packet may have values (or more of them) that the row does not hold.
    void set_incomplete() { incomplete_ = true; }

    [[nodiscard]] std::span<const std::uint64_t> numbers() const { return {numbers_.data(), count_}; }
    [[nodiscard]] bool incomplete() const { return incomplete_; }

private:
    std::array<std::uint64_t, kMost> numbers_;  // only count_ of them
    std::uint8_t count_ = 0;
    bool incomplete_ = false;
};

// A name that rows know of. `read` adds every value that the packet has of the field, in all its layers, and none where
// it has none; for the name of a header or a group any number where the packet has one. Of fields that are no numbers
// (IPv6 addresses, bytes, texts) rows can tell the presence, by any number.
struct IndexedField {
    std::string_view name;
    void (*read)(const void* row, RowValues& values);
};

// A field of rows of that type: indexed<Row, [](const Row& row, RowValues& values) { values.add(row.psn); }>("...").
template <class Row, auto kRead> [[nodiscard]] constexpr IndexedField indexed(std::string_view name) {
    return {name, [](const void* row, RowValues& values) { kRead(*static_cast<const Row*>(row), values); }};
}

// Immutable, threads may share one. Names in `known` that are no names of the language are never asked for.
class IndexedFilter {
public:
    IndexedFilter(const Filter& filter, std::span<const IndexedField> known);

    // Of a row of the type that the fields read. Allocates nothing.
    [[nodiscard]] Verdict judge(const void* row) const;

    // Whether rows that tell all they are asked for are all that it takes: judge() is never unknown of them.
    [[nodiscard]] bool complete() const;

private:
    // Where a test gets values from: a field of the rows, and the source of the program it stands for.
    struct Reader {
        void (*read)(const void* row, RowValues& values);
        std::uint32_t source;  // in Program::sources; not used by tests on layers
    };
    struct Bound {
        std::uint32_t first = 0;  // in readers_
        std::uint32_t count = 0;
        bool complete = false;  // they stand for all that the test asks of
    };

    void bind_layers(const filter_language::Test& test, std::span<const IndexedField> known, Bound& bound);
    void bind_fields(const filter_language::Test& test, std::span<const IndexedField> known, Bound& bound);
    [[nodiscard]] Verdict judge_test(std::uint32_t index, const void* row) const;

    std::shared_ptr<const filter_language::Program> program_;
    std::vector<Bound> tests_;  // parallel to those of the program
    std::vector<Reader> readers_;
};

}  // namespace qps::dissect
