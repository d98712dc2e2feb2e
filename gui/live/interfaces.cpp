#include <gui/live/interfaces.hpp>
#include <gui/live/remote.hpp>

#include <QCoreApplication>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <utility>

namespace qps::gui {

namespace {

constexpr qsizetype kMostAddresses = 64;  // of one interface
constexpr int kNotFound = 127;            // of a shell that has no such program

Interface interfaceOf(const QJsonObject& object) {
    Interface found;
    found.name = object[QLatin1String("name")].toString();
    found.description = object[QLatin1String("description")].toString();
    found.up = object[QLatin1String("up")].toBool();
    found.loopback = object[QLatin1String("loopback")].toBool();
    for (const QJsonValue address : object[QLatin1String("addresses")].toArray())
        if (address.isString() && found.addresses.size() < kMostAddresses) found.addresses << address.toString();
    if (const int link = object[QLatin1String("link")].toInt(-1); link >= 0)
        found.link = static_cast<dissect::LinkType>(link);
    return found;
}

}  // namespace

InterfaceList parseInterfaces(const QByteArray& lines) {
    InterfaceList list;
    for (const QByteArray& line : lines.split('\n')) {
        const QJsonObject object = QJsonDocument::fromJson(line).object();
        const QString type = object[QLatin1String("type")].toString();
        if (type == QLatin1String("rights")) {
            list.mayCapture = object[QLatin1String("may_capture")].toBool();
            list.remedy = object[QLatin1String("remedy")].toString();
        } else if (type == QLatin1String("interface") && list.interfaces.size() < kMostInterfaces) {
            if (Interface found = interfaceOf(object); !found.name.isEmpty())
                list.interfaces.push_back(std::move(found));
        }
    }
    return list;
}

QString recorderProgram() {
    const QString here = QCoreApplication::applicationDirPath();
    for (const char* place : {"/qpscope-capture", "/../libexec/qpscope-capture"})
        if (const QFileInfo file(here + QLatin1String(place)); file.isFile() && file.isExecutable())
            return file.canonicalFilePath();
    return {};
}

QString noRecorder() {
    return QCoreApplication::translate("qps::gui", "qpscope-capture, which captures for this window, not found: "
                                                   "install it next to qpscope-gui or in libexec.");
}

InterfaceFinder::InterfaceFinder(QString program, QObject* parent) : QObject(parent), m_program(std::move(program)) {
    m_patience.setSingleShot(true);
    m_patience.setInterval(kListingPatience);
    connect(&m_process, &QProcess::readyReadStandardOutput, this, &InterfaceFinder::take);
    connect(&m_process, &QProcess::finished, this, &InterfaceFinder::conclude);
    connect(&m_process, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error != QProcess::FailedToStart) return;  // of all else finished() tells
        m_patience.stop();
        Q_EMIT failed(tr("Cannot start %1: %2.").arg(m_process.program(), m_process.errorString()));
    });
    connect(&m_patience, &QTimer::timeout, this, [this] {
        m_failure = tr("%1: no list of interfaces within %n s.", nullptr, kListingPatience / 1000).arg(asked());
        m_process.kill();
    });
}

InterfaceFinder::~InterfaceFinder() {
    m_process.disconnect(this);
    constexpr int kPatience = 500;  // ms
    m_process.kill();
    m_process.waitForFinished(kPatience);
}

void InterfaceFinder::find() {
    if (m_process.state() != QProcess::NotRunning) return;
    const RecorderCommand command = recorderCommand(m_program, m_host, {QStringLiteral("--list")});
    if (command.program.isEmpty()) {
        Q_EMIT failed(noRecorder());
        return;
    }
    m_lines.clear();
    m_failure.clear();
    m_patience.start();
    m_process.start(command.program, command.arguments, QIODevice::ReadOnly);
}

const QString& InterfaceFinder::asked() const { return m_host.isEmpty() ? m_program : m_host; }

void InterfaceFinder::setHost(const QString& host) {
    m_host = host;
    if (m_process.state() == QProcess::NotRunning) return;
    constexpr int kPatience = 500;  // ms
    const QSignalBlocker quiet(m_process);
    m_process.kill();
    m_process.waitForFinished(kPatience);
    m_patience.stop();
}

void InterfaceFinder::take() {
    m_lines += m_process.readAllStandardOutput();
    if (m_lines.size() <= kLongestListing) return;
    m_failure = tr("%1: list of interfaces too long.").arg(asked());
    m_process.kill();
}

void InterfaceFinder::conclude(int code, QProcess::ExitStatus status) {
    m_patience.stop();
    m_lines += m_process.readAllStandardOutput();
    if (m_failure.isEmpty() && (status != QProcess::NormalExit || code != 0)) {
        const QString said = QString::fromUtf8(m_process.readAllStandardError().left(1000)).trimmed();
        if (!m_host.isEmpty() && code == kNotFound)
            m_failure = tr("%1 has no qpscope-capture: install it there, on PATH or in /usr/libexec.").arg(m_host);
        else m_failure = said.isEmpty() ? tr("%1: exited without a list of interfaces.").arg(asked()) : said;
    }
    if (!m_failure.isEmpty()) Q_EMIT failed(m_failure);
    else Q_EMIT found(parseInterfaces(m_lines));
}

}  // namespace qps::gui
