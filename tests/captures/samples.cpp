// The captures made to order are what their maker makes.
#include <tests/samples/samples.hpp>
#include <tests/support/catch.hpp>

#include <fstream>
#include <iterator>
#include <string>

TEST_CASE("the samples in captures/ are those that make_samples writes") {
    for (const qps::tests::Sample& sample : qps::tests::samples()) {
        const std::string path =
            std::string(QPSCOPE_SOURCE_DIR) + "/captures/" + std::string(sample.name) + "/capture.pcap";
        INFO(path << " (make_samples captures/ writes it anew)");
        std::ifstream file(path, std::ios::binary);
        REQUIRE(file.good());
        const std::string found{std::istreambuf_iterator<char>(file), {}};
        const std::vector<std::byte> wanted = qps::tests::capture_of(sample);
        CHECK(found.size() == wanted.size());
        CHECK(std::equal(wanted.begin(), wanted.end(), found.begin(), found.end(),
                         [](std::byte a, char b) { return a == static_cast<std::byte>(b); }));
    }
}
