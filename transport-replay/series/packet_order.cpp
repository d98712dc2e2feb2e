#include <transport-replay/series/packet_order.hpp>
#include <transport-replay/series/scope.hpp>

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace qps::transport::series {

namespace {

// What a text takes in the map of all, beside its characters.
constexpr std::uint64_t kBytesOfText = 96;
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

// Of some packets that follow each other: numbers, or which of the texts each has.
struct Keys {
    std::vector<std::uint64_t> of_packets;
    std::vector<std::string> texts;
};

using Told = std::unordered_map<std::string, std::uint32_t>;

// The frame of each place.
class Places {
public:
    Places(std::uint64_t packets, const RowSet* shown) : shown_(shown), size_(shown != nullptr ? shown->size() : packets) {
        if (size_ != 0) static_cast<void>(frame(0));  // a set counts when it is first asked: not by several threads at once
    }
    [[nodiscard]] std::uint64_t size() const { return size_; }
    [[nodiscard]] dissect::FrameIndex frame(std::uint64_t place) const { return shown_ != nullptr ? shown_->at(place) : frame_at(place); }

private:
    const RowSet* shown_;
    std::uint64_t size_;
};

// Keys of one piece of places, in one thread.
class KeyMaker {
public:
    KeyMaker(const Places& places, const OrderBy& by, const PassWatch& watch)
        : places_(&places), watch_(&watch), number_(by.number ? by.number() : nullptr), text_(by.text ? by.text() : nullptr) {}

    Keys operator()(std::uint64_t piece) {
        Keys keys;
        Told told;
        const std::uint64_t end = std::min(places_->size(), (piece + 1) * RowSet::kPieceRows);
        for (std::uint64_t at = piece * RowSet::kPieceRows; at < end; ++at) {
            if ((at & 0xffU) == 0 && watch_->stop()) break;
            keys.of_packets.push_back(number_ ? number_(places_->frame(at)) : text_key(places_->frame(at), told));
        }
        keys.texts.resize(told.size());
        for (auto entry = told.begin(); entry != told.end();) {
            auto node = told.extract(entry++);
            keys.texts[node.mapped()] = std::move(node.key());
        }
        return keys;
    }

private:
    std::uint64_t text_key(dissect::FrameIndex frame, Told& told) {
        text_(frame, buffer_);
        if (buffer_.size() > kLongestSortedText) buffer_.resize(kLongestSortedText);
        return told.try_emplace(buffer_, static_cast<std::uint32_t>(told.size())).first->second;
    }

    const Places* places_;
    const PassWatch* watch_;
    std::function<std::uint64_t(dissect::FrameIndex)> number_;
    std::function<void(dissect::FrameIndex, std::string&)> text_;
    std::string buffer_;
};

// All keys; texts of all pieces get one number each, in the order of texts at the end.
class AllKeys {
public:
    void add(Keys&& keys) {
        std::vector<std::uint32_t> numbers;
        for (std::string& text : keys.texts) {
            const auto [entry, is_new] = told_.try_emplace(std::move(text), static_cast<std::uint32_t>(told_.size()));
            if (is_new) bytes_ += kBytesOfText + entry->first.size();
            numbers.push_back(entry->second);
            if (bytes_ > kMostSortedTexts) too_many_ = true;
        }
        if (too_many_) return;
        for (const std::uint64_t key : keys.of_packets) keys_.push_back(numbers.empty() ? key : numbers[key]);
    }
    [[nodiscard]] bool too_many() const { return too_many_; }
    void reserve(std::uint64_t packets) { keys_.reserve(packets); }
    [[nodiscard]] std::vector<std::uint64_t> finish() {
        std::vector<const Told::value_type*> texts;
        for (const auto& entry : told_) texts.push_back(&entry);
        std::ranges::sort(texts, [](const auto* one, const auto* other) { return comes_before(one->first, other->first); });
        std::vector<std::uint32_t> ranks(texts.size());
        for (std::size_t rank = 0; rank < texts.size(); ++rank) ranks[texts[rank]->second] = static_cast<std::uint32_t>(rank);
        if (!ranks.empty())
            for (std::uint64_t& key : keys_) key = ranks[key];
        return std::move(keys_);
    }

private:
    std::vector<std::uint64_t> keys_;
    Told told_;
    std::uint64_t bytes_ = 0;
    bool too_many_ = false;
};

// Runs are sorted and then merged, so that nobody waits long for a sort that is not wanted any more.
std::optional<std::vector<std::uint32_t>> sorted(const std::vector<std::uint64_t>& keys, bool descending, const PassWatch& watch) {
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
            std::merge(at(places, from), at(places, from + run), at(places, from + run), at(places, from + 2 * run), at(merged, from), before);
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
    for (std::size_t position = 0; position < places_.size(); ++position) positions_[places_[position]] = static_cast<std::uint32_t>(position);
}

std::expected<PacketOrder, NoOrder> order_packets(std::uint64_t packets, const RowSet* shown, const OrderBy& by, const PassWatch& watch) {
    const Places places(packets, shown);
    if (places.size() > (by.number ? kMostSortedByNumber : kMostSortedByText)) return std::unexpected(NoOrder::too_many_packets);
    AllKeys all;
    all.reserve(places.size());
    std::atomic<bool> too_many = false;
    const PassWatch inner{[&] { return too_many || watch.stop(); }, watch.done};
    const bool whole = pass_pieces<Keys>(
        pieces_of(places.size()), inner, [&] { return KeyMaker(places, by, inner); },
        [&](Keys&& keys) {
            all.add(std::move(keys));
            too_many = all.too_many();
        });
    if (too_many) return std::unexpected(NoOrder::too_many_texts);
    if (!whole) return std::unexpected(NoOrder::stopped);
    const std::vector<std::uint64_t> keys = all.finish();
    all = {};
    if (keys.size() != places.size()) return std::unexpected(NoOrder::stopped);
    auto order = sorted(keys, by.descending, watch);
    if (!order) return std::unexpected(NoOrder::stopped);
    return PacketOrder(std::move(*order));
}

}  // namespace qps::transport::series
