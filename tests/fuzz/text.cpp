// Fuzzer of what people type and programs log: any text is a value or is refused with one line that says why; what is a
// value is written and read again as the same.
//
// The input: a byte that chooses the reader, then the text.
#include <dissect/base/parse_instant.hpp>
#include <dissect/base/parse_value.hpp>
#include <tests/fuzz/followed.hpp>
#include <transport-replay/analysis/unordered_hosts.hpp>
#include <transport-replay/checks/profile.hpp>
#include <transport-replay/checks/report/comparison.hpp>
#include <transport-replay/checks/report/written.hpp>
#include <transport-replay/collectives/nccl_log.hpp>
#include <transport-replay/evidence/host_names.hpp>
#include <transport-replay/evidence/iscsi_keys.hpp>
#include <transport-replay/live/device/fault_text.hpp>
#include <transport-replay/live/exchange/queue_pair_end.hpp>
#include <transport-replay/live/pingpong/kernel_sockets.hpp>
#include <transport-replay/live/pingpong/pingpong_state.hpp>
#include <transport-replay/live/replay/rewrite_rule.hpp>
#include <transport-replay/logs/log_line.hpp>
#include <transport-replay/logs/log_time.hpp>
#include <transport-replay/model/renamed.hpp>
#include <transport-replay/report/markup.hpp>
#include <transport-replay/report/ticket.hpp>

#include <array>
#include <cmath>

using namespace qps;
using fuzz::demand;

namespace {

// A sentence for a person. It may quote the text, which the front end escapes; nothing else in it acts on a terminal.
void is_sentence(const std::string& sentence, std::string_view text) {
    demand(!sentence.empty());
    demand(std::ranges::all_of(sentence, [&](char c) {
        return (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) || text.find(c) != std::string_view::npos;
    }));
}

void numbers(std::string_view text) {
    const auto decimal = dissect::parse_decimal(text);
    if (decimal)
        demand(dissect::parse_number(text) == decimal && dissect::parse_decimal(std::to_string(*decimal)) == decimal);
    if (const auto number = dissect::parse_number(text))
        demand(dissect::parse_number(fmt::format("0x{:x}", *number)) == number);
    if (const auto byte = dissect::parse_number(text, 255)) demand(*byte <= 255);
    if (const auto real = dissect::parse_real(text))
        demand(std::isfinite(real->first) && real->first >= 0 && text.ends_with(real->second));
    if (const auto time = dissect::parse_duration(text))
        demand(*time >= dissect::Duration{} &&
               dissect::parse_duration(fmt::format("{}ns", std::to_underlying(*time))) == time);
}

void addresses(std::string_view text) {
    if (const auto ip = dissect::parse_ip(text); ip && ip->ipv4) {
        const auto byte = [&](std::size_t i) { return std::to_integer<unsigned>(ip->bytes[i]); };
        const auto again = dissect::parse_ip(fmt::format("{}.{}.{}.{}", byte(0), byte(1), byte(2), byte(3)));
        demand(again && again->ipv4 && again->bytes == ip->bytes);
    }
    if (const auto mac = dissect::parse_mac(text)) demand(*mac >> 48U == 0);
    if (const auto bytes = dissect::parse_hex_bytes(text)) demand(bytes->size() <= text.size());
}

// Of --out-of-order, and of a profile of the window.
void unordered_hosts(std::string_view text) {
    const auto hosts = transport::read_unordered_hosts(text);
    if (!hosts) return is_sentence(hosts.error(), text);
    demand(hosts->size() <= transport::kMostUnorderedHosts);
    demand(transport::read_unordered_hosts(transport::unordered_hosts_text(*hosts)) == *hosts);
}

void rewriting(std::string_view text) {
    const auto rule = transport::live::parse_rewrite(text);
    if (!rule) return is_sentence(rule.error(), text);
    demand(transport::live::parse_rewrite(text) == rule);
}

void faults(std::string_view text) {
    const auto settings = transport::live::parse_faults(text);
    if (!settings) is_sentence(settings.error(), text);
}

void profile(std::string_view text) {
    const auto read = transport::conformance::parse_profile(text);
    if (read) return;
    demand(read.error().line >= 1 && read.error().column >= 1);
    is_sentence(read.error().message, text);
    demand(!transport::conformance::text(read.error(), "device.profile").empty());
}

void earlier_report(std::string_view text) {
    const auto read = transport::conformance::read_report(text);
    if (!read) return is_sentence(read.error(), text);
    const transport::conformance::Report none;
    static_cast<void>(transport::conformance::html_text(none));
    const auto compared = transport::conformance::compare(*read, none);
    demand(compared.changes.size() + compared.same >= read->results.size());
}

void log_line(std::string_view text) {
    const transport::LogLine line = transport::read_log_line(text);
    demand(line.addresses.size() + line.qpns.size() <= text.size());
    demand(line.empty() == transport::recognised(line).empty());
}

void log_time(std::string_view text) {
    const auto read = transport::read_log_time(text, dissect::Instant{1'764'000'000'000'000'000});
    if (read) demand(read->time >= dissect::Instant{-86'400'000'000'000});
}

void nccl(std::string_view text) { static_cast<void>(transport::read_nccl_log(text)); }

// What the ends of our own pingpong say to each other.
void pingpong_ends(dissect::Bytes bytes) {
    namespace pingpong = transport::live::pingpong;
    if (const auto announced = pingpong::read_announced(bytes))
        demand(announced->depth >= 1 && announced->depth <= transport::live::kMaxPingpongDepth &&
               announced->bytes <= transport::live::kMaxTransfer);
    if (const auto use = pingpong::read_use(bytes))
        demand(use->worked <= pingpong::kMostReported && use->lasted <= pingpong::kMostReported &&
               use->kernel.value_or(use->worked) <= use->worked);
    const auto extension = pingpong::read_extension(bytes);
    demand(extension.there || extension == pingpong::Extension{});
    demand(!pingpong::read_greeting(bytes) || bytes.size() == pingpong::kGreeting);
}

void ends(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    static_cast<void>(transport::live::read_pingpong_text(bytes));
    static_cast<void>(transport::live::read_xrc_pingpong_text(bytes));
    static_cast<void>(transport::live::read_perftest_text(bytes));
    pingpong_ends(bytes);
}

// What is escaped holds nothing that acts where it goes.
void escaping(std::string_view text) {
    const std::string markup = transport::markup_text(text);
    demand(markup.find_first_of("<>\"") == std::string::npos);
    const std::string markdown = transport::markdown_text(text);
    demand(markdown.find('\n') == std::string::npos && markdown.find('\x1b') == std::string::npos);
}

// Of filters and of --from and --to.
void instant(std::string_view text) {
    const auto read = dissect::parse_instant(text);
    if (!read) return;
    constexpr dissect::Instant kEarliest{-86'400'000'000'000},
        kLatest{9'214'732'800'000'000'000};  // 1970 in the east, 2261 in the west
    demand(*read >= kEarliest && *read < kLatest);
    const auto wall = dissect::parse_instant(std::string(text.substr(0, 10)));  // the day alone
    demand(wall && magnitude(*read - *wall) < dissect::Duration{3 * 86'400'000'000'000});
}

// Of --hosts.
void host_names(std::string_view text) {
    const auto hosts = transport::read_hosts(text);
    demand(hosts.size() <= transport::kMostHosts && hosts.size() <= text.size());
    for (const dissect::HostName& host : hosts)
        demand(!host.name.empty() && host.name.size() <= 255 &&
               host.name.find_first_of(" \t\r\n\x1b#") == std::string::npos);
}

// What is accepted by its old name has one of today, which was not renamed once more.
void names(std::string_view text) {
    const std::string_view current = transport::current_finding(text);
    demand(transport::renamed_finding(current) == nullptr);
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) return;
    static_cast<void>(transport::iscsi_key(text.substr(0, equals)));
    if (transport::is_iscsi_answer(text.substr(equals + 1)))
        demand(transport::is_harmless_iscsi_value(text.substr(equals + 1)));
}

constexpr std::array kReaders{numbers, addresses, rewriting, faults,          profile, earlier_report, log_line, nccl,
                              ends,    escaping,  log_time,  unordered_hosts, instant, host_names,     names};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string text(data + 1, data + size);
    kReaders[data[0] % kReaders.size()](text);
    return 0;
}
