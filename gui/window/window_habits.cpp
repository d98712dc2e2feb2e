// Preferences, profiles and the clocks of the files that are open.
#include <gui/filter/filter_bar.hpp>
#include <gui/packets/list_look.hpp>
#include <gui/preferences/preferences_dialog.hpp>
#include <gui/preferences/profile.hpp>
#include <gui/session/view.hpp>
#include <gui/window/clocks_dialog.hpp>
#include <gui/window/main_window.hpp>
#include <gui/window/status_line.hpp>

#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QMessageBox>
#include <QSaveFile>
#include <QSettings>
#include <QTimer>

namespace qps::gui {

namespace {

const QString kFolder = QStringLiteral("files/profiles");
const QString kEnding = QStringLiteral(".qpscope-profile");

QString profileFilter() { return MainWindow::tr("Profiles of qpscope (*%1);;All files (*)").arg(kEnding); }

}  // namespace

// What is not to be had is told when the window is there.
void MainWindow::apply(const Reading& reading) {
    m_session.setReading(reading);
    ReadNames read = readNames(savedPreferences());
    m_session.setNames(std::move(read.names));
    if (!read.problems.isEmpty())
        QTimer::singleShot(0, this,
                           [this, problems = read.problems] { m_status->say(problems.join(QLatin1Char(' '))); });
}

void MainWindow::takePreferences() { apply(savedPreferences().reading); }

void MainWindow::editPreferences() {
    Preferences before = savedPreferences();
    ListLook look;
    if (viewOf("packets").listLook(look)) before.time = look.time;
    const auto wanted = askPreferences(before, this);
    if (!wanted || *wanted == before) return;
    save(*wanted);
    look.time = wanted->time;
    viewOf("packets").takeListLook(look);
    apply(wanted->reading);
    Q_EMIT preferencesChanged();
}

void MainWindow::exportProfile() {
    QSettings settings;
    QFileDialog dialog(this, tr("Export profile"), settings.value(kFolder).toString(), profileFilter());
    dialog.setAcceptMode(QFileDialog::AcceptSave);
    dialog.setDefaultSuffix(kEnding.mid(1));
    if (dialog.exec() != QDialog::Accepted || dialog.selectedFiles().isEmpty()) return;
    const QString path = dialog.selectedFiles().front();
    settings.setValue(kFolder, QFileInfo(path).absolutePath());
    ListLook look;
    static_cast<void>(viewOf("packets").listLook(look));
    const QByteArray text = written({.reading = m_session.reading(),
                                     .time = look.time,
                                     .columns = look.columns,
                                     .rules = look.rules,
                                     .filters = m_filterBar->saved()});
    QSaveFile file(path);
    if (file.open(QIODevice::WriteOnly) && file.write(text) == text.size() && file.commit())
        return m_status->say(tr("Profile written to %1").arg(path));
    QMessageBox::warning(this, tr("Export profile"), tr("%1: cannot write: %2.").arg(path, file.errorString()));
}

void MainWindow::importProfile() {
    QSettings settings;
    const QString path =
        QFileDialog::getOpenFileName(this, tr("Import profile"), settings.value(kFolder).toString(), profileFilter());
    if (path.isEmpty()) return;
    settings.setValue(kFolder, QFileInfo(path).absolutePath());
    QFile file(path);
    const auto refuse = [&](const QString& why) {
        QMessageBox::warning(this, tr("Import profile"), tr("%1: %2.").arg(path, why));
    };
    if (!file.open(QIODevice::ReadOnly)) return refuse(tr("cannot read: %1").arg(file.errorString()));
    const auto profile = readProfile(file.read(kMostProfile + 1));
    if (!profile) return refuse(profile.error());
    viewOf("packets").takeListLook({profile->time, profile->columns, profile->rules});
    m_filterBar->setSaved(profile->filters);
    Q_EMIT m_filterBar->savedChanged();
    Preferences preferences = savedPreferences();
    preferences.reading = profile->reading;
    save(preferences);
    apply(preferences.reading);
    Q_EMIT preferencesChanged();
    m_status->say(tr("Profile taken over from %1").arg(path));
}

void MainWindow::shiftTimes() {
    if (const auto clocks = askClocks(m_session.files(), m_session.clocks(), this)) m_session.setClocks(*clocks);
}

}  // namespace qps::gui
