// Files and FIFOs that are gone with the test that made them.
#include <tests/support/temporary_file.hpp>

#include <filesystem>
#include <stdexcept>
#include <system_error>

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

namespace qps::test {

namespace {

class OpenFile {
public:
    OpenFile(const std::string& path, int flags) : descriptor_(::open(path.c_str(), flags | O_CLOEXEC, 0600)) {
        if (descriptor_ < 0) throw std::runtime_error("cannot open " + path);
    }
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;
    ~OpenFile() { ::close(descriptor_); }
    [[nodiscard]] int descriptor() const { return descriptor_; }

private:
    int descriptor_;
};

}  // namespace

TemporaryFolder::TemporaryFolder() : path_((std::filesystem::temp_directory_path() / "qpscope-test-XXXXXX").string()) {
    if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder");
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryFolder::file(std::string_view name) const { return path_ + "/" + std::string(name); }

std::string TemporaryFolder::write(std::string_view name, dissect::Bytes content) const {
    std::string path = file(name);
    const OpenFile out(path, O_WRONLY | O_CREAT | O_TRUNC);
    write_all(out.descriptor(), content);
    return path;
}

std::string TemporaryFolder::fifo(std::string_view name) const {
    std::string path = file(name);
    if (::mkfifo(path.c_str(), 0600) != 0) throw std::runtime_error("cannot make a FIFO");
    return path;
}

std::vector<std::byte> read_file(const std::string& path) {
    const OpenFile in(path, O_RDONLY);
    std::vector<std::byte> content(std::filesystem::file_size(path));
    std::size_t filled = 0;
    while (filled < content.size()) {
        const ssize_t count = ::read(in.descriptor(), content.data() + filled, content.size() - filled);
        if (count <= 0) throw std::runtime_error("cannot read " + path);
        filled += static_cast<std::size_t>(count);
    }
    return content;
}

void write_all(int descriptor, dissect::Bytes content) {
    while (!content.empty()) {
        const ssize_t count = ::write(descriptor, content.data(), content.size());
        if (count <= 0) return;
        content = content.subspan(static_cast<std::size_t>(count));
    }
}

}  // namespace qps::test
