#include <gui/packets/filter_offers.hpp>

#include <QCoreApplication>
#include <QMenu>
#include <array>

namespace qps::gui {

namespace {

struct Offer {
    Joining joining;
    const char* title;
};
constexpr std::array kOffers{
    Offer{Joining::Only, "&Selected"},
    Offer{Joining::Not, "&Not selected"},
    Offer{Joining::And, "... &and selected"},
    Offer{Joining::Or, "... &or selected"},
    Offer{Joining::AndNot, "... and n&ot selected"},
    Offer{Joining::OrNot, "... or no&t selected"},
};

void addOffers(QMenu& menu, const QString& title, const QString& present, const QString& offered,
               const std::function<void(const QString&)>& use) {
    QMenu* offers = menu.addMenu(title);
    offers->setEnabled(!offered.isEmpty());
    for (const Offer& offer : kOffers) {
        const QString filter = joinedFilter(present, offered, offer.joining);
        QAction* action = offers->addAction(QCoreApplication::translate("FilterOffers", offer.title), offers,
                                            [use, filter] { use(filter); });
        action->setToolTip(filter);
        action->setEnabled(offer.joining <= Joining::Not || !present.trimmed().isEmpty());
    }
    offers->setToolTipsVisible(true);
}

}  // namespace

QString joinedFilter(const QString& present, const QString& offered, Joining joining) {
    const bool denied = joining == Joining::Not || joining == Joining::AndNot || joining == Joining::OrNot;
    QString part = denied ? QStringLiteral("not (") + offered + QLatin1Char(')') : offered;
    const bool alone = present.trimmed().isEmpty() || joining == Joining::Only || joining == Joining::Not;
    if (alone) return part;
    const bool both = joining == Joining::And || joining == Joining::AndNot;
    // Not arg(): filters may hold a % of their own.
    return QLatin1Char('(') + present + (both ? QStringLiteral(") and (") : QStringLiteral(") or (")) + part +
           QLatin1Char(')');
}

void addFilterOffers(QMenu& menu, const QString& present, const QString& offered, const FilterTakers& use) {
    addOffers(menu, QCoreApplication::translate("FilterOffers", "&Apply as filter"), present, offered, use.apply);
    addOffers(menu, QCoreApplication::translate("FilterOffers", "&Prepare as filter"), present, offered, use.prepare);
}

}  // namespace qps::gui
