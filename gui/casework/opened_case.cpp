#include <dissect/packet/render_value.hpp>
#include <gui/base/text.hpp>
#include <gui/casework/opened_case.hpp>
#include <transport-replay/casework/rules.hpp>

#include <QCoreApplication>
#include <QFile>
#include <algorithm>

namespace qps::gui {

namespace {

constexpr std::size_t kLongestLine = 2000;  // bytes of a line that are shown

QString words(const char* text) { return QCoreApplication::translate("OpenedCase", text); }

// Lines of a text as people count them, from `first` on.
TextPart partOf(std::string_view text, std::uint32_t line) {
    TextPart part;
    part.first = line > kLinesAround ? line - kLinesAround : 1;
    std::uint32_t number = 1;
    for (std::size_t at = 0; at < text.size() && number <= line + kLinesAround; ++number) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        if (number >= part.first)
            part.lines << shown(dissect::printable(text.substr(at, std::min(end - at, kLongestLine))));
        at = end + 1;
    }
    return part;
}

}  // namespace

const casework::FoundFile* OpenedCase::fileOf(const casework::Place& place) const {
    if (place.file >= read.files.size()) return nullptr;
    const std::string& name = read.files[place.file].name;
    const casework::FoundFile* best = nullptr;
    for (const casework::FoundFile& file : files)
        if (name == file.name ||
            (name.starts_with(file.name + '/') && (best == nullptr || best->name.size() < file.name.size())))
            best = &file;
    return best;
}

bool OpenedCase::isCapture(const casework::Place& place) const {
    return place.file < read.files.size() && read.files[place.file].capture;
}

std::shared_ptr<const OpenedCase> openCase(const QStringList& inputs, std::uint64_t bytes,
                                           const transport::series::Stop& stop) {
    auto opened = std::make_shared<OpenedCase>();
    const casework::CaseMemory memory(bytes);
    for (const QString& input : inputs)
        if (!casework::list_input(QFile::encodeName(input).toStdString(), memory.items(casework::CaseShare::files),
                                  opened->files))
            opened->problems << words("%1: cannot be read").arg(input);
    casework::CaseReader reader(memory);
    for (const casework::FoundFile& file : opened->files) {
        if (transport::series::stopped(stop)) return nullptr;
        switch (casework::take_file(file, memory.bytes(casework::CaseShare::at_work), reader)) {
            case casework::Taken::whole: break;
            case casework::Taken::unreadable:
                opened->problems << words("%1: cannot be read").arg(shown(file.path));
                break;
            case casework::Taken::became_shorter:
                opened->problems << words("%1: it became shorter while it was read").arg(shown(file.path));
                break;
        }
    }
    opened->read = reader.end();
    if (transport::series::stopped(stop)) return nullptr;
    opened->verdict = casework::judge(opened->read);
    return opened;
}

std::optional<TextPart> textAround(const OpenedCase& opened, const casework::Place& place) {
    const casework::FoundFile* file = opened.fileOf(place);
    if (file == nullptr || opened.isCapture(place)) return std::nullopt;
    std::optional<TextPart> part;
    const casework::CaseMemory memory = opened.read.memory;
    casework::CaseReader reader(memory);
    reader.listen([&](const std::string& name, std::string_view text) {
        if (!part && name == opened.read.files[place.file].name) part = partOf(text, place.line);
    });
    (void)casework::take_file(*file, memory.bytes(casework::CaseShare::at_work), reader);
    return part;
}

}  // namespace qps::gui
