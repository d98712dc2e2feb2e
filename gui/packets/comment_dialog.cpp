#include <gui/packets/comment_dialog.hpp>

#include <QDialog>
#include <QDialogButtonBox>
#include <QKeyEvent>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QVBoxLayout>

namespace qps::gui {

namespace {

class CommentText : public QPlainTextEdit {
public:
    CommentText(const QString& text, QDialog& dialog) : QPlainTextEdit(text), m_dialog(dialog) {}

protected:
    void keyPressEvent(QKeyEvent* event) override {
        const bool enter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
        if (enter && event->modifiers().testFlag(Qt::ControlModifier)) m_dialog.accept();
        else QPlainTextEdit::keyPressEvent(event);
    }

private:
    QDialog& m_dialog;
};

}  // namespace

std::optional<QString> askComment(std::uint64_t packet, const QString& before, QWidget* parent) {
    QDialog dialog(parent);
    dialog.setWindowTitle(QObject::tr("Packet comment"));
    auto* text = new CommentText(before, dialog);
    text->setTabChangesFocus(true);
    text->selectAll();
    auto* label = new QLabel(QObject::tr("&Comment of packet %1:").arg(packet));
    label->setBuddy(text);
    auto* hint = new QLabel(QObject::tr("Enter begins a new line, Ctrl+Enter is OK."));
    hint->setForegroundRole(QPalette::PlaceholderText);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
    buttons->button(QDialogButtonBox::Ok)->setToolTip(QObject::tr("Keep the comment (Ctrl+Enter)"));
    auto* column = new QVBoxLayout(&dialog);
    for (QWidget* each : {static_cast<QWidget*>(label), static_cast<QWidget*>(text), static_cast<QWidget*>(hint)})
        column->addWidget(each);
    column->addWidget(buttons);
    QObject::connect(buttons, &QDialogButtonBox::accepted, &dialog, &QDialog::accept);
    QObject::connect(buttons, &QDialogButtonBox::rejected, &dialog, &QDialog::reject);
    const QFontMetrics metrics = dialog.fontMetrics();
    dialog.resize(metrics.averageCharWidth() * 64, metrics.height() * 14);
    text->setFocus();
    if (dialog.exec() != QDialog::Accepted || text->toPlainText() == before) return std::nullopt;
    return text->toPlainText();
}

}  // namespace qps::gui
