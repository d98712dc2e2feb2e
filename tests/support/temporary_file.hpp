// Files and FIFOs that are gone with the test that made them.
#pragma once

#include <dissect/base/bytes.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace qps::test {

// A folder of its own; removed with everything in it.
class TemporaryFolder {
public:
    TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    ~TemporaryFolder();

    [[nodiscard]] const std::string& path() const { return path_; }
    // The path of a file in the folder, which need not exist.
    [[nodiscard]] std::string file(std::string_view name) const;
    // Writes a file and returns its path.
    [[nodiscard]] std::string write(std::string_view name, dissect::Bytes content) const;
    // Makes a FIFO and returns its path.
    [[nodiscard]] std::string fifo(std::string_view name) const;

private:
    std::string path_;
};

[[nodiscard]] std::vector<std::byte> read_file(const std::string& path);

// Writes everything to a descriptor; a reader that goes away ends it quietly.
void write_all(int descriptor, dissect::Bytes content);

}  // namespace qps::test
