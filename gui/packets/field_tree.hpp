// FieldTree: the fields of a packet, opened and closed as the user left them: what is open, and which field is
// selected, is kept by name from packet to packet.
#pragma once

#include <gui/packets/field_model.hpp>

#include <QSet>
#include <QTreeView>

class QMenu;
class QMimeData;

namespace qps::gui {

// What is dragged is a display filter.
inline const QString kFilterMime = QStringLiteral("application/x-qpscope-display-filter");

class FieldTree : public QTreeView {
    Q_OBJECT

public:
    explicit FieldTree(QWidget* parent = nullptr);

    void setPacket(SharedPacket packet);
    [[nodiscard]] const SharedPacket& packet() const { return m_model->packet(); }
    [[nodiscard]] FieldModel& fields() const { return *m_model; }

    // The line that is selected, and the bytes it stands for.
    [[nodiscard]] const dissect::TreeLine* currentLine() const { return m_model->line(currentIndex()); }
    [[nodiscard]] dissect::FrameSpan currentSpan() const;
    [[nodiscard]] dissect::FrameSpan layerSpan() const;  // of the layer that the line belongs to
    // Selects the field that a byte of the frame belongs to, and opens what it is in.
    void selectByte(std::size_t byte);

    // Of the current line; empty where there is none.
    [[nodiscard]] QString fieldName() const;
    [[nodiscard]] QString fieldFilter() const;
    // What dragging the current line takes along, owned by the caller: its filter, for the filter line, and as text.
    // Null where it has none.
    [[nodiscard]] QMimeData* dragged() const;
    enum class CopyForm { Line, Value, Name, Filter, Bytes, Everything };
    [[nodiscard]] QString copied(CopyForm form) const;
    // "infiniband.bth.psn: bytes 51 to 53, bits 4 to 7": for the status bar.
    [[nodiscard]] QString placeText() const;

    // What is open, for settings and for other windows.
    [[nodiscard]] QStringList openFields() const { return {m_open.begin(), m_open.end()}; }
    void setOpenFields(const QStringList& keys);

    [[nodiscard]] QSize minimumSizeHint() const override;

    // Of the current line.
    void fillMenu(QMenu& menu);
    void setPresentFilter(const QString& text) { m_presentFilter = text; }
    // Unlike those of QTreeView these are remembered for the next packet.
    void openSubtree();
    void openAll();
    void closeAll();

Q_SIGNALS:
    void lineChanged();
    void filterWanted(const QString& text);
    void filterPrepared(const QString& text);
    void columnWanted(const QString& field);
    void followMessageWanted();
    void followConversationWanted();
    void packetWanted(quint64 frame);  // which the line names: by a double click, or Enter; a FrameIndex, which Qt 6.4
                                       // carries in no signal

protected:
    void currentChanged(const QModelIndex& current, const QModelIndex& previous) override;
    void startDrag(Qt::DropActions actions) override;
    void keyPressEvent(QKeyEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    // Of headings and of fields with parts: a name that comes again in the next packet; the n-th of a name has its
    // number.
    static QSet<QString> openAtFirst();
    [[nodiscard]] QString keyOf(const QModelIndex& index) const;
    [[nodiscard]] QModelIndex indexOfKey(const QString& key) const;
    void restore();
    void fitNames();
    void setOpen(const QModelIndex& index, bool open);
    void fillCopyMenu(QMenu& menu);

    FieldModel* m_model;
    static constexpr int kMostOpen = 1000;  // names of headers and fields: there are not more
    QSet<QString> m_open = openAtFirst();
    QString m_selected;
    bool m_restoring = false;
    QString m_presentFilter;
};

}  // namespace qps::gui
