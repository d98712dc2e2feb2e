// BytesView: the bytes of a frame as offsets, hex and characters, with the bytes of the selected field highlighted. It
// draws the lines in sight only, so that the size of a frame does not matter.
#pragma once

#include <gui/packets/bytes_geometry.hpp>
#include <gui/packets/owned_packet.hpp>

#include <QAbstractScrollArea>

class QMenu;

namespace qps::gui {

enum class BytesForm { Hex, Dump, Characters, CArray };
[[nodiscard]] QString bytesText(dissect::Bytes bytes, BytesForm form);

class BytesView : public QAbstractScrollArea {
    Q_OBJECT

public:
    explicit BytesView(QWidget* parent = nullptr);

    void setPacket(SharedPacket packet);
    // The bytes of a field, and those of its layer around it; brings the field into sight.
    void setHighlight(dissect::FrameSpan field, dissect::FrameSpan layer);
    [[nodiscard]] dissect::FrameSpan highlight() const { return m_field; }
    [[nodiscard]] std::optional<std::size_t> currentByte() const { return m_byte; }

    [[nodiscard]] const BytesGeometry& geometryOfBytes() const { return m_bytes; }
    // Of the viewport: its digits, its character.
    [[nodiscard]] QRect hexRect(std::size_t byte) const;
    [[nodiscard]] QRect textRect(std::size_t byte) const;
    [[nodiscard]] std::optional<std::size_t> byteAt(const QPoint& at) const;

    // Of the highlighted bytes, or of all where none are.
    [[nodiscard]] QString copied(BytesForm form) const;

    [[nodiscard]] QSize sizeHint() const override;

Q_SIGNALS:
    void byteSelected();  // currentByte(), by the user

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;

private:
    void updateScroll();
    void select(std::size_t byte);
    void showByte(std::size_t byte);
    void paintLine(QPainter& painter, std::size_t line);
    void paintByte(QPainter& painter, std::size_t byte);
    [[nodiscard]] int charWidth() const;
    [[nodiscard]] int lineHeight() const;
    [[nodiscard]] QRect place(std::size_t byte, int column, int columns) const;
    [[nodiscard]] dissect::Bytes bytes() const { return m_packet ? m_packet->bytes() : dissect::Bytes{}; }

    SharedPacket m_packet;
    BytesGeometry m_bytes;
    dissect::FrameSpan m_field;
    dissect::FrameSpan m_layer;
    std::optional<std::size_t> m_byte;
};

}  // namespace qps::gui
