#include <gui/summary/empty_page.hpp>

#include <QFileInfo>
#include <QHBoxLayout>
#include <QIcon>
#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>

namespace qps::gui {

EmptyPage::EmptyPage(QWidget* parent) : QWidget(parent) {
    const int unit = fontMetrics().height();
    auto* middle = new QVBoxLayout;
    middle->setSpacing(unit);
    auto* title = new QLabel(tr("Open or start a capture"));
    QFont large = font();
    large.setPointSizeF(large.pointSizeF() * 2);
    title->setFont(large);
    title->setAlignment(Qt::AlignHCenter);

    m_open = new QPushButton(QIcon::fromTheme(QStringLiteral("document-open")), tr("&Open capture..."));
    auto* capture = new QPushButton(QIcon::fromTheme(QStringLiteral("media-record")), tr("&Start capture..."));
    QFont wide = font();
    wide.setPointSizeF(wide.pointSizeF() * 1.25);
    auto* buttons = new QHBoxLayout;
    buttons->addStretch(1);
    for (QPushButton* button : {m_open, capture}) {
        button->setFont(wide);
        button->setMinimumHeight(unit * 3);
        button->setMinimumWidth(unit * 14);
        button->setAutoDefault(true);
        buttons->addWidget(button);
    }
    buttons->addStretch(1);
    auto* hint = new QLabel(tr("or drop pcap or pcapng files here; several files are read as one capture"));
    hint->setAlignment(Qt::AlignHCenter);
    hint->setWordWrap(true);

    m_heading = new QLabel(tr("&Recent captures"));
    m_recent = new QListWidget;
    m_recent->setAccessibleName(tr("Recent captures"));
    m_recent->setTextElideMode(Qt::ElideMiddle);
    m_recent->setMaximumWidth(fontMetrics().averageCharWidth() * 90);
    m_heading->setBuddy(m_recent);

    auto* column = new QVBoxLayout(this);
    column->addStretch(1);
    middle->addWidget(title);
    middle->addLayout(buttons);
    middle->addWidget(hint);
    column->addLayout(middle);
    column->addSpacing(unit);
    auto* centre = new QHBoxLayout;
    auto* list = new QVBoxLayout;
    list->addWidget(m_heading);
    list->addWidget(m_recent);
    centre->addStretch(1);
    centre->addLayout(list, 4);
    centre->addStretch(1);
    column->addLayout(centre);
    column->addStretch(1);

    setFocusProxy(m_open);
    connect(m_open, &QPushButton::clicked, this, &EmptyPage::openRequested);
    connect(capture, &QPushButton::clicked, this, &EmptyPage::captureRequested);
    connect(m_recent, &QListWidget::itemActivated, this,
            [this](const QListWidgetItem* item) { Q_EMIT fileRequested(item->data(Qt::UserRole).toString()); });
    setRecentFiles({});
}

void EmptyPage::setRecentFiles(const QStringList& files) {
    m_recent->clear();
    for (const QString& file : files) {
        const QFileInfo info(file);
        auto* item = new QListWidgetItem(QStringLiteral("%1  \u2013  %2").arg(info.fileName(), info.path()), m_recent);
        item->setData(Qt::UserRole, file);
        item->setToolTip(file);
    }
    constexpr int kRowsSeen = 12;
    const int line = fontMetrics().height() * 5 / 4;
    m_recent->setMaximumHeight(static_cast<int>(std::min<qsizetype>(files.size() + 1, kRowsSeen)) * line);
    m_heading->setVisible(!files.isEmpty());
    m_recent->setVisible(!files.isEmpty());
}

}  // namespace qps::gui
