// TextLines: many lines of text in a fixed font, each of one end of a connection and of one message, in the colour of
// that end; only those in sight are painted. They are there as values, and bounded by who makes them.
#pragma once

#include <transport-replay/model/address.hpp>

#include <QListView>
#include <QString>
#include <optional>
#include <vector>

namespace qps::gui {

struct TextLine {
    QString text;
    std::size_t message = 0;  // its place among those that are shown
    transport::End from{};    // who sent what it shows
    bool heading = false;
    std::optional<std::size_t> byte{};  // of the payload of its message, that it begins with
};

class TextLinesModel;

class TextLines : public QListView {
    Q_OBJECT

public:
    explicit TextLines(const QString& name, QWidget* parent = nullptr);
    void setLines(std::vector<TextLine> lines);
    [[nodiscard]] const std::vector<TextLine>& lines() const;
    [[nodiscard]] const TextLine* currentLine() const;
    [[nodiscard]] std::optional<std::size_t> currentNumber() const;  // its place among them
    // Its heading to the top.
    void showMessage(std::size_t message);
    // The line to the middle, with the cursor on it.
    void showLine(std::size_t line);
    void copy() const;  // the selected lines, or all

Q_SIGNALS:
    void lineActivated();

protected:
    void changeEvent(QEvent* event) override;

private:
    TextLinesModel* m_lines;
};

}  // namespace qps::gui
