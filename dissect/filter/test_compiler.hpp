// One test of a filter -> sources, ranges and texts of a Program. Knows what each operator means for each kind of
// field.
//
// A name may stand for fields of different kinds; an operand of the test is an error only if it fits none of them.
#pragma once

#include <dissect/filter/field_index.hpp>
#include <dissect/filter/literal.hpp>
#include <dissect/filter/program.hpp>

#include <expected>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace qps::dissect::filter_language {

// A slice as written between brackets; nothing where it is none.
[[nodiscard]] std::optional<Slice> parse_slice(std::string_view text);

// Called in the order in which the parser reads a test: operand (with its number, slice, mask), then one of compare(),
// compare_fields() (after a second operand), add() for each member of a set, among(), contains(), matches(), or
// nothing: presence. Finally finish(), which appends the test to the program.
class TestCompiler {
public:
    explicit TestCompiler(Program& program) : program_(program) {}

    [[nodiscard]] Meant<void> operand(const NameEntry& entry, bool right);
    void nth(std::uint8_t number);
    [[nodiscard]] Meant<void> slice(const Slice& slice);
    [[nodiscard]] Meant<void> mask(const Literal& literal);

    void relate(Comparison comparison, bool all, bool invert);
    [[nodiscard]] Meant<void> compare(const Literal& literal);
    [[nodiscard]] Meant<void> compare_fields();
    [[nodiscard]] Meant<void> contains(const Literal& literal);
    [[nodiscard]] Meant<void> matches(const Literal& literal);

    struct RangeMisfit {
        bool of_high;
        Misfit misfit;
    };
    [[nodiscard]] Meant<void> add(const Literal& member);
    [[nodiscard]] std::expected<void, RangeMisfit> add(const Literal& low, const Literal& high);

    // One of these numbers, in any order: of a field that has one place.
    void among(std::span<const FrameIndex> frames);

    [[nodiscard]] Meant<void> finish();

private:
    // A source with the values it is to match, until they go into the program.
    struct Candidate {
        Source source;
        std::vector<NumberRange> numbers{};
        std::vector<ByteRange> bytes{};
    };
    struct Side {
        const NameEntry* entry = nullptr;
        std::vector<Candidate> candidates{};
        Operand operand{};
    };

    [[nodiscard]] bool is_numeric(const Side& side, const Candidate& candidate) const {
        return !side.operand.slice && is_number(candidate.source.field);
    }
    [[nodiscard]] Meant<void> need_values(const Side& side) const;
    [[nodiscard]] Meant<void> fits_slice(const ByteRange& range) const;
    [[nodiscard]] std::optional<std::size_t> known_length(const Side& side) const;
    [[nodiscard]] Meant<std::uint32_t> compile_regex(const Literal& literal);
    [[nodiscard]] Meant<void> byte_mask(const Literal& literal);
    void ask_presence();
    void store(Side& side, Operand& operand);

    // Runs `meant` on each candidate; an error only if none of them took it.
    template <class Take> [[nodiscard]] Meant<void> for_candidates(const Take& take);

    Program& program_;
    Test test_{};
    Side left_{};
    Side right_{};
    bool has_right_ = false;
    bool related_ = false;
};

}  // namespace qps::dissect::filter_language
