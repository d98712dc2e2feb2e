// FieldModel: the lines of a packet's tree as a model: layers, what is wrong with them, their fields and the parts of
// those. Two columns: what a line is called, and what it says. All text is printable: values come from the wire.
#pragma once

#include <gui/packets/owned_packet.hpp>

#include <QAbstractItemModel>
#include <QPalette>
#include <vector>

namespace qps::gui {

class FieldModel : public QAbstractItemModel {
    Q_OBJECT

public:
    enum Column { Name, Words };

    explicit FieldModel(QObject* parent = nullptr) : QAbstractItemModel(parent) {}

    // nullptr: no packet, no lines.
    void setPacket(SharedPacket packet);
    [[nodiscard]] const SharedPacket& packet() const { return m_packet; }
    void setPalette(const QPalette& palette) { m_palette = palette; }

    // Lines by their number in the packet's lines().
    [[nodiscard]] const dissect::TreeLine* line(const QModelIndex& index) const;
    [[nodiscard]] std::optional<std::size_t> number(const QModelIndex& index) const;
    [[nodiscard]] QModelIndex indexOf(std::size_t line, int column = 0) const;
    // The packet that a line names by its number, as those of a message do.
    [[nodiscard]] std::optional<dissect::FrameIndex> linkOf(const QModelIndex& index) const;

    [[nodiscard]] QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    [[nodiscard]] QModelIndex parent(const QModelIndex& child) const override;
    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    [[nodiscard]] Qt::ItemFlags flags(const QModelIndex& index) const override;  // lines can be dragged
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                      int role = Qt::DisplayRole) const override;

private:
    // A line among its siblings.
    struct Node {
        int parent = -1;  // a line; -1: none
        int row = 0;
        std::vector<int> children{};
    };
    [[nodiscard]] const std::vector<int>& childrenOf(const QModelIndex& parent) const;
    [[nodiscard]] QString text(const dissect::TreeLine& line, int column) const;

    SharedPacket m_packet;
    QPalette m_palette;
    std::vector<Node> m_nodes;  // one for each line
    std::vector<int> m_top;
};

}  // namespace qps::gui
