// Evaluation of a compiled filter. Allocates nothing; the packet may hold any bytes.
#include <dissect/filter/program.hpp>
#include <dissect/filter/verdict.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include <re2/re2.h>

namespace qps::dissect::filter_language {

namespace {

constexpr std::size_t kFewRanges = 8;  // searched one by one up to here

std::string_view characters(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

bool in_ranges(std::uint64_t number, std::span<const NumberRange> ranges) {
    if (ranges.size() <= kFewRanges)
        return std::ranges::any_of(ranges, [=](const NumberRange& r) { return number >= r.low && number <= r.high; });
    const auto after = std::ranges::upper_bound(ranges, number, {}, &NumberRange::low);
    return after != ranges.begin() && number <= std::prev(after)->high;
}

bool in_range(std::string_view text, const ByteRange& range) {
    const int below = text.compare(range.low);
    if (below < 0 || (below == 0 && range.without_low)) return false;
    if (!range.high) return true;
    const int above = text.compare(*range.high);
    return above < 0 || (above == 0 && !range.without_high);
}

// Room for what must be made rather than borrowed: the bytes of an address, masked bytes.
using Scratch = std::array<std::byte, 64>;

// The bytes of a value, cut to the slice; nothing where the slice is not in it.
std::optional<Bytes> bytes_of(const Source& source, const Operand& operand, const Value& value, Scratch& scratch) {
    Bytes bytes = value.bytes;
    if (source.field != nullptr && is_number(source.field)) {
        const std::size_t size = address_bytes(*source.field);
        for (std::size_t i = 0; i < size; ++i)
            scratch[i] = static_cast<std::byte>(value.number >> (8 * (size - 1 - i)));
        bytes = Bytes(scratch).first(size);
    } else if (source.field != nullptr && source.field->format == Format::text) {
        bytes = bytes.first(static_cast<std::size_t>(std::ranges::find(bytes, std::byte{0}) - bytes.begin()));
    }
    return operand.slice ? operand.slice->of(bytes) : bytes;
}

class Evaluation {
public:
    Evaluation(const Program& program, const Packet& packet) : program_(program), packet_(packet) {}

    [[nodiscard]] bool passes(const Test& test) const {
        if (test.layers_only)
            return std::ranges::any_of(
                packet_.layers(), [&](const Layer& l) { return test.layers.test(static_cast<std::size_t>(l.kind)); });
        if (test.right) return fields_pass(test);
        bool seen = false;
        const bool stopped = visit(test.left, [&](const Source& source, const Value& value) {
            const std::optional<bool> match = matches(test.left, source, value);
            if (!match) return false;
            seen = true;
            return (*match != test.invert) != test.all;
        });
        return test.all ? seen && !stopped : stopped;
    }

private:
    // Calls `look` for each value of the operand until it returns true; whether it did.
    template <class Look> bool visit(const Operand& operand, const Look& look) const {
        const auto sources = std::span(program_.sources).subspan(operand.first_source, operand.source_count);
        for (const Layer& layer : packet_.layers()) {
            bool belongs = false;
            for (const Source& source : sources) {
                if (source.kind != layer.kind) continue;
                if (operand.nth != 0 && ordinal(layer) != operand.nth) continue;
                const std::optional<Value> value = value_at(layer, source);
                belongs = true;
                if (value && look(source, *value)) return true;
            }
            if (belongs && operand.only_first) return false;
        }
        return false;
    }

    [[nodiscard]] std::optional<Value> value_at(const Layer& layer, const Source& source) const {
        if (source.field != nullptr) return value_of(packet_, layer, *source.field);
        if (layer.kind == LayerKind::frame) return Value{0, packet_.frame.bytes};
        return Value{0, source.to_end ? slice(packet_.frame.bytes, layer.offset) : packet_.bytes_of(layer)};
    }

    // The layer's place among those of its kind, from 1.
    [[nodiscard]] std::size_t ordinal(const Layer& layer) const {
        const std::span<const Layer> before(packet_.layers().data(), &layer);
        return 1 + static_cast<std::size_t>(std::ranges::count(before, layer.kind, &Layer::kind));
    }

    // Whether a value matches; nothing where the part of it that is asked for does not exist.
    [[nodiscard]] std::optional<bool> matches(const Operand& operand, const Source& source, const Value& value) const {
        if (source.match == Match::numbers) return program_.number_matches(operand, source, value.number);
        if (source.match == Match::presence && !operand.slice) return true;
        Scratch scratch;
        std::optional<Bytes> bytes = bytes_of(source, operand, value, scratch);
        if (!bytes) return std::nullopt;
        if (operand.byte_mask) {
            bytes = masked(*bytes, program_.texts[*operand.byte_mask], scratch);
            if (!bytes) return std::nullopt;
        }
        const std::string_view text = characters(*bytes);
        switch (source.match) {
            case Match::bytes:
                return std::ranges::any_of(std::span(program_.byte_ranges).subspan(source.first, source.count),
                                           [&](const ByteRange& range) { return in_range(text, range); });
            case Match::contains: return text.contains(program_.texts[source.first]);
            case Match::regex:
                return re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()),
                                              *program_.regexes[source.first]);
            case Match::presence:
            case Match::numbers: break;
        }
        return true;
    }

    [[nodiscard]] static std::optional<Bytes> masked(Bytes bytes, std::string_view mask, Scratch& scratch) {
        if (bytes.size() != mask.size() || mask.size() > scratch.size()) return std::nullopt;
        for (std::size_t i = 0; i < mask.size(); ++i) scratch[i] = bytes[i] & static_cast<std::byte>(mask[i]);
        return Bytes(scratch).first(mask.size());
    }

    [[nodiscard]] bool fields_pass(const Test& test) const {
        bool seen = false;
        const bool stopped = visit(test.left, [&](const Source& left, const Value& a) {
            return visit(*test.right, [&](const Source& right, const Value& b) {
                const std::optional<std::strong_ordering> order = compare(test, left, a, right, b);
                if (!order) return false;
                seen = true;
                return (holds(test.comparison, *order) != test.invert) != test.all;
            });
        });
        return test.all ? seen && !stopped : stopped;
    }

    [[nodiscard]] static std::optional<std::strong_ordering> compare(const Test& test, const Source& left,
                                                                     const Value& a, const Source& right,
                                                                     const Value& b) {
        if (left.match == Match::numbers)
            return ((a.number & test.left.mask) ^ left.flip) <=> ((b.number & test.right->mask) ^ right.flip);
        Scratch left_scratch;
        Scratch right_scratch;
        const auto x = bytes_of(left, test.left, a, left_scratch);
        const auto y = bytes_of(right, *test.right, b, right_scratch);
        if (!x || !y) return std::nullopt;
        return characters(*x) <=> characters(*y);
    }

    [[nodiscard]] static bool holds(Comparison comparison, std::strong_ordering order) {
        switch (comparison) {
            case Comparison::equal: return order == 0;
            case Comparison::less: return order < 0;
            case Comparison::less_equal: return order <= 0;
            case Comparison::greater: return order > 0;
            case Comparison::greater_equal: return order >= 0;
        }
        return false;
    }

    const Program& program_;
    const Packet& packet_;
};

}  // namespace

std::optional<Bytes> Slice::of(Bytes bytes) const {
    const auto size = static_cast<std::int64_t>(bytes.size());
    const std::int64_t first = start < 0 ? size + start : start;
    std::int64_t end = size;
    if (extent == Extent::length) end = first + amount;
    if (extent == Extent::last) end = (amount < 0 ? size + amount : amount) + 1;
    if (first < 0 || end > size || first >= end) return std::nullopt;
    return bytes.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(end - first));
}

std::optional<std::size_t> Slice::length() const {
    if (extent == Extent::length) return static_cast<std::size_t>(amount);
    if (extent == Extent::last && (start < 0) == (amount < 0))
        return static_cast<std::size_t>(std::int64_t{amount} - start + 1);
    if (extent == Extent::to_end && start < 0) return static_cast<std::size_t>(-std::int64_t{start});
    return std::nullopt;
}

Program::Program() = default;
Program::~Program() = default;
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;

bool Program::number_matches(const Operand& operand, const Source& source, std::uint64_t number) const {
    return in_ranges((number & operand.mask) ^ source.flip, std::span(numbers).subspan(source.first, source.count));
}

bool Program::run(const Packet& packet) const {
    const Evaluation evaluation(*this, packet);
    return evaluate(steps, [&](std::uint32_t test) { return verdict(evaluation.passes(tests[test])); }) == Verdict::yes;
}

}  // namespace qps::dissect::filter_language
