// Reads the folders of tests/case/cases. The file of that name in tests/case/expected has a line for each expectation:
// a word, a blank, a regular expression.
#include <tests/case/case_folder.hpp>
#include <transport-replay/casework/case_reader.hpp>
#include <transport-replay/casework/case_report.hpp>
#include <transport-replay/casework/rules.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace qps::testing {

namespace {

std::string bytes_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void read_expectations(const std::string& text, CaseFolder& folder) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t blank = line.find(' ');
        const std::string word = line.substr(0, blank);
        const std::string rest = blank == std::string::npos ? "" : line.substr(blank + 1);
        if (word == "party") folder.party = rest;
        if (word == "says") folder.says.push_back(rest);
        if (word == "never") folder.never.push_back(rest);
        if (word == "next") folder.next.push_back(rest);
    }
}

std::string folded(const std::string& text) {
    std::string made;
    for (const char c : text)
        if (c != ' ' && c != '\n') made += c;
        else if (!made.ends_with(' ')) made += ' ';
    return made;
}

}  // namespace

std::vector<CaseFolder> case_folders() {
    std::vector<CaseFolder> folders;
    for (const auto& entry : std::filesystem::directory_iterator(QPSCOPE_SOURCE_DIR "/tests/case/cases")) {
        CaseFolder folder;
        folder.name = entry.path().filename().string();
        for (const auto& file : std::filesystem::directory_iterator(entry.path())) {
            const std::string name = file.path().filename().string();
            folder.files.emplace_back(name, bytes_of(file.path()));
        }
        read_expectations(bytes_of(QPSCOPE_SOURCE_DIR "/tests/case/expected/" + folder.name), folder);
        std::ranges::sort(folder.files);
        folders.push_back(std::move(folder));
    }
    std::ranges::sort(folders, {}, &CaseFolder::name);
    return folders;
}

std::vector<CaseFolder> all_material() {
    std::vector<CaseFolder> folders = case_folders();
    for (const char* const room : {"unseen", "rows"})
        for (const auto& entry :
             std::filesystem::directory_iterator(std::string(QPSCOPE_SOURCE_DIR "/tests/case/") + room)) {
            CaseFolder folder;
            folder.name = entry.path().filename().string();
            for (const auto& file : std::filesystem::recursive_directory_iterator(entry.path()))
                if (file.is_regular_file() && file.path().filename() != "expected.json")
                    folder.files.emplace_back(std::filesystem::relative(file.path(), entry.path()).string(),
                                              bytes_of(file.path()));
            std::ranges::sort(folder.files);
            folders.push_back(std::move(folder));
        }
    std::ranges::sort(folders, {}, &CaseFolder::name);
    return folders;
}

casework::Verdict verdict_of(const std::vector<std::pair<std::string, std::string>>& files) {
    casework::CaseReader reader;
    for (const auto& [name, bytes] : files) reader.read(name, bytes);
    return casework::judge(reader.end());
}

Judged judged(const std::vector<std::pair<std::string, std::string>>& files) {
    casework::CaseReader reader;
    for (const auto& [name, bytes] : files) reader.read(name, bytes);
    const casework::Case read = reader.end();
    const casework::Verdict verdict = casework::judge(read);
    std::string out;
    casework::append_document(out, transport::OutputFormat::json, read, verdict);
    return {std::string(casework::name(verdict.party)), verdict.host, folded(out)};
}

}  // namespace qps::testing
