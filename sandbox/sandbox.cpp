// The tables of system calls and the filter made of them. Names are libseccomp's: those that an architecture lacks are
// no rule there.
#include <array>
#include <cerrno>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>

#include <asm/ioctls.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <sandbox/sandbox.hpp>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <termios.h>
#include <unistd.h>

namespace qps::sandbox {

namespace {

using Right = bool Rights::*;

// One argument: its bits under the mask, compared.
struct Argument {
    unsigned number = 0;
    std::uint64_t mask = 0;
    std::uint64_t value = 0;
};

struct Call {
    const char* name;
    Right right = nullptr;              // who has it; nullptr: everybody
    std::optional<Argument> only = {};  // allowed with this argument alone
};

constexpr std::uint64_t kAll = ~std::uint64_t{0};
constexpr std::uint64_t kInt = 0xffff'ffff;  // the rest of a register that holds an int may be anything
constexpr std::uint64_t kTemporaryFile = std::uint64_t{O_TMPFILE} & ~std::uint64_t{O_DIRECTORY};
constexpr std::uint64_t kMakesOrWrites = std::uint64_t{O_ACCMODE} | O_CREAT | O_TRUNC | kTemporaryFile;

constexpr Argument with(unsigned number, std::uint64_t value, std::uint64_t mask = kInt) {
    return {number, mask, value};
}
constexpr Argument without(unsigned number, std::uint64_t bits) { return {number, bits, 0}; }

// clang-format off
constexpr std::array kAllowed{
    // What is open.
    Call{"read"}, Call{"readv"}, Call{"pread64"},           // captures that are streams, standard input
    Call{"write"}, Call{"writev"},                          // standard output and error, -o, -w
    Call{"pwrite64"},                                       // a database: --sqlite
    Call{"lseek"}, Call{"_llseek"},                         // a stream of a file read a second time
    Call{"close"}, Call{"poll"}, Call{"ppoll"},             // pipes
    Call{"fstat"}, Call{"fstat64"},                         // has the file shrunk?
    Call{"ftruncate"},                                      // of what is open for writing only
    Call{"fcntl", nullptr, with(1, F_GETFL)}, Call{"fcntl", nullptr, with(1, F_GETFD)},
    Call{"ioctl", nullptr, with(1, TCGETS)},                // is it a terminal?
    Call{"ioctl", nullptr, with(1, TIOCGWINSZ)},            // its width
    // Names, without what is in the files: can a capture be read twice, is the output an input.
    Call{"stat"}, Call{"lstat"}, Call{"newfstatat"}, Call{"fstatat64"}, Call{"statx"},
    // Memory that cannot be executed.
    Call{"brk"}, Call{"munmap"}, Call{"mremap"}, Call{"madvise"},
    Call{"mmap", nullptr, without(2, PROT_EXEC)}, Call{"mmap2", nullptr, without(2, PROT_EXEC)},
    Call{"mprotect", nullptr, without(2, PROT_EXEC)},       // stacks and heaps of threads
    // Threads of this process; clone3 hides its flags in memory and is not there, so that the C library uses clone.
    Call{"clone", nullptr, with(0, CLONE_THREAD, CLONE_THREAD)},
    Call{"set_robust_list"}, Call{"rseq"}, Call{"futex"}, Call{"sched_yield"}, Call{"sched_getaffinity"}, Call{"getcpu"},
    Call{"exit"}, Call{"exit_group"}, Call{"gettid"}, Call{"getpid"},
    // Signals: interrupts, and SIGBUS where a mapped file shrinks.
    Call{"rt_sigaction"}, Call{"rt_sigprocmask"}, Call{"rt_sigreturn"}, Call{"sigreturn"}, Call{"sigaltstack"}, Call{"restart_syscall"},
    // Clocks, limits, random seeds of containers and of the allocator.
    Call{"clock_gettime"}, Call{"clock_gettime64"}, Call{"clock_getres"}, Call{"gettimeofday"}, Call{"time"}, Call{"nanosleep"},
    Call{"clock_nanosleep"}, Call{"getrandom"}, Call{"sysinfo"}, Call{"getrlimit"}, Call{"ugetrlimit"},
    Call{"prlimit64", nullptr, with(2, 0, kAll)},           // read, not set

    // By right.
    Call{"open", &Rights::open_to_read, without(1, kMakesOrWrites)},
    Call{"openat", &Rights::open_to_read, without(2, kMakesOrWrites)},
    Call{"getdents64", &Rights::open_to_read}, Call{"readlink", &Rights::open_to_read}, Call{"readlinkat", &Rights::open_to_read},
    Call{"rename", &Rights::rename}, Call{"renameat", &Rights::rename}, Call{"renameat2", &Rights::rename},
    Call{"unlink", &Rights::rename}, Call{"unlinkat", &Rights::rename},
    Call{"fchmod", &Rights::rename}, Call{"fchmodat", &Rights::rename}, Call{"chmod", &Rights::rename},
    Call{"open", &Rights::create}, Call{"openat", &Rights::create}, Call{"mkdir", &Rights::create}, Call{"mkdirat", &Rights::create},
    Call{"readlink", &Rights::create}, Call{"readlinkat", &Rights::create}, Call{"getcwd", &Rights::create},
    Call{"recvfrom", &Rights::receive}, Call{"recvmsg", &Rights::receive},  // packets where libpcap has no ring
    Call{"getsockopt", &Rights::receive},                                   // drop counters
    Call{"ioctl", &Rights::receive, with(1, SIOCGIFFLAGS)},                 // is the interface still there?
    Call{"ioctl", &Rights::receive, with(1, SIOCGIFINDEX)},
};

// What only somebody who broke in would try: the process ends. Those that a right allows are no rule then.
constexpr std::array kForbidden{
    // Sockets.
    Call{"socket"}, Call{"socketpair"}, Call{"connect"}, Call{"bind"}, Call{"listen"}, Call{"accept"}, Call{"accept4"},
    Call{"sendto"}, Call{"sendmsg"}, Call{"sendmmsg"},
    // Other programs, other processes.
    Call{"execve"}, Call{"execveat"}, Call{"fork"}, Call{"vfork"}, Call{"clone", nullptr, without(0, CLONE_THREAD)},
    Call{"ptrace"}, Call{"process_vm_readv"}, Call{"process_vm_writev"}, Call{"kill"}, Call{"pidfd_open"}, Call{"pidfd_getfd"},
    Call{"pidfd_send_signal"}, Call{"setns"}, Call{"unshare"}, Call{"prctl"},
    // Code.
    Call{"mmap", nullptr, with(2, PROT_EXEC, PROT_EXEC)}, Call{"mmap2", nullptr, with(2, PROT_EXEC, PROT_EXEC)},
    Call{"mprotect", nullptr, with(2, PROT_EXEC, PROT_EXEC)}, Call{"pkey_mprotect"}, Call{"memfd_create"},
    // The machine.
    Call{"mount"}, Call{"umount2"}, Call{"pivot_root"}, Call{"chroot"}, Call{"fsopen"}, Call{"open_tree"}, Call{"move_mount"},
    Call{"init_module"}, Call{"finit_module"}, Call{"delete_module"}, Call{"kexec_load"}, Call{"kexec_file_load"}, Call{"reboot"},
    Call{"bpf"}, Call{"perf_event_open"}, Call{"userfaultfd"}, Call{"io_uring_setup"}, Call{"io_uring_enter"}, Call{"keyctl"},
    Call{"add_key"}, Call{"request_key"},
    // Files.
    Call{"open", &Rights::create, with(1, O_WRONLY, O_ACCMODE)}, Call{"open", &Rights::create, with(1, O_RDWR, O_ACCMODE)},
    Call{"open", &Rights::create, with(1, O_CREAT, O_CREAT)},
    Call{"openat", &Rights::create, with(2, O_WRONLY, O_ACCMODE)}, Call{"openat", &Rights::create, with(2, O_RDWR, O_ACCMODE)},
    Call{"openat", &Rights::create, with(2, O_CREAT, O_CREAT)},
    Call{"creat"}, Call{"truncate"}, Call{"link"}, Call{"linkat"}, Call{"symlink"}, Call{"symlinkat"}, Call{"mknod"}, Call{"mknodat"},
    Call{"rmdir"}, Call{"chown"}, Call{"fchownat"}, Call{"setxattr"},
    Call{"mkdir", &Rights::create}, Call{"mkdirat", &Rights::create},
    Call{"rename", &Rights::rename}, Call{"renameat", &Rights::rename}, Call{"renameat2", &Rights::rename},
    Call{"unlink", &Rights::rename}, Call{"unlinkat", &Rights::rename}, Call{"chmod", &Rights::rename}, Call{"fchmodat", &Rights::rename},
};

// Libraries try these on their own, and go on where they may not.
constexpr std::array kRefused{
    Call{"open", &Rights::open_to_read, without(1, kMakesOrWrites)},
    Call{"openat", &Rights::open_to_read, without(2, kMakesOrWrites)},
};
// clang-format on

struct Release {
    void operator()(void* filter) const { seccomp_release(filter); }
};
using Filter = std::unique_ptr<void, Release>;

std::string sentence(int error) {
    return "cannot install a seccomp filter: " + std::generic_category().message(error < 0 ? -error : error);
}

// Zero or what libseccomp says. A call that this libseccomp or this architecture lacks is no rule: the default takes
// it.
int add(const Filter& filter, std::uint32_t action, const Call& call) {
    const int number = seccomp_syscall_resolve_name(call.name);
    if (number == __NR_SCMP_ERROR) return 0;
    if (!call.only) return seccomp_rule_add_array(filter.get(), action, number, 0, nullptr);
    const scmp_arg_cmp argument{call.only->number, SCMP_CMP_MASKED_EQ, call.only->mask, call.only->value};
    return seccomp_rule_add_array(filter.get(), action, number, 1, &argument);
}

int fill(const Filter& filter, const Rights& rights) {
    const auto has = [&](Right right) { return right != nullptr && rights.*right; };
    int error = 0;
    for (const Call& call : kAllowed) {
        if (call.right != nullptr && !has(call.right)) continue;
        if (rights.create && call.right == &Rights::open_to_read) continue;  // has more
        if (error == 0) error = add(filter, SCMP_ACT_ALLOW, call);
    }
    for (const Call& call : kForbidden)
        if (error == 0 && !has(call.right)) error = add(filter, SCMP_ACT_KILL_PROCESS, call);
    for (const Call& call : kRefused)
        if (error == 0 && !rights.open_to_read && !rights.create) error = add(filter, SCMP_ACT_ERRNO(EACCES), call);
    // A signal to this process alone: raise(), abort().
    const Call raise{"tgkill", nullptr, with(0, static_cast<std::uint64_t>(getpid()))};
    return error != 0 ? error : add(filter, SCMP_ACT_ALLOW, raise);
}

}  // namespace

bool is_possible() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
    return false;
#else
    return true;
#endif
#else
    return true;
#endif
}

std::expected<void, std::string> enter(const Rights& rights) {
    if (!is_possible()) return std::unexpected("built with sanitizers, which need more");
    const Filter filter(seccomp_init(SCMP_ACT_ERRNO(ENOSYS)));
    if (!filter) return std::unexpected("out of memory");
    int error = fill(filter, rights);
    // Calls by the numbers of another architecture would go past the names above.
    if (error == 0) error = seccomp_attr_set(filter.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    // Kernels before 5.16 make a process slow that has a filter (speculative store bypass), for programs that run code
    // of strangers.
    if (error == 0) error = seccomp_attr_set(filter.get(), SCMP_FLTATR_CTL_SSB, 1);
    if (error == 0) error = seccomp_attr_set(filter.get(), SCMP_FLTATR_CTL_TSYNC, 1);
    // Why the kernel refuses it, rather than that it does: emulators of user space have no filters.
    if (error == 0) error = seccomp_attr_set(filter.get(), SCMP_FLTATR_API_SYSRAWRC, 1);
    if (error == 0) error = seccomp_load(filter.get());
    if (error != 0) return std::unexpected(sentence(error));
    return {};
}

}  // namespace qps::sandbox
