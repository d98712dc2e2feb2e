#include <cli/live/options/conversation_options.hpp>
#include <cli/options/choice.hpp>
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

// What takes words each of which maps one thing more.
template <class Take> auto each_mapping(Take take) {
    return [take](const std::vector<std::string>& texts) {
        for (const std::string& text : texts) take(text);
    };
}

void take_peer(ConversationOptions& options, const std::string& text) {
    const auto peer = read_peer_name(text);
    if (!peer) refuse(fmt::format("invalid peer '{}': expected ADDRESS, ADDRESS:PORT or [IPV6]:PORT", text));
    options.peer = peer->address;
    if (peer->port) options.port = peer->port;
}

void take_port(ConversationOptions& options, const std::string& text) {
    options.port = parse_port(text);
    if (!options.port) refuse(fmt::format("invalid port '{}': expected 1 to 65535", text));
}

void take_part(ConversationOptions& options, const std::string& text) {
    if (text != "requester" && text != "responder")
        refuse(fmt::format("invalid --as '{}': expected requester or responder", text));
    options.part = text == "requester" ? Part::requester : Part::responder;
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

void ConversationOptions::add(OptionTable& table) {
    table.under("Recorded connection");
    table.add(
        "--as", "PART", [this](const std::string& text) { take_part(*this, text); },
        "Play this end of a recorded connection against a live peer: requester (connected, or sent first) or responder");
    table.add("-C,--connection", "NUMBER", connection, "Play this recorded connection (see qpscope connections)");
    table.add(
        "--connect", "ADDRESS[:PORT]", [this](const std::string& text) { take_peer(*this, text); },
        "Connect to this live peer (default port: the recorded one); without it, wait for a peer");
    table.add(
        "-p,--port", "NUMBER", [this](const std::string& text) { take_port(*this, text); },
        "Listen on, or connect to, this port (default: the recorded one)");
    const auto take_key = [this](const std::string& text) {
        const auto [recorded, live] = read_mapping(text, 0xffff'ffff, "R_Key");
        keys.push_back(
            {dissect::Rkey{static_cast<std::uint32_t>(recorded)}, dissect::Rkey{static_cast<std::uint32_t>(live)}});
    };
    table
        .add("--map-key", "RECORDED=LIVE", each_mapping(take_key),
             "Map an R_Key of the recorded peer that no message carries")
        .each();
    const auto take_address = [this](const std::string& text) {
        const auto [recorded, live] = read_mapping(text, ~std::uint64_t{0}, "address");
        addresses.push_back({recorded, live});
    };
    table
        .add("--map-address", "RECORDED=LIVE", each_mapping(take_address),
             "Map an address of the recorded peer, and the memory that follows it")
        .each();
    table.add("--timeout", "TIME", into(patience, [](const std::string& text) { return read_time(text); }),
              "Wait this long for a silent peer (default: 10s)");
}

}  // namespace qps::cli
