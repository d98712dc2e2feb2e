#include <dissect/render_value.hpp>
#include <transport-replay/findings/words.hpp>

#include <array>
#include <utility>

#include <fmt/format.h>

namespace qps::transport::words {

std::string grouped(std::uint64_t count) {
    std::string digits = std::to_string(count);
    for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) digits.insert(digits.begin() + at, ',');
    return digits;
}

std::string counted(std::uint64_t count, std::string_view noun) {
    return fmt::format("{} {}{}", grouped(count), noun, count == 1 ? "" : "s");
}

std::string times(std::uint64_t count) { return count == 1 ? "once" : count == 2 ? "twice" : counted(count, "time"); }

std::string length(std::uint64_t bytes) { return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s"); }

std::string size(std::uint64_t bytes) {
    constexpr std::array<std::string_view, 5> kUnits{"KiB", "MiB", "GiB", "TiB", "PiB"};
    if (bytes < 1024) return counted(bytes, "byte");
    double value = static_cast<double>(bytes) / 1024;
    std::size_t unit = 0;
    for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
    return fmt::format("{:.4g} {}", value, kUnits[unit]);
}

std::string duration(dissect::Duration value) { return dissect::human_time(static_cast<double>(std::to_underlying(value)) * 1e-9); }

std::string cost(std::uint64_t events, dissect::Duration all, dissect::Duration most) {
    const bool one = events < 2 || most >= all;
    return one ? duration(all) : fmt::format("{}, {} of it at once", duration(all), duration(most));
}

std::string share(std::uint64_t part, std::uint64_t whole) {
    return fmt::format("{:.3g} %", whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string host(const Endpoint& end) { return text(end.address); }

std::string who(const Endpoint& end) { return end.qpn ? fmt::format("{} QP {}", host(end), std::to_underlying(*end.qpn)) : host(end); }

std::string_view verb(dissect::Verb verb) {
    switch (verb) {
        case dissect::Verb::write: return "RDMA WRITE";
        case dissect::Verb::read_request:
        case dissect::Verb::read_response: return "RDMA READ";
        case dissect::Verb::compare_swap: return "COMPARE AND SWAP";
        case dissect::Verb::fetch_add: return "FETCH AND ADD";
        case dissect::Verb::flush: return "FLUSH";
        case dissect::Verb::atomic_write: return "ATOMIC WRITE";
        default: return "SEND";
    }
}

}  // namespace qps::transport::words
