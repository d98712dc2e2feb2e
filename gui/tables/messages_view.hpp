// The messages of the capture that is open: SENDs, WRITEs, READs and ATOMICs, whole.
#pragma once

#include <gui/tables/message_model.hpp>

#include <QWidget>

class QLabel;

namespace qps::gui {

class Session;
class Selection;

class MessagesView : public QWidget {
    Q_OBJECT

public:
    MessagesView(Session& session, Selection& selection, QWidget* parent = nullptr);

Q_SIGNALS:
    void viewRequested(const QString& id);

private:
    void tellLimit(const Session& session);

    MessageModel* m_model;      // of the table
    QLabel* m_bound = nullptr;  // says that not all are shown, where it is so
};

}  // namespace qps::gui
