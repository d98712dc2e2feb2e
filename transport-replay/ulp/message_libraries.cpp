#include <dissect/ulp/libfabric.hpp>
#include <dissect/ulp/ucx.hpp>
#include <transport-replay/ulp/message_libraries.hpp>

namespace qps::transport::message_libraries {

using namespace dissect;

namespace {

constexpr std::uint8_t kPossible = 10;  // nothing speaks against it, nothing for it

Likeness likeness(libfabric::Fit fit) {
    switch (fit) {
        case libfabric::Fit::sure: return {kSure, true};
        case libfabric::Fit::possible: return {kPossible, false};
        case libfabric::Fit::none: break;
    }
    return {};
}

}  // namespace

Likeness ucx(const UlpMessage& message) {
    return ucx::proves_connection(message.bytes) ? Likeness{kSure, true} : Likeness{};
}

Likeness ucx_datagram(const UlpMessage& message) {
    if (ucx::proves_datagrams(message.bytes)) return {kSure, true};
    return ucx::may_be_datagram(message.bytes) ? Likeness{kPossible, false} : Likeness{};
}

Likeness rxm(const UlpMessage& message) { return likeness(libfabric::fits_rxm(message.bytes, message.length)); }

Likeness rxd(const UlpMessage& message) { return likeness(libfabric::fits_rxd(message.bytes, message.length)); }

}  // namespace qps::transport::message_libraries
