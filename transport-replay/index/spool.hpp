// Spool: a temporary pcapng file that holds what cannot be read a second time, packet by packet. It goes when nobody
// has it open any more, however the program ends.
#pragma once

#include <dissect/capture/writer.hpp>

#include <expected>
#include <optional>
#include <span>
#include <string>

namespace qps::transport {

class Spool {
public:
    // Fails where the folder takes no file.
    [[nodiscard]] static std::expected<Spool, dissect::OutputProblem> make(const std::string& folder);
    Spool(Spool&& other) noexcept;
    Spool& operator=(Spool&&) = delete;
    ~Spool();

    // The next interface of what is copied, so that it keeps number and name. Its frames come later.
    void describe(dissect::InterfaceId number, const dissect::Interface& interface);

    // Copies frames and gives each its place in the spool as its file_offset; kNowhere where the format cannot hold it
    // (a time before 1970). What a full disk did not take: the first problem, after which nothing is copied any more.
    static constexpr std::uint64_t kNowhere = ~std::uint64_t{0};
    [[nodiscard]] std::optional<dissect::OutputProblem> copy(std::span<dissect::Frame> frames);

    [[nodiscard]] const std::string& path() const { return path_; }
    // How long it is.
    [[nodiscard]] std::uint64_t bytes() const { return writer_.drained(); }
    // Takes its name away once those who read it have opened it.
    void hide();
    // How many the layout has.
    [[nodiscard]] std::size_t interfaces() const { return writer_.interfaces(); }
    // Of all that was copied.
    [[nodiscard]] dissect::CaptureLayout layout() const { return writer_.layout(); }

private:
    Spool(std::string path, dissect::CaptureWriter writer);
    std::string path_;  // empty: moved from
    dissect::CaptureWriter writer_;
    bool full_ = false;
};

}  // namespace qps::transport
