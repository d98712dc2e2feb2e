#include <cli/held_inputs.hpp>
#include <cli/message.hpp>
#include <dissect/capture/descriptor.hpp>
#include <sandbox/sandbox.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace qps::cli {

namespace {

constexpr rlim_t kOtherFiles = 64;  // open at the same time: outputs, what libraries and our parent process opened

bool is_standard_input(const std::string& name) { return name == "-" || name == "/dev/stdin"; }

// Whether so many files may be open at once.
bool fit(std::size_t count) {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
    const rlim_t wanted = count + kOtherFiles;
    if (limit.rlim_cur >= wanted) return true;
    if (limit.rlim_max < wanted) return false;
    limit.rlim_cur = wanted;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

// Nothing where it is to be opened at its turn: a pipe waits for who writes it.
std::optional<dissect::HeldFile> hold(const std::string& name) {
    struct stat status{};
    if (stat(name.c_str(), &status) != 0) return dissect::HeldFile{-1, errno};
    if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) return {};
    dissect::Descriptor file(open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), true);
    if (file.number() < 0) return dissect::HeldFile{-1, errno};
    return dissect::HeldFile{file.release(), 0};  // until the process ends
}

}  // namespace

HeldInputs& HeldInputs::of(const Options& options) {
    static HeldInputs inputs(options);
    return inputs;
}

HeldInputs::HeldInputs(const Options& options) {
    if (!options.capture_filter.empty()) filter_ = dissect::BpfFilter::compile_for_all(options.capture_filter);
    if (!options.sandbox || options.no_sandbox || !options.interface.empty()) return;
    std::vector<std::string> names = options.files;
    if (!options.nccl_log.empty()) names.push_back(options.nccl_log);
    std::erase_if(names, is_standard_input);
    std::ranges::sort(names);
    names.erase(std::ranges::unique(names).begin(), names.end());
    if (fit(names.size()))
        for (std::string& name : names)
            if (const auto file = hold(name)) files_.push_back({std::move(name), *file});
    const bool evidence = !options.check.evidence.empty();
    const sandbox::Rights rights{
        .open_to_read = files_.size() != names.size(),
        .rename = evidence || !options.capture.empty() || !options.sqlite.empty() || !options.output.empty(),  // files take their names at the end
        .create = evidence};
    if (!sandbox::is_possible()) return;
    if (const auto entered = sandbox::enter(rights); !entered && !options.quiet)
        say("qpscope: reading without a sandbox: {}{}\n", entered.error(), options.wire == nullptr ? " (--no-sandbox: do not try)" : "");
}

std::expected<std::string, std::string> HeldInputs::contents(const std::string& name, std::size_t most,
                                                             const std::function<bool(std::string_view)>& wanted) const {
    const auto failed = [](int error) { return std::unexpected(std::string(std::strerror(error))); };
    std::optional<dissect::Descriptor> own;
    int number = STDIN_FILENO;
    if (const auto held = file(name)) {
        if (held->descriptor < 0) return failed(held->error);
        number = held->descriptor;
        if (lseek(number, 0, SEEK_SET) < 0) return failed(errno);  // read before
    } else if (!is_standard_input(name)) {
        own.emplace(open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY), true);
        number = own->number();
        if (number < 0) return failed(errno);
    }
    std::string bytes;
    std::vector<char> piece(1 << 16);
    bool asked = !wanted;
    for (;;) {
        const ssize_t got = ::read(number, piece.data(), piece.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return failed(errno);
        if (got == 0) return bytes;
        bytes.append(piece.data(), static_cast<std::size_t>(got));
        if (!asked && bytes.size() >= kLooked && !wanted(bytes)) return bytes;
        asked |= bytes.size() >= kLooked;
        if (bytes.size() > most) return bytes;
    }
}

std::optional<dissect::HeldFile> HeldInputs::file(const std::string& name) const {
    const auto found = std::ranges::lower_bound(files_, name, {}, &Named::name);
    if (found == files_.end() || found->name != name) return {};
    return found->file;
}

}  // namespace qps::cli
