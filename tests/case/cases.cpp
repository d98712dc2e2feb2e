// The project's own cases get the right verdict, and one that is cut gets a weaker one, never another.
#include <tests/case/case_folder.hpp>
#include <tests/support/catch.hpp>

#include <regex>

#include <nlohmann/json.hpp>

using namespace qps;
using namespace qps::testing;

namespace {

bool has(const std::string& text, const std::string& pattern) {
    return std::regex_search(text, std::regex(pattern, std::regex::icase));
}

// A party is named where the whole case names it too. A host is remote to who complains of it, and local where nobody
// else does.
void require_weaker(const CaseFolder& folder, const Judged& whole, const Judged& part) {
    INFO(folder.name << ": " << part.text);
    const bool same_host = part.party == "local host" && whole.party == "remote host" && part.host == whole.host;
    REQUIRE((part.party == whole.party || part.party == "undecided" || same_host));
    for (const std::string& pattern : folder.never) REQUIRE_FALSE(has(part.text, pattern));
}

}  // namespace

TEST_CASE("every case gets the verdict that is right") {
    const auto folders = case_folders();
    REQUIRE(folders.size() >= 30);
    for (const CaseFolder& folder : folders) {
        const Judged said = judged(folder.files);
        INFO(folder.name << ": " << said.text);
        CHECK(said.party == folder.party);
        CHECK(said.text.size() < 12'000);
        CHECK(nlohmann::json::accept(said.text));
        for (const std::string& pattern : folder.says) CHECK(has(said.text, pattern));
        for (const std::string& pattern : folder.never) CHECK_FALSE(has(said.text, pattern));
        const std::string steps = said.text.substr(said.text.find("\"next_steps\""));
        for (const std::string& pattern : folder.next) CHECK(has(steps, pattern));
    }
}

TEST_CASE("a case without one of its files gets a weaker verdict, never another") {
    for (const CaseFolder& folder : case_folders()) {
        const Judged whole = judged(folder.files);
        for (std::size_t without = 0; without < folder.files.size(); ++without) {
            auto files = folder.files;
            files.erase(files.begin() + static_cast<std::ptrdiff_t>(without));
            require_weaker(folder, whole, judged(files));
        }
    }
}

TEST_CASE("a case whose files end early gets a weaker verdict, never another") {
    for (const CaseFolder& folder : case_folders()) {
        const Judged whole = judged(folder.files);
        for (std::size_t cut = 0; cut < folder.files.size(); ++cut)
            for (const std::size_t part : {1U, 2U, 3U}) {
                auto files = folder.files;
                files[cut].second.resize(files[cut].second.size() * part / 4);
                require_weaker(folder, whole, judged(files));
            }
    }
}

TEST_CASE("the order of files says nothing") {
    for (const CaseFolder& folder : case_folders()) {
        auto files = folder.files;
        const std::string party = judged(files).party;
        std::ranges::reverse(files);
        INFO(folder.name);
        REQUIRE(judged(files).party == party);
    }
}

TEST_CASE("that nothing is about RDMA is said only of what was read to its end") {
    const std::pair<std::string, std::string> log{
        "app.log", "2026-02-03 12:00:03 [error] 81#81: *7 recv() failed (104: Connection reset by peer)\n"};
    const std::pair<std::string, std::string> capture{"t.pcap", std::string("\xd4\xc3\xb2\xa1\x02\0\x04\0", 8)};
    const std::pair<std::string, std::string> binary{"core", std::string("ab\0cd", 5)};
    const std::string wrong = "nothing here is about RDMA";
    CHECK(judged({log}).text.contains(wrong));
    CHECK_FALSE(judged({log, capture}).text.contains(wrong));
    CHECK_FALSE(judged({log, binary}).text.contains(wrong));
    CHECK(judged({capture}).text.contains("undecided: t.pcap: "));
}
