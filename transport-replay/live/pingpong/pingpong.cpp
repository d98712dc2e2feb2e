#include <dissect/base/types.hpp>
#include <transport-replay/live/peers/pattern.hpp>
#include <transport-replay/live/peers/roles.hpp>
#include <transport-replay/live/pingpong/pingpong_state.hpp>
#include <transport-replay/live/pingpong/textbook.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace qps::transport::live {

using dissect::Duration;
using dissect::Instant;

namespace {

double part_of(Duration part, Duration whole) {
    const auto time = std::to_underlying(whole);
    return time > 0 ? static_cast<double>(std::to_underlying(part)) / static_cast<double>(time) : 0;
}

}  // namespace

double ProcessorUse::share() const { return part_of(worked, lasted); }

std::optional<double> ProcessorUse::kernel_share() const {
    return kernel ? std::optional(part_of(*kernel, lasted)) : std::nullopt;
}

std::optional<double> ProcessorUse::user_share() const {
    return kernel ? std::optional(part_of(worked - *kernel, lasted)) : std::nullopt;
}

double PingpongRow::bits_per_second() const {
    constexpr double kBits = 8, kNanoseconds = 1e9;
    if (!poured || std::to_underlying(*poured) <= 0) return 0;
    return static_cast<double>(round_trips) * size * kBits * kNanoseconds /
           static_cast<double>(std::to_underlying(*poured));
}

std::expected<Program, std::string> make_pingpong(PingpongSettings settings) {
    ProgramRequest& request = settings.request;
    if (settings.sizes.size() > kMaxPingpongSizes)
        return std::unexpected(
            fmt::format("{} message sizes: at most {} can be measured", settings.sizes.size(), kMaxPingpongSizes));
    if (!settings.sizes.empty()) request.size = std::ranges::max(settings.sizes);
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

namespace {

// Less is better; rows that pour stand behind the others, and of an empty row nothing is known.
struct Score {
    bool pours = false;
    double value = 0;
    auto operator<=>(const Score&) const = default;
};

Score score_of(const PingpongRow& row) {
    if (row.round_trips == 0)
        return {.pours = row.poured.has_value(), .value = std::numeric_limits<double>::infinity()};
    if (!row.poured) return {.pours = false, .value = static_cast<double>(std::to_underlying(row.median))};
    const double rate = row.bits_per_second();
    return {.pours = true, .value = rate > 0 ? 1 / rate : std::numeric_limits<double>::infinity()};
}

bool better(const PingpongRow& one, const PingpongRow& other) {
    if (one.round_trips == 0 || other.round_trips == 0) return one.round_trips > 0;
    return judged(one, other) == TextbookVerdict::holds;
}

}  // namespace

std::vector<PingpongPlace> ranked(std::span<const PingpongRow> rows) {
    std::vector<std::size_t> order(rows.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t row) { return score_of(rows[row]); });
    std::vector<PingpongPlace> places;
    for (const std::size_t row : order) {
        PingpongPlace place{.row = row};
        for (const std::size_t other : order) {
            if (other == row || rows[other].poured.has_value() != rows[row].poured.has_value()) continue;
            if (better(rows[other], rows[row])) ++place.place;
            else if (!better(rows[row], rows[other])) place.with.push_back(other);
        }
        places.push_back(std::move(place));
    }
    return places;
}

namespace pingpong {

namespace {

constexpr std::uint32_t kMagic = 0x5150'5370;  // "QPSp"
constexpr std::uint8_t kVersion = 1;
constexpr std::uint8_t kNotAllSignaled = 1;
constexpr std::uint8_t kExtensionVersion = 1;

}  // namespace

void write(dissect::MutableBytes into, const Announced& announced) {
    using peers::write_be;
    write_be(into, 0, kMagic);
    write_be(into, 4, kVersion);
    write_be(into, 5, announced.signaled ? std::uint8_t{0} : kNotAllSignaled);
    write_be(into, 6, announced.depth);
    write_be(into, 8, announced.bytes);
    write_be(into, 12, announced.long_report ? std::uint8_t{1} : std::uint8_t{0});
    write_be(into, 13, std::uint8_t{0});
    write_be(into, 14, std::uint16_t{0});
}

std::optional<Announced> read_announced(dissect::Bytes bytes) {
    if (bytes.size() < kAnnouncedBytes || dissect::read_be<std::uint32_t>(bytes, 0) != kMagic ||
        dissect::read_be<std::uint8_t>(bytes, 4) != kVersion)
        return std::nullopt;
    const Announced announced{.signaled = (dissect::read_be<std::uint8_t>(bytes, 5) & kNotAllSignaled) == 0,
                              .depth = dissect::read_be<std::uint16_t>(bytes, 6),
                              .bytes = dissect::read_be<std::uint32_t>(bytes, 8),
                              .long_report = dissect::read_be<std::uint8_t>(bytes, 12) != 0};
    if (announced.depth == 0 || announced.depth > kMaxPingpongDepth || announced.bytes > kMaxTransfer)
        return std::nullopt;
    return announced;
}

void write(dissect::MutableBytes into, const Extension& extension) {
    using peers::write_be;
    write_be(into, 0, extension.there ? kExtensionVersion : std::uint8_t{0});
    write_be(into, 1, static_cast<std::uint8_t>(extension.sockets));
    write_be(into, 2, extension.port);
    write_be(into, 4, std::uint32_t{0});
    write_be(into, 8, extension.token);
}

Extension read_extension(dissect::Bytes said) {
    if (said.size() < kLentBytes) return {};
    const dissect::Bytes bytes = said.subspan(peers::kOfferBytes, kExtensionBytes);
    const auto sockets = dissect::read_be<std::uint8_t>(bytes, 1);
    if (dissect::read_be<std::uint8_t>(bytes, 0) != kExtensionVersion ||
        sockets > static_cast<std::uint8_t>(Served::cannot_listen))
        return {};
    return {.there = true,
            .sockets = Served{sockets},
            .port = dissect::read_be<std::uint16_t>(bytes, 2),
            .token = dissect::read_be<std::uint64_t>(bytes, 8)};
}

void write(dissect::MutableBytes into, const Lent& lent) {
    peers::write(into, lent.offer);
    write(into.subspan(peers::kOfferBytes), lent.extension);
}

void write(dissect::MutableBytes into, const ProcessorUse& use) {
    peers::write_be(into, 0, std::to_underlying(use.worked));
    peers::write_be(into, 8, std::to_underlying(use.lasted));
    if (into.size() >= kReport) peers::write_be(into, 16, std::to_underlying(use.kernel.value_or(Duration{})));
}

std::optional<ProcessorUse> read_use(dissect::Bytes bytes) {
    if (bytes.size() != kReport && bytes.size() != kShortReport) return std::nullopt;
    const auto time_at = [&](std::size_t place) {
        return Duration{static_cast<std::int64_t>(dissect::read_be<std::uint64_t>(bytes, place))};
    };
    ProcessorUse use{.worked = time_at(0), .lasted = time_at(8)};
    if (bytes.size() == kReport) use.kernel = time_at(16);
    const auto can_be = [](Duration time) { return time >= Duration{} && time <= kMostReported; };
    if (!can_be(use.worked) || !can_be(use.lasted) || !can_be(use.kernel.value_or(Duration{})) ||
        use.kernel > use.worked)
        return std::nullopt;
    return use;
}

peers::QueueNeeds needs_of(const Announced& announced) {
    constexpr std::uint32_t kControl = 2;  // messages that begin and end a row
    constexpr std::uint32_t kBehind = 16;  // answers whose acknowledgments got lost in a row, while the client goes on
    const std::uint32_t each = announced.depth + kControl;
    return {.sends = 2 * each + kBehind,
            .receives = 4 * each + kBehind,
            .receive_bytes = std::max(kReport, announced.bytes)};
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
    used_ = settings.processor ? settings.processor() : ProcessorTime{};
}

// The kernel counts the one exactly and samples the other, so that their ends may not fit by as much as a tick.
ProcessorUse Meter::use(const PingpongSettings& settings, Instant now) const {
    const ProcessorTime used = settings.processor ? settings.processor() : ProcessorTime{};
    const Duration worked = used.worked - used_.worked;
    return {.worked = worked,
            .lasted = (settings.clock ? settings.clock() : now) - began_,
            .kernel = std::clamp(used.kernel - used_.kernel, Duration{}, worked)};
}

}  // namespace pingpong

}  // namespace qps::transport::live
