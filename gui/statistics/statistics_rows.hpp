// Statistics as rows of sheets: words and filters, without widgets.
#pragma once

#include <gui/tables/sheet.hpp>
#include <transport-replay/series/statistics.hpp>

#include <QStringList>

namespace qps::transport {
struct Timeline;
}  // namespace qps::transport

namespace qps::gui {

struct StatisticsPage {
    QString title;
    QString tip;
    std::vector<Heading> headings;
};
// Their order is that of pages.
enum class StatisticsPages { Properties, Protocols, Opcodes, Lengths, Classes, Ports };
[[nodiscard]] std::vector<StatisticsPage> statisticsPages();

// What only the files say, not their packets.
struct FileFacts {
    QStringList names;
    QStringList formats;
    QStringList interfaces;
    std::uint64_t stored = 0;  // bytes of the files; 0: not known
};
[[nodiscard]] FileFacts fileFacts(const transport::CaptureIndex& index);

[[nodiscard]] std::vector<SheetRow> propertyRows(const transport::series::Statistics& statistics,
                                                 const FileFacts& files, const transport::Timeline& timeline);
[[nodiscard]] std::vector<SheetRow> protocolRows(const transport::series::Statistics& statistics);
[[nodiscard]] std::vector<SheetRow> opcodeRows(const transport::series::Statistics& statistics);
[[nodiscard]] std::vector<SheetRow> lengthRows(const transport::series::Statistics& statistics);
[[nodiscard]] std::vector<SheetRow> classRows(const transport::series::Statistics& statistics);
[[nodiscard]] std::vector<SheetRow> portRows(const transport::series::Statistics& statistics);

}  // namespace qps::gui
