#include <gui/pictures/plot_csv.hpp>

#include <utility>

namespace qps::gui {

namespace {

constexpr qsizetype kPortion = 1 << 16;  // bytes written at once

QByteArray quoted(const QString& text) {
    QByteArray bytes = text.toUtf8();
    if (!bytes.contains(',') && !bytes.contains('"') && !bytes.contains('\n')) return bytes;
    return '"' + bytes.replace('"', "\"\"") + '"';
}

QByteArray seconds(std::int64_t time) { return timeText(time, 1, dissect::kLongestTime).chopped(2).toLatin1(); }

QByteArray packet(dissect::FrameIndex frame) {
    return frame == dissect::FrameIndex{} ? QByteArray() : QByteArray::number(std::to_underlying(frame));
}

const char* unitOf(Quantity quantity) {
    switch (quantity) {
        case Quantity::Bytes: return "B";
        case Quantity::BitRate: return "bit/s";
        case Quantity::Duration: return "ns";
        case Quantity::Psn: return "PSN";
        case Quantity::TcpSequence: return "TCP sequence number";
        case Quantity::Count: break;
    }
    return "";
}

// Gathers rows and writes them in portions.
class Rows {
public:
    explicit Rows(QIODevice& device) : device_(device) {}
    ~Rows() { device_.write(rows_); }
    Rows(const Rows&) = delete;
    Rows& operator=(const Rows&) = delete;
    // False: the device takes no more.
    bool add(const QByteArray& row) {
        rows_ += row;
        if (rows_.size() < kPortion) return true;
        const bool taken = device_.write(rows_) == rows_.size();
        rows_.clear();
        return taken;
    }

private:
    QIODevice& device_;
    QByteArray rows_;
};

bool writeLayer(Rows& rows, const PlotData& data, const Panel& panel, std::size_t number,
                const transport::series::Range& range) {
    const Layer& layer = panel.layers[number];
    const QByteArray begin = quoted(panel.title + panel.subject) + ',' + quoted(layer.name) + ',';
    if (layer.stretches()) {
        for (const Band& band : layer.bands->all()) {
            if (band.to < range.from || band.from >= range.to) continue;
            if (!rows.add(begin + seconds(data.timeOf(band.from)) + ',' + seconds(data.timeOf(band.to)) + ",,," +
                          packet(band.frame) + ',' + quoted(layer.textOf(band)) + "\r\n"))
                return false;
        }
        return true;
    }
    const auto& points = layer.points->points();
    const QByteArray unit = panel.lanes ? "" : unitOf(panel.quantity);
    for (std::size_t i = layer.points->lower_bound(range.from, 0); i < points.size() && points[i].time < range.to;
         ++i) {
        const QByteArray value =
            panel.lanes ? QByteArray() : QByteArray::number(static_cast<qlonglong>(ownValue(panel, number, i)));
        if (!rows.add(begin + seconds(data.timeOf(points[i].time)) + ",," + value + ',' + unit + ',' +
                      packet(points[i].frame) + ",\r\n"))
            return false;
    }
    return true;
}

}  // namespace

void writeCsv(QIODevice& device, const PlotData& data, TimeSpan time, const Hidden& hidden) {
    Rows rows(device);
    rows.add("panel,series,time_s,end_s,value,unit,packet,note\r\n");
    for (std::size_t i = 0; i < data.panels.size(); ++i) {
        for (std::size_t j = 0; j < data.panels[i].layers.size(); ++j) {
            const Layer& layer = data.panels[i].layers[j];
            if (layer.empty() || hidden.contains({i, j})) continue;
            if (!writeLayer(rows, data, data.panels[i], j, data.range(time))) return;
        }
    }
}

}  // namespace qps::gui
