// What a user chose to capture: what the dialog hands to the recorder and the command line. Values outside of what
// qpscope-capture takes are refused there, not here.
#pragma once

#include <QString>
#include <QStringList>

namespace qps::gui {

enum class StopOn { Never, Error, Warning };  // a finding so severe, or worse

struct CaptureChoice {
    QString interface{};
    QString filter{};    // BPF; empty: everything
    qint64 packets = 0;  // after so many it ends; 0: never
    int seconds = 0;     // after so many it ends; 0: never
    int snapLength = 0;  // bytes kept of a packet; 0: all
    QString host{};      // captured there, by ssh; empty: here
    StopOn stopOn = StopOn::Never;
    QString file{};          // written there as well, on the machine that captures; empty: nowhere
    int fileMegabytes = 0;   // of a file, then the next one begins; 0: never
    int fileSeconds = 0;     // of a file; 0: never
    int keptFiles = 0;       // the last ones; 0: all
    bool withoutSsh = true;  // of another host: not the connection that the packets come over; links without TCP have
                             // no filter for it
    [[nodiscard]] bool operator==(const CaptureChoice&) const = default;
};

// The command line of qpscope-capture, without the program.
[[nodiscard]] QStringList recorderArguments(const CaptureChoice& choice);
// "eth0", "eth0 (udp port 4791)", "host: eth0".
[[nodiscard]] QString captureTitle(const CaptureChoice& choice);

inline constexpr int kMostRecentFilters = 12;

// The choice made last, and the filters used last, newest first; from the settings of the user.
[[nodiscard]] CaptureChoice lastChoice();
[[nodiscard]] QStringList recentCaptureFilters();
void rememberChoice(const CaptureChoice& choice);

}  // namespace qps::gui
