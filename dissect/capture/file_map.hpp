// FileMap: a file in memory that may shrink while it is read.
//
// Where the file no longer has a page the system sends SIGBUS. For our own maps a handler puts zeros in place of what
// is gone, so that who reads goes on, and remembers from where on; every other SIGBUS goes to the handler before it.
// The handler takes no lock and allocates nothing. It stays for as long as the process does.
#pragma once

#include <dissect/base/bytes.hpp>

#include <cstdint>
#include <optional>

namespace qps::dissect {

class FileMap {
public:
    FileMap() = default;
    // Where it cannot be mapped, or too many maps are there already, good() is false.
    FileMap(int file, std::size_t size);
    FileMap(FileMap&& other) noexcept;
    FileMap& operator=(FileMap&& other) noexcept;
    ~FileMap();

    [[nodiscard]] bool good() const { return start_ != nullptr; }
    [[nodiscard]] Bytes bytes() const { return {static_cast<const std::byte*>(start_), good() ? size_ : 0}; }
    // The first byte of a page that somebody wanted and the file did not have any more. Any thread may ask.
    [[nodiscard]] std::optional<std::uint64_t> lost_from() const;

private:
    void* start_ = nullptr;
    std::size_t size_ = 0;
    std::size_t slot_ = 0;  // in the table of maps that the handler reads
};

}  // namespace qps::dissect
