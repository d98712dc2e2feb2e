// Session: the capture that is open. Reads and analyses on a worker; the views hear of rows, timelines and progress by signals,
// all of them in the thread of the GUI, and read the results without waiting.
#pragma once

#include <transport-replay/index/capture_index.hpp>
#include <transport-replay/timeline.hpp>

#include <QObject>
#include <QString>
#include <QStringList>
#include <cstdint>
#include <memory>
#include <optional>

namespace qps::gui {

class Session : public QObject {
    Q_OBJECT

public:
    enum class State { Empty, Reading, Capturing, Done, Stopped };  // Stopped: the user cancelled, what was read is shown

    explicit Session(QObject* parent = nullptr);
    ~Session() override;

    // Several files are one capture, in this order. Whatever was open is closed.
    void open(const QStringList& files);
    void reload();
    void close();
    // Ends reading or capturing; what is there stays.
    void stop();

    [[nodiscard]] State state() const;
    [[nodiscard]] bool busy() const { return state() == State::Reading || state() == State::Capturing; }
    [[nodiscard]] QStringList files() const;
    // Never null; of an empty session they are empty.
    [[nodiscard]] std::shared_ptr<const transport::CaptureIndex> index() const;
    [[nodiscard]] std::shared_ptr<const transport::Timeline> timeline() const;
    // Of the capture: rows that views may show.
    [[nodiscard]] std::uint64_t packets() const;
    // What part of the files was read, 0 to 1; nothing where nobody knows how much there is.
    [[nodiscard]] std::optional<double> progress() const;
    // What could not be read, and from where on: a sentence for each file; empty where all was read.
    [[nodiscard]] QStringList problems() const;

Q_SIGNALS:
    void opened();           // another capture, or none: everything known of the one before is void
    void rowsAdded();        // packets() has grown; at most 20 times a second
    void timelineChanged();  // a newer timeline(); once a second or less while reading, and when all was read
    void stateChanged();
    void progressChanged();
};

}  // namespace qps::gui
