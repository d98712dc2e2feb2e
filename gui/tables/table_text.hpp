// Rows of a table as text for other programs: separated values as RFC 4180 has them, or a Markdown table.
#pragma once

#include <QAbstractItemModel>
#include <QString>
#include <vector>

namespace qps::gui {

enum class TextFormat { Csv, Tsv, Markdown };

// Rows and columns of the model, in this order, below their headings. What a cell draws is its text for those who do
// not see it.
[[nodiscard]] QString tableText(const QAbstractItemModel& model, const std::vector<int>& rows,
                                const std::vector<int>& columns, TextFormat format);

}  // namespace qps::gui
