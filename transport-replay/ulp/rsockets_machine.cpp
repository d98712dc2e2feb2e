#include <dissect/ulp/rsockets.hpp>
#include <transport-replay/ulp/rsockets_machine.hpp>

#include <fmt/format.h>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr Field kCreditsField = named(kRsocketsConnectFields, "rdma.rsockets.credits");
constexpr Field kRoom = named(kRsocketsConnectFields, "rdma.rsockets.data.length");

Bytes rsockets_connect_data(const CmSide& side) {
    const Bytes bytes = slice(side.private_data.first, 0, side.private_data.room);
    return is_rsockets_connect(bytes) ? bytes : Bytes{};
}

// What an immediate with so many bytes says; nothing where it cannot be one of rsockets.
std::optional<OperationCode> code_of(std::uint32_t immediate, std::uint64_t bytes) {
    const std::uint32_t rest = immediate & kRsocketsRest;
    switch (static_cast<RsocketsOp>(immediate >> kRsocketsOpShift)) {
        case RsocketsOp::data: return rest == bytes && bytes != 0 ? std::optional(rsockets::kData) : std::nullopt;
        case RsocketsOp::credits:
            if (bytes != 0 && bytes != kRsocketsOffer) return std::nullopt;
            return bytes == 0 ? rsockets::kCredits : rsockets::kOffer;
        case RsocketsOp::iomap: return rsockets::kIoMap;
        case RsocketsOp::control:
            if (bytes != 0) return std::nullopt;
            switch (static_cast<RsocketsControl>(rest)) {
                case RsocketsControl::disconnect: return rsockets::kDisconnect;
                case RsocketsControl::keep_alive: return rsockets::kKeepAlive;
                case RsocketsControl::shutdown: return rsockets::kShutdown;
            }
    }
    return std::nullopt;
}

Understood take(std::uint32_t immediate, std::uint64_t bytes, const UlpMessage& message, UlpSession& session) {
    const auto code = code_of(immediate, bytes);
    if (!code) return {};
    UlpOperation operation;
    operation.requester = message.from;
    operation.code = *code;
    operation.one_way = true;
    operation.tag = immediate;
    operation.bytes = operation.in_message = *code == rsockets::kData ? bytes : 0;
    operation.subject[0] = immediate & kRsocketsRest;
    session.begin(operation, message);
    return {.understood = true, .label = UlpLabel{UlpLabel::Part::request, UlpProtocol::rsockets, *code, immediate}};
}

}  // namespace

namespace rsockets {

bool is_private_data(const CmAttempt& attempt) { return attempt.ip && !rsockets_connect_data(attempt.active).empty(); }

std::string_view operation_name(OperationCode code) {
    switch (code) {
        case kData: return "Data";
        case kCredits: return "Credits";
        case kOffer: return "Credits and memory";
        case kIoMap: return "I/O map";
        case kDisconnect: return "Disconnect";
        case kKeepAlive: return "Keep-alive";
        case kShutdown: return "Shutdown";
        default: return "rsockets";
    }
}

std::string describe(const UlpOperation& operation) {
    if (operation.code == kCredits || operation.code == kOffer)
        return fmt::format("up to message {}", operation.subject[0]);
    return {};
}

}  // namespace rsockets

void RsocketsMachine::connected(const CmAttempt& attempt, UlpSession& session) {
    for (const CmSide* side : {&attempt.active, &attempt.passive}) {
        const Bytes bytes = rsockets_connect_data(*side);
        if (bytes.empty()) continue;
        const bool active = side == &attempt.active;
        const std::uint64_t credits = read(bytes, kCreditsField);
        if (!active) session.credits(static_cast<std::uint32_t>(credits));
        session.conversation().note(active ? "buffer of the active side" : "buffer of the passive side",
                                    fmt::format("{} bytes, {} messages", read(bytes, kRoom), credits));
    }
}

Understood RsocketsMachine::message(const UlpMessage& message, UlpSession& session) {
    if (!message.immediate) return {.understood = true, .label = {}};  // data whose meaning comes with the next
    return take(*message.immediate, message.length, message, session);
}

Understood RsocketsMachine::written(const Transfer& transfer, UlpSession& session) {
    if (!transfer.immediate) return {.understood = true, .label = {}};
    UlpMessage message;
    message.connection = transfer.connection;
    message.from = transfer.requester;
    message.length = transfer.bytes;
    message.begun = transfer.begun;
    message.time = transfer.time;
    message.first_frame = transfer.first_frame;
    message.last_frame = transfer.last_frame;
    return take(*transfer.immediate, transfer.bytes, message, session);
}

}  // namespace qps::transport
