// Splits a text into blocks, scans several at a time, and hands them on in order.
#include <transport-replay/casework/line_scan.hpp>
#include <transport-replay/casework/log_words.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

namespace qps::casework {

namespace {

constexpr std::size_t kScanned = 1U << 20U;  // bytes, and up to the end of its last line
constexpr std::size_t kAhead = 16;           // blocks
constexpr std::size_t kMostThreads = 8;      // reading what they find takes one more

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_host(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '_'; }

// "HOST:PID:TID [N] " right before `at`, as the prefix of NCCL's lines has it: the host up to its first dot.
std::string_view nccl_host(std::string_view line, std::size_t at) {
    std::size_t end = at;
    const auto back = [&](char c) { return end > 0 && line[end - 1] == c ? --end, true : false; };
    const auto digits = [&] {
        const std::size_t from = end;
        while (end > 0 && is_digit(line[end - 1])) --end;
        return end != from;
    };
    if (!back(' ') || !back(']') || !digits() || !back('[') || !back(' ') || !digits() || !back(':') || !digits() ||
        !back(':'))
        return {};
    std::size_t begin = end;
    while (begin > 0 && is_host(line[begin - 1])) --begin;
    const bool edge = begin == 0 || line[begin - 1] == ' ' || line[begin - 1] == ']';
    if (begin == end || !edge || std::isalnum(static_cast<unsigned char>(line[begin])) == 0) return {};
    const std::string_view host = line.substr(begin, end - begin);
    return host.substr(0, host.find('.'));
}

// What was met in a line so far.
struct Met {
    std::size_t info = 0;          // where "NCCL INFO " begins; 0: nowhere
    std::size_t prefix = 0;        // where it ends, if nothing else stands before
    WordFinder::State state = 0;   // behind the prefix
    std::size_t known = SIZE_MAX;  // whose prefix it is, where it was seen before
    std::uint32_t notes = 0;       // bits of notes that say the same each time
    bool reads = false;            // it is to be read
};

// Prefixes of lines that were plain: a process prints the same one again and again.
struct SeenPrefix {
    std::string_view text;
    WordFinder::State state = 0;
    std::size_t info = 0;
    std::size_t host = 0;  // place of the host
};
constexpr std::size_t kSeenPrefixes = 256;  // by their first bytes; the last one stays
constexpr std::size_t kHashed = 24;         // bytes: of host, process and thread
std::size_t slot_of(std::string_view line) {
    std::array<std::uint64_t, kHashed / 8> words{};
    std::memcpy(words.data(), line.data(), kHashed);
    const std::uint64_t mixed = (words[0] * 31 + words[1]) * 31 + words[2];
    return (mixed * 0x9e3779b97f4a7c15) >> 56U;
}

class BlockScan {
public:
    BlockScan(std::string_view block, ScannedBlock& found) : block_(block), found_(found) {}

    void run() {
        const WordFinder& words = log_words();
        WordFinder::State state = words.start();
        for (std::size_t at = skip_prefix(state); at < block_.size(); ++at) {
            state = words.next(state, block_[at]);
            if (!words.ends_word(state)) continue;
            bool ended = false;
            words.each_end(state, [&](WordFinder::Id id) { ended |= meet(id, at, state); });
            if (!ended && met_.reads) {  // the rest of the line changes nothing
                const void* newline = std::memchr(block_.data() + at, '\n', block_.size() - at);
                if (newline == nullptr) break;
                at = static_cast<std::size_t>(static_cast<const char*>(newline) - block_.data());
                ended = true;
            }
            if (!ended) continue;
            end_line(at);
            state = words.start();
            at += skip_prefix(state);
        }
        if (begin_ < block_.size()) end_line(block_.size());
    }

private:
    // How much of the line that begins is a prefix seen before: the state is that behind it.
    std::size_t skip_prefix(WordFinder::State& state) {
        const std::string_view line = block_.substr(std::min(begin_, block_.size()));
        if (line.size() < kHashed) return 0;
        const std::size_t slot = slot_of(line);
        const SeenPrefix& prefix = prefixes_[slot];
        if (prefix.text.empty() || !line.starts_with(prefix.text)) return 0;
        state = prefix.state;
        met_.info = prefix.info;
        met_.known = prefix.host;
        return prefix.text.size();
    }

    // Whether the line ends.
    bool meet(WordFinder::Id id, std::size_t at, WordFinder::State state) {
        switch (const WordUse use = use_of(id); use.kind) {
            case WordUse::Kind::newline: return true;
            case WordUse::Kind::nccl:
                if (met_.info != 0) break;
                met_.info = at + 1 - use.length - begin_;
                if (met_.notes == 0 && !met_.reads) {
                    met_.prefix = at + 1 - begin_;
                    met_.state = state;
                }
                break;
            case WordUse::Kind::same_note: met_.notes |= 1U << use.note; break;
            case WordUse::Kind::reads: met_.reads = true; break;
        }
        return false;
    }

    void end_line(std::size_t end) {
        const std::string_view line = block_.substr(begin_, end - begin_);
        const std::uint32_t number = found_.count++;
        begin_ = end + 1;
        const Met met = std::exchange(met_, {});
        if (line.empty()) return;
        if (!met.reads && is_plain(line, met)) {
            behind_plain_ = true;
            return;
        }
        found_.lines.push_back({line, number, std::exchange(behind_plain_, false)});
    }

    bool is_plain(std::string_view line, const Met& met) {
        const std::size_t its = met.known != SIZE_MAX ? met.known : host_of(line, met);
        if (its == kMostHosts) return false;
        if ((met.notes & ~noted_[its]) != 0) {
            noted_[its] |= met.notes;
            return false;
        }
        if (met.known == SIZE_MAX && met.prefix >= kHashed)
            prefixes_[slot_of(line)] = {line.substr(0, met.prefix), met.state, met.info, its};
        ++found_.hosts[its].second;
        ++found_.plain;
        return true;
    }

    // The place of the host that the prefix of NCCL names; kMostHosts: there is none.
    std::size_t host_of(std::string_view line, const Met& met) {
        constexpr std::size_t kLongest = 200, kLauncher = 40;
        if (met.info == 0 || met.info > kLongest || line.front() == '>') return kMostHosts;
        if (line.front() == '[' && line.substr(0, kLauncher).contains("<std")) return kMostHosts;
        const std::string_view host = nccl_host(line, met.info);
        return host.empty() ? kMostHosts : place_of(host);
    }

    // Lines of one host stand together.
    std::size_t place_of(std::string_view host) {
        if (last_ < found_.hosts.size() && found_.hosts[last_].first == host) return last_;
        for (last_ = 0; last_ < found_.hosts.size(); ++last_)
            if (found_.hosts[last_].first == host) return last_;
        if (last_ == kMostHosts) return kMostHosts;
        found_.hosts.emplace_back(host, 0);
        return last_;
    }

    static constexpr std::size_t kMostHosts = 64;  // of a block; lines of others are read

    std::string_view block_;
    ScannedBlock& found_;
    std::size_t begin_ = 0;  // of the line
    Met met_;
    bool behind_plain_ = false;
    std::array<std::uint32_t, kMostHosts> noted_{};  // of each host
    std::array<SeenPrefix, kSeenPrefixes> prefixes_{};
    std::size_t last_ = 0;
};

std::string_view next_block(std::string_view& text) {
    std::size_t end = text.size();
    if (text.size() > kScanned) {
        const std::size_t newline = text.find('\n', kScanned);
        if (newline != std::string_view::npos) end = newline + 1;
    }
    const std::string_view block = text.substr(0, end);
    text.remove_prefix(end);
    return block;
}

// Blocks that threads scan while another takes them in order.
class Scanners {
public:
    Scanners(std::string_view text, std::size_t threads) : text_(text) {
        for (std::size_t i = 0; i < threads; ++i) {
            try {
                threads_.emplace_back([this] { work(); });
            } catch (const std::system_error&) {
                break;
            }
        }
    }
    Scanners(const Scanners&) = delete;
    Scanners& operator=(const Scanners&) = delete;
    ~Scanners() {
        {
            const std::lock_guard lock(mutex_);
            closed_ = true;
        }
        room_.notify_all();
    }

    [[nodiscard]] bool any() const { return !threads_.empty(); }

    void take_all(const std::function<void(const ScannedBlock&)>& take) {
        for (std::size_t next = 0;; ++next) {
            Slot& slot = slots_[next % kAhead];
            {
                std::unique_lock lock(mutex_);
                ready_.wait(lock, [&] { return slot.ready || failure_ || (text_.empty() && next == begun_); });
                if (failure_) std::rethrow_exception(failure_);
                if (!slot.ready) return;
            }
            take(slot.found);
            {
                const std::lock_guard lock(mutex_);
                slot.ready = false;
                ++taken_;
            }
            room_.notify_one();
        }
    }

private:
    struct Slot {
        ScannedBlock found;
        bool ready = false;
    };

    void work() {
        for (;;) {
            std::string_view block;
            Slot* slot = nullptr;
            {
                std::unique_lock lock(mutex_);
                room_.wait(lock, [&] { return closed_ || text_.empty() || begun_ < taken_ + kAhead; });
                if (closed_ || text_.empty()) return;
                block = next_block(text_);
                slot = &slots_[begun_++ % kAhead];
            }
            std::exception_ptr failure;
            try {
                slot->found.clear();
                scan_block(block, slot->found);
            } catch (...) {
                failure = std::current_exception();
            }
            {
                const std::lock_guard lock(mutex_);
                slot->ready = true;
                if (failure && !failure_) failure_ = failure;
                if (text_.empty()) room_.notify_all();
            }
            ready_.notify_one();
        }
    }

    std::mutex mutex_;
    std::condition_variable room_, ready_;
    std::string_view text_;  // what nobody took yet
    std::size_t begun_ = 0;  // blocks that somebody took
    std::size_t taken_ = 0;  // blocks that were handed on
    std::array<Slot, kAhead> slots_;
    std::exception_ptr failure_;
    bool closed_ = false;
    std::vector<std::jthread> threads_;  // last: joined first
};

}  // namespace

void ScannedBlock::clear() {
    lines.clear();
    hosts.clear();
    count = 0;
    plain = 0;
}

void scan_block(std::string_view block, ScannedBlock& found) { BlockScan(block, found).run(); }

void scan_lines(std::string_view text, const std::function<void(const ScannedBlock&)>& take) {
    constexpr std::size_t kWorthThreads = 4 * kScanned;
    if (text.size() >= kWorthThreads) {
        const std::size_t threads = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, kMostThreads);
        Scanners scanners(text, threads);
        if (scanners.any()) return scanners.take_all(take);
    }
    ScannedBlock found;
    while (!text.empty()) {
        found.clear();
        scan_block(next_block(text), found);
        take(found);
    }
}

}  // namespace qps::casework
