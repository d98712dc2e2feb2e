// For journeys: the whole window on a real screen, used as a person does (keys, clicks, the clipboard), read as a
// screen reader does (accessible names and cells), and compared with what the command line prints of the same capture.
#pragma once

#include <tests/gui/window.hpp>

#include <QAbstractButton>
#include <QAccessible>
#include <QClipboard>
#include <QFileDialog>
#include <QGuiApplication>
#include <QHash>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLineEdit>
#include <QProcess>
#include <QTableView>

namespace qps::gui::tests {

[[nodiscard]] inline QString words(const char* latin) { return QString::fromLatin1(latin); }

using CommandRow = QHash<QString, QString>;

// Rows of a command by the names of its columns. It must end with one of the codes of a success.
inline std::vector<CommandRow> commandRows(const QStringList& arguments) {
    QProcess program;
    program.start(qEnvironmentVariable("QPSCOPE"),
                  QStringList(arguments) << QStringLiteral("-q") << QStringLiteral("-f") << QStringLiteral("tsv"));
    REQUIRE(program.waitForFinished(60'000));
    INFO(program.readAllStandardError().toStdString());
    REQUIRE(program.exitStatus() == QProcess::NormalExit);
    REQUIRE(program.exitCode() <= 1);
    QStringList lines = QString::fromUtf8(program.readAllStandardOutput()).split(QLatin1Char('\n'));
    REQUIRE(lines.size() > 1);
    const QStringList names = lines.takeFirst().split(QLatin1Char('\t'));
    std::vector<CommandRow> rows;
    for (const QString& line : lines) {
        if (line.isEmpty()) continue;
        const QStringList cells = line.split(QLatin1Char('\t'));
        REQUIRE(cells.size() == names.size());
        CommandRow row;
        for (qsizetype i = 0; i < names.size(); ++i) row[names[i]] = cells[i];
        rows.push_back(row);
    }
    return rows;
}

// What a command prints as JSON.
inline QJsonObject commandJson(const QStringList& arguments) {
    QProcess program;
    program.start(qEnvironmentVariable("QPSCOPE"),
                  QStringList(arguments) << QStringLiteral("-q") << QStringLiteral("-f") << QStringLiteral("json"));
    REQUIRE(program.waitForFinished(60'000));
    REQUIRE(program.exitStatus() == QProcess::NormalExit);
    REQUIRE(program.exitCode() <= 1);
    const QJsonDocument document = QJsonDocument::fromJson(program.readAllStandardOutput());
    REQUIRE(document.isObject());
    return document.object();
}

// A table as a screen reader finds it: by its name, its cells by the words over them. The cells are read from what the
// view shows: Qt's own interface of a table keeps cells that were read, wherever their rows have gone since.
class HeardTable {
public:
    explicit HeardTable(QTableView& table) : m_table(table) {}
    [[nodiscard]] int rows() const { return m_table.model()->rowCount(); }
    [[nodiscard]] QString cell(int row, const QString& heading) const {
        const QAbstractItemModel& model = *m_table.model();
        for (int column = 0; column < model.columnCount(); ++column)
            if (model.headerData(column, Qt::Horizontal).toString() == heading)
                return model.index(row, column).data(Qt::AccessibleTextRole).toString();
        FAIL("no column is called " << heading.toStdString());
        return {};
    }
    [[nodiscard]] QStringList column(const QString& heading) const {
        QStringList all;
        for (int row = 0; row < rows(); ++row) all << cell(row, heading);
        return all;
    }
    [[nodiscard]] int current() const { return m_table.currentIndex().row(); }
    void click(int row, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
        const QModelIndex index = m_table.model()->index(row, 0);
        m_table.scrollTo(index);
        QTest::mouseClick(m_table.viewport(), Qt::LeftButton, modifiers, m_table.visualRect(index).center());
        QApplication::processEvents();
    }

private:
    QTableView& m_table;
};

struct Journey : OpenWindow {
    explicit Journey(const std::vector<std::string>& samples) {
        for (const std::string& sample : samples) files << QString::fromStdString(sampleFile(sample));
        open(files);
    }
    // A command on these captures.
    [[nodiscard]] std::vector<CommandRow> command(const QStringList& arguments) const {
        return commandRows(arguments + files);
    }

    // By a click in the sidebar.
    void goTo(const char* title) {
        auto& views = named<QListWidget>("Views");
        for (int row = 0; row < views.count(); ++row) {
            if (views.item(row)->text() != QLatin1String(title)) continue;
            views.scrollToItem(views.item(row));
            QTest::mouseClick(views.viewport(), Qt::LeftButton, Qt::NoModifier,
                              views.visualItemRect(views.item(row)).center());
            return QApplication::processEvents();
        }
        FAIL("no view is called " << title);
    }
    HeardTable table(const char* name) { return HeardTable(named<QTableView>(name)); }
    void press(const char* button) {
        for (QAbstractButton* each : window.findChildren<QAbstractButton*>()) {
            if (QString(each->text()).remove(QLatin1Char('&')) != QLatin1String(button) || !each->isVisible()) continue;
            REQUIRE(each->isEnabled());
            QTest::mouseClick(each, Qt::LeftButton);
            QApplication::processEvents();
            return;
        }
        FAIL("no button is called " << button);
    }
    // Answers the file dialog that `opens` brings up.
    template <class Opens> void chooseFile(const QString& path, Opens opens) {
        const Answering answering([&](QWidget& dialog) {
            auto* line = dialog.findChild<QLineEdit*>();
            REQUIRE(line != nullptr);
            // The dialog drops what was selected before only for who types, and that is where the focus is.
            line->setFocus();
            CHECK(soon([&] { return line->hasFocus(); }));
            line->setText(path);
            QTest::keyClick(line, Qt::Key_Return);
        });
        opens();
        CHECK(answering.dialogs() == 1);
        QApplication::processEvents();
    }
    static void copy(const QString& text) { QGuiApplication::clipboard()->setText(text); }
    // What the window shows is due soon.
    template <class Done> [[nodiscard]] static bool soon(Done done) { return QTest::qWaitFor(done, kPatience); }

    QStringList files;
};

}  // namespace qps::gui::tests
