// What the operators of the filter language mean for numbers, names, bytes and texts.
//
// Literals are a user's; a regular expression is compiled by RE2 with bounded memory, which runs in linear time.
#include <dissect/filter/parser.hpp>
#include <dissect/filter/test_compiler.hpp>

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

namespace qps::dissect::filter_language {

namespace {

constexpr std::uint64_t kMostNumber = std::numeric_limits<std::uint64_t>::max();
constexpr std::size_t kLongestComplaint = 100;  // of RE2, which quotes the pattern
constexpr std::size_t kLongestMask = 64;        // bytes; masks are for header bits
constexpr std::int32_t kFarthest = 1 << 24;     // position in a slice: beyond any frame we read

std::vector<NumberRange> compared(Comparison comparison, std::vector<NumberRange> meant) {
    if (comparison == Comparison::equal || meant.empty()) return meant;
    const std::uint64_t low = std::ranges::min(meant, {}, &NumberRange::low).low;
    const std::uint64_t high = std::ranges::max(meant, {}, &NumberRange::high).high;
    switch (comparison) {
        case Comparison::less: return low == 0 ? std::vector<NumberRange>{} : std::vector{NumberRange{0, low - 1}};
        case Comparison::less_equal: return {{0, high}};
        case Comparison::greater:
            return high == kMostNumber ? std::vector<NumberRange>{} : std::vector{NumberRange{high + 1, kMostNumber}};
        case Comparison::greater_equal: return {{low, kMostNumber}};
        case Comparison::equal: break;
    }
    return meant;
}

ByteRange compared(Comparison comparison, ByteRange meant) {
    switch (comparison) {
        case Comparison::less: return {.high = std::move(meant.low), .without_high = true};
        case Comparison::less_equal: return {.high = std::move(meant.high)};
        case Comparison::greater: return {.low = std::move(meant.high).value_or(""), .without_low = true};
        case Comparison::greater_equal: return {.low = std::move(meant.low)};
        case Comparison::equal: break;
    }
    return meant;
}

// Sorted, apart from each other, so that a long list can be searched by halves.
void merge(std::vector<NumberRange>& ranges) {
    std::ranges::sort(ranges, {}, &NumberRange::low);
    std::vector<NumberRange> merged;
    for (const NumberRange& range : ranges) {
        if (!merged.empty() && (range.low <= merged.back().high || range.low - 1 == merged.back().high)) {
            merged.back().high = std::max(merged.back().high, range.high);
        } else {
            merged.push_back(range);
        }
    }
    ranges = std::move(merged);
}

std::string_view trimmed(std::string_view text) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    return text;
}

// The number at the front of the text, taken off it.
std::optional<std::int32_t> take_position(std::string_view& text) {
    text = trimmed(text);
    std::int32_t position = 0;
    const auto [end, problem] = std::from_chars(text.begin(), text.end(), position);
    if (problem != std::errc{} || position > kFarthest || position < -kFarthest) return std::nullopt;
    text = trimmed(text.substr(static_cast<std::size_t>(end - text.begin())));
    return position;
}

enum class ValueClass : std::uint8_t { number, fraction, ipv4, mac, guid, bytes };

ValueClass class_of(const Field* field, bool sliced) {
    if (sliced || !is_number(field)) return ValueClass::bytes;
    switch (value_type(field->format)) {
        case ValueType::fixed_point: return ValueClass::fraction;
        case ValueType::ipv4: return ValueClass::ipv4;
        case ValueType::mac: return ValueClass::mac;
        case ValueType::guid: return ValueClass::guid;
        default: return ValueClass::number;
    }
}

bool is_address(const Field* field) {
    return field != nullptr && (address_bytes(*field) != 0 || field->format == Format::ipv6);
}

Misfit not_searchable(const Field& field) {
    return {
        fmt::format("{} is {}: only texts, bytes and value names can be searched", field.name, noun(&field, false))};
}

}  // namespace

std::optional<Slice> parse_slice(std::string_view text) {
    text = trimmed(text);
    Slice slice;
    if (!text.starts_with(':')) {
        const auto start = take_position(text);
        if (!start) return std::nullopt;
        slice = {*start, Slice::Extent::length, 1};
        if (text.empty()) return slice;
    }
    const char separator = text.front();
    text.remove_prefix(1);
    if (separator == ':' && trimmed(text).empty()) return Slice{slice.start, Slice::Extent::to_end, 0};
    const auto amount = take_position(text);
    if (!amount || !text.empty()) return std::nullopt;
    if (separator == ':' && *amount > 0) return Slice{slice.start, Slice::Extent::length, *amount};
    const bool forward = (slice.start < 0) != (*amount < 0) || *amount >= slice.start;
    if (separator == '-' && forward) return Slice{slice.start, Slice::Extent::last, *amount};
    return std::nullopt;
}

template <class Take> Meant<void> TestCompiler::for_candidates(const Take& take) {
    std::optional<Misfit> first_misfit;
    bool taken = false;
    for (Candidate& candidate : left_.candidates) {
        auto ok = take(candidate);
        taken = taken || ok.has_value();
        if (!ok && !first_misfit) first_misfit = std::move(ok.error());
    }
    if (!taken && first_misfit) return std::unexpected(std::move(*first_misfit));
    return {};
}

Meant<void> TestCompiler::operand(const NameEntry& entry, bool right) {
    Side& side = right ? right_ : left_;
    has_right_ = right;
    side.entry = &entry;
    for (const FieldPlace& source : entry.fields)
        side.candidates.push_back({{.kind = source.kind, .field = source.field, .flip = sign_flip(*source.field)}});
    if (!entry.fields.empty()) return {};
    // As in Wireshark, a protocol holds what it carries, an InfiniBand header only itself.
    const bool to_end = entry.group || !entry.name.contains('.');
    for (const LayerKind kind : entry.layers) side.candidates.push_back({{.kind = kind, .to_end = to_end}});
    side.operand.only_first = entry.group;
    return {};
}

void TestCompiler::nth(std::uint8_t number) { (has_right_ ? right_ : left_).operand.nth = number; }

Meant<void> TestCompiler::slice(const Slice& slice) {
    Side& side = has_right_ ? right_ : left_;
    if (auto ok = need_values(side); !ok) return ok;
    for (const Candidate& candidate : side.candidates) {
        const Field* const field = candidate.source.field;
        if (is_number(field) && address_bytes(*field) == 0)
            return std::unexpected(Misfit{
                fmt::format("{} is {} and has no slices: test its bits with &", field->name, noun(field, false))});
    }
    side.operand.slice = slice;
    return {};
}

// The name of a header that has no bytes of its own is good for presence only.
Meant<void> TestCompiler::need_values(const Side& side) const {
    for (const Candidate& candidate : side.candidates)
        if (candidate.source.field == nullptr && candidate.source.kind == LayerKind::rdma)
            return std::unexpected(Misfit{fmt::format("{} has no bytes: name one of its fields", side.entry->name)});
    return {};
}

Meant<void> TestCompiler::mask(const Literal& literal) {
    if (auto ok = need_values(left_); !ok) return ok;
    const Candidate& first = left_.candidates.front();
    const bool mixed = std::ranges::any_of(
        left_.candidates, [&](const Candidate& c) { return is_numeric(left_, c) != is_numeric(left_, first); });
    if (mixed)
        return std::unexpected(
            Misfit{fmt::format("{} has fields of several kinds and takes no mask", left_.entry->name)});
    if (!is_numeric(left_, first)) return byte_mask(literal);
    const ValueType type = value_type(first.source.field->format);
    if (type == ValueType::boolean || type == ValueType::fixed_point)
        return std::unexpected(
            Misfit{fmt::format("{} is {} and takes no mask", left_.entry->name, noun(first.source.field, false))});
    const auto bits = mask_meant(*first.source.field, literal);
    if (!bits) return std::unexpected(bits.error());
    left_.operand.mask = *bits;
    return {};
}

std::optional<std::size_t> TestCompiler::known_length(const Side& side) const {
    if (side.operand.slice) return side.operand.slice->length();
    const Field* const field = side.candidates.front().source.field;
    if (field == nullptr || field->computed() || field->width == kToEnd || field->format == Format::text)
        return std::nullopt;
    return field->width / 8U;
}

Meant<void> TestCompiler::byte_mask(const Literal& literal) {
    const auto bytes = byte_string(literal);
    if (!bytes) return std::unexpected(bytes.error());
    const auto length = known_length(left_);
    if (!length) return std::unexpected(Misfit{"a mask needs a slice of the same length before it"});
    if (bytes->size() != *length || *length > kLongestMask)
        return std::unexpected(Misfit{fmt::format("lengths differ: mask of {} bytes for {} bytes (at most {})",
                                                  bytes->size(), *length, kLongestMask)});
    left_.operand.byte_mask = static_cast<std::uint32_t>(program_.texts.size());
    program_.texts.push_back(*bytes);
    return {};
}

void TestCompiler::relate(Comparison comparison, bool all, bool invert) {
    test_.comparison = comparison;
    test_.all = all;
    test_.invert = invert;
    related_ = true;
    for (Candidate& candidate : left_.candidates)
        candidate.source.match = is_numeric(left_, candidate) ? Match::numbers : Match::bytes;
}

// A slice of known length never equals a text of another.
Meant<void> TestCompiler::fits_slice(const ByteRange& range) const {
    if (!left_.operand.slice || test_.comparison != Comparison::equal) return {};
    const auto length = left_.operand.slice->length();
    if (!length || *length == range.low.size()) return {};
    return std::unexpected(
        Misfit{fmt::format("lengths differ: slice of {} bytes, value of {}", *length, range.low.size())});
}

Meant<void> TestCompiler::compare(const Literal& literal) {
    if (auto ok = need_values(left_); !ok) return ok;
    return for_candidates([&](Candidate& candidate) -> Meant<void> {
        if (is_numeric(left_, candidate)) {
            auto meant = numbers_meant(*candidate.source.field, literal);
            if (!meant) return std::unexpected(std::move(meant.error()));
            std::ranges::copy(compared(test_.comparison, std::move(*meant)), std::back_inserter(candidate.numbers));
            return {};
        }
        auto meant = bytes_meant(candidate.source.field, left_.operand.slice.has_value(), literal);
        if (!meant) return std::unexpected(std::move(meant.error()));
        if (auto ok = fits_slice(*meant); !ok) return ok;
        candidate.bytes.push_back(compared(test_.comparison, std::move(*meant)));
        return {};
    });
}

Meant<void> TestCompiler::add(const Literal& member) { return compare(member); }

std::expected<void, TestCompiler::RangeMisfit> TestCompiler::add(const Literal& low, const Literal& high) {
    if (auto ok = need_values(left_); !ok) return std::unexpected(RangeMisfit{false, std::move(ok.error())});
    bool of_high = false;
    const Misfit backwards{"empty range: its end is below its start"};
    const auto ok = for_candidates([&](Candidate& candidate) -> Meant<void> {
        if (is_numeric(left_, candidate)) {
            const auto from = numbers_meant(*candidate.source.field, low);
            if (!from) return std::unexpected(from.error());
            const auto to = numbers_meant(*candidate.source.field, high);
            of_high = true;
            if (!to) return std::unexpected(to.error());
            const NumberRange range{from->front().low, to->back().high};
            if (range.low > range.high) return std::unexpected(backwards);
            candidate.numbers.push_back(range);
            return {};
        }
        const bool sliced = left_.operand.slice.has_value();
        const auto from = bytes_meant(candidate.source.field, sliced, low);
        if (!from) return std::unexpected(from.error());
        const auto to = bytes_meant(candidate.source.field, sliced, high);
        of_high = true;
        if (!to) return std::unexpected(to.error());
        if (*to->high < from->low) return std::unexpected(backwards);
        candidate.bytes.push_back({from->low, to->high});
        return {};
    });
    if (!ok) return std::unexpected(RangeMisfit{of_high, ok.error()});
    return {};
}

void TestCompiler::among(std::span<const FrameIndex> frames) {
    for (const FrameIndex frame : frames)
        left_.candidates.front().numbers.push_back({std::to_underlying(frame), std::to_underlying(frame)});
}

Meant<void> TestCompiler::compare_fields() {
    for (const Side* const side : {&left_, &right_})
        if (auto ok = need_values(*side); !ok) return ok;
    const Field* const a = left_.candidates.front().source.field;
    const Field* const b = right_.candidates.front().source.field;
    const ValueClass wanted = class_of(a, left_.operand.slice.has_value());
    for (Side* const side : {&left_, &right_}) {
        for (Candidate& candidate : side->candidates) {
            const Field* const field = candidate.source.field;
            const bool same = class_of(field, side->operand.slice.has_value()) == wanted &&
                              (wanted != ValueClass::fraction || field->digits == a->digits);
            if (!same)
                return std::unexpected(Misfit{fmt::format("cannot compare: {} is {}, {} is {}", left_.entry->name,
                                                          noun(a, left_.operand.slice.has_value()), right_.entry->name,
                                                          noun(b, right_.operand.slice.has_value()))});
            candidate.source.match = wanted == ValueClass::bytes ? Match::bytes : Match::numbers;
        }
    }
    if (left_.operand.byte_mask) return std::unexpected(Misfit{"masked bytes can only be compared with a value"});
    return {};
}

Meant<void> TestCompiler::contains(const Literal& literal) {
    if (auto ok = need_values(left_); !ok) return ok;
    return for_candidates([&](Candidate& candidate) -> Meant<void> {
        const Field* const field = candidate.source.field;
        if (is_numeric(left_, candidate) && !field->names.empty()) {
            const std::string wanted = folded_name(literal.text);
            candidate.numbers =
                values_named(*field, [&](std::string_view name) { return folded_name(name).contains(wanted); });
            return {};
        }
        const bool address = is_address(field) && !left_.operand.slice;
        if ((is_numeric(left_, candidate) && !address) || (address && literal.quoted))
            return std::unexpected(not_searchable(*field));
        auto needle =
            field != nullptr && field->format == Format::text ? Meant<std::string>(literal.text) : byte_string(literal);
        if (!needle) return std::unexpected(std::move(needle.error()));
        candidate.source.match = Match::contains;
        candidate.source.first = static_cast<std::uint32_t>(program_.texts.size());
        program_.texts.push_back(std::move(*needle));
        return {};
    });
}

Meant<std::uint32_t> TestCompiler::compile_regex(const Literal& literal) {
    if (program_.regexes.size() >= kMaxRegexes)
        return std::unexpected(Misfit{fmt::format("more than {} regular expressions", kMaxRegexes)});
    re2::RE2::Options options;
    options.set_case_sensitive(false);
    options.set_encoding(re2::RE2::Options::EncodingLatin1);  // a byte is a character: payloads are no UTF-8
    options.set_log_errors(false);
    options.set_max_mem(kRegexMemory);
    auto regex = std::make_unique<const re2::RE2>(re2::StringPiece(literal.text.data(), literal.text.size()), options);
    if (!regex->ok())
        return std::unexpected(
            Misfit{fmt::format("invalid regular expression: {}", regex->error().substr(0, kLongestComplaint))});
    program_.regexes.push_back(std::move(regex));
    return static_cast<std::uint32_t>(program_.regexes.size() - 1);
}

Meant<void> TestCompiler::matches(const Literal& literal) {
    if (auto ok = need_values(left_); !ok) return ok;
    const auto regex = compile_regex(literal);
    if (!regex) return std::unexpected(regex.error());
    return for_candidates([&](Candidate& candidate) -> Meant<void> {
        const Field* const field = candidate.source.field;
        if (is_numeric(left_, candidate) && !field->names.empty()) {
            candidate.numbers = values_named(*field, [&](std::string_view name) {
                return re2::RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), *program_.regexes[*regex]);
            });
            return {};
        }
        if (field != nullptr && !left_.operand.slice && (is_number(field) || is_address(field)))
            return std::unexpected(not_searchable(*field));
        candidate.source.match = Match::regex;
        candidate.source.first = *regex;
        return {};
    });
}

void TestCompiler::ask_presence() {
    const bool masked = left_.operand.byte_mask || left_.operand.mask != kMostNumber;
    for (Candidate& candidate : left_.candidates) {
        if (!masked) continue;
        candidate.source.match = left_.operand.byte_mask ? Match::bytes : Match::numbers;
        candidate.numbers = {{1, kMostNumber}};
        if (left_.operand.byte_mask)
            candidate.bytes = {
                {.low = std::string(program_.texts[*left_.operand.byte_mask].size(), '\0'), .without_low = true}};
    }
    if (!left_.entry->fields.empty() || masked || left_.operand.slice || left_.operand.nth != 0) return;
    test_.layers_only = true;
    for (const LayerKind kind : left_.entry->layers) test_.layers.set(static_cast<std::size_t>(kind));
}

void TestCompiler::store(Side& side, Operand& operand) {
    operand = side.operand;
    operand.first_source = static_cast<std::uint32_t>(program_.sources.size());
    operand.source_count = static_cast<std::uint32_t>(side.candidates.size());
    for (Candidate& candidate : side.candidates) {
        Source& source = program_.sources.emplace_back(candidate.source);
        if (source.match == Match::numbers) {
            merge(candidate.numbers);
            source.first = static_cast<std::uint32_t>(program_.numbers.size());
            source.count = static_cast<std::uint32_t>(candidate.numbers.size());
            std::ranges::copy(candidate.numbers, std::back_inserter(program_.numbers));
        } else if (source.match == Match::bytes) {
            source.first = static_cast<std::uint32_t>(program_.byte_ranges.size());
            source.count = static_cast<std::uint32_t>(candidate.bytes.size());
            std::ranges::move(candidate.bytes, std::back_inserter(program_.byte_ranges));
        }
    }
}

Meant<void> TestCompiler::finish() {
    if (!related_) ask_presence();
    store(left_, test_.left);
    if (has_right_) store(right_, test_.right.emplace());
    program_.tests.push_back(std::move(test_));
    return {};
}

}  // namespace qps::dissect::filter_language
