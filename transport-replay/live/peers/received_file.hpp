// FileDrop: a folder of the user's into which files of strangers go, each under a plain name of that folder;
// ReceivedFile: one that is being received. The one place of the peers that writes files.
//
// Invariants: nothing outside of the folder is ever named; no file that is there is changed or replaced; a file that
// was not kept is gone.
//
// A stranger chooses names and sizes: is_plain_name(), and what a file may have at most is the caller's business. Links
// are not followed.
#pragma once

#include <dissect/base/bytes.hpp>

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>

namespace qps::transport::live::peers {

// Whether it can name a file of one folder that means nothing to other programs: 1 to 255 bytes, none of them '/' or a
// control character, the first neither '.', as names have that shells and programs look for (".bash_profile"), nor '-',
// as options have.
[[nodiscard]] bool is_plain_name(std::string_view name);

class ReceivedFile {
public:
    ReceivedFile(ReceivedFile&& other) noexcept;
    ReceivedFile& operator=(ReceivedFile&& other) noexcept;
    ~ReceivedFile();

    // Appends: it is as long as what came, whatever was announced. 0, or an errno.
    [[nodiscard]] int write(dissect::Bytes bytes);
    // It stays, as long as what was written.
    [[nodiscard]] int keep();
    [[nodiscard]] const std::string& name() const { return name_; }

private:
    friend class FileDrop;
    ReceivedFile(std::shared_ptr<const int> folder, int file, std::string name);
    void drop();

    std::shared_ptr<const int> folder_;
    int file_ = -1;
    std::string name_;
    std::uint64_t written_ = 0;
    bool kept_ = false;
};

class FileDrop {
public:
    // A folder that is there. A sentence where it is not.
    [[nodiscard]] static std::expected<FileDrop, std::string> open(const std::string& folder);
    // A new file of that plain name; else an errno, EEXIST where there is one.
    [[nodiscard]] std::expected<ReceivedFile, int> create(std::string_view name) const;

private:
    explicit FileDrop(std::shared_ptr<const int> folder) : folder_(std::move(folder)) {}
    std::shared_ptr<const int> folder_;
};

}  // namespace qps::transport::live::peers
