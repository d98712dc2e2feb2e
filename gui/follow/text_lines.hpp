// TextLines: many lines of text in a fixed font, each of one end of a connection and of one message; only those in
// sight are painted. They are there as values, and bounded by who makes them.
#pragma once

#include <transport-replay/model/address.hpp>

#include <QListView>
#include <QString>
#include <vector>

namespace qps::gui {

struct TextLine {
    QString text;
    std::size_t message = 0;  // its place among those that are shown
    transport::End from{};
    bool heading = false;
};

class TextLinesModel;

class TextLines : public QListView {
    Q_OBJECT

public:
    explicit TextLines(const QString& name, QWidget* parent = nullptr);
    void setLines(std::vector<TextLine> lines);
    [[nodiscard]] const std::vector<TextLine>& lines() const;
    [[nodiscard]] const TextLine* currentLine() const;
    // Its heading to the top.
    void showMessage(std::size_t message);
    void copy() const;  // the selected lines, or all

Q_SIGNALS:
    void lineActivated();

protected:
    void changeEvent(QEvent* event) override;

private:
    TextLinesModel* m_lines;
};

}  // namespace qps::gui
