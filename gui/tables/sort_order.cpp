#include <gui/tables/sort_order.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <unordered_map>
#include <utility>

namespace qps::gui {

using transport::Cell;

namespace {

constexpr std::uint64_t kGreatest = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kSign = std::uint64_t{1} << 63;

// Of a cell that is no text. 0 is kept for absent ones; the greatest two values, which nothing counts up to, are one.
std::uint64_t key(const Cell& cell) {
    if (const auto* number = std::get_if<std::uint64_t>(&cell)) return std::min(*number, kGreatest - 1) + 1;
    if (const auto* number = std::get_if<std::int64_t>(&cell))
        return std::max<std::uint64_t>(static_cast<std::uint64_t>(*number) ^ kSign, 1);
    if (const auto* flag = std::get_if<bool>(&cell)) return *flag ? 2 : 1;
    return 0;
}

bool isDigit(char c) { return c >= '0' && c <= '9'; }
char folded(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// The run of digits at `at`, without leading zeros; `at` moves behind it.
std::string_view digits(std::string_view text, std::size_t& at) {
    while (at < text.size() && text[at] == '0') ++at;
    const std::size_t begin = at;
    while (at < text.size() && isDigit(text[at])) ++at;
    return text.substr(begin, at - begin);
}

// Numbers each text of a column by its place among those that occur: most columns have few of them.
class Texts {
public:
    std::uint64_t number(std::string text) { return known_.try_emplace(std::move(text), known_.size()).first->second; }
    // From those numbers to places.
    [[nodiscard]] std::vector<std::uint64_t> places() const {
        std::vector<const std::pair<const std::string, std::uint64_t>*> all;
        all.reserve(known_.size());
        for (const auto& entry : known_) all.push_back(&entry);
        std::ranges::sort(all, [](const auto* a, const auto* b) {
            if (naturallyLess(a->first, b->first)) return true;
            return !naturallyLess(b->first, a->first) && a->first < b->first;
        });
        std::vector<std::uint64_t> places(all.size());
        for (std::size_t i = 0; i < all.size(); ++i) places[all[i]->second] = i;
        return places;
    }

private:
    std::unordered_map<std::string, std::uint64_t> known_;  // as many as rows at most
};

}  // namespace

SortKeys sortKeys(std::uint32_t rows, const std::function<Cell(std::uint32_t)>& cell) {
    SortKeys keys(rows);
    Texts texts;
    bool any_text = false;
    for (std::uint32_t row = 0; row < rows; ++row) {
        Cell value = cell(row);
        if (auto* text = std::get_if<std::string>(&value)) {
            keys[row] = texts.number(std::move(*text)) + 1;
            any_text = true;
        } else {
            keys[row] = key(value);
        }
    }
    if (!any_text) return keys;
    const auto places = texts.places();
    for (std::uint64_t& value : keys)
        if (value != 0) value = places[value - 1] + 1;
    return keys;
}

void sortRows(std::vector<std::uint32_t>& rows, const SortKeys& keys, bool greatest_first) {
    // Keys beside the rows: a comparison that has to look them up costs a cache miss.
    std::vector<std::pair<std::uint64_t, std::uint32_t>> sorted;
    sorted.reserve(rows.size());
    for (const std::uint32_t row : rows) sorted.emplace_back(greatest_first ? ~keys[row] : keys[row], row);
    std::ranges::stable_sort(sorted, {}, [](const auto& entry) { return entry.first; });
    std::ranges::transform(sorted, rows.begin(), [](const auto& entry) { return entry.second; });
}

bool naturallyLess(std::string_view a, std::string_view b) {
    std::size_t i = 0, j = 0;
    while (i < a.size() && j < b.size()) {
        if (isDigit(a[i]) && isDigit(b[j])) {
            const std::string_view left = digits(a, i), right = digits(b, j);
            if (left.size() != right.size()) return left.size() < right.size();
            if (left != right) return left < right;
        } else {
            const char left = folded(a[i++]), right = folded(b[j++]);
            if (left != right) return left < right;
        }
    }
    return a.size() - i < b.size() - j;
}

}  // namespace qps::gui
