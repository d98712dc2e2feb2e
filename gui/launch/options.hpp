// The command line of qpscope-gui, before there is a window: a plain function, so that --help works without a screen.
#pragma once

#include <gui/live/choice.hpp>
#include <transport-replay/model/memory_budget.hpp>

#include <QString>
#include <QStringList>
#include <cstddef>
#include <expected>
#include <optional>

namespace qps::gui {

struct Options {
    QStringList files;
    CaptureChoice capture;                          // its interface is empty where nobody asks to capture
    QString filter;                                 // display filter
    QString view;                                   // by its name; empty: the first
    quint64 packet = 0;                             // number of the packet to begin with; 0: none
    QString theme;                                  // "desktop", "light", "dark"; empty: as the last time
    std::size_t jobs = 0;                           // threads that decode; 0: as many as there are processors
    std::optional<transport::MemoryBudget> memory;  // nothing: a quarter of the machine's
    bool tabs = false;                              // each file in a tab of its own, not all of them as one capture
    bool help = false;
    bool version = false;
};

inline constexpr std::size_t kMostJobs = 256;

// `words` without the name of the program; `views` are the names of the views there are. The error is a sentence for
// standard error. Where help or version is asked for, nothing after it counts.
[[nodiscard]] std::expected<Options, QString> parseOptions(const QStringList& words, const QStringList& views);

[[nodiscard]] QString helpText(const QStringList& views);

}  // namespace qps::gui
