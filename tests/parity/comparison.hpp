// One capture read by both programs, packet by packet: every field that both know.
#pragma once

#include <tests/cli/process.hpp>
#include <tests/parity/excuses.hpp>
#include <tests/parity/field_names.hpp>
#include <tests/parity/specimens.hpp>

#include <map>
#include <set>
#include <tuple>

namespace qps::test {

// Where a field differs in a capture: how often, and the first place.
struct Difference {
    std::size_t packets = 0;
    std::size_t frame = 0;
    std::string where;  // the capture's path
    std::string theirs;
    std::string ours;
};

struct Tally {
    std::size_t packets = 0;
    std::size_t values = 0;
    std::size_t payloads = 0;
    std::set<std::string> seen;                                                    // fields with a value
    std::map<std::tuple<std::string, std::string, Side>, Difference> differences;  // by field, capture, side
};

// The content of a text file; throws where it cannot be read.
[[nodiscard]] std::string read_text(const std::string& path);
// tshark without a user's preferences.
[[nodiscard]] Ending run_tshark(std::vector<std::string> words);
// What a program printed; throws where it failed.
[[nodiscard]] std::string must(const Ending& ending, std::string_view what);
// Prints a difference, its values shortened.
void print(const std::string& field, const std::string& capture, Side side, const Difference& difference);

// Adds up over captures: its memory does not grow with them.
class Comparison {
public:
    // Asks both programs which fields they have.
    explicit Comparison(std::string qpscope);

    // Throws where a program fails or the two do not have the same number of packets.
    void compare(const Capture& capture);
    [[nodiscard]] const Tally& tally() const { return tally_; }

private:
    [[nodiscard]] std::vector<std::string> their_words(const Capture& capture) const;
    [[nodiscard]] std::vector<std::string> our_words(const Capture& capture) const;
    void note(const Capture& capture, std::size_t frame, const std::string& field, std::string_view ours,
              std::string_view theirs);
    void compare_packet(const Capture& capture, std::size_t frame, const std::vector<std::string_view>& ours,
                        const std::vector<std::string_view>& theirs);
    void compare_payload(const Capture& capture, std::size_t frame, const std::vector<std::string_view>& ours,
                         const std::vector<std::string_view>& theirs);

    std::string qpscope_;
    std::vector<SharedField> fields_;
    std::map<std::string, std::size_t, std::less<>> index_;
    Tally tally_;
};

}  // namespace qps::test
