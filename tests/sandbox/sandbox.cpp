// What the sandbox forbids ends the process, what it refuses fails, and what readers need works: each tried by a child.
#include <dissect/capture/file_map.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/temporary_file.hpp>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sandbox/sandbox.hpp>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace qps;
using qps::test::TemporaryFolder;
using sandbox::Rights;

namespace {

constexpr int kWorked = 0, kFailed = 1, kWrong = 2, kNoSandbox = 3;

// The exit code of a child that enters the sandbox and does this, or 128 + the signal that ended it.
int in_sandbox(const Rights& rights, const std::function<bool()>& act) {
    const pid_t child = fork();
    if (child == 0) {
        const rlimit none{0, 0};
        setrlimit(RLIMIT_CORE, &none);
        if (!sandbox::enter(rights)) _exit(kNoSandbox);
        _exit(act() ? kWorked : kFailed);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

constexpr int kKilled = 128 + SIGSYS;

// Whether there is something to test; says so where not.
bool can_enter() {
    if (!sandbox::is_possible()) {
        WARN("skipped: built with sanitizers, so programs enter no sandbox");
        return false;
    }
    if (in_sandbox({}, [] { return true; }) == kNoSandbox) {
        WARN("skipped: this system lets nobody install a seccomp filter");
        return false;
    }
    return true;
}

struct Attempt {
    std::string_view name;
    std::function<bool()> act;
};

bool opens(const std::string& path, int flags) { return open(path.c_str(), flags, 0600) >= 0; }

const std::vector<Attempt>& attempts() {
    static const std::vector<Attempt> all{
        {"a socket of the network", [] { return socket(AF_INET, SOCK_STREAM, 0) >= 0; }},
        {"a socket of this machine", [] { return socket(AF_UNIX, SOCK_STREAM, 0) >= 0; }},
        {"a packet socket", [] { return socket(AF_PACKET, SOCK_RAW, 0) >= 0; }},
        {"a message through a socket that is open", [] { return sendto(STDOUT_FILENO, "x", 1, 0, nullptr, 0) >= 0; }},
        {"another program", [] { return execl("/bin/true", "true", nullptr) == 0; }},
        {"another process", [] { return fork() >= 0; }},
        {"a shell", [] { return system("true") == 0; }},
        {"a debugger", [] { return ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0; }},
        {"a signal to another process", [] { return kill(getppid(), 0) == 0; }},
        {"more rights", [] { return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0; }},
        {"new namespaces", [] { return unshare(0) == 0; }},
        {"a mount", [] { return syscall(SYS_mount, "x", "/", "tmpfs", 0UL, nullptr) == 0; }},
        {"a kernel program", [] { return syscall(SYS_bpf, 0, nullptr, 0) >= 0; }},
        {"calls through a ring", [] { return syscall(SYS_io_uring_setup, 1, nullptr) >= 0; }},
        {"memory that can be executed",
         [] { return mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED; }},
        {"memory that becomes executable",
         [] {
             void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
             return mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0;
         }},
        {"a file opened to write", [] { return opens("/dev/null", O_WRONLY); }},
        {"a file opened to read and write", [] { return opens("/dev/null", O_RDWR); }},
        {"a new file", [] { return opens("/nowhere/new", O_RDONLY | O_CREAT); }},
        {"a file without a name", [] { return opens("/tmp", O_TMPFILE | O_RDWR); }},
        {"a folder", [] { return mkdir("/nowhere/new", 0700) == 0; }},
        {"another name", [] { return rename("/nowhere/a", "/nowhere/b") == 0; }},
        {"a file removed", [] { return unlink("/nowhere/a") == 0; }},
        {"a link", [] { return symlink("/nowhere/a", "/nowhere/b") == 0; }},
    };
    return all;
}

bool is_of_files(std::string_view name) {
    return name.find("file") != std::string_view::npos || name == "a folder" || name == "another name";
}

}  // namespace

TEST_CASE("a forbidden call ends the process") {
    if (!can_enter()) return;
    for (const Attempt& attempt : attempts()) {
        INFO(attempt.name);
        CHECK(in_sandbox({}, attempt.act) == kKilled);
        CHECK(in_sandbox({.open_to_read = true, .receive = true}, attempt.act) == kKilled);
    }
}

TEST_CASE("who may make files may still do nothing else") {
    if (!can_enter()) return;
    for (const Attempt& attempt : attempts()) {
        if (is_of_files(attempt.name)) continue;
        INFO(attempt.name);
        CHECK(in_sandbox({.rename = true, .create = true}, attempt.act) == kKilled);
    }
}

TEST_CASE("files that are not open stay closed") {
    if (!can_enter()) return;
    const auto read = [] { return opens("/dev/null", O_RDONLY); };
    const auto refused = [&] { return !read() && errno == EACCES; };
    CHECK(in_sandbox({}, refused) == kWorked);
    CHECK(in_sandbox({.rename = true, .receive = true}, refused) == kWorked);
    CHECK(in_sandbox({.open_to_read = true}, read) == kWorked);
    CHECK(in_sandbox({.create = true}, read) == kWorked);
}

TEST_CASE("rights open what they say") {
    if (!can_enter()) return;
    const TemporaryFolder folder;
    const std::string made = folder.path() + "/made", named = folder.path() + "/named";
    CHECK(in_sandbox({.create = true}, [&] { return opens(made, O_WRONLY | O_CREAT | O_EXCL); }) == kWorked);
    CHECK(in_sandbox({.rename = true}, [&] { return rename(made.c_str(), named.c_str()) == 0; }) == kWorked);
    CHECK(in_sandbox({.rename = true}, [&] { return opens(made, O_WRONLY | O_CREAT); }) == kKilled);
    CHECK(in_sandbox({.create = true}, [&] { return mkdir(made.c_str(), 0700) == 0; }) == kWorked);
    CHECK(in_sandbox({.rename = true}, [&] { return unlink(named.c_str()) == 0; }) == kWorked);
    std::array<int, 2> pair{};
    REQUIRE(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair.data()) == 0);
    REQUIRE(write(pair[0], "x", 1) == 1);
    char byte = 0;
    CHECK(in_sandbox({}, [&] { return recv(pair[1], &byte, 1, 0) == 1; }) == kFailed);
    CHECK(in_sandbox({.receive = true}, [&] { return recv(pair[1], &byte, 1, 0) == 1; }) == kWorked);
}

TEST_CASE("a call that the table does not have fails as on a kernel that lacks it") {
    if (!can_enter()) return;
    CHECK(in_sandbox({}, [] { return syscall(SYS_getpriority, 0, 0) < 0 && errno == ENOSYS; }) == kWorked);
    // Keys pressed in the place of the user: the way out of a sandbox through the terminal.
    CHECK(in_sandbox({}, [] { return ioctl(STDIN_FILENO, TIOCSTI, "x") < 0 && errno == ENOSYS; }) == kWorked);
}

TEST_CASE("threads, memory and signals work in the sandbox") {
    if (!can_enter()) return;
    CHECK(in_sandbox({}, [] {
              std::atomic<int> sum = 0;
              std::vector<std::thread> threads;
              for (int i = 0; i < 8; ++i)
                  threads.emplace_back(
                      [&sum] { sum += static_cast<int>(std::vector<char>(1U << 20, 'x').size() >> 20); });
              for (std::thread& thread : threads) thread.join();
              return sum == 8;
          }) == kWorked);
    CHECK(in_sandbox({}, [] {
              std::signal(SIGABRT, SIG_DFL);  // that of the tests
              std::abort();
              return true;
          }) == 128 + SIGABRT);
}

TEST_CASE("a mapped file that shrinks is zeros in the sandbox too") {
    if (!can_enter()) return;
    const TemporaryFolder folder;
    constexpr std::size_t kSize = 1U << 16;
    const std::string path = folder.write("shrinks", std::vector<std::byte>(kSize, std::byte{1}));
    const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
    REQUIRE(file >= 0);
    CHECK(in_sandbox({}, [&] {
              const dissect::FileMap map(file, kSize);
              if (!map.good() || ftruncate(file, 0) != 0) return false;
              return map.bytes()[kSize - 1] == std::byte{0} && map.lost_from().has_value();
          }) == kWorked);
    close(file);
}

TEST_CASE("where nobody may install a filter, a sentence says so and nothing has changed") {
    if (!sandbox::is_possible()) return;
    const pid_t child = fork();
    if (child == 0) {
        std::array<sock_filter, 4> code{sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),  // the number of the call
                                        sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 0, 1),
                                        sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                                        sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
        const sock_fprog program{code.size(), code.data()};
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
            _exit(kNoSandbox);
        const auto entered = sandbox::enter({});
        if (entered || !entered.error().starts_with("cannot install a seccomp filter: ")) _exit(kWrong);
        _exit(opens("/dev/null", O_WRONLY) ? kWorked : kFailed);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    if (WEXITSTATUS(status) == kNoSandbox) WARN("skipped: this system lets nobody install a seccomp filter");
    else CHECK(WEXITSTATUS(status) == kWorked);
}

TEST_CASE("threads that are there before are confined too") {
    if (!can_enter()) return;
    const pid_t child = fork();
    if (child == 0) {
        const rlimit none{0, 0};
        setrlimit(RLIMIT_CORE, &none);
        std::atomic<bool> entered = false;
        std::thread before([&] {
            while (!entered) std::this_thread::yield();
            static_cast<void>(socket(AF_INET, SOCK_STREAM, 0));
            _exit(kWrong);
        });
        if (!sandbox::enter({})) _exit(kNoSandbox);
        entered = true;
        before.join();
        _exit(kWrong);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS));
}
