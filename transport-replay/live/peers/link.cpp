#include <transport-replay/live/peers/link.hpp>

#include <fmt/format.h>

namespace qps::transport::live::peers {

dissect::Bytes asked(const ConnectionEvent& event) {
    const auto caller = read_ip_cm(event.private_data.bytes());
    return caller ? caller->private_data : dissect::Bytes{};
}

std::string why_it_failed(const ConnectionEvent& event) {
    if (event.kind == ConnectionEventKind::unreachable) return "no answer";
    const Rejection& rejection = event.rejection;
    return fmt::format("{} rejected the connection, reason {}", rejection.by_peer ? "the peer" : "we",
                       static_cast<unsigned>(rejection.reason));
}

std::string about(const Link& link, std::string_view what) { return fmt::format("{}: {}", text(link.remote), what); }

Address as_spoken(Endpoint& endpoint, const Address& address) {
    const std::vector<Address>& ours = endpoint.adapter().settings().addresses;
    return ours.empty() ? address : in_space(address, ours.front().space);
}

std::expected<void, std::string> start_listening(Endpoint& endpoint, PortSpace space, IpPort port) {
    const CmResult listening = endpoint.connections().listen(space, port);
    if (listening) return {};
    return std::unexpected(fmt::format("cannot listen on port {} of {}: {}", static_cast<unsigned>(port), name(space),
                                       live::name(listening.error())));
}

void stop_listening(Endpoint& endpoint, PortSpace space, IpPort port) {
    (void)endpoint.manager().stop_listening(ip_service(space, port));
}

}  // namespace qps::transport::live::peers
