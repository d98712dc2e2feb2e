#include <transport-replay/model/port_path.hpp>

#include <fmt/format.h>

namespace qps::transport {

PortPath PortPath::parent() const {
    PortPath above = *this;
    if (above.length > 0) above.ports[--above.length] = 0;
    return above;
}

std::string text(const PortPath& path) {
    std::string out = "0";
    for (const std::uint8_t port : path.hops()) out += fmt::format(",{}", port);
    return out;
}

}  // namespace qps::transport
