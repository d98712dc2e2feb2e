// Tells files of a case apart, opens archives, and reads captures at the end.
#include <transport-replay/casework/archive_reader.hpp>
#include <transport-replay/casework/case_capture.hpp>
#include <transport-replay/casework/case_reader.hpp>
#include <transport-replay/casework/file_names.hpp>
#include <transport-replay/casework/host_ties.hpp>
#include <transport-replay/casework/line_pattern.hpp>
#include <transport-replay/casework/pickle_reader.hpp>
#include <transport-replay/casework/text_reader.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace qps::casework {

namespace {

constexpr std::size_t kSniffed = 4096;  // bytes that tell text from binaries

// UTF-16 as Windows' tools write it: its ASCII characters. Nothing for other bytes.
std::optional<Unpacked> from_utf16(std::string_view bytes, std::size_t most) {
    const bool little = bytes.starts_with("\xff\xfe");
    if (!little && !bytes.starts_with("\xfe\xff")) return std::nullopt;
    Unpacked text;
    text.cut = bytes.size() / 2 > most;
    for (std::size_t i = 2; i + 1 < bytes.size() && text.bytes.size() < most; i += 2) {
        const char low = bytes[little ? i : i + 1];
        const char high = bytes[little ? i + 1 : i];
        text.bytes += high == 0 ? low : '?';
    }
    return text;
}

// "sys/class/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence" with a number in it: a line as grep prints it.
std::string as_grepped(std::string_view name, std::string_view bytes) {
    static const RE2 counter(
        R"((?:^|/)infiniband/[\w.-]+/ports/\d+/(?:counters|hw_counters|gids|gid_attrs/types)/\w+$)");
    constexpr std::size_t kMost = 64;
    if (bytes.size() > kMost || !finds(name, counter)) return {};
    return "/sys/class/" + std::string(name.substr(name.rfind("infiniband/"))) + ":" + std::string(bytes);
}

}  // namespace

// A capture that waits for the end.
struct WaitingCapture {
    std::uint32_t file = 0;
    std::string path;  // of a file; empty: these bytes
    std::string bytes;
};

struct CaseReader::State {
    Case found;
    std::vector<WaitingCapture> captures;
    std::size_t held = 0;  // bytes of captures
    std::function<void(const std::string& name, std::string_view text)> listener;

    // A new file of the case, or nothing where there are too many.
    CaseFile* add(std::string name, bool cut) {
        if (found.files.size() >= found.memory.items(CaseShare::files)) {
            ++found.left_out;
            return nullptr;
        }
        found.quotes.emplace_back();
        found.hosts_said.emplace_back();
        CaseFile& file = found.files.emplace_back();
        file.name = std::move(name);
        file.cut = cut;
        return &file;
    }

    void hold_capture(CaseFile& file, std::string_view bytes) {
        file.capture = true;
        const std::size_t most = found.memory.bytes(CaseShare::captures);
        if (bytes.size() > most - std::min(held, most)) {
            file.problem = "not analysed: no room for it in memory (--memory), unpack it";
            return;
        }
        held += bytes.size();
        captures.push_back({static_cast<std::uint32_t>(found.files.size() - 1), {}, std::string(bytes)});
    }

    void read_text(std::string name, std::string_view bytes, bool cut) {
        CaseFile* const file = add(std::move(name), cut);
        if (file == nullptr) return;
        if (is_capture(bytes)) return hold_capture(*file, bytes);
        std::string grepped;
        auto text = from_utf16(bytes, found.memory.bytes(CaseShare::at_work));
        if (!text && is_pickle(bytes)) {
            text = json_of_pickle(bytes, found.memory.bytes(CaseShare::at_work));
            file->problem = text->problem;
        }
        if (text) {
            bytes = text->bytes;
            file->cut |= text->cut;
        } else if (grepped = as_grepped(file->name, bytes); !grepped.empty()) {
            bytes = grepped;
        }
        if (bytes.substr(0, kSniffed).contains('\0')) return void(file->binary = true);
        if (listener) listener(file->name, bytes);
        read_lines(found, static_cast<std::uint32_t>(found.files.size() - 1), bytes);
    }

    void read_members(const std::string& archive, std::string_view bytes) {
        const std::size_t index = found.files.size() - 1;
        TarReader tar(bytes);
        while (auto member = tar.next()) {
            ++found.files[index].lines;
            const std::string name = archive + "/" + member->name;
            if (member->unread.empty()) read_text(name, member->bytes, member->cut);
            else if (CaseFile* file = add(name, false)) file->problem = member->unread;
        }
        found.files[index].problem = tar.problem();
    }

    [[nodiscard]] OpenPiece piece_of(const WaitingCapture& capture) const {
        return {capture.file, [this, &capture] {
                    if (!capture.path.empty()) return dissect::CaptureFile::open(capture.path);
                    return dissect::CaptureFile::from_memory(std::as_bytes(std::span(capture.bytes)),
                                                             found.files[capture.file].name);
                }};
    }

    // The time of its first packet; nothing where it has none.
    static std::optional<dissect::Instant> start_of(const OpenPiece& piece) {
        auto capture = piece.open();
        dissect::Batch batch;
        if (!capture || !capture->read(batch) || batch.frames.empty() || !batch.frames.front().has_time)
            return std::nullopt;
        return batch.frames.front().time;
    }

    // Captures, each with its pieces in the order of their times.
    [[nodiscard]] std::vector<std::vector<OpenPiece>> recordings() const {
        std::vector<std::vector<OpenPiece>> all;
        std::map<std::string, std::vector<std::pair<dissect::Instant, OpenPiece>>> rotated;
        std::map<std::string, std::size_t> members;
        for (const WaitingCapture& capture : captures) ++members[recording_of(found.files[capture.file].name)];
        for (const WaitingCapture& capture : captures) {
            OpenPiece piece = piece_of(capture);
            const std::string recording = recording_of(found.files[capture.file].name);
            const auto start = recording.empty() || members[recording] < 2 ? std::nullopt : start_of(piece);
            if (start) rotated[recording].emplace_back(*start, std::move(piece));
            else all.push_back({std::move(piece)});
        }
        for (auto& [recording, pieces] : rotated) {
            std::ranges::stable_sort(pieces, {}, [](const auto& each) { return each.first; });
            std::vector<OpenPiece>& joined = all.emplace_back();
            for (auto& [start, piece] : pieces) joined.push_back(std::move(piece));
        }
        std::ranges::stable_sort(all, {}, [](const auto& pieces) { return pieces.front().file; });
        return all;
    }

    void analyse(const std::vector<OpenPiece>& pieces) {
        const transport::MemoryBudget memory(found.memory.bytes(CaseShare::at_work));
        auto made = std::make_shared<CaseCapture>(read_case_capture(pieces, found, memory));
        for (const CapturePiece& piece : made->pieces) found.files[piece.file].lines = piece.packets;
        found.files[made->file].problem = made->problem;
        found.mentions_rdma |= made->connections != 0;
        // Who writes of his own queue pair has its address.
        for (const LineOnWire& line : made->lines)
            for (const Event& event : found.events)
                if (line.alone && event.place == line.line && !event.host.empty() && !line.own.empty())
                    found.addresses.emplace(line.own, event.host);
        found.captures.push_back(std::move(made));
    }
};

CaseReader::CaseReader(CaseMemory memory) : state_(std::make_unique<State>()) { state_->found.memory = memory; }
CaseReader::CaseReader(CaseReader&&) noexcept = default;
CaseReader& CaseReader::operator=(CaseReader&&) noexcept = default;
CaseReader::~CaseReader() = default;

bool CaseReader::is_capture(std::string_view bytes) {
    constexpr std::array<std::string_view, 5> kMagic{
        std::string_view("\xd4\xc3\xb2\xa1", 4), std::string_view("\xa1\xb2\xc3\xd4", 4),
        std::string_view("\x4d\x3c\xb2\xa1", 4), std::string_view("\xa1\xb2\x3c\x4d", 4),
        std::string_view("\x0a\x0d\x0d\x0a", 4)};
    const auto begins = [&](std::string_view magic) { return bytes.starts_with(magic); };
    if (std::ranges::any_of(kMagic, begins)) return true;
    const auto inner = unpacked(bytes.substr(0, kSniffed), kSniffed);
    if (!inner) return false;
    bytes = inner->bytes;
    return std::ranges::any_of(kMagic, begins);
}

void CaseReader::listen(std::function<void(const std::string& name, std::string_view text)> listener) {
    state_->listener = std::move(listener);
}

void CaseReader::read_capture(std::string name, std::string path) {
    CaseFile* const file = state_->add(std::move(name), false);
    if (file == nullptr) return;
    file->capture = true;
    state_->captures.push_back({static_cast<std::uint32_t>(state_->found.files.size() - 1), std::move(path), {}});
}

void CaseReader::read(std::string name, std::string_view bytes, bool cut) {
    Case& found = state_->found;
    const std::size_t index = found.files.size();
    const bool capture = is_capture(bytes);
    const auto inner = capture ? std::nullopt : unpacked(bytes, found.memory.bytes(CaseShare::at_work));
    if (inner) {
        bytes = inner->bytes;
        cut = cut || inner->cut;
    }
    if (capture || !TarReader::is_tar(bytes)) {
        state_->read_text(std::move(name), bytes, cut);
    } else if (state_->add(name, cut) != nullptr) {
        found.files[index].archive = true;
        state_->read_members(name, bytes);
    }
    // Where it was cut on purpose, its end is no damage.
    if (index >= found.files.size() || found.files[index].capture) return;
    if (cut) found.files[index].problem.clear();
    else if (inner && !inner->problem.empty()) found.files[index].problem = inner->problem;
}

Case CaseReader::end() {
    tie_hosts(state_->found);
    for (const auto& pieces : state_->recordings()) state_->analyse(pieces);
    std::unique_ptr<State> done = std::exchange(state_, std::make_unique<State>());
    state_->found.memory = done->found.memory;
    return std::move(done->found);
}

}  // namespace qps::casework
