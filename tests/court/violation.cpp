#include <tests/court/exhibits.hpp>
#include <tests/court/violation.hpp>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include <fmt/format.h>

namespace qps::court {

namespace {

const std::filesystem::path kKnown = std::filesystem::path(QPSCOPE_SOURCE_DIR) / "tests" / "court" / "known.txt";

// SECTION CAPTURE DERIVATION FINDING, and how many of them.
struct Known {
    std::string head;  // comments on top
    std::map<std::string, std::uint64_t> rows;
};

Known read_known() {
    Known known;
    std::ifstream file(kKnown);
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line.front() == '#') {
            known.head += line + "\n";
            continue;
        }
        const std::size_t last = line.rfind(' ');
        known.rows[line.substr(0, last)] = std::stoull(line.substr(last + 1));
    }
    return known;
}

void write_known(const Known& known) {
    std::ofstream file(kKnown);
    file << known.head;
    for (const auto& [row, count] : known.rows)
        if (count != 0) file << row << ' ' << count << '\n';
}

std::string row_of(std::string_view section, const Violation& violation) {
    return fmt::format("{} {} {} {}", section, violation.capture, violation.derivation, violation.finding);
}

// Beside what the test says: every violation, known or not, a line each.
void append_to_list(const std::vector<Violation>& violations) {
    const char* path = std::getenv("QPSCOPE_COURT_LIST");
    if (path == nullptr) return;
    std::ofstream file(path, std::ios::app);
    for (const Violation& violation : violations) file << text(violation) << '\n';
}

bool shrinking() {
    const char* value = std::getenv("QPSCOPE_COURT_SHRINK");
    return value != nullptr && std::string_view(value) == "1";
}

}  // namespace

std::string text(const Violation& violation) {
    return fmt::format("{}, {}: {}: {}: \"{}\"", violation.capture, violation.derivation, violation.finding,
                       violation.why, violation.sentence);
}

std::string against_known(std::string_view section, const std::vector<Violation>& violations) {
    append_to_list(violations);
    Known known = folder_is_given() ? Known{} : read_known();  // of other captures nothing is known
    std::map<std::string, std::uint64_t> found;
    std::string out;
    for (const Violation& violation : violations) {
        const std::string row = row_of(section, violation);
        const auto place = known.rows.find(row);
        if (++found[row] > (place == known.rows.end() ? 0 : place->second))
            out += fmt::format("new: {}\n", text(violation));
    }
    bool stale = false;
    for (auto& [row, count] : known.rows) {
        if (!row.starts_with(fmt::format("{} ", section))) continue;
        const std::uint64_t now = found[row];
        if (now >= count) continue;
        stale = true;
        if (shrinking()) count = now;
        else out += fmt::format("stale row of known.txt, {} now: {} {}\n", now, row, count);
    }
    if (stale && shrinking()) write_known(known);
    return out;
}

}  // namespace qps::court
