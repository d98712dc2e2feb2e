// Columns of the packet list: a few that every list of packets has, and any field of the display filter language.
//
// What an attacker could feed: texts and bytes in the fields; they come printable and at most kMostText long.
#pragma once

#include <dissect/filter/filter.hpp>

#include <QString>
#include <QStringList>
#include <optional>
#include <vector>

namespace qps::gui {

class Names;

enum class ColumnKind { Number, Time, Source, Destination, Protocol, Length, Info, Field };

struct PacketColumn {
    ColumnKind kind = ColumnKind::Field;
    QString title;
    std::optional<dissect::Column> field{};  // of kind Field
    bool right = false;                      // aligned to the right
    bool hidden = false;
    int width = 0;  // in pixels; 0: what its usual text needs
};

inline constexpr std::size_t kMostColumns = 64;
inline constexpr int kMostText = 1000;  // characters of a cell

// Time, source, ... and the connection.
[[nodiscard]] std::vector<PacketColumn> standardColumns();
// Nothing where no field has that name.
[[nodiscard]] std::optional<PacketColumn> fieldColumn(const QString& name);

// Whether both show the same of a packet, whatever they are called.
[[nodiscard]] bool isSame(const PacketColumn& one, const PacketColumn& other);

// The text of all columns but Time, which depends on other packets.
[[nodiscard]] QString cellText(const PacketColumn& column, const dissect::Packet& packet, const Names* names = nullptr);
// What it says, for the tip of its head.
[[nodiscard]] QString columnTip(const PacketColumn& column);
// A text as wide as the usual content, for the first width of a column.
[[nodiscard]] QString usualText(const PacketColumn& column);
// The display filter of packets that are alike in that column; empty where there is none.
[[nodiscard]] QString cellFilter(const PacketColumn& column, const dissect::Packet& packet);

// For settings: a line for each. What is no column any more is left out.
[[nodiscard]] QStringList savedColumns(const std::vector<PacketColumn>& columns);
[[nodiscard]] std::vector<PacketColumn> restoredColumns(const QStringList& lines);

}  // namespace qps::gui
