#include <cli/live/options/number.hpp>
#include <cli/live/options/target_options.hpp>
#include <cli/live/options/wire_options.hpp>
#include <transport-replay/live/pingpong/pingpong.hpp>

namespace qps::cli {

using namespace transport;

void TargetOptions::add(OptionTable& table) {
    using Byte = std::uint8_t;
    table.under(headings::kTraffic);
    table.add(
        "target", "ADDRESS", [this](const std::string& text) { target = read_peer_address(text); },
        "Address to connect to; without it, serve");
    table.add(
        "-p,--port", "N",
        [this](const std::string& text) { port = live::IpPort{read_number<std::uint16_t>(text, 1, 65535, "port")}; },
        "Connect to or listen on this port (default: that of the program)");
    table.add("-n,--count", "N", number_into(count, std::uint64_t{1}, ~std::uint64_t{0}, "count"),
              "Send N messages, or run N rounds");
    table.add("-s,--size", "BYTES", number_into(size, std::uint32_t{0}, live::kMaxTransfer, "size"),
              "Use messages of this size");
    table.add("--depth", "N", number_into(depth, std::uint32_t{1}, std::uint32_t{4096}, "depth"),
              "Keep up to N messages outstanding");
    table.add("--clients", "N", number_into(clients, std::uint64_t{1}, ~std::uint64_t{0}, "number of clients"),
              "Stop serving after N clients (default: serve until interrupted)");
    table.add("--ack-timeout", "N", number_into(ack_timeout, Byte{1}, Byte{31}, "--ack-timeout"),
              "Use ACK timeout exponent N: 4.096 us * 2^N (default: by CM, 19 with Linux: 2.15 s)");
    table.add("--retry", "N", number_into(retry, Byte{0}, Byte{7}, "--retry"),
              "Announce this retry count in the REQ (default: 7)");
    table.add("--rnr-retry", "N", number_into(rnr_retry, Byte{0}, Byte{7}, "--rnr-retry"),
              "Announce this RNR retry count to the peer; 7: infinite (default: 7)");
    table.add("--min-rnr-timer", "N", number_into(min_rnr_timer, Byte{0}, Byte{31}, "--min-rnr-timer"),
              "Code of the time in our RNR NAKs (default: 12, 0.64 ms)");
    table.flag("!--no-verify", verify, "Do not verify received data; a source does not fill its messages");
}

void TargetOptions::set_timers(live::ConnectOptions& connect) const {
    connect.ack_timeout = ack_timeout;
    connect.retry_count = retry.value_or(connect.retry_count);
    connect.rnr_retry_count = rnr_retry.value_or(connect.rnr_retry_count);
    connect.min_rnr_timer = min_rnr_timer.value_or(connect.min_rnr_timer);
}

}  // namespace qps::cli
