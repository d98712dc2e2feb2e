#include <transport-replay/series/packet_order.hpp>
#include <transport-replay/series/scope.hpp>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

namespace qps::transport::series {

namespace {

constexpr std::size_t kRunOfSort = std::size_t{1} << 15;  // between two looks at the watch

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A run of digits at the beginning of a text, without leading zeros, and how long it was with them.
std::pair<std::string_view, std::size_t> digits_of(std::string_view text) {
    std::size_t end = 0;
    while (end < text.size() && is_digit(text[end])) ++end;
    std::size_t begin = 0;
    while (begin + 1 < end && text[begin] == '0') ++begin;
    return {text.substr(begin, end - begin), end};
}

// The frame of each place.
class Places {
public:
    Places(std::uint64_t packets, const RowSet* shown)
        : shown_(shown), size_(shown != nullptr ? shown->size() : packets) {
        if (size_ != 0)
            static_cast<void>(frame(0));  // a set counts when it is first asked: not by several threads at once
    }
    [[nodiscard]] std::uint64_t size() const { return size_; }
    [[nodiscard]] dissect::FrameIndex frame(std::uint64_t place) const {
        return shown_ != nullptr ? shown_->at(place) : frame_at(place);
    }

private:
    const RowSet* shown_;
    std::uint64_t size_;
};

// Numbers of one piece of places, in one thread.
class NumberMaker {
public:
    NumberMaker(const Places& places, const OrderBy& by, const PassWatch& watch)
        : places_(&places), watch_(&watch), number_(by.number()) {}

    std::vector<std::uint64_t> operator()(std::uint64_t piece) {
        std::vector<std::uint64_t> keys;
        const std::uint64_t end = std::min(places_->size(), (piece + 1) * RowSet::kPieceRows);
        for (std::uint64_t at = piece * RowSet::kPieceRows; at < end; ++at) {
            if ((at & 0xffU) == 0 && watch_->stop()) break;
            keys.push_back(number_(places_->frame(at)));
        }
        return keys;
    }

private:
    const Places* places_;
    const PassWatch* watch_;
    std::function<std::uint64_t(dissect::FrameIndex)> number_;
};

// Bytes that compare as the texts do: a run of digits is a digit, how many of them count, and those.
void append_key(std::string& out, std::string_view text) {
    while (!text.empty()) {
        if (!is_digit(text.front())) {
            out += static_cast<char>(static_cast<unsigned char>(text.front()) ^ 0x80U);  // as a char, which has a sign
            text.remove_prefix(1);
            continue;
        }
        const auto [digits, size] = digits_of(text);
        out += static_cast<char>(static_cast<unsigned char>('0') ^ 0x80U);
        out += static_cast<char>(digits.size());
        out += digits;
        text.remove_prefix(size);
    }
}

// Texts of one piece in their order, each as what it has that the one before has not: how much they share, how long the
// rest is, the rest, and the place in the piece.
struct SortedTexts {
    static constexpr std::size_t kLongestKey =
        3 * kLongestSortedText;  // a text of which every other character is a digit
    static_assert(kLongestKey < 256 && RowSet::kPieceRows <= 65536);
    std::vector<char> bytes;
    std::uint32_t count = 0;

    static std::ptrdiff_t shared_by(std::string_view before, std::string_view key) {
        return std::ranges::mismatch(before, key).in2 - key.begin();
    }
    static std::size_t length(std::string_view before, std::string_view key) {
        return 4 + key.size() - static_cast<std::size_t>(shared_by(before, key));
    }
    void add(std::string_view before, std::string_view key, std::uint16_t place) {
        const auto shared = shared_by(before, key);
        bytes.push_back(static_cast<char>(shared));
        bytes.push_back(static_cast<char>(key.size() - static_cast<std::size_t>(shared)));
        bytes.insert(bytes.end(), key.begin() + shared, key.end());
        bytes.push_back(static_cast<char>(place & 0xffU));
        bytes.push_back(static_cast<char>(place >> 8U));
        ++count;
    }
};

// Of all threads: runs, also those that wait for one before them, and what threads sort with.
struct TextMemory {
    std::uint64_t most;
    std::atomic<std::uint64_t> used = 0;

    void take(std::uint64_t bytes) { used += bytes; }
    [[nodiscard]] bool is_over() const { return used > most; }
};

class TextSorter {
public:
    TextSorter(const Places& places, const OrderBy& by, const PassWatch& watch, TextMemory& memory)
        : places_(&places), watch_(&watch), memory_(&memory), text_(by.text()), descending_(by.descending) {}

    SortedTexts operator()(std::uint64_t piece) {
        keys_.clear();
        ends_.clear();
        const std::uint64_t begin = piece * RowSet::kPieceRows;
        const std::uint64_t end = std::min(places_->size(), begin + RowSet::kPieceRows);
        for (std::uint64_t at = begin; at < end; ++at) {
            if ((at & 0xffU) == 0) {
                count_own();
                if (watch_->stop()) return {};
            }
            text_(places_->frame(at), buffer_);
            append_key(keys_, std::string_view(buffer_).substr(0, kLongestSortedText));
            ends_.push_back(static_cast<std::uint32_t>(keys_.size()));
        }
        order_.resize(ends_.size());
        count_own();
        std::iota(order_.begin(), order_.end(), std::uint16_t{0});
        std::ranges::sort(order_, [&](std::uint16_t one, std::uint16_t other) {
            const int compared = key(one).compare(key(other));
            return compared != 0 ? (compared < 0) != descending_ : one < other;
        });
        return in_order();
    }

private:
    // Allocated once and as long as it is: a vector that grows has half as much again, and for a moment twice.
    [[nodiscard]] SortedTexts in_order() {
        SortedTexts run;
        std::size_t length = 0;
        std::string_view before;
        for (const std::uint16_t place : order_) {
            length += SortedTexts::length(before, key(place));
            before = key(place);
        }
        memory_->take(length);
        if (watch_->stop()) return {};
        run.bytes.reserve(length);
        before = {};
        for (const std::uint16_t place : order_) {
            run.add(before, key(place), place);
            before = key(place);
        }
        return run;
    }
    void count_own() {
        const std::uint64_t now =
            keys_.capacity() + sizeof(ends_.front()) * ends_.capacity() + sizeof(order_.front()) * order_.capacity();
        memory_->take(now - own_);
        own_ = now;
    }
    [[nodiscard]] std::string_view key(std::uint16_t place) const {
        const std::size_t begin = place == 0 ? 0 : ends_[place - 1U];
        return std::string_view(keys_).substr(begin, ends_[place] - begin);
    }

    const Places* places_;
    const PassWatch* watch_;
    TextMemory* memory_;
    std::function<void(dissect::FrameIndex, std::string&)> text_;
    bool descending_;
    std::uint64_t own_ = 0;
    std::string buffer_;
    std::string keys_;                 // one after the other
    std::vector<std::uint32_t> ends_;  // by place in the piece
    std::vector<std::uint16_t> order_;
};

// Through a run from its beginning.
class SortedReader {
public:
    SortedReader(const SortedTexts& run, std::uint32_t number)
        : at_(run.bytes.data()), left_(run.count), number_(number) {}
    [[nodiscard]] bool next() {
        if (left_ == 0) return false;
        --left_;
        const auto byte = [this] { return static_cast<std::uint8_t>(*at_++); };
        key_.resize(byte());
        const std::size_t rest = byte();
        key_.append(at_, rest);
        at_ += rest;
        place_ = byte();
        place_ |= static_cast<std::uint32_t>(byte()) << 8U;
        return true;
    }
    [[nodiscard]] const std::string& key() const { return key_; }
    [[nodiscard]] std::uint32_t place() const {
        return number_ * static_cast<std::uint32_t>(RowSet::kPieceRows) + place_;
    }
    [[nodiscard]] std::uint32_t number() const { return number_; }

private:
    const char* at_;
    std::uint32_t left_;
    std::uint32_t number_;
    std::uint32_t place_ = 0;
    std::string key_;
};

// Of all runs the first, again and again.
std::optional<std::vector<std::uint32_t>> merged(const std::vector<SortedTexts>& runs, std::uint64_t packets,
                                                 bool descending, const PassWatch& watch) {
    std::vector<SortedReader> readers;
    readers.reserve(runs.size());
    std::vector<std::uint32_t> heap;
    for (std::uint32_t i = 0; i < runs.size(); ++i) {
        readers.emplace_back(runs[i], i);
        if (readers.back().next()) heap.push_back(i);
    }
    const auto after = [&](std::uint32_t one, std::uint32_t other) {
        const int compared = readers[one].key().compare(readers[other].key());
        return compared != 0 ? (compared > 0) != descending : one > other;
    };
    std::ranges::make_heap(heap, after);
    std::vector<std::uint32_t> places;
    places.reserve(packets);
    const std::uint64_t pieces = pieces_of(packets);
    while (!heap.empty()) {
        if (places.size() % RowSet::kPieceRows == 0) {
            if (watch.stop()) return std::nullopt;
            if (watch.done != nullptr)
                watch.done->store(pieces + places.size() / RowSet::kPieceRows / 4, std::memory_order_relaxed);
        }
        std::ranges::pop_heap(heap, after);
        SortedReader& first = readers[heap.back()];
        places.push_back(first.place());
        if (first.next()) std::ranges::push_heap(heap, after);
        else heap.pop_back();
    }
    return places;
}

std::expected<PacketOrder, NoOrder> order_by_text(const Places& places, const OrderBy& by, const PassWatch& watch,
                                                  std::uint64_t memory) {
    if (places.size() > most_sorted_by_text(memory)) return std::unexpected(NoOrder::too_many_packets);
    std::vector<SortedTexts> runs;
    TextMemory used{memory - 8 * places.size()};
    const PassWatch inner{[&] { return used.is_over() || watch.stop(); }, watch.done};
    const auto begin = [&] { return TextSorter(places, by, inner, used); };
    const bool whole = pass_pieces<SortedTexts>(pieces_of(places.size()), inner, begin,
                                                [&](SortedTexts&& run) { runs.push_back(std::move(run)); });
    if (used.is_over()) return std::unexpected(NoOrder::too_many_texts);
    if (!whole) return std::unexpected(NoOrder::stopped);
    auto order = merged(runs, places.size(), by.descending, watch);
    if (!order || order->size() != places.size()) return std::unexpected(NoOrder::stopped);
    runs = {};
    return PacketOrder(std::move(*order));
}

// Runs are sorted and then merged, so that nobody waits long for a sort that is not wanted any more.
std::optional<std::vector<std::uint32_t>> sorted(const std::vector<std::uint64_t>& keys, bool descending,
                                                 const PassWatch& watch) {
    const auto before = [&](std::uint32_t one, std::uint32_t other) {
        return keys[one] != keys[other] ? (keys[one] < keys[other]) != descending : one < other;
    };
    std::vector<std::uint32_t> places(keys.size());
    std::iota(places.begin(), places.end(), 0U);
    const auto at = [&](std::vector<std::uint32_t>& of, std::size_t place) {
        return of.begin() + static_cast<std::ptrdiff_t>(std::min(place, keys.size()));
    };
    for (std::size_t from = 0; from < keys.size(); from += kRunOfSort) {
        if (watch.stop()) return std::nullopt;
        std::sort(at(places, from), at(places, from + kRunOfSort), before);
    }
    std::vector<std::uint32_t> merged(keys.size() > kRunOfSort ? keys.size() : 0);
    for (std::size_t run = kRunOfSort; run < keys.size(); run *= 2) {
        for (std::size_t from = 0; from < keys.size(); from += 2 * run) {
            if (watch.stop()) return std::nullopt;
            std::merge(at(places, from), at(places, from + run), at(places, from + run), at(places, from + 2 * run),
                       at(merged, from), before);
        }
        places.swap(merged);
    }
    return places;
}

}  // namespace

bool comes_before(std::string_view one, std::string_view other) {
    while (!one.empty() && !other.empty()) {
        if (is_digit(one.front()) && is_digit(other.front())) {
            const auto [left, left_size] = digits_of(one);
            const auto [right, right_size] = digits_of(other);
            if (left.size() != right.size()) return left.size() < right.size();
            if (left != right) return left < right;
            one.remove_prefix(left_size);
            other.remove_prefix(right_size);
            continue;
        }
        if (one.front() != other.front()) return one.front() < other.front();
        one.remove_prefix(1);
        other.remove_prefix(1);
    }
    return one.empty() && !other.empty();
}

PacketOrder::PacketOrder(std::vector<std::uint32_t> places) : places_(std::move(places)), positions_(places_.size()) {
    for (std::size_t position = 0; position < places_.size(); ++position)
        positions_[places_[position]] = static_cast<std::uint32_t>(position);
}

std::expected<PacketOrder, NoOrder> order_packets(std::uint64_t packets, const RowSet* shown, const OrderBy& by,
                                                  const PassWatch& watch, std::uint64_t memory) {
    const Places places(packets, shown);
    if (!by.number) return order_by_text(places, by, watch, memory);
    if (places.size() > most_sorted_by_number(memory)) return std::unexpected(NoOrder::too_many_packets);
    std::vector<std::uint64_t> keys;
    keys.reserve(places.size());
    const bool whole = pass_pieces<std::vector<std::uint64_t>>(
        pieces_of(places.size()), watch, [&] { return NumberMaker(places, by, watch); },
        [&](std::vector<std::uint64_t>&& more) { keys.insert(keys.end(), more.begin(), more.end()); });
    if (!whole || keys.size() != places.size()) return std::unexpected(NoOrder::stopped);
    auto order = sorted(keys, by.descending, watch);
    if (!order) return std::unexpected(NoOrder::stopped);
    keys = {};
    return PacketOrder(std::move(*order));
}

}  // namespace qps::transport::series
