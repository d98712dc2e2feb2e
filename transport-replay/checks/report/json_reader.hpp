// JsonReader: walks through JSON once, from left to right, and hands out what it is asked for. Nothing is kept.
//
// What an attacker could feed: any bytes. Nesting is bounded; after the first error everything is empty and whole() says no.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace qps::transport::conformance {

class JsonReader {
public:
    explicit JsonReader(std::string_view text) : rest_(text) {}

    // visit(name) for each member of the object that comes next; it must take the value, or skip() it.
    template <class Visit>
    void each_member(Visit&& visit) {
        if (!enter('{')) return;
        for (bool more = !leave('}'); more; more = goes_on('}')) {
            const std::string name = text();
            if (!take(':')) return;
            visit(std::string_view(name));
        }
    }
    // visit() for each element of the list that comes next; it must take it.
    template <class Visit>
    void each_element(Visit&& visit) {
        if (!enter('[')) return;
        for (bool more = !leave(']'); more; more = goes_on(']')) visit();
    }
    // A string; empty where something else comes, which is skipped.
    [[nodiscard]] std::string text();
    // An unsigned integer; 0 where something else comes, which is skipped.
    [[nodiscard]] std::uint64_t number();
    void skip();

    // Everything was read, and was JSON as far as it was looked at.
    [[nodiscard]] bool whole();

private:
    static constexpr std::size_t kDeepest = 32;  // reports have 3 levels
    void skip_blanks();
    [[nodiscard]] bool take(char letter);
    [[nodiscard]] bool enter(char bracket);
    [[nodiscard]] bool leave(char bracket);
    [[nodiscard]] bool goes_on(char bracket);
    [[nodiscard]] std::string string();
    void fail();

    std::string_view rest_;
    std::size_t depth_ = 0;
    bool failed_ = false;
};

}  // namespace qps::transport::conformance
