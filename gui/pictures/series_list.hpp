// SeriesList: the series of an I/O graph as lines that can be edited: whether it is drawn, of which packets, what of
// them.
#pragma once

#include <transport-replay/series/io_graph.hpp>

#include <QStringList>
#include <QWidget>
#include <vector>

class QCheckBox;
class QComboBox;
class QGridLayout;
class QLineEdit;
class QToolButton;

namespace qps::gui {

class FilterLine;

struct SeriesWish {
    bool drawn = true;
    transport::series::Measure measure = transport::series::Measure::packets;
    QString field{};
    QString filter{};
    [[nodiscard]] bool operator==(const SeriesWish&) const = default;
};
// Why it cannot be drawn, a sentence; empty where it can.
[[nodiscard]] QString whyNot(const SeriesWish& wish);
// "p99 frame.len of rdma.retransmission"
[[nodiscard]] QString nameOf(const SeriesWish& wish);

class SeriesList : public QWidget {
    Q_OBJECT

public:
    explicit SeriesList(QWidget* parent = nullptr);

    [[nodiscard]] std::vector<SeriesWish> wishes() const;
    void setWishes(const std::vector<SeriesWish>& wishes);
    // For settings: a line each. What is none is left out.
    [[nodiscard]] QStringList saved() const;
    void restore(const QStringList& lines);
    void add(const SeriesWish& wish);

Q_SIGNALS:
    void changed();

private:
    struct Line {
        QCheckBox* drawn;
        QComboBox* measure;
        QLineEdit* field;
        FilterLine* filter;
        QToolButton* remove;
    };
    void remove(const QCheckBox* of);
    void lineChanged();
    void nameLines();
    [[nodiscard]] SeriesWish wishOf(const Line& line) const;

    QGridLayout* m_grid;
    QToolButton* m_add;
    std::vector<Line> m_lines;
    std::vector<SeriesWish> m_told;  // what changed() last told of
};

}  // namespace qps::gui
