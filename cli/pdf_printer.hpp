// A page as PDF, printed by Chromium, where it is installed.
//
// Once captures are read no other program can be run (sandbox/), so a process of its own is begun before: it gets the
// page through a pipe and prints it when it has all of it. It reads nothing of a capture but the finished page.
#pragma once

#include <cli/exit_code.hpp>
#include <dissect/capture/descriptor.hpp>

#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace qps::cli {

struct PdfProblem {
    ExitCode code = ExitCode::output_failed;
    std::string sentence;
};

class PdfPrinter {
public:
    // For options.pdf. To be called before HeldInputs::of() and before any thread is begun. Problems: no Chromium on
    // PATH, the file is an input or the output, or cannot be written.
    [[nodiscard]] static std::expected<PdfPrinter, PdfProblem> begin(const std::string& path,
                                                                     std::span<const std::string> inputs);
    PdfPrinter(PdfPrinter&&) noexcept = default;
    PdfPrinter& operator=(PdfPrinter&&) noexcept = default;
    ~PdfPrinter();  // without finish() no file is left that was not there before

    void write(std::string_view piece);
    // Waits until the file is written.
    [[nodiscard]] std::expected<void, PdfProblem> finish();

private:
    PdfPrinter(dissect::Descriptor page, dissect::Descriptor answer, std::string path)
        : page_(std::move(page)), answer_(std::move(answer)), path_(std::move(path)) {}

    dissect::Descriptor page_;    // to the printing process
    dissect::Descriptor answer_;  // from it: whether all went well, or a sentence about what did not
    std::string path_;
};

}  // namespace qps::cli
