// The public interface of the filter language.
#include <dissect/filter/filter.hpp>
#include <dissect/filter/literal.hpp>
#include <dissect/filter/parser.hpp>
#include <dissect/filter/program.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace qps::dissect {

Filter::Filter() : Filter(filter_language::Program{}) {}

Filter::Filter(filter_language::Program&& program)
    : program_(std::make_shared<const filter_language::Program>(std::move(program))) {}

std::expected<Filter, FilterError> Filter::compile(std::string_view text) { return compile(text, {}); }

std::expected<Filter, FilterError> Filter::compile(std::string_view text, const SetReader& sets) {
    auto program = filter_language::parse(text, sets);
    if (!program) return std::unexpected(std::move(program.error()));
    return Filter(std::move(*program));
}

bool Filter::matches(const Packet& packet) const { return program_->run(packet); }
bool Filter::matches_all() const { return program_->steps.empty(); }

namespace {
// Only who follows connections knows what it is, or that it is there.
bool needs_connection(LayerKind kind, const Field* field) {
    return is_ulp(kind) || (field != nullptr && field->annotated);
}
// Of TCP segments nobody else knows that they have conclusions.
bool asks_for_conclusions(const filter_language::Test& test) {
    return test.layers[static_cast<std::size_t>(LayerKind::rdma)];
}
bool is_late(LayerKind kind, const Field* field) {
    return is_ulp(kind) || (field != nullptr && (field->name == "rdma.connection" || field->name == "rdma.from"));
}
bool asks_for_ulp(const filter_language::Test& test) {
    for (std::size_t kind = 0; kind < kLayerKinds; ++kind)
        if (test.layers[kind] && is_ulp(static_cast<LayerKind>(kind))) return true;
    return false;
}
}  // namespace

bool Filter::needs_annotation() const {
    return std::ranges::any_of(program_->sources,
                               [](const filter_language::Source& s) { return needs_connection(s.kind, s.field); }) ||
           std::ranges::any_of(program_->tests, [](const filter_language::Test& test) {
               return asks_for_ulp(test) || asks_for_conclusions(test);
           });
}

bool Filter::needs_look_ahead() const {
    return std::ranges::any_of(program_->sources,
                               [](const filter_language::Source& s) { return is_late(s.kind, s.field); }) ||
           std::ranges::any_of(program_->tests, asks_for_ulp);
}

bool Filter::needs_whole_capture() const {
    return std::ranges::any_of(
        program_->sources, [](const filter_language::Source& s) { return s.field != nullptr && s.field->of_whole; });
}

std::span<const NamedSet> Filter::sets() const { return program_->sets; }

bool Column::needs_whole_capture() const {
    return std::ranges::any_of(places, [](const FieldPlace& place) { return place.field->of_whole; });
}

bool Column::needs_look_ahead() const {
    return std::ranges::any_of(places, [](const FieldPlace& place) { return is_late(place.kind, place.field); });
}

bool Column::needs_annotation() const {
    return std::ranges::any_of(places,
                               [](const FieldPlace& place) { return needs_connection(place.kind, place.field); });
}

std::expected<Column, FilterError> column(std::string_view name) {
    const NameEntry* const entry = find_name(name);
    if (entry == nullptr)
        return std::unexpected(FilterError{
            1, name.size(), fmt::format("unknown field {}", filter_language::in_quotes(name)), nearest_name(name)});
    if (entry->fields.empty())
        return std::unexpected(
            FilterError{1, name.size(), fmt::format("{} is a header: a column must be one of its fields", name), {}});
    return Column{entry->name, entry->fields};
}

}  // namespace qps::dissect
