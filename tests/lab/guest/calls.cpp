// System calls that no program of the guests makes, for tests/lab/ulp: RDS sockets, and what NFS 4.2 has operations
// for.
//
//   calls rds-serve ADDRESS COUNT            answers messages with the same
//   calls rds-ask FROM TO COUNT SIZE         sends messages and waits for each answer
//   calls rds-counts                         what RDS counted, as lines `count rds NAME NUMBER`
//   calls copy FROM TO                       copy_file_range
//   calls allocate | punch FILE FROM LENGTH  fallocate
//   calls holes FILE                         SEEK_DATA, SEEK_HOLE
//   calls attribute FILE NAME VALUE          setxattr, and getxattr
//   calls as USER COMMAND...                 a command as the user of that number
//
// Linked statically; a guest trusts its host.
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/rds.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace {

constexpr std::uint16_t kPort = 4000;
constexpr std::size_t kLongest = 1 << 20;
constexpr unsigned kPatience = 30;  // seconds: guests are slow

[[noreturn]] void fail(const char* what) {
    std::perror(what);
    std::exit(1);
}
int checked(long result, const char* what) {
    if (result < 0) fail(what);
    return static_cast<int>(result);
}

sockaddr_in place(const char* address) {
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_port = htons(kPort);
    if (inet_pton(AF_INET, address, &in.sin_addr) != 1) fail(address);
    return in;
}

int rds_socket(const char* address) {
    const int fd = checked(socket(PF_RDS, SOCK_SEQPACKET, 0), "socket");
    const sockaddr_in here = place(address);
    checked(bind(fd, reinterpret_cast<const sockaddr*>(&here), sizeof here), "bind");
    return fd;
}

// RDS says that something can be read also where congestion ended; then nothing is there.
std::size_t receive(int fd, std::span<char> into, sockaddr_in& from) {
    while (true) {
        pollfd waits{fd, POLLIN, 0};
        checked(poll(&waits, 1, -1), "poll");
        socklen_t length = sizeof from;
        const ssize_t got =
            recvfrom(fd, into.data(), into.size(), MSG_DONTWAIT, reinterpret_cast<sockaddr*>(&from), &length);
        if (got >= 0) return static_cast<std::size_t>(got);
        if (errno != EAGAIN) fail("recvfrom");
        usleep(1000);
    }
}

void send(int fd, std::span<const char> message, const sockaddr_in& to) {
    checked(sendto(fd, message.data(), message.size(), 0, reinterpret_cast<const sockaddr*>(&to), sizeof to), "sendto");
}

int rds_serve(const char* address, int count) {
    const int fd = rds_socket(address);
    std::vector<char> message(kLongest);
    sockaddr_in from{};
    for (int i = 0; i < count; ++i) {
        const std::size_t length = receive(fd, message, from);
        send(fd, {message.data(), length}, from);
    }
    usleep(500'000);  // the end of the socket must not overtake the last answer
    return 0;
}

int rds_ask(const char* address, const char* peer, int count, std::size_t size) {
    const int fd = rds_socket(address);
    const sockaddr_in to = place(peer);
    std::vector<char> message(size, 'm'), answer(kLongest);
    sockaddr_in from{};
    for (int i = 0; i < count; ++i) {
        send(fd, message, to);
        if (receive(fd, answer, from) != size) return 1;
    }
    return 0;
}

int rds_counts() {
    const int fd = checked(socket(PF_RDS, SOCK_SEQPACKET, 0), "socket");
    std::vector<rds_info_counter> counters(512);
    socklen_t length = static_cast<socklen_t>(counters.size() * sizeof counters[0]);
    checked(getsockopt(fd, SOL_RDS, RDS_INFO_COUNTERS, counters.data(), &length), "RDS_INFO_COUNTERS");
    counters.resize(length / sizeof counters[0]);
    for (const rds_info_counter& counter : counters)
        if (counter.value != 0)
            std::printf("count rds %.*s %llu\n", static_cast<int>(sizeof counter.name),
                        reinterpret_cast<const char*>(counter.name), static_cast<unsigned long long>(counter.value));
    return 0;
}

int copy(const char* from, const char* to) {
    const int in = checked(open(from, O_RDONLY), from), out = checked(open(to, O_WRONLY | O_CREAT, 0644), to);
    return checked(copy_file_range(in, nullptr, out, nullptr, 1 << 20, 0), "copy_file_range") > 0 ? 0 : 1;
}

int allocate(const char* file, int mode, const char* from, const char* length) {
    checked(fallocate(checked(open(file, O_RDWR | O_CREAT, 0644), file), mode, std::atol(from), std::atol(length)),
            "fallocate");
    return 0;
}

int holes(const char* file) {
    const int fd = checked(open(file, O_RDONLY), file);
    std::printf("a hole at %ld, data at %ld\n", static_cast<long>(lseek(fd, 0, SEEK_HOLE)),
                static_cast<long>(lseek(fd, 0, SEEK_DATA)));
    return 0;
}

int attribute(const char* file, const char* name, const char* value) {
    std::array<char, 256> back{};
    checked(setxattr(file, name, value, std::strlen(value), 0), "setxattr");
    checked(getxattr(file, name, back.data(), back.size()), "getxattr");
    return back.data() == std::string_view(value) ? 0 : 1;
}

int as(const char* user, char** command) {
    const auto number = static_cast<uid_t>(std::atol(user));
    checked(setgid(number), "setgid");
    checked(setuid(number), "setuid");
    execvp(command[0], command);
    fail(command[0]);
}

}  // namespace

int main(int argc, char** argv) {
    const std::string_view verb = argc > 1 ? argv[1] : "";
    if (verb.starts_with("rds")) alarm(kPatience);
    if (verb == "rds-serve" && argc == 4) return rds_serve(argv[2], std::atoi(argv[3]));
    if (verb == "rds-ask" && argc == 6)
        return rds_ask(argv[2], argv[3], std::atoi(argv[4]), static_cast<std::size_t>(std::atol(argv[5])));
    if (verb == "rds-counts" && argc == 2) return rds_counts();
    if (verb == "copy" && argc == 4) return copy(argv[2], argv[3]);
    if (verb == "allocate" && argc == 5) return allocate(argv[2], 0, argv[3], argv[4]);
    if (verb == "punch" && argc == 5)
        return allocate(argv[2], FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, argv[3], argv[4]);
    if (verb == "holes" && argc == 3) return holes(argv[2]);
    if (verb == "attribute" && argc == 5) return attribute(argv[2], argv[3], argv[4]);
    if (verb == "as" && argc > 3) return as(argv[2], argv + 3);
    std::fputs("usage: see the head of calls.cpp\n", stderr);
    return 2;
}
