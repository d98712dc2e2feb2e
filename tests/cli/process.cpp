// A program that is run to its end: arguments and standard input in, what it wrote and how it ended out.
//
// What it writes goes to files in memory, so that no pipe can fill up while nobody reads it.
#include <tests/cli/process.hpp>
#include <tests/support/temporary_file.hpp>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <ranges>
#include <stdexcept>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace qps::test {

namespace {

class Descriptor {
public:
    explicit Descriptor(int number) : number_(number) {
        if (number < 0) throw std::runtime_error("a file for a program cannot be opened");
    }
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&&) = delete;
    ~Descriptor() { close(); }
    [[nodiscard]] int number() const { return number_; }
    void close() {
        if (number_ >= 0) ::close(std::exchange(number_, -1));
    }

private:
    int number_;
};

struct Pipe {
    Descriptor reader;
    Descriptor writer;
};

Pipe make_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    return {Descriptor(ends[0]), Descriptor(ends[1])};
}

Descriptor memory_file() { return Descriptor(::memfd_create("output", MFD_CLOEXEC)); }

std::string content(const Descriptor& file) {
    std::string text(static_cast<std::size_t>(::lseek(file.number(), 0, SEEK_END)), '\0');
    std::size_t filled = 0;
    while (filled < text.size()) {
        const ssize_t count =
            ::pread(file.number(), text.data() + filled, text.size() - filled, static_cast<off_t>(filled));
        if (count <= 0) throw std::runtime_error("what a program wrote cannot be read");
        filled += static_cast<std::size_t>(count);
    }
    return text;
}

std::string read_lines(const Descriptor& pipe, std::size_t lines) {
    std::string text;
    char c = 0;
    while (lines > 0 && ::read(pipe.number(), &c, 1) == 1) {
        text += c;
        if (c == '\n') --lines;
    }
    return text;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
    std::vector<char*> list;
    for (std::string& word : words) list.push_back(word.data());
    list.push_back(nullptr);
    return list;
}

// This process's environment with some variables set.
std::vector<std::string> environment_with(const std::vector<std::string>& set) {
    std::vector<std::string> all = set;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        const std::string_view name = text.substr(0, text.find('=') + 1);
        if (std::ranges::none_of(set, [&](const std::string& other) { return other.starts_with(name); }))
            all.emplace_back(text);
    }
    return all;
}

pid_t start(std::vector<std::string> words, const Surroundings& surroundings, int in, int out, int err) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
    if (!surroundings.folder.empty()) posix_spawn_file_actions_addchdir_np(&actions, surroundings.folder.c_str());
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t reset;
    sigemptyset(&reset);
    sigaddset(&reset, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes, &reset);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    std::vector<std::string> environment = environment_with(surroundings.environment);
    pid_t process = 0;
    const int error = ::posix_spawnp(&process, words[0].c_str(), &actions, &attributes, pointers(words).data(),
                                     pointers(environment).data());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) throw std::runtime_error("cannot start " + words[0]);
    return process;
}

int wait_for(pid_t process) {
    int status = 0;
    while (::waitpid(process, &status, 0) < 0)
        if (errno != EINTR) throw std::runtime_error("a program got lost");
    constexpr int kSignalled = 128;  // as shells say it
    return WIFEXITED(status) ? WEXITSTATUS(status) : kSignalled + WTERMSIG(status);
}

}  // namespace

Ending run(const std::vector<std::string>& words, const Surroundings& surroundings) {
    std::signal(SIGPIPE, SIG_IGN);  // a program need not read its input to the end
    Descriptor out = surroundings.output.empty()
                         ? memory_file()
                         : Descriptor(::open(surroundings.output.c_str(), O_WRONLY | O_CLOEXEC));
    const Descriptor err = memory_file();
    Pipe in = make_pipe();
    const Descriptor nothing(
        ::open("/dev/null", O_RDONLY | O_CLOEXEC));  // a pipe without input would be a capture of no bytes
    Pipe lines = make_pipe();
    const pid_t process = start(words, surroundings, surroundings.input ? in.reader.number() : nothing.number(),
                                surroundings.lines > 0 ? lines.writer.number() : out.number(), err.number());
    in.reader.close();
    lines.writer.close();
    std::thread writer([&] {
        if (surroundings.input) write_all(in.writer.number(), *surroundings.input);
        in.writer.close();
    });
    Ending ending;
    if (surroundings.lines > 0) ending.out = read_lines(lines.reader, surroundings.lines);
    lines.reader.close();
    ending.code = wait_for(process);
    writer.join();
    if (surroundings.lines == 0 && surroundings.output.empty()) ending.out = content(out);
    ending.err = content(err);
    return ending;
}

bool is_installed(std::string_view program) {
    const char* path = std::getenv("PATH");
    for (const auto folder : std::views::split(std::string_view(path == nullptr ? "" : path), ':')) {
        const std::string file = std::string(std::string_view(folder)) + "/" + std::string(program);
        if (::access(file.c_str(), X_OK) == 0) return true;
    }
    return false;
}

}  // namespace qps::test
