// Picture: a view that can be saved: as PNG, as SVG, and its data as CSV. It has a row of buttons above and a line of
// words below; who derives from it puts the picture between and says how it is painted and written.
#pragma once

#include <dissect/base/types.hpp>
#include <gui/session/view.hpp>

#include <QIODevice>
#include <QLabel>
#include <QMenu>
#include <QPainter>
#include <QToolBar>
#include <QVBoxLayout>
#include <QWidget>
#include <optional>

namespace qps::gui {

class Session;

class Picture : public QWidget, public View {
    Q_OBJECT

public:
    explicit Picture(const QString& title, QWidget* parent = nullptr);

    [[nodiscard]] bool can(ActionId id) const override;
    void carryOut(ActionId id) override;

    [[nodiscard]] QString title() const { return m_title; }
    // Colours of a saved picture: light, as papers are, unless the window's are asked for.
    enum class Colors { Light, OfWindow };
    // Nothing: it is written. Else one sentence that says why not. `scale`: pixels for one of the screen's. Above the
    // picture stands its caption.
    [[nodiscard]] std::optional<QString> savePng(const QString& path, double scale,
                                                 Colors colors = Colors::Light) const;
    [[nodiscard]] std::optional<QString> saveSvg(const QString& path, Colors colors = Colors::Light) const;
    [[nodiscard]] std::optional<QString> saveCsv(const QString& path) const;

    // On a page so large, as wide as it; for printers.
    void paintOnPage(QPainter& painter, const QSizeF& page) const;

public Q_SLOTS:
    // Asks where; the ending of the name chooses the format. Says what went wrong.
    void saveAs();

Q_SIGNALS:
    void viewRequested(const QString& id);

protected:
    // Of what is saved; no taller than that. Asked before caption() and paintPicture().
    [[nodiscard]] virtual QSizeF pictureSize(double tallest) const = 0;
    virtual void paintPicture(QPainter& painter, const QSizeF& size, double scale, const QPalette& palette) const = 0;
    // What the picture is of: a line for what it shows and whose it is, one for file and date.
    [[nodiscard]] virtual QStringList caption() const = 0;
    virtual void writeCsv(QIODevice& device) const = 0;
    // What stands for the picture in the name of a file: "throughput".
    [[nodiscard]] virtual QString fileName() const = 0;

    void setContent(QWidget* content);
    void addBelow(QWidget* widget);  // below the line of words
    void setWords(const QString& words);
    [[nodiscard]] QToolBar& tools() { return *m_tools; }
    // A button with its name for those who cannot see the icon, and its keys in the tip.
    QAction* addTool(const QString& text, const QString& icon, const QString& tip);
    // Also shown by the right button.
    [[nodiscard]] QMenu& menu() { return *m_menu; }
    // After all other tools.
    void addSaveTools();

private:
    void askAndSave(const QString& ending);
    [[nodiscard]] double captionHeight(const QStringList& lines) const;
    // Caption and picture, in an area so large.
    void paintAll(QPainter& painter, const QStringList& caption, const QSizeF& size, double scale,
                  const QPalette& palette) const;
    [[nodiscard]] QPalette paletteOf(Colors colors) const;

    QString m_title;
    QVBoxLayout* m_column;
    QToolBar* m_tools;
    QMenu* m_menu;
    QLabel* m_words;
};

// The caption of a picture of an open capture: what it shows; file, when, and with what it was made.
[[nodiscard]] QStringList captionOf(const QString& what, const Session& session, dissect::Instant from,
                                    dissect::Instant to);

}  // namespace qps::gui
