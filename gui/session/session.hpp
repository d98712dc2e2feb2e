// Session: the capture that is open. Reads and analyses on a worker; the views hear of rows, timelines and progress by
// signals, all of them in the thread of the GUI, and read the results without waiting.
#pragma once

#include <transport-replay/index/capture_index.hpp>
#include <transport-replay/model/address.hpp>
#include <transport-replay/model/capture_traits.hpp>
#include <transport-replay/model/memory_budget.hpp>
#include <transport-replay/ulp/ulp_hints.hpp>

#include <QObject>
#include <QString>
#include <QStringList>
#include <QTimer>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <vector>

namespace qps::transport {
struct Indexing;
struct Timeline;
}  // namespace qps::transport

namespace qps::gui {

// What the user says of all captures.
struct Reading {
    transport::IcrcPolicy icrc = transport::IcrcPolicy::automatic;
    dissect::BitsPerSecond linkSpeed{};                // 0: as the files say
    std::vector<std::uint16_t> rocePorts{};            // of UDP, beside 4791: of all captures of the process
    std::optional<std::uint8_t> uetProtocol{};         // of IP: likewise
    std::vector<transport::Address> unorderedHosts{};  // whose NICs accept packets in any order
    [[nodiscard]] bool operator==(const Reading&) const = default;
};

// And of the clocks of one: whether packets of all files stand in the order of their times, and what is added to those
// of each file.
struct Clocks {
    bool byTime = false;
    std::vector<dissect::Duration> offsets{};  // by file; those that are not there are 0
    [[nodiscard]] bool operator==(const Clocks&) const = default;
};

class Names;

class Session : public QObject {
    Q_OBJECT

public:
    enum class State {
        Empty,
        Reading,
        Capturing,
        Done,
        Stopped
    };  // Stopped: the user cancelled, what was read is shown

    // `jobs`: threads that decode; 0: one for each processor, at most eight.
    explicit Session(std::size_t jobs = 0, QObject* parent = nullptr);
    // What captures that are opened from now on may take: rows, their analysis, and what is known so far.
    void setMemory(const transport::MemoryBudget& memory) { m_memory = memory; }
    ~Session() override;

    // What is open is read again with it, where that can be done.
    void setReading(const Reading& reading);
    [[nodiscard]] const Reading& reading() const { return m_reading; }
    // What views call hosts and queue pairs; nullptr: by their addresses and numbers.
    void setNames(std::shared_ptr<const Names> names);
    [[nodiscard]] std::shared_ptr<const Names> names() const { return m_names; }
    // Several files are one capture, in the order of their first packets. Whatever was open is closed.
    void open(const QStringList& files, const Clocks& clocks = {});
    [[nodiscard]] const Clocks& clocks() const { return m_clocks; }
    // The files are read again.
    void setClocks(const Clocks& clocks);
    // Why none of these files can be opened, a sentence for each; empty where one can, or where asking would take what
    // a pipe brings.
    [[nodiscard]] static QStringList whyNotOpened(const QStringList& files);
    // For dialogs that choose captures.
    [[nodiscard]] static QString fileFilter();
    // A capture that arrives on a pipe, as long as somebody writes there; `title` is what users see of it.
    void capture(const QString& pipe, const QString& title);
    // The files are read again, where they are still those that are open: else nothing changes, and readAgainRefused()
    // says why. So it is with all that reads them again.
    void reload();
    // That connection speaks that protocol, or nothing we know: the files are read and analysed again with it, and with
    // all that was said so of this capture before.
    void decodeAs(transport::ConnectionId connection, transport::UlpProtocol protocol);
    // Whether there are files that can be read again.
    [[nodiscard]] bool canDecodeAs() const;
    void close();
    // Ends reading or capturing; what is there stays. Of a capture the recorder has to end it: this waits for nobody.
    void stop();

    [[nodiscard]] State state() const { return m_state; }
    [[nodiscard]] bool busy() const { return m_state == State::Reading || m_state == State::Capturing; }
    // Whether it was captured here: it lies in no file unless somebody saves it.
    [[nodiscard]] bool isLive() const { return m_live; }
    [[nodiscard]] QStringList files() const { return m_files; }
    [[nodiscard]] QString title() const { return m_title; }
    // While opened() is told: whether the same files are read again, whose packets keep their numbers.
    [[nodiscard]] bool isReadAgain() const { return m_readAgain; }
    // Never null; of an empty session they are empty.
    [[nodiscard]] std::shared_ptr<const transport::CaptureIndex> index() const { return m_index; }
    [[nodiscard]] std::shared_ptr<const transport::Timeline> timeline() const { return m_timeline; }
    // What the user says that connections speak, and what a capture may take.
    [[nodiscard]] const transport::UlpHints& hints() const { return m_hints; }
    [[nodiscard]] const transport::MemoryBudget& memory() const { return m_memory; }
    // Rows that views may show.
    [[nodiscard]] std::uint64_t packets() const { return m_packets; }
    // What part of the files was read, 0 to 1; nothing where nobody knows how much there is.
    [[nodiscard]] std::optional<double> progress() const;
    // What could not be read, and from where on: a sentence for each file; empty where all was read. More come, with
    // problemsChanged(), where a file is truncated that was read: its packets are not all there to be looked at.
    [[nodiscard]] QStringList problems() const { return m_problems; }
    // Packets that were analysed and are not in index(): it was full.
    [[nodiscard]] std::uint64_t leftOut() const { return m_leftOut; }
    // Whether some of them are of the input, so that packets are missing.
    [[nodiscard]] bool isDamaged() const { return m_damaged; }

Q_SIGNALS:
    void opened();           // another capture, or none, or isReadAgain(): everything known of the one before is void
    void rowsAdded();        // packets() has grown; at most 20 times a second
    void timelineChanged();  // a newer timeline(); once a second or less while reading, and when all was read
    void stateChanged();
    void progressChanged();
    void problemsChanged();  // after all was read
    void namesChanged();
    // What is open stays. `others`: the files are there, but begin with other packets.
    void readAgainRefused(const QStringList& why, bool others);

private:
    struct Work;
    enum class Files { Others, Same };
    void begin(State state, const QStringList& files, const QString& title, const transport::UlpHints& hints = {},
               Files which = Files::Others, const Clocks& clocks = {});
    void read(const QStringList& files, const transport::UlpHints& hints, Files which, const Clocks& clocks);
    void start(transport::Indexing indexing, Files which);
    void readAgain(transport::Indexing indexing);
    [[nodiscard]] bool mayReadAgain();
    void end();
    void look();
    void finish();
    void lookAtFiles();

    std::size_t m_jobs;
    transport::MemoryBudget m_memory = transport::MemoryBudget::of_machine();
    State m_state = State::Empty;
    bool m_live = false;
    bool m_readAgain = false;
    QStringList m_files;
    QString m_title;
    QStringList m_problems;
    bool m_damaged = false;
    std::uint64_t m_leftOut = 0;
    transport::UlpHints m_hints;  // of the user, by connection
    Reading m_reading;
    std::shared_ptr<const Names> m_names;
    Clocks m_clocks;
    std::shared_ptr<transport::CaptureIndex> m_index;
    std::shared_ptr<const transport::Timeline> m_timeline;
    std::uint64_t m_packets = 0;
    std::unique_ptr<Work> m_work;
    QTimer m_looking;
    std::set<QString> m_toldFiles;  // of which problems() has something
    QTimer m_watching;              // the files, once they were read
};

}  // namespace qps::gui
