#include <CLI/CLI.hpp>
#include <cli/live/options/conversation_options.hpp>
#include <cli/live/options/live_options.hpp>
#include <cli/options/refuse.hpp>
#include <cli/quantity.hpp>
#include <dissect/base/parse_value.hpp>

#include <utility>

#include <fmt/format.h>

namespace qps::cli {

using namespace transport;
using live::IpPort;

namespace {

std::optional<IpPort> parse_port(std::string_view text) {
    const auto number = dissect::parse_number(text, 65535);
    if (!number || *number == 0) return std::nullopt;
    return IpPort{static_cast<std::uint16_t>(*number)};
}

// "0x1234=0x5678"
std::pair<std::uint64_t, std::uint64_t> read_mapping(const std::string& text, std::uint64_t most,
                                                     std::string_view what) {
    const std::size_t equals = text.find('=');
    const auto recorded = dissect::parse_number(std::string_view(text).substr(0, equals), most);
    const auto live = equals == std::string::npos
                          ? std::nullopt
                          : dissect::parse_number(std::string_view(text).substr(equals + 1), most);
    if (!recorded || !live)
        refuse(fmt::format("invalid {} mapping '{}': expected RECORDED=LIVE, such as 0x1234=0x5678", what, text));
    return {*recorded, *live};
}

template <class Take> void add_mappings(CLI::App& app, const std::string& name, const std::string& meaning, Take take) {
    app.add_option_function<std::vector<std::string>>(
           name,
           [take](const std::vector<std::string>& texts) {
               for (const std::string& text : texts) take(text);
           },
           meaning)
        ->type_name("RECORDED=LIVE")
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

}  // namespace

std::optional<PeerName> read_peer_name(const std::string& text) {
    if (const auto address = read_address(text)) return PeerName{*address, std::nullopt};
    const std::size_t colon = text.rfind(':');
    if (colon == std::string::npos) return std::nullopt;
    std::string host = text.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    else if (host.find(':') != std::string::npos) return std::nullopt;
    const auto address = read_address(host);
    const auto port = parse_port(std::string_view(text).substr(colon + 1));
    if (!address || !port) return std::nullopt;
    return PeerName{*address, port};
}

void add_conversation_options(CLI::App& app, ConversationOptions& options) {
    app.add_option_function<std::string>(
           "--as",
           [&options](const std::string& text) {
               if (text != "requester" && text != "responder")
                   refuse(fmt::format("invalid --as '{}': expected requester or responder", text));
               options.part = text == "requester" ? Part::requester : Part::responder;
           },
           "Play this end of a recorded connection against a live peer: requester (connected, or sent first) or responder")
        ->type_name("PART");
    app.add_option_function<std::uint32_t>(
           "-C,--connection", [&options](std::uint32_t uid) { options.connection = ConnectionId{uid}; },
           "Play this recorded connection (see qpscope connections)")
        ->type_name("NUMBER");
    app.add_option_function<std::string>(
           "--connect",
           [&options](const std::string& text) {
               const auto peer = read_peer_name(text);
               if (!peer) refuse(fmt::format("invalid peer '{}': expected ADDRESS, ADDRESS:PORT or [IPV6]:PORT", text));
               options.peer = peer->address;
               if (peer->port) options.port = peer->port;
           },
           "Connect to this live peer (default port: the recorded one); without it, wait for a peer")
        ->type_name("ADDRESS[:PORT]");
    app.add_option_function<std::string>(
           "-p,--port",
           [&options](const std::string& text) {
               options.port = parse_port(text);
               if (!options.port) refuse(fmt::format("invalid port '{}': expected 1 to 65535", text));
           },
           "Listen on, or connect to, this port (default: the recorded one)")
        ->type_name("NUMBER");
    add_mappings(app, "--map-key", "Map an R_Key of the recorded peer that no message carries",
                 [&options](const std::string& text) {
                     const auto [recorded, live] = read_mapping(text, 0xffff'ffff, "R_Key");
                     options.keys.push_back({dissect::Rkey{static_cast<std::uint32_t>(recorded)},
                                             dissect::Rkey{static_cast<std::uint32_t>(live)}});
                 });
    add_mappings(app, "--map-address", "Map an address of the recorded peer, and the memory that follows it",
                 [&options](const std::string& text) {
                     const auto [recorded, live] = read_mapping(text, ~std::uint64_t{0}, "address");
                     options.addresses.push_back({recorded, live});
                 });
    app.add_option_function<std::string>(
           "--timeout",
           [&options](const std::string& text) {
               const auto time = read_time(text);
               if (!time) refuse(time.error());
               options.patience = *time;
           },
           "Wait this long for a silent peer (default: 10s)")
        ->type_name("TIME");
}

}  // namespace qps::cli
