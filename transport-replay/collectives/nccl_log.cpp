#include <dissect/base/parse_value.hpp>
#include <transport-replay/collectives/nccl_log.hpp>

#include <algorithm>
#include <set>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::string_view kMark = " NCCL INFO ";
constexpr std::uint32_t kMostRank = 1 << 20;

// What is left of a line, a word at a time.
class Words {
public:
    explicit Words(std::string_view text) : rest_(text) {}
    std::string_view next() {
        const std::size_t begin = rest_.find_first_not_of(' ');
        if (begin == std::string_view::npos) return rest_ = {};
        const std::size_t end = std::min(rest_.find(' ', begin), rest_.size());
        const std::string_view word = rest_.substr(begin, end - begin);
        rest_.remove_prefix(end);
        return word;
    }
    // The word behind that one; nothing where it does not stand.
    std::optional<std::string_view> behind(std::string_view word) {
        for (std::string_view one = next(); !one.empty(); one = next())
            if (one == word) return next();
        return std::nullopt;
    }

private:
    std::string_view rest_;
};

std::optional<std::uint32_t> rank_of(std::string_view word, std::uint32_t most = kMostRank) {
    const auto value = parse_decimal(word, most);
    return value ? std::optional(static_cast<std::uint32_t>(*value)) : std::nullopt;
}

// "19001EACFFFF0000": the bytes of half a GID as a number of the host, the first byte the least.
std::optional<std::uint64_t> half_of_gid(std::string_view digits) {
    const auto value = parse_number("0x" + std::string(digits));
    if (!value) return std::nullopt;
    std::uint64_t swapped = 0;
    for (int i = 0; i < 8; ++i) swapped = swapped << 8 | (*value >> 8 * i & 0xff);
    return swapped;
}

// "(0/19001EACFFFF0000)"
std::optional<Address> gid_of(std::string_view word) {
    const std::size_t slash = word.find('/');
    if (word.size() < 5 || word.front() != '(' || word.back() != ')' || slash == std::string_view::npos)
        return std::nullopt;
    const auto upper = half_of_gid(word.substr(1, slash - 1)),
               lower = half_of_gid(word.substr(slash + 1, word.size() - slash - 2));
    if (!upper || !lower || (*upper == 0 && *lower == 0)) return std::nullopt;
    return Address{{*upper, *lower}, AddressSpace::none};
}

// "eth0:172.30.0.25<0>"
std::optional<Address> socket_of(std::string_view word) {
    const std::size_t colon = word.find(':'), bracket = word.find('<');
    if (colon == std::string_view::npos || bracket == std::string_view::npos || bracket < colon) return std::nullopt;
    std::string_view address = word.substr(colon + 1, bracket - colon - 1);
    if (address.starts_with('[') && address.ends_with(']')) address = address.substr(1, address.size() - 2);
    const auto ip = parse_ip(address);
    if (!ip) return std::nullopt;
    Address out;
    for (std::size_t i = 0; i < (ip->ipv4 ? 4 : 16); ++i)
        out.bits[i / 8] = out.bits[i / 8] << 8 | std::to_integer<std::uint64_t>(ip->bytes[i]);
    if (ip->ipv4) out.bits = {0, 0xffff'0000'0000 | out.bits[0]};
    return out;
}

class LogReader {
public:
    void line(std::string_view line) {
        const std::size_t mark = line.find(kMark);
        if (mark == std::string_view::npos) return;
        ++log_.lines;
        const std::string_view said = line.substr(mark + kMark.size());
        const std::string_view process = process_of(line.substr(0, mark));
        if (process.empty() || !take(process, said)) ++log_.malformed;
    }
    [[nodiscard]] NcclLog finish() {
        if (log_.members != 0 && log_.ring.size() != log_.members) log_.ring.clear();
        return std::move(log_);
    }

private:
    // "node0:4744:4763 [0]": host and process; threads and devices are of it.
    static std::string_view process_of(std::string_view head) {
        const std::string_view word = Words(head).next();
        const std::size_t first = word.find(':');
        if (first == std::string_view::npos) return {};
        return word.substr(0, std::min(word.find(':', first + 1), word.size()));
    }
    NcclLogRank* of(std::string_view process) {
        const auto found = std::ranges::lower_bound(
            log_.ranks, process, {}, [](const NcclLogRank& one) { return std::string_view(one.process); });
        if (found != log_.ranks.end() && found->process == process) return &*found;
        if (log_.ranks.size() == NcclLog::kMostRanks) return nullptr;
        return &*log_.ranks.insert(found, NcclLogRank{.process = std::string(process)});
    }
    // Whether the line could be read, or is none that matters.
    bool take(std::string_view process, std::string_view said) {
        if (said.starts_with("comm ") && said.find("Init COMPLETE") != std::string_view::npos)
            return take_rank(process, said);
        if (said.starts_with("NET/IB") && said.find(" GID ") != std::string_view::npos)
            return take_address(process, take_gid(said));
        if (said.starts_with("Bootstrap") && said.find("Using ") != std::string_view::npos) {
            const std::size_t at = said.find("Using ") + 6;
            return take_address(process, socket_of(Words(said.substr(at)).next()));
        }
        if (said.starts_with("Channel 00/") && said.find("->") == std::string_view::npos) return take_ring(said);
        if (said.find(" coll channels,") != std::string_view::npos) return take_channels(said);
        return true;
    }
    // "comm 0x43dc13b0 rank 0 nranks 3 ... Init COMPLETE". A process may have several; one rank each is what can be
    // joined.
    bool take_rank(std::string_view process, std::string_view said) {
        const auto rank = Words(said).behind("rank"), members = Words(said).behind("nranks");
        const auto number = rank_of(rank.value_or("")), count = rank_of(members.value_or(""));
        if (!number || !count || *number >= *count) return false;
        NcclLogRank* one = of(process);
        if (one == nullptr || (log_.members != 0 && *count > log_.members)) return false;
        if (log_.members != 0 && *count < log_.members) return true;  // a communicator of some of the ranks
        if (one->rank && *one->rank != *number) return false;
        one->rank = number;
        log_.members = *count;
        return true;
    }
    static std::optional<Address> take_gid(std::string_view said) {
        Words words(said);
        if (!words.behind("GID")) return std::nullopt;  // its index
        return gid_of(words.next());
    }
    bool take_address(std::string_view process, std::optional<Address> address) {
        NcclLogRank* one = address ? of(process) : nullptr;
        if (one == nullptr) return false;
        if (std::ranges::find(one->addresses, *address) != one->addresses.end()) return true;
        if (one->addresses.size() == NcclLog::kMostAddresses) return false;
        one->addresses.push_back(*address);
        return true;
    }
    // "Channel 00/01 :    0   1   2"
    bool take_ring(std::string_view said) {
        if (!log_.ring.empty()) return true;
        const std::size_t colon = said.find(" :");
        if (colon == std::string_view::npos) return false;
        Words words(said.substr(colon + 2));
        std::vector<std::uint32_t> ring;
        std::set<std::uint32_t> seen;
        for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
            const auto rank = rank_of(word);
            if (!rank || ring.size() == NcclLog::kMostRanks || !seen.insert(*rank).second) return false;
            ring.push_back(*rank);
        }
        log_.ring = std::move(ring);
        return true;
    }
    bool take_channels(std::string_view said) {
        constexpr std::uint32_t kMostChannels = 1024;
        const auto count = rank_of(Words(said).next(), kMostChannels);
        if (!count) return false;
        log_.channels = *count;
        return true;
    }

    NcclLog log_;
};

}  // namespace

NcclLog read_nccl_log(std::string_view text) {
    LogReader reader;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, std::min(end, NcclLog::kLongestLine));
        if (line.ends_with('\r')) line.remove_suffix(1);
        reader.line(line);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return reader.finish();
}

void join_log(Collective& collective, const NcclLog& log) {
    if (collective.made_by != CollectiveLibrary::nccl || log.lines == 0) return;
    std::set<std::uint32_t> taken;
    for (const CollectiveRank& rank : collective.ranks)
        if (rank.number) taken.insert(*rank.number);
    bool joined = false, contradicted = false;
    const auto give = [&](CollectiveRank& rank, std::uint32_t number) {
        if (rank.number) {
            joined = joined || *rank.number == number;
            contradicted = contradicted || *rank.number != number;
        } else if (taken.insert(number).second) {
            rank.number = number;
            joined = true;
        }
    };
    for (const NcclLogRank& one : log.ranks)
        for (const Address& address : one.addresses)
            for (CollectiveRank& rank : collective.ranks)
                if (one.rank && rank.address.bits == address.bits) give(rank, *one.rank);
    if (!joined || contradicted) return;  // the log of another job
    collective.channels = log.channels;
    if (log.members >= collective.ranks.size() && (collective.members == 0 || collective.members == log.members))
        collective.members = log.members;
    // Each place of the ring that the capture shows, from one rank whose number is known.
    const auto known = std::ranges::find_if(
        collective.chain, [&](std::uint32_t place) { return collective.ranks[place].number.has_value(); });
    if (known == collective.chain.end()) return;
    const auto at = std::ranges::find(log.ring, *collective.ranks[*known].number);
    if (at == log.ring.end()) return;
    const auto size = static_cast<std::ptrdiff_t>(log.ring.size());
    if (size < std::ssize(collective.chain)) return;
    const std::ptrdiff_t shift = (at - log.ring.begin()) - (known - collective.chain.begin());
    for (std::ptrdiff_t i = 0; i < std::ssize(collective.chain); ++i)
        give(collective.ranks[collective.chain[static_cast<std::size_t>(i)]],
             log.ring[static_cast<std::size_t>(((i + shift) % size + size) % size)]);
}

}  // namespace qps::transport
