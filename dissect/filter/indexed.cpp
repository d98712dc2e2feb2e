// Tests of a compiled filter bound to the fields of rows.
#include <dissect/filter/field_index.hpp>
#include <dissect/filter/indexed.hpp>
#include <dissect/filter/program.hpp>

#include <algorithm>
#include <optional>

namespace qps::dissect {

namespace {

using filter_language::Match;
using filter_language::NumberRange;
using filter_language::Program;
using filter_language::Source;
using filter_language::Test;

// Whether a source asks something that numbers answer: of bytes and texts rows know only that they are there.
bool asks_numbers(const Source& source) {
    return source.field != nullptr && (source.match == Match::numbers || source.match == Match::presence);
}

// Whether two sources ask the same of a number: a name has one list of values in a row, wherever in the packet they
// stand.
bool ask_alike(const Program& program, const Source& a, const Source& b) {
    const auto ranges = [&](const Source& s) { return std::span(program.numbers).subspan(s.first, s.count); };
    if (a.match != b.match) return false;
    return a.match == Match::presence ||
           (a.flip == b.flip && std::ranges::equal(ranges(a), ranges(b), [](NumberRange x, NumberRange y) {
                return x.low == y.low && x.high == y.high;
            }));
}

// A test's sources, and which of them a row answers for.
struct Sources {
    const Program& program;
    std::span<const Source> all;
    std::vector<bool> answered;

    [[nodiscard]] std::optional<std::size_t> find(const FieldPlace& place) const {
        for (std::size_t i = 0; i < all.size(); ++i)
            if (all[i].kind == place.kind && all[i].field == place.field) return i;
        return std::nullopt;
    }

    // The first source of the name, where the values of the name answer for sources that have no answer yet.
    [[nodiscard]] std::optional<std::size_t> answer(std::span<const FieldPlace> places) {
        std::optional<std::size_t> first;
        for (const FieldPlace& place : places) {
            const auto source = find(place);
            if (!source || answered[*source] || !asks_numbers(all[*source])) return std::nullopt;
            if (!first) first = source;
            if (!ask_alike(program, all[*first], all[*source])) return std::nullopt;
        }
        for (const FieldPlace& place : places) answered[*find(place)] = true;
        return first;
    }
};

}  // namespace

IndexedFilter::IndexedFilter(const Filter& filter, std::span<const IndexedField> known) : program_(filter.program_) {
    for (const Test& test : program_->tests) {
        Bound& bound = tests_.emplace_back();
        bound.first = static_cast<std::uint32_t>(readers_.size());
        if (test.layers_only) bind_layers(test, known, bound);
        else bind_fields(test, known, bound);
        bound.count = static_cast<std::uint32_t>(readers_.size()) - bound.first;
    }
}

// A header that is one of several asked for answers for itself.
void IndexedFilter::bind_layers(const Test& test, std::span<const IndexedField> known, Bound& bound) {
    std::bitset<kLayerKinds> answered;
    for (const IndexedField& field : known) {
        const NameEntry* const entry = find_name(field.name);
        if (entry == nullptr || !entry->fields.empty()) continue;
        std::bitset<kLayerKinds> layers;
        for (const LayerKind kind : entry->layers) layers.set(static_cast<std::size_t>(kind));
        if ((layers & ~test.layers).any() || (layers & ~answered).none()) continue;
        answered |= layers;
        readers_.push_back({field.read, 0});
    }
    bound.complete = answered == test.layers;
}

// Places of layers, parts of bytes, searches and other fields to compare with are more than rows know of.
void IndexedFilter::bind_fields(const Test& test, std::span<const IndexedField> known, Bound& bound) {
    const filter_language::Operand& operand = test.left;
    if (test.right || operand.nth != 0 || operand.slice || operand.byte_mask) return;
    Sources sources{*program_, std::span(program_->sources).subspan(operand.first_source, operand.source_count), {}};
    sources.answered.resize(sources.all.size());
    for (const IndexedField& field : known) {
        const NameEntry* const entry = find_name(field.name);
        if (entry == nullptr || entry->fields.empty()) continue;
        if (const auto first = sources.answer(entry->fields))
            readers_.push_back({field.read, operand.first_source + static_cast<std::uint32_t>(*first)});
    }
    bound.complete = std::ranges::all_of(sources.answered, [](bool answered) { return answered; });
}

bool IndexedFilter::complete() const { return std::ranges::all_of(tests_, &Bound::complete); }

Verdict IndexedFilter::judge_test(std::uint32_t index, const void* row) const {
    const Test& test = program_->tests[index];
    const Bound& bound = tests_[index];
    bool certain = bound.complete;
    bool seen = false;
    for (const Reader& reader : std::span(readers_).subspan(bound.first, bound.count)) {
        RowValues values;
        reader.read(row, values);
        certain = certain && !values.incomplete();
        for (const std::uint64_t number : values.numbers()) {
            if (test.layers_only) return Verdict::yes;
            const Source& source = program_->sources[reader.source];
            const bool match = source.match == Match::presence || program_->number_matches(test.left, source, number);
            seen = true;
            if ((match != test.invert) != test.all) return verdict(!test.all);  // one value decides
        }
    }
    return certain ? verdict(test.all && seen) : Verdict::unknown;
}

Verdict IndexedFilter::judge(const void* row) const {
    return filter_language::evaluate(program_->steps, [&](std::uint32_t test) { return judge_test(test, row); });
}

}  // namespace qps::dissect
