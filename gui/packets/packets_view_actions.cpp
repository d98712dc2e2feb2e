// What actions of the window do in the packet list, and what it keeps of how it looks.
#include <gui/packets/list_look.hpp>
#include <gui/packets/packets_view.hpp>
#include <gui/session/actions.hpp>
#include <gui/session/selection.hpp>
#include <transport-replay/model/timeline.hpp>

#include <QSettings>

namespace qps::gui {

namespace {

const QString kState = QStringLiteral("packets/state");
const QString kRules = QStringLiteral("packets/rules");

}  // namespace

void PacketsView::carryOut(ActionId id) {
    using enum ActionId;
    if (actOnList(id)) return;
    switch (id) {
        case Find: Q_EMIT viewRequested(QStringLiteral("packets")); return m_find->open();
        case FindNext: return m_find->findNext();
        case FindPrevious: return m_find->findPrevious();
        case Copy: return copy();
        case FieldAsColumn: return fieldAsColumn();
        case FollowMessage: return followMessage();
        case FollowConnection:
        case ConnectionFilter: return followConversation();
        case ColoringRules: return editRules();
        default: return;
    }
}

bool PacketsView::actOnList(ActionId id) {
    using enum ActionId;
    PacketList& packets = *m_list;
    switch (id) {
        case Mark: packets.toggleMark(); return true;
        case MarkShown: packets.markAllShown(); return true;
        case NextMark: packets.nextMark(); return true;
        case PreviousMark: packets.previousMark(); return true;
        case Ignore: packets.toggleIgnore(); return true;
        case IgnoreShown: packets.ignoreAllShown(); return true;
        case UnignoreAll: packets.unignoreAll(); return true;
        case TimeReference: packets.toggleTimeReference(); return true;
        case NextTimeReference: packets.nextTimeReference(); return true;
        case PreviousTimeReference: packets.previousTimeReference(); return true;
        case Comment: packets.editComment(); return true;
        case FirstPacket: packets.firstPacket(); return true;
        case LastPacket: packets.lastPacket(); return true;
        case NextPacket: packets.nextPacket(); return true;
        case PreviousPacket: packets.previousPacket(); return true;
        case NextInConnection: packets.nextInConversation(); return true;
        case PreviousInConnection: packets.previousInConversation(); return true;
        case Corresponding: packets.goToCorresponding(); return true;
        case FitColumns: packets.fitColumns(); return true;
        default: return false;
    }
}

void PacketsView::loadFrom(const QSettings& settings) {
    restoreState(settings.value(kState).toByteArray());
    if (settings.contains(kRules)) m_list->setRules(RowRules(restoredRules(settings.value(kRules).toStringList())));
}

void PacketsView::saveTo(QSettings& settings) const {
    settings.setValue(kState, saveState());
    const QStringList rules = savedRules(m_list->rules().rules());
    if (rules != savedRules(standardRules())) settings.setValue(kRules, rules);
    else settings.remove(kRules);  // who changes nothing gets those of later versions
}

bool PacketsView::listLook(ListLook& look) const {
    look = {m_list->timeFormat(), m_list->saveColumns(), savedRules(m_list->rules().rules())};
    return true;
}

void PacketsView::takeListLook(const ListLook& look) {
    m_list->restoreColumns(look.columns);
    m_list->setRules(RowRules(restoredRules(look.rules)));
    m_list->setTimeFormat(look.time);
}

std::vector<transport::FrameRange> PacketsView::selectedFrames() const { return m_list->selectedFrames(); }

}  // namespace qps::gui
