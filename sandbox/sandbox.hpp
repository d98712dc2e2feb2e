// What a program gives up before it reads what strangers wrote: from enter() on it has the system calls of a table, by
// seccomp(2).
//
// The invariant: whatever a capture makes this process do, it gets no new socket, runs no other program, looks into no
// other process, and maps no memory that can be executed; files that are not open stay closed, but for what Rights
// says. A call of those ends the process by SIGSYS. A call that nobody thought of fails as on a kernel that lacks it,
// so that a newer C library finds its way around it.
#pragma once

#include <expected>
#include <string>

namespace qps::sandbox {

// What is left beyond reading, writing and mapping what is open.
struct Rights {
    bool open_to_read =
        false;  // any file, never to write. Without it such a call fails: libraries look for files of their own
    bool rename = false;   // files get and lose their names
    bool create = false;   // files and folders are made
    bool receive = false;  // from sockets that are open
};

// Not where the program is built with sanitizers: what they do at run time needs more.
[[nodiscard]] bool is_possible();

// For all threads and for good. The error says why not, and nothing has changed then (but that this process and its
// children gain no privileges by running a program any more).
[[nodiscard]] std::expected<void, std::string> enter(const Rights& rights);

}  // namespace qps::sandbox
