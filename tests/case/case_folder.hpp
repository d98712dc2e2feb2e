// The project's own cases: folders of tests/case/cases, and what is right to say of each.
#pragma once

#include <transport-replay/casework/verdict.hpp>

#include <string>
#include <utility>
#include <vector>

namespace qps::testing {

struct CaseFolder {
    std::string name;
    std::vector<std::pair<std::string, std::string>> files;  // name, bytes
    std::string party;
    std::vector<std::string> says;   // regular expressions, whatever the case
    std::vector<std::string> never;  // of claims that would be wrong
    std::vector<std::string> next;
};
[[nodiscard]] std::vector<CaseFolder> case_folders();
// Those, the ones of tests/case/unseen and of tests/case/rows: material alone, without what is expected.
[[nodiscard]] std::vector<CaseFolder> all_material();
[[nodiscard]] casework::Verdict verdict_of(const std::vector<std::pair<std::string, std::string>>& files);

// What the program prints of such files, white space folded.
struct Judged {
    std::string party;
    std::string host;
    std::string text;
};
[[nodiscard]] Judged judged(const std::vector<std::pair<std::string, std::string>>& files);

}  // namespace qps::testing
