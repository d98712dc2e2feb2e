// LossesPicture: where packets were lost between each two hosts: the strip, with what can be done to it.
#pragma once

#include <gui/pictures/loss_strip.hpp>
#include <gui/pictures/picture.hpp>

namespace qps::gui {

class Selection;

class LossesPicture : public Picture {
    Q_OBJECT

public:
    LossesPicture(Session& session, Selection& selection, QWidget* parent = nullptr);

    [[nodiscard]] LossStrip& strip() { return *m_strip; }

protected:
    [[nodiscard]] QSizeF pictureSize(double tallest) const override;
    void paintPicture(QPainter& painter, const QSizeF& size, double scale, const QPalette& palette) const override;
    [[nodiscard]] QStringList caption() const override;
    void writeCsv(QIODevice& device) const override;
    [[nodiscard]] QString fileName() const override { return QStringLiteral("losses"); }
    void contextMenuEvent(QContextMenuEvent* event) override;
    void showEvent(QShowEvent* event) override;

private:
    void refresh();
    void choose();

    Session& m_session;
    Selection& m_selection;
    LossStrip* m_strip;
    bool m_stale = true;
};

}  // namespace qps::gui
