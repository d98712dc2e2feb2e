// Writes the samples into FOLDER/<name>/capture.pcap, FOLDER being captures/ of the checkout.
#include <tests/samples/samples.hpp>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

int main(int argc, char** argv) {
    if (argc != 2) {
        fmt::print(stderr, "usage: make_samples FOLDER\n");
        return 2;
    }
    for (const qps::tests::Sample& sample : qps::tests::samples()) {
        const std::filesystem::path folder = std::filesystem::path(argv[1]) / sample.name;
        std::filesystem::create_directories(folder);
        const std::vector<std::byte> bytes = qps::tests::capture_of(sample);
        std::ofstream file(folder / "capture.pcap", std::ios::binary);
        file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
        if (!file.flush()) {
            fmt::print(stderr, "make_samples: cannot write {}\n", (folder / "capture.pcap").string());
            return 1;
        }
    }
    return 0;
}
