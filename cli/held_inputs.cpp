#include <cli/held_inputs.hpp>
#include <cli/input.hpp>
#include <cli/message.hpp>
#include <dissect/capture/capture_file.hpp>
#include <dissect/capture/descriptor.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ranges>
#include <utility>

#include <fcntl.h>
#include <sandbox/sandbox.hpp>
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

bool is_regular(const std::string& name) {
    struct stat status{};
    return !is_standard_input(name) && stat(name.c_str(), &status) == 0 && S_ISREG(status.st_mode);
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

HeldInputs& HeldInputs::of(const InputOptions& options) {
    static HeldInputs inputs(options);
    return inputs;
}

HeldInputs::HeldInputs(const InputOptions& options) {
    if (!options.capture_filter.empty()) filter_ = dissect::BpfFilter::compile_for_all(options.capture_filter);
    const Confinement& confinement = options.confinement;
    if (!confinement.holds() || !options.interface.empty()) return;
    std::vector<std::string> names = options.files;
    names.insert(names.end(), confinement.also_read.begin(), confinement.also_read.end());
    std::erase_if(names, is_standard_input);
    std::ranges::sort(names);
    names.erase(std::ranges::unique(names).begin(), names.end());
    holds_ = fit(names.size());
    if (holds_)
        for (std::string& name : names)
            if (const auto file = hold(name)) files_.push_back({std::move(name), *file});
    const sandbox::Rights rights{
        .open_to_read = files_.size() != names.size(), .rename = confinement.renames, .create = confinement.creates};
    if (!sandbox::is_possible()) return;
    if (const auto entered = sandbox::enter(rights); !entered)
        remark("qpscope: reading without a sandbox: {}{}\n", entered.error(),
               confinement.may_be_declined ? " (--no-sandbox: do not try)" : "");
}

std::expected<std::string, std::string> HeldInputs::contents(
    const std::string& name, std::size_t most, const std::function<bool(std::string_view)>& wanted) const {
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
        if (got < 0 && errno == EINTR && !interrupted()) continue;
        if (got < 0) return failed(errno);
        if (got == 0) return bytes;
        bytes.append(piece.data(), static_cast<std::size_t>(got));
        if (!asked && bytes.size() >= kLooked && !wanted(bytes)) return bytes;
        asked |= bytes.size() >= kLooked;
        if (bytes.size() > most) return bytes;
    }
}

// When it was recorded; nothing where that cannot be seen before it is its turn, or it has no packets.
dissect::RecordedTimes HeldInputs::times_of(const std::string& name) const {
    const auto held = file(name);
    if (!held && (holds_ || !is_regular(name))) return {};
    auto capture =
        held ? dissect::CaptureFile::open(*held, name, interrupted) : dissect::CaptureFile::open(name, interrupted);
    return capture ? dissect::recorded_times(*capture, interrupted) : dissect::RecordedTimes{};
}

namespace {

void say_overlap(const HeldInputs::Pieces& pieces) {
    remark(
        "qpscope: {} files overlap in time, {} and {}{}: their packets are merged by time (--in-order: one file after the other)\n",
        pieces.size(), pieces[0].name, pieces[1].name, pieces.size() > 2 ? " among them" : "");
}

// Where files are not read as they were given.
void say_order(const InputOptions& options, const std::vector<HeldInputs::Pieces>& ordered) {
    const auto all = std::views::join(ordered);
    if (std::ranges::equal(all, options.files, {}, &HeldInputs::Piece::name)) return;
    remark(
        "qpscope: {} files are read in the order of their first packets, {} first and {} last (--in-order: as given)\n",
        options.files.size(), ordered.front().front().name, ordered.back().back().name);
}

}  // namespace

const std::expected<std::vector<HeldInputs::Pieces>, std::string>& HeldInputs::in_order(const InputOptions& options) {
    if (given_ == options.files) return ordered_;
    given_ = options.files;
    ordered_ = std::vector<Pieces>();
    if (options.in_order || options.by_time || options.files.size() < 2) {
        for (const std::string& name : options.files) ordered_->push_back({{name}});
        return ordered_;
    }
    std::vector<dissect::RecordedTimes> times;
    for (const std::string& name : options.files) times.push_back(times_of(name).moved(options.offset_of(name)));
    const auto order = dissect::reading_order(times);
    if (!order) {
        ordered_ = std::unexpected(order.error() + " (--in-order: one file after the other)");
        return ordered_;
    }
    for (const dissect::FileGroup& group : *order) {
        ordered_->emplace_back();
        for (const std::size_t place : group)
            ordered_->back().push_back({options.files[place], group.size() > 1 ? times[place].first : std::nullopt});
        if (dissect::overlap(times, group)) say_overlap(ordered_->back());
    }
    say_order(options, *ordered_);
    return ordered_;
}

std::optional<dissect::HeldFile> HeldInputs::file(const std::string& name) const {
    const auto found = std::ranges::lower_bound(files_, name, {}, &Named::name);
    if (found == files_.end() || found->name != name) return {};
    return found->file;
}

}  // namespace qps::cli
