// EvidenceDialog: what leaves for somebody else is chosen, looked at, and written in one go: report, packets, packets
// under pseudonyms. The preview and the files are made in threads of their own; Esc ends what goes on.
#pragma once

#include <gui/base/series_job.hpp>
#include <gui/export/evidence.hpp>

#include <QDialog>
#include <QTimer>
#include <vector>

class QCheckBox;
class QComboBox;
class QLabel;
class QLineEdit;
class QProgressBar;
class QPushButton;

namespace qps::gui {

class Selection;
class Session;
class Sheet;

class EvidenceDialog : public QDialog {
    Q_OBJECT

public:
    EvidenceDialog(Session& session, Selection& selection, transport::Comments comments, QWidget* parent);
    ~EvidenceDialog() override;

    void reject() override;  // while files are written: these end

private:
    void build();
    [[nodiscard]] QWidget* buildChoices();
    [[nodiscard]] QWidget* buildPreview();
    void fillScopes();
    void lookAgain();
    void look();
    void showPreview(const EvidencePreview& preview);
    void showLeaving();
    [[nodiscard]] EvidenceWish wish() const;
    void write();
    void wrote(const TaskOutcome& outcome);
    void tell(const QString& sentence);
    void updateButtons();

    Session& m_session;
    Selection& m_selection;
    EvidenceSource m_source;
    transport::Pseudonyms::Key m_key;
    std::vector<EvidenceScope> m_scopes;
    std::optional<EvidencePreview> m_preview;
    SeriesJob m_looking;
    Task m_task;
    QTimer m_due;

    QComboBox* m_scope;
    QCheckBox* m_report;
    QComboBox* m_reportNames;
    QCheckBox* m_slice;
    QCheckBox* m_anonymized;
    QComboBox* m_payload;
    QCheckBox* m_map;
    QLineEdit* m_folder;
    QLineEdit* m_name;
    Sheet* m_files;
    Sheet* m_hosts;
    Sheet* m_findings;
    QLabel* m_state;
    QProgressBar* m_progress;
    QPushButton* m_write = nullptr;
    QPushButton* m_close = nullptr;
};

}  // namespace qps::gui
