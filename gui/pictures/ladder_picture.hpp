// LadderPicture: the ladder of a connection with its tools: zoom of the time, open and close the messages, save.
#pragma once

#include <gui/pictures/ladder_view.hpp>
#include <gui/pictures/picture.hpp>

namespace qps::gui {

class LadderPicture : public Picture {
    Q_OBJECT

public:
    LadderPicture(Session& session, Selection& selection, QWidget* parent = nullptr);

    [[nodiscard]] LadderView& view() { return *m_view; }

protected:
    [[nodiscard]] QSizeF pictureSize(double tallest) const override;
    void paintPicture(QPainter& painter, const QSizeF& size, double scale, const QPalette& palette) const override;
    [[nodiscard]] QStringList caption() const override;
    void writeCsv(QIODevice& device) const override;
    [[nodiscard]] QString fileName() const override { return QStringLiteral("ladder"); }
    void contextMenuEvent(QContextMenuEvent* event) override;

private:
    const Session& m_session;
    LadderView* m_view;
    mutable LadderView::Sheet m_sheet;  // that is being saved
};

}  // namespace qps::gui
