#include <cli/pdf_printer.hpp>
#include <dissect/capture/pending_file.hpp>
#include <dissect/capture/saved_capture.hpp>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

namespace qps::cli {

namespace fs = std::filesystem;
using dissect::Descriptor;

namespace {

constexpr char kComplete = '\0';  // ends a page; no page has it inside
constexpr std::string_view kPrinted =
    "printed";  // the answer where all went well: of a process that died there is none
constexpr std::chrono::seconds kPatience{120};
constexpr int kNotFound = 127;  // as shells say it

// The first that is on PATH.
std::optional<std::string> find_browser() {
    const char* const path = std::getenv("PATH");
    if (path == nullptr) return {};
    for (const char* const name : {"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}) {
        for (std::string_view rest = path; !rest.empty();) {
            const std::size_t end = rest.find(':');
            std::string candidate = fmt::format("{}/{}", rest.substr(0, end), name);
            if (access(candidate.c_str(), X_OK) == 0) return candidate;
            rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
        }
    }
    return {};
}

std::string read_all(int from) {
    std::string text;
    std::array<char, 1U << 14> piece{};
    for (ssize_t got = 0; (got = ::read(from, piece.data(), piece.size())) != 0;) {
        if (got > 0) text.append(piece.data(), static_cast<std::size_t>(got));
        else if (errno != EINTR) break;
    }
    return text;
}

bool write_all(int to, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = write(to, text.data(), text.size());
        if (written < 0 && errno != EINTR) return false;
        if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

// A folder that goes with its owner.
class Folder {
public:
    Folder() {
        std::string made = (fs::temp_directory_path() / "qpscope-report-XXXXXX").string();
        if (mkdtemp(made.data()) != nullptr) path_ = made;
    }
    ~Folder() {
        std::error_code ignored;
        if (!path_.empty()) fs::remove_all(path_, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    [[nodiscard]] const fs::path& path() const { return path_; }

private:
    fs::path path_;
};

// The page needs no network, so it gets none. (Without scripts the browser would not print: its own command is one.)
std::vector<std::string> command_line(const std::string& browser, const fs::path& folder) {
    std::vector<std::string> words{browser,
                                   "--headless",
                                   "--disable-gpu",
                                   "--no-first-run",
                                   "--no-pdf-header-footer",
                                   "--host-resolver-rules=MAP * ~NOTFOUND",
                                   fmt::format("--user-data-dir={}", (folder / "profile").string()),
                                   fmt::format("--print-to-pdf={}", (folder / "report.pdf").string())};
    if (geteuid() == 0) words.emplace_back("--no-sandbox");  // Chromium's own, which it does not enter as root
    words.push_back((folder / "report.html").string());
    return words;
}

[[noreturn]] void become(std::vector<std::string> words) {
    setsid();
    const int nowhere = open("/dev/null", O_RDWR);  // NOLINT(*-vararg)
    for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nowhere, standard);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    execv(arguments.front(), arguments.data());
    _exit(kNotFound);
}

// Nothing where it ended well.
std::string run_browser(const std::string& browser, const fs::path& folder) {
    const pid_t child = fork();
    if (child < 0) return fmt::format("cannot run {}: {}", browser, std::strerror(errno));
    if (child == 0) become(command_line(browser, folder));
    int status = 0;
    const auto until = std::chrono::steady_clock::now() + kPatience;
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (std::chrono::steady_clock::now() > until) {
            kill(-child, SIGKILL);
            waitpid(child, &status, 0);
            return fmt::format("{} printed nothing within {} s", browser, kPatience.count());
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    if (WIFSIGNALED(status)) return fmt::format("{} was ended by signal {}", browser, WTERMSIG(status));
    if (WEXITSTATUS(status) != 0) return fmt::format("{} failed with exit status {}", browser, WEXITSTATUS(status));
    return {};
}

// From a whole page to a whole PDF in `to`; what went wrong otherwise.
std::string print(const std::string& browser, std::string_view page, int to) {
    const Folder folder;
    if (folder.path().empty()) return fmt::format("no folder for temporary files: {}", std::strerror(errno));
    std::ofstream html(folder.path() / "report.html", std::ios::binary);
    html << page;
    html.close();
    if (!html) return "cannot write temporary files";
    if (std::string problem = run_browser(browser, folder.path()); !problem.empty()) return problem;
    const Descriptor made(open((folder.path() / "report.pdf").c_str(), O_RDONLY | O_CLOEXEC),
                          true);  // NOLINT(*-vararg)
    const std::string pdf = made.number() < 0 ? std::string() : read_all(made.number());
    if (!pdf.starts_with("%PDF-")) return fmt::format("{} made no PDF", browser);
    return write_all(to, pdf) ? std::string() : std::string(std::strerror(errno));
}

// What came through, printed; the sentence about what went wrong, or kPrinted.
std::string print_what_comes(const std::string& browser, int from, int to) {
    try {
        std::string page = read_all(from);
        if (!page.ends_with(kComplete)) return "the page is not complete";
        page.pop_back();
        std::string problem = print(browser, page, to);
        return problem.empty() ? std::string(kPrinted) : problem;
    } catch (const std::exception& failure) {
        return failure.what();
    }
}

// The printing process. The file takes its name when it is a whole PDF. An interrupt is for the analysis, whose results
// so far are still to be printed.
[[noreturn]] void serve(const std::string& browser, int from, int answer, dissect::PendingFile& file) {
    std::signal(SIGINT, SIG_IGN);
    Descriptor to = file.take_descriptor();
    std::string said = print_what_comes(browser, from, to.number());
    if (::close(to.release()) != 0 && said == kPrinted) said = std::strerror(errno);
    if (said == kPrinted)
        if (const std::error_code failed = file.commit()) said = failed.message();
    file.discard();
    write_all(answer, said);
    _exit(0);
}

struct Pipe {
    Descriptor read_end, write_end;
};

std::optional<Pipe> make_pipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return {};
    return Pipe{Descriptor(ends[0], true), Descriptor(ends[1], true)};
}

}  // namespace

std::expected<PdfPrinter, PdfProblem> PdfPrinter::begin(const std::string& path, std::span<const std::string> inputs) {
    const auto failed = [&] {
        return std::unexpected(
            PdfProblem{ExitCode::output_failed, fmt::format("cannot write {}: {}", path, std::strerror(errno))});
    };
    const auto browser = find_browser();
    if (!browser)
        return std::unexpected(PdfProblem{
            ExitCode::usage, "--pdf needs Chromium, which is not on PATH: print the page of -o from any browser"});
    if (dissect::is_one_of(path, inputs))
        return std::unexpected(PdfProblem{
            ExitCode::usage,
            fmt::format("{} is also an input and would be overwritten: name another file with --pdf", path)});
    auto file = dissect::PendingFile::open(path);
    if (!file)
        return std::unexpected(
            PdfProblem{ExitCode::output_failed, fmt::format("cannot write {}: {}", path, file.error().message())});
    auto page = make_pipe();
    auto answer = make_pipe();
    if (!page || !answer) return failed();
    const pid_t child = fork();
    if (child < 0) return failed();
    if (child == 0) {
        page->write_end = Descriptor();
        answer->read_end = Descriptor();
        serve(*browser, page->read_end.number(), answer->write_end.number(), *file);
    }
    file->leave();
    return PdfPrinter(std::move(page->write_end), std::move(answer->read_end), path);
}

PdfPrinter::~PdfPrinter() {
    page_ = Descriptor();
    if (answer_.number() >= 0) read_all(answer_.number());
}

// Of a process that went away finish() tells.
void PdfPrinter::write(std::string_view piece) { static_cast<void>(write_all(page_.number(), piece)); }

std::expected<void, PdfProblem> PdfPrinter::finish() {
    write(std::string_view(&kComplete, 1));
    page_ = Descriptor();
    std::string said = read_all(answer_.number());
    if (said == kPrinted) return {};
    if (said.empty()) said = "the printing process ended early";
    return std::unexpected(PdfProblem{ExitCode::output_failed, fmt::format("cannot write {}: {}", path_, said)});
}

}  // namespace qps::cli
