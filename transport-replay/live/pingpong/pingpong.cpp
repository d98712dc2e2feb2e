#include <dissect/types.hpp>
#include <transport-replay/live/peers/pattern.hpp>
#include <transport-replay/live/peers/roles.hpp>
#include <transport-replay/live/pingpong/pingpong_state.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace qps::transport::live {

using dissect::Duration;
using dissect::Instant;

double ProcessorUse::share() const {
    const auto time = std::to_underlying(lasted);
    return time > 0 ? static_cast<double>(std::to_underlying(worked)) / static_cast<double>(time) : 0;
}

std::expected<Program, std::string> make_pingpong(PingpongSettings settings) {
    const ProgramRequest& request = settings.request;
    if (const auto fits = peers::sound(request, 0, kMaxTransfer); !fits) return std::unexpected(fits.error());
    if (request.depth > kMaxPingpongDepth)
        return std::unexpected(fmt::format("invalid depth {}: expected at most {}", request.depth, kMaxPingpongDepth));
    if (request.connections != 1) return std::unexpected("round trips are measured on one connection only");
    if (request.count && (*request.count == 0 || *request.count > kMaxRounds))
        return std::unexpected(fmt::format("invalid count {}: expected 1 to {}", *request.count, kMaxRounds));
    const auto known = [](std::size_t mode) { return mode < kPingpongModes.size(); };
    if (settings.modes.empty() || !std::ranges::all_of(settings.modes, known)) return std::unexpected("no such mode");
    return request.target ? pingpong::make_client(std::move(settings)) : pingpong::make_server(std::move(settings));
}

std::vector<PingpongPlace> ranked(std::span<const PingpongRow> rows) {
    std::vector<std::size_t> order(rows.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t row) { return rows[row].median; });
    std::vector<PingpongPlace> places;
    for (std::size_t first = 0; first < order.size();) {
        const auto best = static_cast<double>(std::to_underlying(rows[order[first]].median));
        std::size_t end = first + 1;
        while (end < order.size() && static_cast<double>(std::to_underlying(rows[order[end]].median)) < best * (1 + kSamePlace)) ++end;
        for (std::size_t i = first; i < end; ++i) {
            PingpongPlace place{.row = order[i], .place = first + 1};
            for (std::size_t other = first; other < end; ++other)
                if (other != i) place.with.push_back(order[other]);
            places.push_back(std::move(place));
        }
        first = end;
    }
    return places;
}

namespace pingpong {

namespace {

constexpr std::uint32_t kMagic = 0x5150'5370;  // "QPSp"
constexpr std::uint8_t kVersion = 1;
constexpr std::uint8_t kNotAllSignaled = 1;

}  // namespace

void write(dissect::MutableBytes into, const Announced& announced) {
    using peers::write_be;
    write_be(into, 0, kMagic);
    write_be(into, 4, kVersion);
    write_be(into, 5, announced.signaled ? std::uint8_t{0} : kNotAllSignaled);
    write_be(into, 6, announced.depth);
    write_be(into, 8, announced.bytes);
    write_be(into, 12, std::uint32_t{0});
}

std::optional<Announced> read_announced(dissect::Bytes bytes) {
    if (bytes.size() < kAnnouncedBytes || dissect::read_be<std::uint32_t>(bytes, 0) != kMagic ||
        dissect::read_be<std::uint8_t>(bytes, 4) != kVersion)
        return std::nullopt;
    const Announced announced{.signaled = (dissect::read_be<std::uint8_t>(bytes, 5) & kNotAllSignaled) == 0,
                              .depth = dissect::read_be<std::uint16_t>(bytes, 6),
                              .bytes = dissect::read_be<std::uint32_t>(bytes, 8)};
    if (announced.depth == 0 || announced.depth > kMaxPingpongDepth || announced.bytes > kMaxTransfer) return std::nullopt;
    return announced;
}

void write(dissect::MutableBytes into, const ProcessorUse& use) {
    peers::write_be(into, 0, std::to_underlying(use.worked));
    peers::write_be(into, 8, std::to_underlying(use.lasted));
}

std::optional<ProcessorUse> read_use(dissect::Bytes bytes) {
    if (bytes.size() != kReport) return std::nullopt;
    const ProcessorUse use{.worked = Duration{static_cast<std::int64_t>(dissect::read_be<std::uint64_t>(bytes, 0))},
                           .lasted = Duration{static_cast<std::int64_t>(dissect::read_be<std::uint64_t>(bytes, 8))}};
    if (use.worked < Duration{} || use.lasted < Duration{}) return std::nullopt;
    return use;
}

peers::QueueNeeds needs_of(const Announced& announced) {
    constexpr std::uint32_t kControl = 2;  // messages that begin and end a row
    constexpr std::uint32_t kBehind = 16;  // answers whose acknowledgments got lost in a row, while the client goes on
    const std::uint32_t each = announced.depth + kControl;
    return {.sends = 2 * each + kBehind, .receives = 4 * each + kBehind, .receive_bytes = std::max(kReport, announced.bytes)};
}

bool Attention::look(const peers::PeerContext& context, verbs::Cq cq) {
    if (waiting_ == 0 || polling_ > 0) {
        armed_ = false;
        return true;
    }
    if (armed_ && context.adapter().take_notifications().empty()) return false;
    // What completes from here on gives notice; what did before is looked at now.
    armed_ = context.adapter().req_notify_cq(cq).has_value();
    return true;
}

void Meter::begin(const PingpongSettings& settings, Instant now) {
    began_ = settings.clock ? settings.clock() : now;
    worked_ = settings.processor ? settings.processor() : Duration{};
}

ProcessorUse Meter::use(const PingpongSettings& settings, Instant now) const {
    const Duration worked = settings.processor ? settings.processor() : Duration{};
    return {.worked = worked - worked_, .lasted = (settings.clock ? settings.clock() : now) - began_};
}

}  // namespace pingpong

}  // namespace qps::transport::live
