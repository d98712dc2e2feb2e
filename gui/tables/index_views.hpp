// The tables of what the index of the open capture has rows of: messages (SENDs, WRITEs, READs and ATOMICs, whole) and
// operations (what upper protocols asked for: commands, calls, requests).
#pragma once

#include <QWidget>

class QLabel;

namespace qps::gui {

class IndexModel;
class Session;
class Selection;

class IndexView : public QWidget {
    Q_OBJECT

public:
    // What differs between the two.
    struct Words {
        QString id;    // of its settings
        QString name;  // for a screen reader
        QString empty;
        QString limit;      // %1 of %2 rows are shown
        QStringList first;  // headings of the columns that are to be on screen whatever its width
        int bars;           // the column before which the time bars stand
    };

Q_SIGNALS:
    void viewRequested(const QString& id);

protected:
    // Takes the model.
    IndexView(Session& session, Selection& selection, IndexModel* model, const Words& words, QWidget* parent);

private:
    void showLimit();

    IndexModel* m_model;  // of the table
    QString m_limit;
    QLabel* m_bound;  // says that not all are shown, where it is so
};

class MessagesView : public IndexView {
    Q_OBJECT

public:
    MessagesView(Session& session, Selection& selection, QWidget* parent = nullptr);
};

class OperationsView : public IndexView {
    Q_OBJECT

public:
    OperationsView(Session& session, Selection& selection, QWidget* parent = nullptr);
};

}  // namespace qps::gui
