// The command line of qpscope-gui, before there is a window: a plain function, so that --help works without a screen.
#pragma once

#include <gui/live/choice.hpp>

#include <QString>
#include <QStringList>
#include <array>
#include <cstddef>
#include <expected>
#include <string_view>

namespace qps::gui {

// The views by name, in the order of their tabs. The first is shown where nobody asks for another one.
inline constexpr std::array<std::string_view, 11> kViewIds{"summary",    "packets", "connections", "messages", "findings",  "cm",
                                                           "throughput", "psn",     "ladder",      "latency",  "congestion"};

struct Options {
    QStringList files;
    CaptureChoice capture;  // its interface is empty where nobody asks to capture
    QString filter;         // display filter
    QString view;           // one of kViewIds, or empty
    std::size_t jobs = 0;   // threads that decode; 0: as many as there are processors
    bool help = false;
    bool version = false;
};

inline constexpr std::size_t kMostJobs = 256;

// `words` without the name of the program. The error is a sentence for standard error. Where help or version is asked for,
// nothing else counts.
[[nodiscard]] std::expected<Options, QString> parseOptions(const QStringList& words);

[[nodiscard]] QString helpText();

}  // namespace qps::gui
