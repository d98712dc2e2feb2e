#include <gui/launch/options.hpp>
#include <gui/window/main_window.hpp>
#include <gui/window/tabs.hpp>
#include <transport-replay/report/figures.hpp>

#include <QCloseEvent>
#include <QDir>
#include <QFileInfo>
#include <QMessageBox>
#include <QScreen>
#include <QSettings>
#include <QSignalBlocker>
#include <QStackedWidget>
#include <QTabBar>
#include <QTimer>
#include <QVBoxLayout>

namespace qps::gui {

namespace {

constexpr QSize kUsualSize{1180, 760};
constexpr QSize kLargestSize{1800, 1100};  // a line of more is hard to read along
constexpr QSize kFrame{16, 48};            // that window managers put around

}  // namespace

QSize firstWindowSize(const QSize& available) {
    const QSize share(available.width() * 4 / 5, available.height() * 4 / 5);
    return kUsualSize.expandedTo(share.boundedTo(kLargestSize)).boundedTo(available - kFrame);
}

Tabs::Tabs(std::size_t jobs, const transport::MemoryBudget& memory, QWidget* parent)
    : QWidget(parent), m_jobs(jobs), m_memory(memory), m_bar(new QTabBar(this)), m_pages(new QStackedWidget(this)) {
    setObjectName(QStringLiteral("tabs"));
    m_bar->setAutoHide(true);
    m_bar->setTabsClosable(true);
    m_bar->setDocumentMode(true);
    m_bar->setExpanding(false);
    m_bar->setElideMode(Qt::ElideMiddle);
    m_bar->setAccessibleName(tr("Captures"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_bar);
    column->addWidget(m_pages, 1);
    connect(m_bar, &QTabBar::currentChanged, this, &Tabs::showTab);
    connect(m_bar, &QTabBar::tabCloseRequested, this, [this](int tab) { closeTab(tab); });
    resize(firstWindowSize(screen()->availableGeometry().size()));
    restoreGeometry(QSettings().value(MainWindow::geometryKey()).toByteArray());
    add();
}

Tabs::~Tabs() = default;

MainWindow& Tabs::add() {
    auto* page = new MainWindow(m_jobs, m_pages);
    page->setWindowFlags(Qt::Widget);
    page->session().setMemory(count() == 0 ? m_memory : m_memory.part_of(kMost));
    m_pages->addWidget(page);
    const QSignalBlocker quiet(m_bar);
    m_bar->addTab(QString());
    connect(page, &QWidget::windowTitleChanged, this, &Tabs::describe);
    connect(page, &MainWindow::tabWanted, this, &Tabs::open);
    connect(page, &MainWindow::tabCloseWanted, this, [this] { closeTab(m_bar->currentIndex()); });
    connect(page, &MainWindow::preferencesChanged, this, [this, page] {
        for (int tab = 0; tab < count(); ++tab)
            if (&at(tab) != page) at(tab).takePreferences();
    });
    connect(page, &MainWindow::nextTabWanted, this, &Tabs::step);
    showTab(count() - 1);
    return *page;
}

int Tabs::count() const { return m_pages->count(); }
MainWindow& Tabs::at(int tab) const { return *qobject_cast<MainWindow*>(m_pages->widget(tab)); }
MainWindow& Tabs::current() const { return at(m_bar->currentIndex()); }

void Tabs::begin(const Options& options) {
    if (!options.tabs || options.files.size() < 2) return current().begin(options);
    Options each = options;
    for (qsizetype i = 0; i < std::min<qsizetype>(options.files.size(), kMost); ++i) {
        each.files = QStringList{options.files[i]};
        (i == 0 ? current() : add()).begin(each);
    }
    showTab(0);
    if (options.files.size() > kMost) tellFull(options.files.mid(kMost));
}

// Each tab has its part of the memory: there are no more.
void Tabs::tellFull(const QStringList& files) {
    QTimer::singleShot(0, this, [this, files] {
        QMessageBox box(
            QMessageBox::Warning, tr("Tabs"),
            tr("%1 tabs are open, and there can be no more. Not opened: %2.")
                .arg(kMost)
                .arg(QString::fromStdString(transport::counted(static_cast<std::uint64_t>(files.size()), "file"))),
            QMessageBox::Ok, this);
        constexpr qsizetype kNamed = 10;
        box.setInformativeText(files.mid(0, kNamed).join(QLatin1Char('\n')) +
                               (files.size() > kNamed ? QStringLiteral("\n...") : QString()));
        box.setTextFormat(Qt::PlainText);
        box.exec();
    });
}

void Tabs::open(const QStringList& files) {
    if (files.isEmpty()) return;
    const bool empty = current().session().state() == Session::State::Empty;
    if (!empty && count() == kMost) return tellFull(files);
    (empty ? current() : add()).open(files);
}

void Tabs::showTab(int tab) {
    if (tab < 0 || tab >= count()) return;
    const QSignalBlocker quiet(m_bar);
    m_bar->setCurrentIndex(tab);
    m_pages->setCurrentIndex(tab);
    at(tab).setFocus(Qt::OtherFocusReason);
    describe();
}

void Tabs::step(int by) { showTab((m_bar->currentIndex() + by + count()) % count()); }

bool Tabs::closeTab(int tab) {
    if (tab < 0 || tab >= count()) return false;
    if (count() == 1) return QWidget::close();
    MainWindow& page = at(tab);
    showTab(tab);
    if (!page.close()) return false;
    m_pages->removeWidget(&page);
    {
        const QSignalBlocker quiet(m_bar);
        m_bar->removeTab(tab);
    }
    page.deleteLater();
    showTab(std::min(tab, count() - 1));
    return true;
}

// Each tab is called by its capture, the window by that which is shown.
void Tabs::describe() {
    QStringList titles;
    for (int tab = 0; tab < count(); ++tab) titles << at(tab).session().title();
    for (int tab = 0; tab < count(); ++tab) {
        const Session& session = at(tab).session();
        QString text = titles[tab].isEmpty() ? tr("No capture") : titles[tab];
        // Where several are called the same their folders tell them apart.
        if (titles.count(titles[tab]) > 1 && !session.files().isEmpty() && !session.isLive())
            text = QFileInfo(session.files().front()).absoluteDir().dirName() + QLatin1Char('/') + text;
        m_bar->setTabText(tab, text.replace(QLatin1Char('&'), QStringLiteral("&&")));
        m_bar->setTabToolTip(tab, session.files().join(QLatin1Char('\n')).toHtmlEscaped());
    }
    setWindowTitle(current().windowTitle());
}

void Tabs::focusInEvent(QFocusEvent*) { current().setFocus(Qt::OtherFocusReason); }

// The last tab is asked last; a capture that the user keeps keeps the window.
void Tabs::closeEvent(QCloseEvent* event) {
    while (count() > 1)
        if (!closeTab(m_bar->currentIndex())) return event->ignore();
    if (!current().close()) return event->ignore();
    QWidget::closeEvent(event);
}

}  // namespace qps::gui
