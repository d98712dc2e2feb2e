// Readers of state dumps: RAS and inspector of NCCL as JSON, mlxlink, ports of a SONiC switch.
#include <dissect/base/parse_value.hpp>
#include <transport-replay/casework/line_pattern.hpp>
#include <transport-replay/casework/readers.hpp>

#include <fmt/format.h>

namespace qps::casework {

namespace {

// What is known of the rank that goes on becomes states of it.
void put_ras_rank(LineState& state, Case& found) {
    const RasRank rank = std::exchange(state.ras.rank, {});
    if (!rank.any) return;
    const auto put = [&](RankState made) {
        made.ranks = {rank.number};
        made.process = rank.process;
        made.host = rank.host;
        made.communicator = state.ras.communicator;
        made.place = rank.place;
        add(found, std::move(made));
    };
    if (rank.silent) put({.state = rank.dead ? "considered dead" : "unresponsive"});
    else if (state.ras.missing) put({.state = "missing"});
    for (const auto& [operation, launched] : rank.counts) {
        RankState made{.count = 1, .operation = operation, .launched = launched};
        made.sampled = true;
        put(std::move(made));
    }
}

}  // namespace

// Members come in the order in which NCCL writes them: the hash of a communicator before its ranks, `missing_ranks` and
// `ras` behind.
std::string_view take_ras_json(std::string_view line, LineState& state, Case& found) {
    constexpr std::string_view kName = "NCCL RAS dump";
    constexpr std::size_t kMostOperations = 32;
    static const RE2 head(R"x("communicators"\s*:|"communicators_count"\s*:)x");
    static const RE2 token(R"x("(\w+)"\s*:\s*("[^"]*"|-?\w+|\{|\[)?)x");
    if (line.contains("\"communicators") && finds(line, head)) state.reader = kName, state.ras.open = true;
    if (!state.ras.open || state.reader != kName) return {};
    re2::StringPiece left(piece(line));
    std::string key, value;
    while (RE2::FindAndConsume(&left, token, &key, &value)) {
        if (value.starts_with('"')) value = value.substr(1, std::min(value.size() - 2, kMostWord));
        const std::uint64_t number = dissect::parse_decimal(value).value_or(0);
        RasRank& rank = state.ras.rank;
        if (key == "rank") {
            put_ras_rank(state, found);
            state.ras.rank.any = true;
            state.ras.rank.number = static_cast<std::uint32_t>(number);
            state.ras.rank.place = state.place();
        } else if (key == "hash" || key == "missing_ranks" || key == "missing_ranks_count" || key == "ras") {
            put_ras_rank(state, found);
            state.ras.missing = key.starts_with("missing");
            if (key == "hash") state.ras.communicator = value;
            if (key == "ras") state.ras.open = false;
        } else if (rank.any && key == "host") rank.host = value.substr(0, value.find('.'));
        else if (rank.any && key == "pid") rank.process = value;
        else if (rank.any && key == "unresponsive") rank.silent |= value == "true" || number != 0;
        else if (rank.any && key == "considered_dead") rank.silent |= rank.dead = value == "true" || number != 0;
        else if (rank.any && key == "collective_counts") rank.counting = true;
        else if (rank.any && rank.counting && !value.empty() && value != "{" && rank.counts.size() < kMostOperations)
            rank.counts.emplace_back(key.substr(0, kMostWord), number);
    }
    return kName;
}

// A line of JSON for each collective: rank, host and process together.
std::string_view take_inspector(std::string_view line, LineState& state, Case& found) {
    static const RE2 rank(R"x("rank"\s*:\s*(\d+).*?"n_ranks"\s*:\s*(\d+))x");
    static const RE2 host(R"x("hostname"\s*:\s*"([\w.-]+)")x");
    if (!line.contains("\"coll_perf\"")) return {};
    std::string number, ranks, name;
    if (finds(line, rank, &number, &ranks) && finds(line, host, &name)) {
        name = name.substr(0, name.find('.'));
        say_host(found, state, name);
        constexpr std::size_t kMostNoted = 4096;
        if (state.noted.size() < kMostNoted && state.noted.insert("inspector " + number).second)
            add(found, Setting{name, {}, "rank", number, ranks, state.place()});
    }
    return "NCCL inspector";
}

// mlxlink: sections of "Key : value". Its counters run since they were cleared.
std::string_view take_mlxlink(std::string_view line, LineState& state, Case& found) {
    constexpr std::string_view kName = "mlxlink";
    static const RE2 head(
        R"(^\s*"?(?:Operational Info|Troubleshooting Info|Physical Counters and BER Info|Supported Info)(?:\s*$|": ?\{))");
    static const RE2 row(R"(^([A-Z][\w /\[\].()-]*?)\s*: (.*\S)\s*$)");
    static const RE2 member(R"x(^\s*"([A-Z][^"]*)"\s*: ?"([^"]*)",?\s*$)x");  // --json
    static const RE2 rule(R"(^-{4,}\s*$)");
    if (finds(line, head)) return state.reader = kName, kName;
    if (state.reader != kName) return {};
    if (finds(line, rule)) return kName;
    std::string key, value;
    static const RE2 bracket(R"(^\s*[{}\[\]],?\s*$)");
    if (finds(line, bracket)) return kName;
    if (!finds(line, row, &key, &value) && !finds(line, member, &key, &value)) return {};
    const auto setting = [&](std::string_view subject, std::string_view name, std::string text) {
        add(found, Setting{{}, state.device, std::string(subject), std::string(name), std::move(text), state.place()});
    };
    if (key == "State") setting("port", "state", value == "Active" ? "ACTIVE" : value == "Disable" ? "DOWN" : value);
    else if (key == "Physical state") setting("port", "physical state", value);
    else if (key == "Speed" || key == "FEC") setting("port", "mlxlink " + key, value);
    else if (key == "Recommendation" || key == "Status Opcode") setting("port", "mlxlink " + key, value);
    if (key.ends_with("BER") || key.starts_with("Time Since Last Clear")) setting("port", "mlxlink " + key, value);
    const auto count = dissect::parse_decimal(value);
    const bool counter = key.ends_with("Counter") || key.ends_with("Errors") || key.ends_with("Error");
    if (count && counter)
        if (CounterDump* dump = dump_for(found, state, "mlxlink", state.device, state.port, key))
            add_counter(found, *dump, key, *count, state.place());
    return kName;
}

// `show interfaces status`: which ports of a switch are down though they are to be up.
std::string_view take_switch_ports(std::string_view line, LineState& state, Case& found) {
    constexpr std::string_view kName = "switch ports";
    static const RE2 head(R"(^\s*Interface\s+Lanes\s+Speed\s+MTU\s+)");
    static const RE2 row(
        R"(^\s*((?:Ethernet|PortChannel)\d+)\s+\S+\s+(\S+)\s+(\d+)\s+(\S+)\s.*?\b(up|down)\s+(up|down)\b)");
    static const RE2 rule(R"(^[-\s]{8,}$)");
    if (finds(line, head)) return state.reader = kName, kName;
    if (state.reader != kName) return {};
    if (finds(line, rule)) return kName;
    std::string port, speed, mtu, fec, is, wanted;
    if (!finds(line, row, &port, &speed, &mtu, &fec, &is, &wanted)) return {};
    const auto setting = [&](std::string_view subject, std::string_view name, std::string text) {
        add(found, Setting{{}, port, std::string(subject), std::string(name), std::move(text), state.place()});
    };
    if (wanted == "up") setting("port", "state", is == "down" ? "DOWN" : "ACTIVE");
    setting("switch port", "port MTU", mtu);
    setting("switch port", "port speed", speed);
    static const RE2 known(R"(^(?:rs|fc|none|auto)$)");
    if (finds(fec, known)) setting("switch port", "port FEC", fec);
    return kName;
}

}  // namespace qps::casework
