// From a sample of packets and their recordings to the taps that made them.
//
// Labels prove: a retransmission has the same interface, VLAN and TTL as the packet before it, and mostly the same
// file, so where most packets of two hosts have two labels, two taps recorded them. Where the labels are the same, an
// IP identification that counts proves it too. Where the bytes prove nothing (IPv6, identification 0), only a time that
// is the same from every packet to its copy does, as long as no requester can have sent all of it again.
#include <transport-replay/tracking/tap_evidence.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::size_t kMostLabels = 16;      // of two hosts; paths do not have more
constexpr std::size_t kMostOffsets = 3;      // that are looked at
constexpr std::size_t kFewestTogether = 16;  // packets of several pairs of hosts

using Recording = SampledPacket::Recording;
using Packets = std::span<const SampledPacket* const>;

const Recording* first_of(const SampledPacket& packet, std::uint64_t label, std::uint64_t mask) {
    const auto all = packet.recordings();
    const auto found =
        std::ranges::find_if(all, [&](const Recording& recording) { return part(recording.label, mask) == label; });
    return found == all.end() ? nullptr : &*found;
}

// The packets of two hosts, and what is known of their labels.
class HostsLearning {
public:
    HostsLearning(Packets packets, CaptureTraits& traits) : packets_(packets), traits_(traits) {
        for (const SampledPacket* packet : packets) ways_.insert(packet->hosts.way);
    }

    void learn() {
        const std::size_t before = traits_.other_taps.size();
        learn_sources();
        by_file_ = traits_.other_taps.size() != before;
        learn_labels();
        learn_twice();
        add_to(traits_.vantage);
    }
    // Where all of it came twice, and it was too little to prove a tap by itself.
    [[nodiscard]] const std::optional<Twice>& undecided() const { return undecided_; }
    void accept(const Twice& found) {
        traits_.twice.push_back({found.hosts, found.offset});
        traits_.reach = std::max(traits_.reach, found.reach);
        taps_ = std::max<std::uint32_t>(taps_, 2);
        if (found.pairs.size() > offsets_.size()) offsets_ = found.pairs;
    }

private:
    using Labels = std::set<std::uint64_t>;

    [[nodiscard]] bool follows(const SampledPacket& packet, const Recording& recording) const {
        return std::ranges::none_of(left_out_, [&](const OtherTap& tap) {
            return tap.way == packet.hosts.way && part(recording.label, tap.mask) == tap.label;
        });
    }
    [[nodiscard]] Labels labels(std::uint64_t mask, std::uint64_t source = 0) const {
        Labels found;
        for (const SampledPacket* packet : packets_)
            for (const Recording& recording : packet->recordings())
                if (found.size() < kMostLabels && follows(*packet, recording) &&
                    (source == 0 || part(recording.label, kSourceOfLabel) == source - 1))
                    found.insert(part(recording.label, mask));
        return found;
    }
    [[nodiscard]] std::size_t count(std::uint64_t label, std::uint64_t mask, std::uint64_t way) const {
        return static_cast<std::size_t>(std::ranges::count_if(packets_, [&](const SampledPacket* packet) {
            return packet->hosts.way == way && first_of(*packet, label, mask) != nullptr;
        }));
    }
    // Of packets that both recorded: how much later the second did.
    [[nodiscard]] std::vector<TimedOffset> pairs(std::uint64_t first, std::uint64_t second, std::uint64_t mask,
                                                 std::uint64_t way) const {
        std::vector<TimedOffset> found;
        for (const SampledPacket* packet : packets_) {
            if (packet->hosts.way != way) continue;
            const Recording* here = first_of(*packet, first, mask);
            const Recording* there = first_of(*packet, second, mask);
            if (here != nullptr && there != nullptr) found.push_back({here->time, there->time - here->time});
        }
        return found;
    }
    // Whether two labels are two taps: most of what either recorded the other one did too.
    [[nodiscard]] bool same_packets(std::uint64_t first, std::uint64_t second, std::uint64_t mask,
                                    std::uint64_t way) const {
        const std::size_t both = pairs(first, second, mask, way).size();
        const std::size_t fewer = std::min(count(first, mask, way), count(second, mask, way));
        return both != 0 && 2 * both >= fewer && (both >= kFewestPairs || both == fewer);
    }
    void leave_out(std::uint64_t way, std::uint64_t label, std::uint64_t mask) {
        left_out_.push_back({way, label, mask});
        traits_.other_taps.push_back(left_out_.back());
    }

    // Files and interfaces: the one that saw most of both ways is followed.
    void learn_sources() {
        const Labels sources = labels(kSourceOfLabel);
        if (sources.size() < 2) return;
        const auto saw = [&](std::uint64_t source) {  // of the way of which it saw less, then of both
            std::size_t least = SIZE_MAX, all = 0;
            for (const std::uint64_t way : ways_) {
                const std::size_t here = count(source, kSourceOfLabel, way);
                least = std::min(least, here);
                all += here;
            }
            return std::pair(least, all);
        };
        const std::uint64_t followed = *std::ranges::max_element(sources, {}, saw);
        for (const std::uint64_t source : sources) {
            if (source == followed) continue;
            // Rotated files may begin with what the one before ended with: a few retransmissions are no tap.
            const auto shared = [&](std::uint64_t way) {
                return same_packets(followed, source, kSourceOfLabel, way) &&
                       pairs(followed, source, kSourceOfLabel, way).size() >= kFewestPairs;
            };
            if (std::ranges::none_of(ways_, shared)) continue;
            ++taps_;
            std::vector<TimedOffset> all;
            for (const std::uint64_t way : ways_) {
                if (count(followed, kSourceOfLabel, way) == 0) continue;
                leave_out(way, source, kSourceOfLabel);
                const auto here = pairs(followed, source, kSourceOfLabel, way);
                all.insert(all.end(), here.begin(), here.end());
            }
            if (all.size() > offsets_.size()) offsets_ = std::move(all);
        }
    }

    // VLAN and TTL within a source. Which label of the one way is the same tap as which of the other, the clocks say.
    void learn_labels() {
        for (const std::uint64_t source : labels(kSourceOfLabel)) {
            std::optional<ClockOffset> other_way;
            for (const std::uint64_t way : ways_) learn_labels(source, way, other_way);
        }
    }

    // Whether two VLANs share answers alone, and what these answer came in two VLANs as well, which share nothing: so
    // do queue pairs of two tenants whose PSNs are the same.
    [[nodiscard]] bool answers_alone(std::uint64_t one, std::uint64_t two, std::uint64_t way) const {
        if (!differ_in_vlan(one, two)) return false;
        for (const SampledPacket* packet : packets_)
            if (packet->hosts.way == way && !packet->acknowledges && first_of(*packet, one, kWholeLabel) != nullptr &&
                first_of(*packet, two, kWholeLabel) != nullptr)
                return false;
        Labels asked;
        for (const SampledPacket* packet : packets_) {
            if (packet->hosts.way == way || packet->answer) continue;
            const auto all = packet->recordings();
            if (std::ranges::any_of(all, [&](const Recording& other) { return other.label != all.front().label; }))
                return false;
            if (asked.size() < kMostLabels) asked.insert(std::to_underlying(all.front().label));
        }
        return std::ranges::any_of(asked, [&](std::uint64_t label) {
            return differ_in_vlan(label, *asked.begin()) && label != *asked.begin();
        });
    }
    [[nodiscard]] static bool differ_in_vlan(std::uint64_t one, std::uint64_t two) {
        constexpr std::uint64_t kVlan = 0xffff00;
        return ((one ^ two) & ~kVlan) == 0;
    }

    void learn_labels(std::uint64_t source, std::uint64_t way, std::optional<ClockOffset>& other_way) {
        const Labels all = labels(kWholeLabel, source + 1);
        std::vector<TimedOffset> most;
        std::uint64_t first = 0, second = 0;
        for (auto one = all.begin(); one != all.end(); ++one)
            for (auto two = std::next(one); two != all.end(); ++two) {
                if (!same_packets(*one, *two, kWholeLabel, way) || answers_alone(*one, *two, way)) continue;
                auto here = pairs(*one, *two, kWholeLabel, way);
                if (here.size() <= most.size()) continue;
                most = std::move(here);
                first = *one, second = *two;
            }
        if (most.empty()) return;
        ClockOffset offset = offset_of(most);
        if (swapped(offset, other_way)) {
            std::swap(first, second);
            for (TimedOffset& pair : most) pair = {pair.time + pair.offset, -pair.offset};
            offset = offset_of(most);
        }
        if (!other_way) other_way = offset;
        leave_out(way, second, kWholeLabel);
        std::uint32_t taps = 2;
        for (const std::uint64_t third : all)
            if (third != first && third != second && same_packets(first, third, kWholeLabel, way)) {
                leave_out(way, third, kWholeLabel);
                ++taps;
            }
        taps_ = std::max(taps_, taps);
        if (most.size() > offsets_.size()) offsets_ = std::move(most);
    }

    // The first recording is followed on one way; on the other that of the same clock.
    [[nodiscard]] static bool swapped(const ClockOffset& offset, const std::optional<ClockOffset>& other_way) {
        if (!other_way) return offset.middle() < Duration{};
        double as_it_is = 0, other_way_round = 0;
        for (std::size_t i = 0; i < offset.used; ++i) {
            const auto here = static_cast<double>(offset.parts[i].offset);
            const auto there = static_cast<double>(other_way->at(offset.parts[i].time));
            as_it_is += std::abs(here - there);
            other_way_round += std::abs(here + there);
        }
        return other_way_round < as_it_is;
    }

    // The same label twice.
    void learn_twice() {
        const std::vector<Packet> all = followed();
        std::vector<TimedOffset> once;  // of packets with one copy
        for (const Packet& packet : all)
            if (packet.recordings.size() == 2)
                once.push_back({packet.recordings[0].time, packet.recordings[1].time - packet.recordings[0].time});
        const auto look = [&](const ClockOffset& offset) {
            Twice found = paired(all, offset);
            found.hosts = packets_.front()->hosts.both;
            found.regressed = regressed(all, offset);
            return found;
        };
        Twice first = look(offset_of(once));
        if (proves(first)) return accept(first);
        std::vector<Twice> likely;
        for (const ClockOffset& offset : likely_offsets(all)) {
            likely.push_back(look(offset));
            if (proves(likely.back())) return accept(likely.back());
        }
        const auto doubtful = std::ranges::find_if(likely, [&](const Twice& found) {
            const std::uint64_t way = found.counts() ? 0 : found.doubtful_way();
            return way != 0 && std::ranges::none_of(likely, [&](const Twice& timer) {
                       return timer.is_timer_of(way, found.offset.middle());
                   });
        });
        if (doubtful != likely.end()) {
            traits_.twice.push_back({doubtful->hosts, doubtful->offset, doubtful->doubtful_way()});
            traits_.reach = std::max(traits_.reach, doubtful->reach);
        } else if (first.even == first.all && first.all != 0) {
            undecided_ = std::move(first);
        }
    }

    [[nodiscard]] static bool proves(const Twice& found) {
        if (found.counts()) return many(found.even, found.all) || found.one_way();
        return as_time_proves(found) || found.goes_back();
    }

    // As a mirror makes them, not a network that doubles some.
    [[nodiscard]] static bool many(std::size_t even, std::size_t all) {
        return even >= kFewestPairs && 10 * even >= 4 * all;
    }

    // Where the bytes prove nothing: everything came twice, both ways, after the same time, and so much of it was
    // answered in between that no requester sent all of it again.
    [[nodiscard]] static bool as_time_proves(const Twice& found) {
        if (found.even < kFewestByTime || 100 * found.even < 95 * found.all || found.even_ways() < 2) return false;
        const Duration apart = magnitude(found.offset.middle()), tolerance = found.offset.tolerance;
        const bool long_enough = found.length() > apart + apart;
        return (long_enough || found.answers >= kFewestAnswersByTime) &&
               (apart < kLeastTolerance + kLeastTolerance || tolerance + tolerance < apart);
    }

    struct Packet {
        const SampledPacket* sampled;
        std::vector<Recording> recordings;  // that are followed
    };
    [[nodiscard]] std::vector<Packet> followed() const {
        std::vector<Packet> all;
        for (const SampledPacket* packet : packets_) {
            if (packet->recorded > SampledPacket::kMostKept) continue;
            Packet kept{packet, {}};
            for (const Recording& recording : packet->recordings())
                if (follows(*packet, recording)) kept.recordings.push_back(recording);
            if (!kept.recordings.empty()) all.push_back(std::move(kept));
        }
        return all;
    }

    // Times that many recordings are apart: a packet that was sent again is there more often than twice.
    [[nodiscard]] static std::vector<ClockOffset> likely_offsets(const std::vector<Packet>& all) {
        std::vector<TimedOffset> apart;
        for (const Packet& packet : all)
            for (std::size_t i = 0; i < packet.recordings.size(); ++i)
                for (std::size_t k = i + 1; k < packet.recordings.size(); ++k)
                    apart.push_back({packet.recordings[i].time, packet.recordings[k].time - packet.recordings[i].time});
        std::vector<ClockOffset> found;
        while (found.size() < kMostOffsets) {
            std::ranges::sort(apart, {}, &TimedOffset::offset);
            std::size_t from = 0, best_from = 0, best = 0;
            for (std::size_t to = 0; to < apart.size(); ++to) {
                while (apart[to].offset - apart[from].offset > kLeastTolerance + kLeastTolerance) ++from;
                if (to - from + 1 <= best) continue;
                best = to - from + 1;
                best_from = from;
            }
            if (best < kFewestPairs) break;
            const auto first = apart.begin() + static_cast<std::ptrdiff_t>(best_from),
                       behind = first + static_cast<std::ptrdiff_t>(best);
            found.push_back(offset_of({first, behind}));
            apart.erase(first, behind);
        }
        return found;
    }

    // How many ACKs have a copy that came after one of later messages.
    [[nodiscard]] static std::size_t regressed(const std::vector<Packet>& all, const ClockOffset& offset) {
        struct Said {
            std::uint64_t flow = 0;
            Instant time{};
            Instant copied{};
            std::uint32_t msn = 0;
        };
        std::vector<Said> said;
        for (const Packet& packet : all) {
            if (!packet.sampled->acknowledges) continue;
            const Recording& first = packet.recordings.front();
            Instant copied = first.time;
            for (const Recording& copy : packet.recordings)
                if (magnitude(copy.time - first.time - offset.at(first.time)) <= offset.tolerance)
                    copied = std::max(copied, copy.time);
            said.push_back({packet.sampled->flow, first.time, copied, packet.sampled->msn});
        }
        std::ranges::sort(said, {}, [](const Said& one) { return std::pair(one.flow, one.time); });
        std::size_t count = 0;
        for (auto one = said.begin(); one != said.end(); ++one) {
            const auto next = std::find_if(one, said.end(), [&](const Said& other) {
                return other.flow != one->flow || Psn(one->msn).before(Psn(other.msn));
            });
            if (next != said.end() && next->flow == one->flow && next->time < one->copied) ++count;
        }
        return count;
    }

    // A packet that was sent again has the bytes of the first: each recording has its copy at that distance.
    [[nodiscard]] static Twice paired(const std::vector<Packet>& all, const ClockOffset& offset) {
        Twice found;
        found.offset = offset;
        for (const Packet& packet : all) {
            ++found.all;
            Twice::Way& way = found.ways[packet.sampled->hosts.way];
            ++way.all;
            found.see(*packet.sampled, packet.recordings);
            const auto away = [&](const Recording& from, const Recording& copy) {
                return magnitude(copy.time - from.time - offset.at(from.time));
            };
            std::vector<Recording> open = packet.recordings;
            std::size_t alone = 0;
            while (!open.empty()) {
                const Recording first = open.front();
                open.erase(open.begin());
                const auto copy =
                    std::ranges::min_element(open, {}, [&](const Recording& one) { return away(first, one); });
                if (copy == open.end() || away(first, *copy) > offset.tolerance) {
                    ++alone;
                    continue;
                }
                found.pairs.push_back({first.time, copy->time - first.time});
                found.reach = std::max(found.reach, copy->order - first.order);
                const Recording paired = *copy;
                open.erase(copy);
                ++way.pairs;
                if (std::ranges::any_of(open,
                                        [&](const Recording& one) { return away(paired, one) <= offset.tolerance; }))
                    ++way.chained;
            }
            way.alone += alone;
            if (alone != 0) continue;
            ++found.even;
            if (packet.sampled->answer) ++found.answers;
            ++way.even;
        }
        return found;
    }

    void add_to(VantagePoints& vantage) {
        if (taps_ < 2) return;
        ++vantage.hosts;
        vantage.taps = std::max(vantage.taps, taps_);
        vantage.by_file |= by_file_;
        if (offsets_.size() <= vantage.pairs) return;
        vantage.pairs = offsets_.size();
        vantage.offset = offset_of(offsets_);
    }

    Packets packets_;
    CaptureTraits& traits_;
    std::set<std::uint64_t> ways_;
    std::vector<OtherTap> left_out_;
    std::vector<TimedOffset> offsets_;  // of the tap that shares most
    std::uint32_t taps_ = 1;
    bool by_file_ = false;
    std::optional<Twice> undecided_;
};

// Hosts of which everything came twice, and too little of each to prove a tap: the same time between all of them does,
// since requesters of different hosts do not time out to the microsecond alike. Clocks have not drifted yet in so few
// packets.
void learn_together(std::span<const Twice> undecided, CaptureTraits& traits) {
    std::size_t even = 0;
    std::vector<TimedOffset> pairs;
    for (const Twice& one : undecided) {
        even += one.even;
        pairs.insert(pairs.end(), one.pairs.begin(), one.pairs.end());
    }
    if (undecided.size() < 2 || even < kFewestTogether) return;
    const auto [least, most] = std::ranges::minmax(pairs, {}, &TimedOffset::offset);
    if (most.offset - least.offset > kThereAndBack || magnitude(least.offset) < kLeastTolerance) return;
    for (const Twice& one : undecided) {
        traits.twice.push_back({one.hosts, one.offset});
        traits.reach = std::max(traits.reach, one.reach);
    }
    std::ranges::sort(traits.twice, {}, &RecordedTwice::hosts);
    traits.vantage.hosts += undecided.size();
    traits.vantage.taps = std::max<std::uint32_t>(traits.vantage.taps, 2);
    if (pairs.size() <= traits.vantage.pairs) return;
    traits.vantage.pairs = pairs.size();
    traits.vantage.offset = offset_of(std::move(pairs));
}

}  // namespace

CaptureTraits learn_taps(std::span<const SampledPacket> packets, std::span<const std::uint64_t> tenants) {
    CaptureTraits traits;
    std::vector<const SampledPacket*> sorted;
    for (const SampledPacket& packet : packets)
        if (packet.recorded != 0 && !std::ranges::binary_search(tenants, packet.hosts.both)) sorted.push_back(&packet);
    if (std::ranges::none_of(sorted, [](const SampledPacket* packet) { return packet->recorded > 1; })) return traits;
    std::ranges::sort(sorted, {},
                      [](const SampledPacket* packet) { return std::pair(packet->hosts.both, packet->hash); });
    std::vector<Twice> undecided;
    for (auto from = sorted.begin(); from != sorted.end();) {
        const auto to = std::find_if(
            from, sorted.end(), [&](const SampledPacket* packet) { return packet->hosts.both != (*from)->hosts.both; });
        HostsLearning hosts(Packets(from, to), traits);
        hosts.learn();
        if (hosts.undecided()) undecided.push_back(*hosts.undecided());
        from = to;
    }
    learn_together(undecided, traits);
    std::ranges::sort(traits.other_taps, {},
                      [](const OtherTap& tap) { return std::tuple(tap.way, tap.mask, tap.label); });
    return traits;
}

}  // namespace qps::transport
