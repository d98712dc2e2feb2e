#include <tests/court/hearing.hpp>

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

namespace qps::court {

Hearing::Hearing(const Claim& claim, const Recording& recording, const std::vector<Wire>& wires)
    : claim_(claim), recording_(recording), wires_(wires), unproven_(claim.facts) {}

const Wire* Hearing::wire(std::size_t frame) const {
    const auto place = std::ranges::lower_bound(wires_, frame, {}, &Wire::frame);
    return place != wires_.end() && place->frame == frame ? &*place : nullptr;
}

template <class T> std::optional<T> Hearing::take_fact(const std::string& name) {
    // Judges may leave out the units of bytes and rates.
    auto fact = claim_.facts.find(name);
    for (const std::string_view unit : {"_bytes", "_bits_per_second"})
        if (fact == claim_.facts.end()) fact = claim_.facts.find(name + std::string(unit));
    if (fact != claim_.facts.end()) unproven_.erase(fact->first);
    if (fact == claim_.facts.end()) return {};
    if (const T* value = std::get_if<T>(&fact->second)) return *value;
    object(fmt::format("its {} is of another kind", name));
    return {};
}
std::optional<double> Hearing::number(const std::string& name) { return take_fact<double>(name); }
std::optional<std::string> Hearing::word(const std::string& name) { return take_fact<std::string>(name); }
std::optional<ClaimedEnd> Hearing::end(const std::string& name) { return take_fact<ClaimedEnd>(name); }
std::vector<std::string> Hearing::list(const std::string& name) {
    return take_fact<std::vector<std::string>>(name).value_or(std::vector<std::string>{});
}
bool Hearing::flag(const std::string& name) { return take_fact<bool>(name).value_or(false); }

void Hearing::equal_fact(const std::string& name, double shown) {
    const auto said = number(name);
    if (!said) object(fmt::format("does not say {}", name));
    else if (*said != shown) object(fmt::format("says {} {:.12g}, and the packets show {:.12g}", name, *said, shown));
}
void Hearing::at_most_fact(const std::string& name, double shown) {
    const auto said = number(name);
    if (!said) object(fmt::format("does not say {}", name));
    else if (*said > shown)
        object(fmt::format("says {} {:.12g}, and the packets show {:.12g} at most", name, *said, shown));
}
void Hearing::near_fact(const std::string& name, double shown) {
    constexpr double kDigits = 1e-5;
    const auto said = number(name);
    if (!said) object(fmt::format("does not say {}", name));
    else if (std::abs(*said - shown) > kDigits * std::abs(shown))
        object(fmt::format("says {} {:.6g}, and the packets show {:.6g}", name, *said, shown));
}

void Hearing::equal(std::string_view what, std::uint64_t said, std::uint64_t shown) {
    if (said != shown) object(fmt::format("says {} {}, and the packets show {}", said, what, shown));
}
void Hearing::at_most(std::string_view what, std::uint64_t said, std::uint64_t shown) {
    if (said > shown) object(fmt::format("says {} {}, and the packets show {} at most", said, what, shown));
}

void Hearing::close() {
    for (const auto& [name, value] : unproven_)
        if (std::holds_alternative<double>(value)) object(fmt::format("no judge proves its {}", name));
    for (const std::size_t frame : claim_.frames) {
        if (frame == 0 || frame > recording_.records.size())
            object(fmt::format("its evidence names frame {}, which is not in the capture", frame));
        const Wire* packet = wire(frame);
        if (packet == nullptr || !claim_.ends) continue;
        const auto is_end = [&](const std::string& address) {
            return address == (*claim_.ends)[0].address || address == (*claim_.ends)[1].address;
        };
        if (!is_end(packet->from) || !is_end(packet->to))
            object(fmt::format("frame {} of its evidence is of other hosts", frame));
    }
}

std::optional<Way> way_of(const Hearing& hearing, const std::string& from) {
    if (!hearing.claim().ends) return {};
    const auto& ends = *hearing.claim().ends;
    const std::size_t mine = ends[0].address == from ? 0 : 1;
    if (ends[mine].address != from) return {};
    Way way{.from = from,
            .to = ends[1 - mine].address,
            .to_qp = ends[1 - mine].qp,
            .from_qp = ends[mine].qp,
            .requests = {},
            .answers = {},
            .all = {}};
    for (const Wire& wire : hearing.wires()) {
        const bool out = wire.from == way.from && wire.to == way.to && way.to_qp == wire.to_qp;
        const bool back = wire.from == way.to && wire.to == way.from && way.from_qp == wire.to_qp;
        if (!out && !back) continue;
        way.all.push_back(&wire);
        if (out && wire.request()) way.requests.push_back(&wire);
        if (back && wire.answer()) way.answers.push_back(&wire);
    }
    return way;
}

std::optional<Way> way_between(Hearing& hearing, const std::string& from, const std::string& to) {
    const auto sender = hearing.end(from), receiver = hearing.end(to);
    auto way = sender ? way_of(hearing, sender->address) : std::nullopt;
    if (!way || !receiver || receiver->address != way->to || receiver->qp != way->to_qp) {
        hearing.object(fmt::format("its {} and {} are not the ends of its connection", from, to));
        return {};
    }
    return way;
}

std::vector<GoBack> go_backs(const Way& way) {
    std::vector<GoBack> out;
    std::optional<std::uint32_t> highest;
    const Wire* before = nullptr;
    std::map<std::uint32_t, const Wire*> naks;
    std::map<std::uint32_t, std::int64_t> sent;
    for (const Wire* wire : way.all) {
        if (wire->from == way.to) {
            if (wire->nak(0)) naks[wire->psn] = wire;
            continue;
        }
        if (!wire->request()) continue;
        const bool steps_back = before != nullptr && highest && psn_distance(*highest, wire->psn) <= 0 &&
                                psn_distance(before->psn, wire->psn) <= 0;
        if (steps_back) {
            const auto nak = naks.find(wire->psn);
            const auto earlier = sent.find(wire->psn);
            const std::int64_t silence = wire->time - before->time;
            out.push_back({.packet = wire,
                           .silence = silence,
                           .since = earlier == sent.end() ? silence : wire->time - earlier->second,
                           .nak = nak == naks.end() ? nullptr : nak->second});
        }
        if (!highest || psn_distance(*highest, wire->psn) > 0) highest = wire->psn;
        before = wire;
        sent[wire->psn] = wire->time;
    }
    return out;
}

Repeated not_advancing(const Way& way, const Hearing& hearing) {
    Repeated repeated;
    std::optional<std::uint32_t> highest;
    for (const Wire* wire : way.requests) {
        if (highest && psn_distance(*highest, wire->psn) <= 0) {
            ++repeated.packets;
            repeated.bytes += hearing.recording().records[wire->frame - 1].wire;
        } else {
            highest = wire->psn;
        }
    }
    return repeated;
}

}  // namespace qps::court
