// qpscope-capture: the one program of the window that may capture, so that the window itself never needs a right. It
// reads no file, and writes to standard output, standard error and the files of -w only. recording.hpp says when its
// privileges go.
#include <gui/recorder/interface_list.hpp>
#include <gui/recorder/privilege.hpp>
#include <gui/recorder/recording.hpp>

#include <cstdio>
#include <exception>

#include <fmt/format.h>
#include <packaging/version/version.hpp>

namespace {

using namespace qps::recorder;

ExitCode print(std::string_view text) {
    const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    if (!written) complain("cannot write to standard output");
    return written ? ExitCode::done : ExitCode::output_failed;
}

ExitCode list() {
    const bool allowed = may_capture();
    if (!drop_privileges()) {
        complain("cannot drop privileges: no interfaces listed");
        return ExitCode::unreadable;
    }
    const auto lines = interface_list(allowed);
    if (lines) return print(*lines);
    complain(lines.error());
    return ExitCode::unreadable;
}

ExitCode run(int argc, char** argv) {
    const auto order = parse(argc, argv);
    if (!order) {
        complain(order.error());
        return ExitCode::usage;
    }
    switch (order->task) {
        case Task::list: return list();
        case Task::help: return print(help_text());
        case Task::version: return print(fmt::format("qpscope-capture {}\n", qps::version_text()));
        case Task::record: break;
    }
    return record(*order);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return static_cast<int>(run(argc, argv));
    } catch (const std::exception&) {
        complain("out of memory");
    }
    return static_cast<int>(ExitCode::unreadable);
}
