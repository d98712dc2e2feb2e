#include <dissect/packet/render_value.hpp>
#include <gui/base/look.hpp>
#include <gui/base/plain_tip.hpp>
#include <gui/packets/field_model.hpp>
#include <gui/packets/packet_info.hpp>

#include <QFont>
#include <string>
#include <utility>

namespace qps::gui {

using dissect::Fault;
using dissect::FrameIndex;
using dissect::TreeLine;

namespace {

constexpr std::size_t kMostFieldText = 4096;  // characters of a value in the tree

QString printable(std::string_view text) {
    std::string shown;
    dissect::append_printable(shown, text.substr(0, kMostFieldText));
    return QString::fromStdString(shown);
}

}  // namespace

void FieldModel::setPacket(SharedPacket packet) {
    beginResetModel();
    m_packet = std::move(packet);
    m_nodes.clear();
    m_top.clear();
    if (m_packet != nullptr) {
        std::vector<int> open;  // the line of each depth that the next ones belong to
        for (const TreeLine& line : m_packet->lines()) {
            const int number = static_cast<int>(m_nodes.size());
            open.resize(std::min(open.size(), std::size_t{line.depth}));
            std::vector<int>& siblings = open.empty() ? m_top : m_nodes[static_cast<std::size_t>(open.back())].children;
            const Node node{.parent = open.empty() ? -1 : open.back(), .row = static_cast<int>(siblings.size())};
            siblings.push_back(number);
            m_nodes.push_back(node);
            open.push_back(number);
        }
    }
    endResetModel();
}

const std::vector<int>& FieldModel::childrenOf(const QModelIndex& parent) const {
    return parent.isValid() ? m_nodes[parent.internalId()].children : m_top;
}

std::optional<std::size_t> FieldModel::number(const QModelIndex& index) const {
    return index.isValid() && index.internalId() < m_nodes.size() ? std::optional(std::size_t{index.internalId()})
                                                                  : std::nullopt;
}

const TreeLine* FieldModel::line(const QModelIndex& index) const {
    const auto at = number(index);
    return at ? &m_packet->lines()[*at] : nullptr;
}

QModelIndex FieldModel::indexOf(std::size_t line, int column) const {
    return line < m_nodes.size() ? createIndex(m_nodes[line].row, column, quintptr{line}) : QModelIndex();
}

std::optional<FrameIndex> FieldModel::linkOf(const QModelIndex& index) const {
    const TreeLine* line = this->line(index);
    if (line == nullptr || line->field == nullptr) return std::nullopt;
    const bool names =
        line->field->name == "rdma.message.first_frame" || line->field->name == "rdma.message.last_frame";
    return names && line->value.number != 0 ? std::optional(FrameIndex{line->value.number}) : std::nullopt;
}

QModelIndex FieldModel::index(int row, int column, const QModelIndex& parent) const {
    if (row < 0 || column < 0 || column > Words || parent.column() > 0) return {};
    const std::vector<int>& rows = childrenOf(parent);
    if (std::cmp_greater_equal(row, rows.size())) return {};
    return createIndex(row, column, static_cast<quintptr>(rows[static_cast<std::size_t>(row)]));
}

QModelIndex FieldModel::parent(const QModelIndex& child) const {
    const auto at = number(child);
    if (!at || m_nodes[*at].parent < 0) return {};
    return indexOf(static_cast<std::size_t>(m_nodes[*at].parent));
}

int FieldModel::rowCount(const QModelIndex& parent) const {
    return parent.column() > 0 ? 0 : static_cast<int>(childrenOf(parent).size());
}

int FieldModel::columnCount(const QModelIndex&) const { return 2; }

QString FieldModel::text(const TreeLine& line, int column) const {
    if (column == Name) {
        if (line.fault != Fault::none && !line.heading()) return tr("Error");
        return printable(dissect::label(line));
    }
    std::string value;
    if (line.heading()) value = layerSummary(m_packet->packet(), m_packet->packet().layers()[line.layer]);
    if (value.empty()) dissect::append_value(value, line);
    if (const std::string other = otherBase(line); !other.empty()) value += " (" + other + ')';
    return printable(value);
}

QVariant FieldModel::data(const QModelIndex& index, int role) const {
    const TreeLine* line = this->line(index);
    if (line == nullptr) return {};
    const bool wrong = !line->heading() && line->fault != Fault::none;
    switch (role) {
        case Qt::DisplayRole: return text(*line, index.column());
        case Qt::ToolTipRole: {
            if (line->heading()) {
                std::string place;
                dissect::append_value(place, *line);
                const QString whole = index.column() == Words ? text(*line, Words) : QString();
                return plainTip(whole.isEmpty() ? printable(place) : whole + QLatin1Char('\n') + printable(place));
            }
            if (line->field == nullptr) return {};
            const QString name = printable(line->field->name);
            const QString meaning = printable(line->field->meaning);
            return name.isEmpty() ? meaning : QStringLiteral("%1\n%2").arg(name, meaning);
        }
        case Qt::AccessibleTextRole: return QStringLiteral("%1 %2").arg(text(*line, Name), text(*line, Words));
        case Qt::ForegroundRole:
            if (wrong) return textColor(transport::Severity::error, m_palette);
            if (index.column() == Words && linkOf(index)) return m_palette.color(QPalette::Link);
            if (line->heading() && index.column() == Words)
                return mixed(m_palette.color(QPalette::Base), m_palette.color(QPalette::Text), 0.6);
            return {};
        case Qt::FontRole:
            if (line->heading() && index.column() == Name) {
                QFont bold;
                bold.setBold(true);
                return bold;
            }
            if (index.column() == Words && linkOf(index)) {
                QFont underlined;
                underlined.setUnderline(true);
                return underlined;
            }
            return {};
        default: return {};
    }
}

Qt::ItemFlags FieldModel::flags(const QModelIndex& index) const {
    return QAbstractItemModel::flags(index) | (index.isValid() ? Qt::ItemIsDragEnabled : Qt::NoItemFlags);
}

QVariant FieldModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
    return section == Name ? tr("Field") : tr("Value");
}

}  // namespace qps::gui
