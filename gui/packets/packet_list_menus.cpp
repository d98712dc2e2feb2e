// Menus of rows and of the header.
#include <gui/packets/comment_dialog.hpp>
#include <gui/packets/filter_offers.hpp>
#include <gui/packets/packet_list.hpp>

#include <QContextMenuEvent>
#include <QHeaderView>
#include <QInputDialog>
#include <QMenu>
#include <algorithm>
#include <array>
#include <utility>

namespace qps::gui {

void PacketList::contextMenuEvent(QContextMenuEvent* event) {
    const QPoint at = viewport()->mapFromGlobal(event->globalPos());
    if (m_rows == nullptr || !rowAt(at.y())) return;
    QMenu menu(this);
    fillRowMenu(menu, m_header->logicalIndexAt(at.x()));
    menu.exec(event->globalPos());
}

void PacketList::fillRowMenu(QMenu& menu, int column) {
    if (m_rows == nullptr || !m_current) return;
    menu.addAction(tr("&Mark/unmark packet"), this, &PacketList::toggleMark);
    menu.addAction(tr("&Ignore/unignore packet"), this, &PacketList::toggleIgnore);
    menu.addAction(tr("Set/unset &time reference"), this, &PacketList::toggleTimeReference);
    menu.addAction(tr("Packet &comment..."), this, &PacketList::editComment);
    menu.addSeparator();
    fillFilterMenu(menu, column);
    menu.addSeparator();
    menu.addAction(tr("Co&rresponding packet"), this, &PacketList::goToCorresponding);
    menu.addAction(tr("Show ladder"), this, [this] { Q_EMIT viewRequested(QStringLiteral("ladder")); });
    menu.addSeparator();
    QMenu* copied = menu.addMenu(tr("Cop&y"));
    copied->addAction(tr("As &text"), this, [this] { copy(CopyForm::Text); });
    copied->addAction(tr("As &CSV"), this, [this] { copy(CopyForm::Csv); });
    menu.addAction(tr("Show in new &window"), this, &PacketList::packetOpened);
}

void PacketList::fillFilterMenu(QMenu& menu, int column) {
    const dissect::Packet* packet = m_rows->read(*m_current);
    const bool known = packet != nullptr && column >= 0 && std::cmp_less(column, columns().size());
    const QString offered = known ? cellFilter(columns()[static_cast<std::size_t>(column)], *packet) : QString();
    addFilterOffers(menu, m_presentFilter, offered,
                    {[this](const QString& filter) { Q_EMIT filterWanted(filter); },
                     [this](const QString& filter) { Q_EMIT filterPrepared(filter); }});
    const auto offer = [&](const QString& title, const QString& filter) {
        menu.addAction(title, this, [this, filter] { Q_EMIT filterWanted(filter); })->setEnabled(!filter.isEmpty());
    };
    offer(tr("Co&nnection filter"), conversationFilter());
    offer(tr("&Follow message"), messageFilter());
    menu.addAction(tr("Colo&ur connection"), this, &PacketList::colourConversation)
        ->setEnabled(!conversationFilter().isEmpty());
}

// Twice takes the colour away.
void PacketList::colourConversation() {
    constexpr std::array kInks{Ink::Request, Ink::Acknowledgment, Ink::Response, Ink::Pause, Ink::Notification};
    const QString filter = conversationFilter();
    if (filter.isEmpty()) return;
    std::vector<RowRule> all = rules().rules();
    if (std::erase_if(all, [&](const RowRule& rule) { return rule.filter == filter; }) == 0) {
        const auto coloured = static_cast<std::size_t>(std::ranges::count_if(
            all, [](const RowRule& rule) { return rule.filter.startsWith(QStringLiteral("rdma.connection == ")); }));
        // Behind the rules for what went wrong, which the eye must still find.
        all.push_back({tr("Connection: %1").arg(filter), filter, kInks[coloured % kInks.size()], true, true});
    }
    setRules(RowRules(std::move(all)));
}

void PacketList::fillTimeMenu(QMenu& menu) {
    struct Choice {
        TimeFormat format;
        QString title;
    };
    const std::array choices{
        Choice{TimeFormat::SinceFirst, tr("Since first packet or time reference")},
        Choice{TimeFormat::SinceFirstShown, tr("Since first displayed packet or time reference")},
        Choice{TimeFormat::SincePreviousShown, tr("Since previous displayed packet")},
        Choice{TimeFormat::Utc, tr("Time of day (UTC)")},
        Choice{TimeFormat::Local, tr("Time of day (local time)")},
    };
    for (const Choice& choice : choices) {
        QAction* action = menu.addAction(choice.title, this, [this, format = choice.format] { setTimeFormat(format); });
        action->setCheckable(true);
        action->setChecked(timeFormat() == choice.format);
    }
}

void PacketList::headerMenu(const QPoint& at) {
    QMenu menu(this);
    const int column = m_header->logicalIndexAt(at);
    const bool known = column >= 0 && std::cmp_less(column, columns().size());
    const auto change = [this, column](auto&& how) {
        return [this, column, how] {
            const int count = m_header->count();
            if (column >= count) return;
            std::vector<PacketColumn> changed = restoredColumns(saveColumns());  // in the order of the screen
            const auto place = static_cast<std::size_t>(m_header->visualIndex(column));
            if (place >= changed.size()) return;
            how(changed, place);
            setColumns(std::move(changed));
        };
    };
    if (known) {
        const bool right = columns()[static_cast<std::size_t>(column)].right;
        menu.addAction(right ? tr("Align &left") : tr("Align &right"), this,
                       change([](std::vector<PacketColumn>& all, std::size_t i) { all[i].right = !all[i].right; }));
        menu.addAction(tr("Re&name..."), this, [this, column] { renameColumn(column); });
        menu.addAction(tr("&Hide"), this,
                       change([](std::vector<PacketColumn>& all, std::size_t i) { all[i].hidden = true; }))
            ->setEnabled(m_header->count() - m_header->hiddenSectionCount() > 1);
        menu.addAction(tr("Reset &width"), this,
                       change([](std::vector<PacketColumn>& all, std::size_t i) { all[i].width = 0; }));
        menu.addAction(tr("R&emove"), this, change([](std::vector<PacketColumn>& all, std::size_t i) {
                           all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
                       }))
            ->setEnabled(m_header->count() > 1);
        if (columns()[static_cast<std::size_t>(column)].kind == ColumnKind::Time)
            fillTimeMenu(*menu.addMenu(tr("&Time format")));
        menu.addSeparator();
    }
    QMenu* shown = menu.addMenu(tr("&Columns"));
    for (int i = 0; std::cmp_less(i, columns().size()); ++i) {
        QAction* action = shown->addAction(columns()[static_cast<std::size_t>(i)].title, this, [this, i](bool on) {
            m_texts.columns()[static_cast<std::size_t>(i)].hidden = !on;
            takeWidths();
        });
        action->setCheckable(true);
        action->setChecked(!m_header->isSectionHidden(i));
    }
    menu.addAction(tr("&Add field as column..."), this, [this] { Q_EMIT fieldColumnWanted(); });
    menu.addAction(tr("Reset c&olumns"), this, [this] { setColumns(standardColumns()); });
    menu.exec(m_header->mapToGlobal(at));
}

void PacketList::renameColumn(int column) {
    constexpr qsizetype kLongest = 60;
    if (column < 0 || std::cmp_greater_equal(column, columns().size())) return;
    const auto place = static_cast<std::size_t>(column);
    bool accepted = false;
    const QString title = QInputDialog::getText(this, tr("Rename column"), tr("Title:"), QLineEdit::Normal,
                                                columns()[place].title, &accepted);
    if (!accepted || title.trimmed().isEmpty()) return;
    m_texts.columns()[place].title = title.trimmed().left(kLongest).remove(QLatin1Char('|'));
    setColumns(restoredColumns(saveColumns()));
}

void PacketList::editComment() {
    if (m_rows == nullptr || !m_current) return;
    const dissect::Packet* packet = m_rows->read(*m_current);
    const QString before =
        packet != nullptr ? m_notes.comments.of(*packet) : m_notes.comments.written(*m_current).value_or(QString());
    if (const auto text = askComment(std::to_underlying(*m_current), before, this))
        static_cast<void>(setComment(*m_current, *text));
}

}  // namespace qps::gui
