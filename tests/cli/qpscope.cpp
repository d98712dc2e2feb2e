// The program under test, sample captures and small captures to order.
#include <tests/cli/qpscope.hpp>
#include <tests/support/sanitized.hpp>

#include <fstream>
#include <regex>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace qps::test {

namespace {

const std::string kCaptures = QPSCOPE_SOURCE_DIR "/captures";

nlohmann::json catalogue() {
    std::ifstream file(kCaptures + "/catalogue.json");
    return nlohmann::json::parse(file)["captures"];
}

}  // namespace

Ending qpscope(std::vector<std::string> words, const Surroundings& surroundings) {
    words.insert(words.begin(), QPSCOPE_PROGRAM);
    return run(words, surroundings);
}

std::vector<std::string> operator+(std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

std::vector<std::string> all_commands() {
    static const std::regex kLine("  ([a-z][a-z-]*) +[^ ].*");
    std::vector<std::string> names;
    std::smatch found;
    for (const std::string& line : lines_of(qpscope({"--help"}).out))
        if (std::regex_match(line, found, kLine) && found[1] != "qpscope") names.push_back(found[1]);
    if (names.size() < 18)
        throw std::runtime_error("the help lists " + std::to_string(names.size()) + " commands only");
    return names;
}

std::string without_numbers(const std::string& text) {
    std::string same = std::regex_replace(text, std::regex("[0-9]+([.,][0-9]+)*"), "#");
    same = std::regex_replace(same, std::regex("# (ns|us|ms|s)\\b"), "TIME");
    return std::regex_replace(same, std::regex(" +"), " ");
}

std::string loopback(unsigned last) {
    return fmt::format("127.{}.{}.{}", 64 + getpid() / 256 % 128, getpid() % 256, last);
}

std::string sample(std::string_view name) {
    for (const auto& row : catalogue())
        if (row["case"] == name) return kCaptures + "/" + std::string(name) + "/" + row["file"].get<std::string>();
    throw std::runtime_error("no capture is named " + std::string(name));
}

std::vector<std::string> all_samples() {
    const auto rows = catalogue();
    const std::size_t step = rows.size() / qps::tests::share(rows.size());
    std::vector<std::string> names;
    for (std::size_t i = 0; i < rows.size(); i += step) names.push_back(rows[i]["case"].get<std::string>());
    return names;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

Pcap::Pcap(std::uint32_t snap_length) {
    constexpr std::uint32_t kMicroseconds = 0xa1b2c3d4;
    constexpr std::uint32_t kEthernet = 1;
    put(kMicroseconds, 4);
    put(2, 2);
    put(4, 2);
    put(0, 4);
    put(0, 4);
    put(snap_length, 4);
    put(kEthernet, 4);
}

Pcap& Pcap::record(std::uint32_t captured, std::uint32_t on_wire, std::size_t present) {
    put(0, 4);
    put(0, 4);
    put(captured, 4);
    put(on_wire, 4);
    bytes_.resize(bytes_.size() + present);
    return *this;
}

void Pcap::put(std::uint32_t number, int width) {
    for (int i = 0; i < width; ++i) bytes_.push_back(static_cast<std::byte>(number >> (8 * i)));
}

}  // namespace qps::test
