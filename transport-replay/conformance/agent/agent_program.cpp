// `qpscope peer agent`: an agent whose device is our own endpoint, so that checks can be tried without hardware: the
// program of live/peers that listens on TCP and gives an AgentOverVerbs what it hears.
//
// A stranger may connect and say anything, or nothing. Who connects stands at the door (door.hpp), where there are
// kMostAtDoor places and kPatienceAtDoor; who has passed it and asks for something has the agent, alone, until it goes
// or is silent for too long. Lines are bounded by kMostLine. What a client does not read is not computed: no request is
// taken up while kMostUnread waits for it.
#include <transport-replay/conformance/agent/agent_over_verbs.hpp>
#include <transport-replay/conformance/agent/agent_program.hpp>
#include <transport-replay/conformance/agent/door.hpp>
#include <transport-replay/live/exchange/exchange_connection.hpp>

#include <utility>

#include <fmt/format.h>

namespace qps::transport::conformance::agent {

namespace {

using namespace live;
using dissect::Bytes;
using dissect::Duration;
using dissect::Instant;

constexpr std::size_t kMostUnread = 65'536;  // bytes of answers: some lines of kMostLine

constexpr Duration seconds(int count) { return microseconds(std::int64_t{count} * 1'000'000); }

// One client's session, for ExchangeConnection: bytes into lines, answers into bytes.
class AgentSession {
public:
    explicit AgentSession(const std::string& secret = {}) : door(secret) {}

    void process(Bytes heard) {
        for (const std::byte each : heard) heard_ += static_cast<char>(each);
        if (heard_.size() <= kMostLine || has_line()) return;
        say(write_refusal(0, kFaultWords[std::to_underlying(Fault::line)], "longer than any line"));
        end();
    }
    void closed() { over_ = true; }
    [[nodiscard]] std::vector<std::byte> take_output() {
        const auto bytes = std::as_bytes(std::span(output_));
        std::vector<std::byte> out(bytes.begin(), bytes.end());
        output_.clear();
        return out;
    }
    [[nodiscard]] Awaits awaits() const { return over_ ? Awaits::nothing : Awaits::bytes; }

    // The next that is not empty.
    [[nodiscard]] std::optional<std::string> take_line() {
        while (has_line()) {
            std::string line = heard_.substr(0, heard_.find('\n'));
            heard_.erase(0, line.size() + 1);
            if (line.find_first_not_of(" \r") != std::string::npos) return line;
        }
        return std::nullopt;
    }
    void put_back(const std::string& line) { heard_.insert(0, line + '\n'); }
    [[nodiscard]] bool has_line() const { return heard_.contains('\n'); }
    [[nodiscard]] bool full() const { return output_.size() >= kMostUnread; }
    void say(std::string_view text) { output_ += text; }
    void end() { over_ = true; }

    Door door;

private:
    std::string heard_;   // at most kMostLine and what one drive() reads
    std::string output_;  // at most kMostUnread and a line
    bool over_ = false;
};

struct Caller {
    ExchangeConnection connection;
    AgentSession session;
    Instant since{};  // it connected; of the client: it last asked for something, or read an answer
};

class AgentProgram {
public:
    explicit AgentProgram(const ProgramRequest& request)
        : request_(request), port_(std::to_underlying(request.port.value_or(IpPort{kAgentPort}))) {}

    [[nodiscard]] std::expected<void, std::string> begin(Endpoint&, Instant) {
        auto listener = ExchangeListener::open(request_.exchange.tcp, port_);
        if (!listener)
            return std::unexpected(fmt::format("{}: {}", listener.error().device, listener.error().sentence));
        listener_ = std::move(*listener);
        said_.push_back(fmt::format("clients connect over TCP to {}, port {}, {} a secret", tcp_of(request_),
                                    listener_->port(), request_.secret.empty() ? "without" : "with"));
        return {};
    }
    [[nodiscard]] static std::string tcp_of(const ProgramRequest& request) {
        return request.exchange.tcp.empty() ? "127.0.0.1" : request.exchange.tcp;
    }

    void poll(Endpoint& endpoint, Instant now) {
        greet(now);
        tend_door(endpoint, now);
        if (client_) serve(endpoint, now);
    }

    [[nodiscard]] std::optional<Instant> poll_at() const {
        std::optional<Instant> due;
        const auto consider = [&](std::optional<Instant> time) {
            if (time && (!due || *time < *due)) due = time;
        };
        for (const Caller& each : door_) consider(each.since + seconds(kPatienceAtDoor));
        if (!client_) return due;
        const bool reads = !client_->connection.wants_to_write();
        if (reads && client_->session.has_line()) return kAtOnce;
        consider(agent_.poll_at());
        consider(client_->since + seconds(reads ? kIdle : kPatienceReading));
        return due;
    }

    void stop(Endpoint& endpoint, Instant now) {
        stopping_ = true;
        listener_.reset();
        door_.clear();
        if (client_) leave(endpoint, now);
    }

    [[nodiscard]] bool done() const { return !client_ && (stopping_ || enough()); }
    [[nodiscard]] std::vector<std::string> take_lines() { return std::exchange(said_, {}); }
    [[nodiscard]] ProgramCounts counts() const { return counts_; }
    [[nodiscard]] std::vector<Watched> watched() const {
        std::vector<Watched> all;
        if (listener_) all.push_back({.descriptor = listener_->descriptor()});
        for (const Caller& each : door_)
            all.push_back({each.connection.descriptor(), true, each.connection.wants_to_write()});
        // What is not read is not computed, and nothing new is heard meanwhile.
        if (client_) {
            const bool stuck = client_->connection.wants_to_write();
            all.push_back({client_->connection.descriptor(), !stuck && client_->connection.wants_to_read(), stuck});
        }
        return all;
    }

private:
    [[nodiscard]] bool enough() const { return request_.clients && counts_.connections >= *request_.clients; }

    void greet(Instant now) {
        while (listener_) {
            auto connection = listener_->accept();
            if (!connection) return;
            if (enough()) {  // no place will be free
                AgentSession refusal;
                refusal.say(write_refusal(0, "EBUSY", "another client is served"));
                refusal.end();
                connection->speak(refusal);
                continue;
            }
            if (door_.size() >= kMostAtDoor) door_.erase(door_.begin());  // the oldest: it had its time
            door_.push_back({std::move(*connection), AgentSession(request_.secret), now});
        }
    }

    // Proofs are judged here; the first request of one who has passed makes it the client.
    void tend_door(Endpoint& endpoint, Instant now) {
        for (auto each = door_.begin(); each != door_.end();) {
            Caller& caller = *each;
            caller.connection.drive(caller.session);
            while (!caller.session.door.open() && !caller.session.door.refused()) {
                const auto line = caller.session.take_line();
                if (!line) break;
                caller.session.say(caller.session.door.answer(*line));
            }
            if (caller.session.door.refused()) {
                said_.push_back(fmt::format("{} does not know the secret", caller.connection.peer()));
                caller.session.end();
            }
            auto line = caller.session.door.open() ? caller.session.take_line() : std::nullopt;
            if (line && may_enter(endpoint, now)) {
                caller.session.put_back(*line);
                enter(std::move(caller), now);
                each = door_.erase(each);
                continue;
            }
            if (line) {
                caller.session.say(write_refusal(0, "EBUSY", "another client is served"));
                caller.session.end();
            }
            caller.connection.speak(caller.session);
            const bool over = caller.connection.finished() || !caller.connection.wants_to_read();
            each = over || now - caller.since >= seconds(kPatienceAtDoor) ? door_.erase(each) : std::next(each);
        }
    }
    // Whether the place is free. A client that has been silent for kIdleIfWanted loses it to who asks.
    [[nodiscard]] bool may_enter(Endpoint& endpoint, Instant now) {
        if (client_ && now - client_->since >= seconds(kIdleIfWanted))
            give_up("is silent while another client waits", endpoint, now);
        return !client_ && !enough();
    }
    void enter(Caller caller, Instant now) {
        said_.push_back(fmt::format("{} connected", caller.connection.peer()));
        client_ = std::move(caller);
        client_->since = now;
        agent_ = {};
        asked_ = 0;
        ++counts_.connections;
    }

    void serve(Endpoint& endpoint, Instant now) {
        agent_.poll(endpoint, now);
        const bool stuck = client_->connection.wants_to_write();
        if (stuck || client_->session.has_line()) client_->connection.speak(client_->session);
        else client_->connection.drive(client_->session);
        if (stuck && !client_->connection.wants_to_write()) client_->since = now;  // it has read
        take_up(endpoint, now);
        client_->session.say(agent_.take_output());
        if (agent_.quitting()) client_->session.end();
        client_->connection.speak(client_->session);
        const bool silent =
            now - client_->since >= seconds(client_->connection.wants_to_write() ? kPatienceReading : kIdle);
        if (client_->connection.finished() || !client_->connection.wants_to_read()) leave(endpoint, now);
        else if (silent && client_->connection.wants_to_write()) give_up("does not read its answers", endpoint, now);
        else if (silent) give_up("is silent", endpoint, now);
    }
    // As many lines as there is room for answers to.
    void take_up(Endpoint& endpoint, Instant now) {
        while (!client_->connection.wants_to_write() && !client_->session.full() && !agent_.quitting()) {
            const auto line = client_->session.take_line();
            if (!line) return;
            agent_.hear(*line, endpoint, now);
            client_->session.say(agent_.take_output());
            client_->since = now;
            ++counts_.messages;
            ++asked_;
        }
    }
    void give_up(std::string_view why, Endpoint& endpoint, Instant now) {
        said_.push_back(fmt::format("{} {}", client_->connection.peer(), why));
        leave(endpoint, now);
    }
    void leave(Endpoint& endpoint, Instant now) {
        agent_.reset(endpoint, now);
        said_.push_back(fmt::format("{} disconnected after {} requests", client_->connection.peer(), asked_));
        client_.reset();
    }

    ProgramRequest request_;
    std::uint16_t port_;
    std::optional<ExchangeListener> listener_;
    std::vector<Caller> door_;  // at most kMostAtDoor, in the order in which they came
    std::optional<Caller> client_;
    AgentOverVerbs agent_;
    std::uint64_t asked_ = 0;  // requests of this client
    std::vector<std::string> said_;
    ProgramCounts counts_;
    bool stopping_ = false;
};

// Other machines are served if they know a secret, or if the user said that they need none.
std::expected<Program, std::string> make(const ProgramRequest& request) {
    const std::string tcp = AgentProgram::tcp_of(request);
    if (request.secret.empty() && !request.insecure && !is_loopback(tcp))
        return std::unexpected(fmt::format(
            "every host that reaches {} could use the agent: give a secret (--secret FILE) or --insecure", tcp));
    return Program(AgentProgram(request));
}

}  // namespace

const ProgramRow& agent_program() {
    static constexpr ProgramRow kRow{
        "agent", "serve the requests of conform, as qpscope-agent does for a device", IpPort{kAgentPort}, true, false,
        make};
    return kRow;
}

}  // namespace qps::transport::conformance::agent
