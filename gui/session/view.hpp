// View: what the window knows of each of its views, beside the widget that it is. A view takes what it can and leaves
// the rest as it is here: nothing.
#pragma once

#include <QStringList>
#include <vector>

class QSettings;

namespace qps::transport {
struct FrameRange;
}  // namespace qps::transport

namespace qps::gui {

enum class ActionId;
struct ListLook;

class View {
public:
    View() = default;
    virtual ~View();
    View(const View&) = delete;
    View& operator=(const View&) = delete;

    // Whether it carries out an action while it is shown that not every view has.
    [[nodiscard]] virtual bool can(ActionId) const { return false; }
    // An action whose row names this view, or one that it can.
    virtual void carryOut(ActionId) {}
    // Files, folders, or a text that a user chose or dropped for it.
    virtual void take(const QStringList&) {}
    virtual void takeText(const QString&) {}
    virtual void setRecentFiles(const QStringList&) {}  // the last one first

    // Something goes on that the status line shows, and Esc ends.
    [[nodiscard]] virtual bool working() const { return false; }
    virtual void stopWork() {}

    virtual void loadFrom(const QSettings&) {}
    virtual void saveTo(QSettings&) const {}
    // How packets are listed: false where it lists none.
    [[nodiscard]] virtual bool listLook(ListLook&) const { return false; }
    virtual void takeListLook(const ListLook&) {}
    [[nodiscard]] virtual std::vector<transport::FrameRange> selectedFrames() const;
};

}  // namespace qps::gui
