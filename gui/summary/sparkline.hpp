// Throughput over the whole capture in a small picture, with marks where packets were sent again or refused.
#pragma once

#include <transport-replay/series/throughput.hpp>

#include <QWidget>
#include <vector>

namespace qps::gui {

class Sparkline : public QWidget {
    Q_OBJECT

public:
    using Bars = std::vector<transport::series::Throughput::Bar>;
    static constexpr std::size_t kColumns = 240;

    explicit Sparkline(QWidget* parent = nullptr);
    void show(Bars bars);
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

Q_SIGNALS:
    void activated();

protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    Bars m_bars;
    std::uint64_t m_most = 0;  // bytes of a bar
};

}  // namespace qps::gui
