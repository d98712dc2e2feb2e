// Finds many words in a text in one pass (Aho and Corasick 1975): a table of states, one step a byte. Which words there
// are is known when it is made; any bytes may be the text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace qps::casework {

class WordFinder {
public:
    using Id = std::uint16_t;  // place of a word in the list that was given
    static constexpr Id kNone = 0xffff;

    explicit WordFinder(std::span<const std::string_view> words);

    // A position in the table. Those that end a word come last, so that most bytes cost one comparison.
    using State = std::uint32_t;
    [[nodiscard]] State start() const { return 0; }
    [[nodiscard]] State next(State state, char byte) const {
        return steps_[state + classes_[static_cast<unsigned char>(byte)]];
    }
    [[nodiscard]] bool ends_word(State state) const { return state >= first_end_; }
    // The words that end here, the longest first: each(id).
    template <class Each> void each_end(State state, const Each& each) const {
        for (std::uint32_t i = ends_at_[state / width_]; ends_[i] != kNone; ++i) each(ends_[i]);
    }

    // Every word of the text, once for each of its places: each(id, position behind its end).
    template <class Each> void find(std::string_view text, const Each& each) const {
        State state = start();
        for (std::size_t i = 0; i < text.size(); ++i) {
            state = next(state, text[i]);
            if (ends_word(state)) each_end(state, [&](Id id) { each(id, i + 1); });
        }
    }

private:
    std::array<std::uint8_t, 256> classes_{};  // bytes that no word has are one class
    std::uint32_t width_ = 0;                  // classes: states are multiples of it
    std::vector<std::uint32_t> steps_;
    State first_end_ = 0;
    std::vector<std::uint32_t> ends_at_;  // of each state, where its words begin in ends_
    std::vector<Id> ends_;                // lists, each with kNone behind it
};

}  // namespace qps::casework
