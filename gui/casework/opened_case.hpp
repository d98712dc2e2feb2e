// OpenedCase: the files of a case that were read, and the verdict on them. Made by a worker; values only.
#pragma once

#include <transport-replay/casework/case_files.hpp>
#include <transport-replay/casework/verdict.hpp>
#include <transport-replay/series/scope.hpp>

#include <QStringList>
#include <memory>
#include <optional>

namespace qps::gui {

struct OpenedCase {
    std::vector<casework::FoundFile> files;
    casework::Case read;
    casework::Verdict verdict;
    QStringList problems;  // what could not be read

    // Of the file that a place is in, or of the archive around it; nullptr: it is none of them.
    [[nodiscard]] const casework::FoundFile* fileOf(const casework::Place& place) const;
    [[nodiscard]] bool isCapture(const casework::Place& place) const;
};

// `inputs`: folders and files. `bytes`: of memory. Null where it was stopped.
[[nodiscard]] std::shared_ptr<const OpenedCase> openCase(const QStringList& inputs, std::uint64_t bytes,
                                                         const transport::series::Stop& stop);

// Lines of a text around one of them.
struct TextPart {
    QStringList lines;
    std::uint32_t first = 1;  // number of the first
};
inline constexpr std::uint32_t kLinesAround = 200;  // before it, and after
// Nothing where the file is not there any more, or is no text.
[[nodiscard]] std::optional<TextPart> textAround(const OpenedCase& opened, const casework::Place& place);

}  // namespace qps::gui
