#include <dissect/packet/render_value.hpp>
#include <transport-replay/report/words.hpp>

#include <array>
#include <utility>

#include <fmt/format.h>

namespace qps::transport::words {

std::string times(std::uint64_t count) { return count == 1 ? "once" : count == 2 ? "twice" : counted(count, "time"); }

std::string length(std::uint64_t bytes) { return fmt::format("{} {}", bytes, bytes == 1 ? "byte" : "bytes"); }

std::string cost(std::uint64_t events, dissect::Duration all, dissect::Duration most) {
    const bool one = events < 2 || most >= all;
    return one ? duration_text(all) : fmt::format("{} in total, {} at worst", duration_text(all), duration_text(most));
}

std::string resent(const RecoverySum& sum, std::uint64_t rests_of_reads) {
    const std::string fresh =
        sum.first_seen == 0 ? "" : fmt::format(", {} of them new to the tap", grouped(sum.first_seen));
    const std::string rests =
        rests_of_reads == 0 ? "" : fmt::format(", {} of them for the rest of a READ", grouped(rests_of_reads));
    return fmt::format("{} ({}{}{})", counted(sum.resent, "packet"), bytes_text(sum.resent_bytes), fresh, rests);
}

std::string share(std::uint64_t part, std::uint64_t whole) {
    return fmt::format("{:.3g} %", whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string host(const Endpoint& end) { return text(end.address); }

std::string who(const Endpoint& end) {
    const std::string network = text(end.network);
    const std::string in = network.empty() ? network : " in " + network;
    return end.qpn ? fmt::format("{} {} {}{}", host(end), end.is_port ? "port" : "QP", std::to_underlying(*end.qpn), in)
                   : host(end) + in;
}

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
