// The exit codes of qpscope: the one table, printed by --help and held by tests.
#pragma once

#include <array>
#include <string_view>

namespace qps::cli {

enum class ExitCode : int {
    done = 0,
    findings = 1,
    usage = 2,
    unreadable = 3,
    damaged = 4,
    output_failed = 5,
    unjudged = 6,
    interrupted = 130,
};

struct ExitCodeRow {
    ExitCode code;
    std::string_view meaning;
};

inline constexpr std::array kExitCodes{
    ExitCodeRow{ExitCode::done, "success"},
    ExitCodeRow{ExitCode::findings,
                "findings or failed checks at or above the severity of --fail-on; nothing matches --match"},
    ExitCodeRow{ExitCode::usage, "usage error: unknown option, invalid filter, no such connection"},
    ExitCodeRow{ExitCode::unreadable, "the input cannot be read or is not a capture"},
    ExitCodeRow{ExitCode::damaged, "the input is damaged or truncated; its readable part is reported"},
    ExitCodeRow{ExitCode::output_failed, "the output cannot be written"},
    ExitCodeRow{ExitCode::unjudged,
                "not everything could be judged: limits of the analysis, no packet of --device, no agent"},
    ExitCodeRow{ExitCode::interrupted, "interrupted; the results so far are reported"},
};

// Of several inputs the worst counts: an unreadable one, then a damaged one. What was found is found, whatever was left
// out.
[[nodiscard]] constexpr ExitCode worse(ExitCode a, ExitCode b) {
    constexpr std::array kOrder{ExitCode::done,          ExitCode::unjudged,   ExitCode::findings,
                                ExitCode::damaged,       ExitCode::unreadable, ExitCode::usage,
                                ExitCode::output_failed, ExitCode::interrupted};
    for (std::size_t i = kOrder.size(); i-- > 0;)
        if (a == kOrder[i] || b == kOrder[i]) return kOrder[i];
    return a;
}

}  // namespace qps::cli
