// What this program may do, and the end of that. Raw system calls instead of libcap: two calls are all there is to
// audit.
//
// Capabilities belong to threads; this program has one.
#pragma once

#include <string>

namespace qps::recorder {

// Whether it has CAP_NET_RAW now. That it may still be refused somewhere, the interface tells when it is opened.
[[nodiscard]] bool may_capture();

// For good: the user and group of the caller where it was installed setuid or setgid, no capability in any set, and
// no_new_privs. False where something is left; nothing may be read from a wire then. Called by root (a test machine,
// sudo) it stays user 0, without the capabilities that make user 0 powerful.
[[nodiscard]] bool drop_privileges();

// The command that gives this very file the right to capture.
[[nodiscard]] std::string remedy();

}  // namespace qps::recorder
