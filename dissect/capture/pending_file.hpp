// PendingFile: an output that takes its name only when it is whole.
//
// It grows beside that name, as NAME.part, and then takes it at once: what was there before stays until then, and for
// good where anything fails. Devices, pipes and what is open already ("/dev/stdout", "/dev/fd/3") have nothing to lose
// and are written directly.
//
// What an attacker could feed: links and files that lie where ours shall be. NAME.part is made anew or not at all.
#pragma once

#include <dissect/capture/descriptor.hpp>

#include <cstdint>
#include <expected>
#include <string>
#include <system_error>
#include <utility>

namespace qps::dissect {

enum class Readers : std::uint8_t {
    as_usual,    // as the file that was there before, else what the user's umask leaves
    owner_only,  // whatever was there before
};

class PendingFile {
public:
    [[nodiscard]] static std::expected<PendingFile, std::error_code> open(const std::string& path,
                                                                          Readers readers = Readers::as_usual);
    PendingFile(PendingFile&& other) noexcept;
    PendingFile& operator=(PendingFile&&) = delete;
    ~PendingFile() { discard(); }  // what was not committed goes

    // Open for writing, once: the caller closes it.
    [[nodiscard]] Descriptor take_descriptor() { return std::move(file_); }
    // What grows; empty: it is written directly, or has its name already.
    [[nodiscard]] const std::string& part() const { return part_; }

    // The end: the file takes its name.
    [[nodiscard]] std::error_code commit();
    void discard();
    // It is another process's to commit or discard.
    void leave() { part_.clear(); }

private:
    PendingFile() = default;
    [[nodiscard]] std::error_code claim(const std::string& path);

    std::string target_;  // where links lead
    std::string part_;
    Readers readers_{};
    Descriptor file_;
};

// Whether two outputs would be one file, under whatever names and whether or not it is there.
[[nodiscard]] bool same_output(const std::string& a, const std::string& b);

}  // namespace qps::dissect
