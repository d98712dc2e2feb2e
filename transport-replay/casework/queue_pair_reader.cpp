// Reader of lists of queue pairs: `rdma resource show qp` as text, and as JSON (-j, -jd), of which a line holds many.
#include <transport-replay/casework/line_pattern.hpp>
#include <transport-replay/casework/readers.hpp>

#include <fmt/format.h>

namespace qps::casework {

namespace {

struct Listed {
    std::string device, own, peer, state, process, command;
};

void put_listed(const Listed& pair, const LineState& state, Case& found) {
    const auto put = [&](std::string_view subject, const std::string& value) {
        if (!value.empty())
            add(found,
                Setting{{}, pair.device, std::string(subject), pair.own, value.substr(0, kMostWord), state.place()});
    };
    put("queue pair peer", pair.peer);
    put("queue pair", pair.state);
    if (!pair.process.empty())
        put("queue pair process",
            pair.command.empty() ? "pid " + pair.process : fmt::format("{}, pid {}", pair.command, pair.process));
}

}  // namespace

std::string_view take_queue_pair(std::string_view line, LineState& state, Case& found) {
    constexpr std::string_view kName = "RDMA resources";
    static const RE2 text(R"(^link ([\w.-]+)/\d+ lqpn (\d+) (?:rqpn (\d+) )?type \S+ state (\w+))");
    static const RE2 owner(R"( pid (\d+) comm (\S+))");
    static const RE2 object(R"x(\{([^{}]*"lqpn" ?: ?(\d+)[^{}]*)\})x");
    static const RE2 device(R"x("ifname" ?: ?"([\w.-]+)")x");
    static const RE2 peer(R"x("rqpn" ?: ?(\d+))x");
    static const RE2 status(R"x("state" ?: ?"(\w+)")x");
    static const RE2 pid(R"x("pid" ?: ?(\d+))x");
    static const RE2 command(R"x("comm" ?: ?"([^"]*)")x");
    if (!line.contains("lqpn")) return {};
    Listed pair;
    if (finds(line, text, &pair.device, &pair.own, &pair.peer, &pair.state)) {
        (void)finds(line, owner, &pair.process, &pair.command);
        put_listed(pair, state, found);
        return kName;
    }
    re2::StringPiece left(piece(line));
    std::string members;
    for (; RE2::FindAndConsume(&left, object, &members, &pair.own); pair = {}) {
        (void)finds(members, device, &pair.device);
        (void)finds(members, peer, &pair.peer);
        (void)finds(members, status, &pair.state);
        if (finds(members, pid, &pair.process)) (void)finds(members, command, &pair.command);
        put_listed(pair, state, found);
    }
    return line.contains("\"lqpn\"") ? kName : std::string_view{};  // also of one that is cut
}

}  // namespace qps::casework
