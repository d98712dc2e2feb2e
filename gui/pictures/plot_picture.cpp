#include <gui/pictures/plot_csv.hpp>
#include <gui/pictures/plot_picture.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/figures.hpp>

#include <QComboBox>
#include <QKeyEvent>
#include <QToolButton>
#include <algorithm>

namespace qps::gui {

using dissect::FrameIndex;
using transport::ConnectionId;

namespace {
constexpr int kGathering = 60;         // ms: changes that come together are one
constexpr int kGatheringBusy = 1'000;  // while the capture or the hits still grow
}  // namespace

PlotPicture::PlotPicture(const QString& title, const QString& fileName, Session& session, Selection& selection,
                         QWidget* parent)
    : Picture(title, parent), m_fileName(fileName), m_session(session), m_selection(selection), m_plot(new Plot(this)) {
    m_plot->setAccessibleName(title);
    setContent(m_plot);
    m_due.setSingleShot(true);
    connect(&m_due, &QTimer::timeout, this, &PlotPicture::compute);

    connect(&session, &Session::opened, this, [this] { refresh(true); });
    connect(&session, &Session::timelineChanged, this, [this] { refresh(false); });
    connect(&selection, &Selection::rangeChanged, this, &PlotPicture::followRange);
    connect(&selection, &Selection::packetChanged, this, &PlotPicture::followPacket);
    connect(&selection, &Selection::filterChanged, this, [this] {
        if (filtered()) refresh(false);
    });
    connect(&selection, &Selection::hitsChanged, this, [this] {
        if (filtered()) refresh(false);
    });

    connect(m_plot, &Plot::packetChosen, this, [this](const Hit& hit) { choose(hit, false); });
    connect(m_plot, &Plot::packetWanted, this, [this](const Hit& hit) { choose(hit, true); });
    connect(m_plot, &Plot::rangeChosen, this, [this](const std::optional<TimeSpan>& span) {
        const PlotData& shown = m_plot->data();
        m_selection.setRange(span ? std::optional(TimeRange{shown.instant(span->from), shown.instant(span->to)})
                                  : std::nullopt);
    });
    connect(m_plot, &Plot::pointedAt, this, &PlotPicture::setWords);
    connect(m_plot, &Plot::menuWanted, this, [this](const QPoint& at) { menu().popup(at); });
    connect(&m_job, &SeriesJob::tookLong, this, [this] {
        setWords(tr("Computing..."));
        if (m_plot->data().empty()) m_plot->setNotice(tr("Computing..."));
    });
    connect(&m_job, &SeriesJob::finished, this, [this] {
        if (m_stale) refresh(m_anew);
    });
    connect(&m_job, &SeriesJob::failed, this, [this](const QString& sentence) {
        m_plot->setData({}, true);
        m_plot->setNotice(sentence);
    });
}

// Tools.

void PlotPicture::addPlotTools() {
    const auto tool = [this](const QString& text, const char* icon, const QString& tip, auto act) {
        QAction* action = addTool(text, QLatin1String(icon), tip);
        if (!action->icon().isNull())
            if (auto* button = qobject_cast<QToolButton*>(tools().widgetForAction(action)))
                button->setToolButtonStyle(Qt::ToolButtonIconOnly);
        connect(action, &QAction::triggered, m_plot, act);
        return action;
    };
    if (!tools().actions().isEmpty()) tools().addSeparator();
    tool(tr("Zoom in"), "zoom-in", tr("Zoom in (+ or mouse wheel)"), [this] { m_plot->zoomTime(1 / kZoomStep); });
    tool(tr("Zoom out"), "zoom-out", tr("Zoom out (- or mouse wheel)"), [this] { m_plot->zoomTime(kZoomStep); });
    tool(tr("Fit"), "zoom-fit-best", tr("Show the whole time range (0 or double click)"),
         [this] { m_plot->showAll(); });
    QAction* back =
        tool(tr("Back"), "edit-undo", tr("Return to the previous zoom (Backspace)"), [this] { m_plot->goBack(); });
    back->setEnabled(false);
    connect(m_plot, &Plot::viewChanged, back, [this, back] { back->setEnabled(m_plot->canGoBack()); });
    QAction* drag = addTool(tr("Drag to zoom"), QStringLiteral("zoom-select"),
                            tr("Zoom into the dragged rectangle instead of panning (Space; Shift inverts)"));
    drag->setCheckable(true);
    connect(drag, &QAction::toggled, m_plot, &Plot::setDragZooms);
    connect(m_plot, &Plot::dragZoomsChanged, drag, &QAction::setChecked);

    m_layers = menu().addMenu(tr("Layers"));
    connect(m_layers, &QMenu::aboutToShow, this, &PlotPicture::listLayers);
    connect(menu().addAction(tr("Show whole time range")), &QAction::triggered, m_plot, &Plot::showAll);
    connect(menu().addAction(tr("Zoom to time range")), &QAction::triggered, this, [this] {
        if (const auto range = m_selection.range())
            m_plot->setTime({m_plot->data().timeOf(range->from), m_plot->data().timeOf(range->to)});
    });
    connect(menu().addAction(tr("Clear time range")), &QAction::triggered, this,
            [this] { m_selection.setRange(std::nullopt); });
    menu().addSeparator();
    addSaveTools();
}

void PlotPicture::listLayers() {
    m_layers->clear();
    const PlotData& shown = m_plot->data();
    for (std::size_t i = 0; i < shown.panels.size(); ++i) {
        for (std::size_t j = 0; j < shown.panels[i].layers.size(); ++j) {
            QAction* action = m_layers->addAction(shown.panels[i].layers[j].name);
            action->setCheckable(true);
            action->setChecked(m_plot->isLayerVisible({i, j}));
            connect(action, &QAction::toggled, m_plot,
                    [this, i, j](bool visible) { m_plot->setLayerVisible({i, j}, visible); });
        }
        m_layers->addSeparator();
    }
}

void PlotPicture::addConnectionTools() {
    m_connectionTools = true;
    connect(addTool(tr("Previous"), QStringLiteral("go-previous"), tr("Previous connection (Page Up)")),
            &QAction::triggered, this, [this] { stepConnection(-1); });
    connect(addTool(tr("Next"), QStringLiteral("go-next"), tr("Next connection (Page Down)")), &QAction::triggered,
            this, [this] { stepConnection(1); });
}

void PlotPicture::addScopeTools(const std::array<QString, 3>& names, const QString& tip) {
    m_of = new QComboBox(this);
    m_of->addItems({names.begin(), names.end()});
    m_of->setCurrentIndex(static_cast<int>(Of::All));
    m_of->setAccessibleName(tip);
    m_of->setToolTip(tip);
    tools().addWidget(m_of);
    connect(m_of, &QComboBox::currentIndexChanged, this, [this] { refresh(false); });
    addConnectionTools();
    connect(&m_selection, &Selection::connectionChanged, this, [this] {
        if (of() == Of::Connection) refresh(false);
    });
}

void PlotPicture::addCompareTool() {
    QAction* compare = addTool(tr("Compare"), QStringLiteral("object-flip-horizontal"),
                               tr("Keep these points behind those of the next connection or capture"));
    compare->setCheckable(true);
    connect(compare, &QAction::toggled, this, [this](bool on) {
        m_kept = on ? keptPoints(m_plot->data(), tr("all")) : std::nullopt;
        refresh(false);
    });
    connect(&m_session, &Session::opened, this, [this] {
        if (m_kept) m_kept->forgetPackets();
    });
}

PlotPicture::Of PlotPicture::of() const { return m_of == nullptr ? Of::All : static_cast<Of>(m_of->currentIndex()); }

void PlotPicture::setOf(Of of) {
    if (m_of != nullptr) m_of->setCurrentIndex(static_cast<int>(of));
}

std::optional<transport::series::Scope> PlotPicture::scope(QString& notice) const {
    transport::series::Scope scope;
    if (of() != Of::Connection) return scope;
    const auto chosen = m_selection.connection();
    if (!chosen) {
        notice = tr("No connection selected. Select one in Connections, or press Page Down for the first.");
        return std::nullopt;
    }
    scope.add(*chosen);
    return scope;
}

const transport::Connection* PlotPicture::connection() const {
    const auto chosen = m_selection.connection();
    return chosen ? m_session.timeline()->find(*chosen) : nullptr;
}

QString PlotPicture::connectionText(bool wanted) const {
    const transport::Connection* chosen = wanted ? connection() : nullptr;
    return chosen == nullptr ? QString() : QLatin1String(": ") + QString::fromStdString(transport::ends_text(*chosen));
}

void PlotPicture::stepConnection(int by) {
    setOf(Of::Connection);
    m_selection.stepConnection(by);
}

void PlotPicture::keyPressEvent(QKeyEvent* event) {
    if (m_connectionTools && event->key() == Qt::Key_PageDown) stepConnection(1);
    else if (m_connectionTools && event->key() == Qt::Key_PageUp) stepConnection(-1);
    else Picture::keyPressEvent(event);
}

// Computing.

void PlotPicture::refresh(bool anew) {
    m_stale = true;
    m_anew = m_anew || anew;
    if (!isVisible()) return;
    // What is being computed of a growing capture is worth having; of something else it is not.
    if (m_job.running() && !anew) return;
    if (!m_due.isActive() || anew)
        m_due.start(!anew && (m_session.busy() || m_selection.filtering()) ? kGatheringBusy : kGathering);
}

void PlotPicture::showEvent(QShowEvent* event) {
    Picture::showEvent(event);
    if (m_stale) refresh(false);
}

std::shared_ptr<const transport::RowSet> PlotPicture::copyOfHits() const {
    const transport::RowSet* hits = filtered() ? m_selection.hits() : nullptr;
    return hits == nullptr ? nullptr : std::make_shared<const transport::RowSet>(*hits);
}

void PlotPicture::compute() {
    m_stale = false;
    QString notice;
    if (m_session.packets() == 0) {
        notice = m_session.busy() ? tr("No packets yet.") : tr("No packets. Open a capture with File > Open.");
        m_job.cancel();
        present({{}, notice});
        return;
    }
    const Maker make = maker(notice);
    if (!make) {
        m_job.cancel();
        present({{}, notice});
        return;
    }
    Inputs inputs{m_session.index(), m_session.timeline(), copyOfHits(), {}};
    m_job.start([this, make, inputs](const transport::series::Stop& stop) mutable -> SeriesJob::Delivery {
        const auto whole = transport::series::whole(*inputs.index, stop);
        if (transport::series::stopped(stop)) return {};
        auto made = std::make_shared<std::optional<Made>>();
        if (whole) {
            inputs.whole = *whole;
            *made = make(inputs, stop);
        } else {
            *made = Made{{}, tr("No packet has a timestamp: nothing to draw over time.")};
        }
        if (!*made) return {};
        (*made)->data.origin = whole ? inputs.index->start().value_or(whole->from) : dissect::Instant{};
        if (whole)
            (*made)->data.whole = limited({(*made)->data.timeOf(whole->from), (*made)->data.timeOf(whole->to)},
                                          {INT64_MIN / 2, INT64_MAX / 2});
        PlotData& plot = (*made)->data;
        plot.home = (*made)->narrow ? extentOf(plot) : plot.whole;
        if (const auto& entry = (*made)->entry)
            plot.entry = limited({plot.timeOf(entry->from), plot.timeOf(entry->to)}, plot.whole);
        return [this, made] { present(std::move(**made)); };
    });
}

void PlotPicture::present(Made made) {
    if (m_kept) putBehind(made.data, *m_kept);
    m_plot->setData(std::move(made.data), m_anew);
    m_plot->setNotice(made.notice);
    m_anew = false;
    setWords(QString());
    followRange();
    followPacket();
}

// The shared selection.

void PlotPicture::followRange() {
    const auto range = m_selection.range();
    const PlotData& shown = m_plot->data();
    m_plot->setRange(range ? std::optional(TimeSpan{shown.timeOf(range->from), shown.timeOf(range->to)})
                           : std::nullopt);
}

void PlotPicture::followPacket() {
    const auto frame = m_selection.packet();
    const auto index = m_session.index();
    const bool known = frame && index->has(*frame) && !index->row(*frame).has(transport::Mark::timeless);
    m_plot->setPacketTime(known ? std::optional(m_plot->data().timeOf(index->row(*frame).time())) : std::nullopt);
}

void PlotPicture::choose(const Hit& hit, bool go) {
    auto frame = std::optional(hit.frame);
    const Layer& layer = m_plot->data().panels[hit.id.panel].layers[hit.id.layer];
    if (hit.frame == FrameIndex{} && layer.faint && m_kept) return;  // of another capture
    if (hit.frame == FrameIndex{}) frame = frameAt(*m_session.index(), hit.time);
    if (!frame || !m_session.index()->has(*frame)) return;
    m_selection.selectPacket(*frame);
    if (go) Q_EMIT viewRequested(QStringLiteral("packets"));
}

// Saving.

void PlotPicture::paintPicture(QPainter& painter, const QSizeF& size, double scale, const QPalette& palette) const {
    m_plot->render(painter, QRectF(QPointF(0, 0), size), scale, palette);
}

QStringList PlotPicture::caption() const {
    const PlotData& shown = m_plot->data();
    QString whose;
    for (const Panel& panel : shown.panels)
        if (whose.isEmpty()) whose = panel.subject;
    return captionOf(title() + whose, m_session, shown.instant(m_plot->view().time.from),
                     shown.instant(m_plot->view().time.to));
}

void PlotPicture::writeCsv(QIODevice& device) const {
    gui::writeCsv(device, m_plot->data(), m_plot->view().time, m_plot->hidden());
}

std::optional<FrameIndex> frameAt(const transport::CaptureIndex& index, dissect::Instant time) {
    std::uint64_t low = 0;
    const std::uint64_t size = index.packets.size();
    for (std::uint64_t high = size; low < high;) {
        const std::uint64_t middle = low + (high - low) / 2;
        if (index.packets[middle].time() < time) low = middle + 1;
        else high = middle;
    }
    return size == 0 ? std::nullopt : std::optional(transport::series::frame_at(std::min(low, size - 1)));
}

}  // namespace qps::gui
