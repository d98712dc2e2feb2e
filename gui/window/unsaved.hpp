// Unsaved: what would be lost if the capture were closed now.
#pragma once

#include <gui/export/packet_export.hpp>

#include <QObject>
#include <QString>

namespace qps::gui {

struct Unsaved {
    bool capture = false;   // what was captured here lies in a temporary file alone
    bool comments = false;  // written or changed
    bool marks = false;     // they are kept in no file, but the marked packets can be

    [[nodiscard]] bool none() const { return !capture && !comments && !marks; }
    [[nodiscard]] bool onlyMarks() const { return marks && !capture && !comments; }
    void save(Packets packets, bool withComments) {
        if (packets == Packets::Marked) marks = false;
        if (packets != Packets::All) return;
        capture = false;
        if (withComments) comments = false;
    }
    // For a dialog.
    [[nodiscard]] QString question() const {
        if (onlyMarks()) return QObject::tr("The marks will be lost. Export the marked packets?");
        const QString lost = capture ? QObject::tr("captured packets") : QObject::tr("packet comments");
        if (marks)
            return QObject::tr("The %1 and the marks have not been saved. Save the packets with their comments?")
                .arg(lost);
        return capture ? QObject::tr("The captured packets have not been saved. Save them?")
                       : QObject::tr("The packet comments have not been saved. Save the packets with them?");
    }
};

}  // namespace qps::gui
