// Exchanged<Role>: a program whose queue pairs are told over TCP, as ibv_*_pingpong and perftest do: listening,
// calling, the transfer, the end of it. A Role says which transfer, which queue pairs, and what they are for.
//
// A Role is a value, with a Transfer for every peer:
//   open      before the transfer: the queue pairs, the memory; gives the session.
//   connect   the peer has told its queue pairs.
//   begin     traffic of the session's size begins; tend() follows, at every turn, until through() says that it is
//   over, then
//             finish(), which may say what it came to.
//   done      something completed with success, maybe before begin().
//   due       when tend() has something to do of its own accord, where nothing happens after `last`.
//   farewell  at the very end of a transfer that went well: what is left to say.
//   close     gives the memory back.
//
// TCP is the operating system's, so the addresses are its; RDMA is the endpoint's. The time that TCP takes is not that
// of a simulated link: programs of this kind are deterministic in what they say, not in when.
//
// A stranger may connect and say nothing: kExchangePatience; many may: kMaxSessions at a time, the others wait to be
// accepted, and where one address has more than its share of them, those of others take its places (who_makes_room()).
// The end of a peer on TCP alone ends nothing that does not need TCP any more.
#pragma once

#include <transport-replay/live/exchange/exchange_connection.hpp>
#include <transport-replay/live/peers/exchange_pairs.hpp>
#include <transport-replay/live/peers/fair_share.hpp>

#include <algorithm>
#include <concepts>
#include <map>
#include <memory>

#include <fmt/format.h>

namespace qps::transport::live::peers {

inline constexpr std::size_t kMaxSessions = 64;  // of one server at a time
inline constexpr dissect::Duration kExchangePatience =
    microseconds(20'000'000);  // with a peer that has not told its queue pairs
inline constexpr dissect::Duration kExchangeHaste =
    microseconds(1'000'000);  // until it may have to make room for another address
inline constexpr dissect::Duration kExchangeSilence = microseconds(5'000'000);  // nothing comes any more
inline constexpr dissect::Duration kExchangeFarewell = microseconds(300'000);   // a peer may not have our last ACK yet

// What a role works with.
struct ExchangeTurn {
    const PeerContext& context;
    ExchangePairs& pairs;
    dissect::Duration silence{};  // since something last happened
};

template <class Role>
concept ExchangeRoleLike = requires(Role role, typename Role::Transfer transfer, typename Role::Session session,
                                    const ExchangeTurn& turn, const Address& own, const Done& done) {
    { role.open(turn, transfer, own) } -> std::same_as<std::expected<typename Role::Session, std::string>>;
    { role.connect(turn, transfer, session) };
    { role.begin(turn, transfer, session) };
    { role.tend(turn, transfer, session) };
    { role.through(transfer) } -> std::same_as<bool>;
    { role.finish(turn, transfer, session) } -> std::same_as<std::string>;
    { role.done(turn, transfer, std::uint32_t{}, done) };
    { role.due(transfer, dissect::Instant{}) } -> std::same_as<std::optional<dissect::Instant>>;
    { role.farewell(turn, transfer, session) } -> std::same_as<std::string>;
    { role.close(turn, transfer) };
};

template <ExchangeRoleLike Role> class Exchanged {
public:
    Exchanged(Role role, const ProgramRequest& request)
        : role_(std::move(role)),
          request_(request),
          port_(static_cast<std::uint16_t>(request.port.value_or(IpPort{kExchangePort}))) {}

    [[nodiscard]] std::expected<void, std::string> begin(Endpoint& endpoint, dissect::Instant now) {
        const auto pd = endpoint.adapter().alloc_pd();
        if (!pd) return std::unexpected("adapter resources exhausted");
        pd_ = *pd;
        if (!request_.target) {
            auto listener = ExchangeListener::open(request_.exchange.tcp, port_);
            if (!listener) return std::unexpected(sentence_of(listener.error()));
            listener_ = std::move(*listener);
            return {};
        }
        const std::string host = request_.exchange.tcp.empty() ? text(*request_.target) : request_.exchange.tcp;
        auto connection = ExchangeConnection::connect(host, port_);
        if (!connection) return std::unexpected(sentence_of(connection.error()));
        if (const auto added = add(at(endpoint, now), std::move(*connection)); !added) return added;
        return {};
    }

    void poll(Endpoint& endpoint, dissect::Instant now) {
        settled_ = over();
        const PeerContext context = at(endpoint, now);
        for (std::size_t i = 0; i < kMaxSessions && listener_ && !enough() && may_greet(now); ++i) {
            auto connection = listener_->accept();
            if (!connection) break;
            if (!make_room(context, connection->peer())) continue;  // its address has its share
            const std::string peer = connection->peer();
            if (const auto added = add(context, std::move(*connection)); !added) {
                ++counts_.failed;
                ++served_;
                context.say(fmt::format("{}: {}", peer, added.error()));
            }
        }
        for (const auto& party : parties_) tend(context, *party);
        std::erase_if(parties_, [&](const auto& party) { return left(context, *party); });
        if (enough()) listener_.reset();
    }

    [[nodiscard]] std::optional<dissect::Instant> poll_at() const {
        std::optional<dissect::Instant> due = over() && !settled_ ? std::optional(kAtOnce) : std::nullopt;
        const auto consider = [&](std::optional<dissect::Instant> time) {
            if (time && (!due || *time < *due)) due = time;
        };
        for (const auto& party : parties_) {
            if (party->ended) {
                consider(*party->ended + kExchangeFarewell);
                continue;
            }
            if (!party->connected) consider(party->last + kExchangePatience);
            if (!party->trafficking) continue;
            consider(role_.due(party->transfer, party->last));
        }
        return due;
    }

    void stop(Endpoint& endpoint, dissect::Instant now) {
        stopping_ = true;
        listener_.reset();
        const PeerContext context = at(endpoint, now);
        for (const auto& party : parties_) close(context, *party);
        parties_.clear();
    }

    [[nodiscard]] bool done() const { return settled_ && over(); }
    [[nodiscard]] std::vector<std::string> take_lines() { return std::exchange(lines_, {}); }
    [[nodiscard]] ProgramCounts counts() const { return counts_; }

    [[nodiscard]] std::vector<Watched> watched() const {
        std::vector<Watched> all;
        if (listener_ && parties_.size() < kMaxSessions) all.push_back({.descriptor = listener_->descriptor()});
        for (const auto& party : parties_) {
            const ExchangeConnection& connection = party->connection;
            if (party->ended || connection.finished() || (!connection.wants_to_read() && !connection.wants_to_write()))
                continue;
            all.push_back({connection.descriptor(), connection.wants_to_read(), connection.wants_to_write()});
        }
        return all;
    }

private:
    struct Party {
        ExchangeConnection connection;
        ExchangePairs pairs{};
        typename Role::Transfer transfer{};
        std::optional<typename Role::Session> session{};
        dissect::Instant last{};  // when something last happened
        bool connected = false;
        bool trafficking = false;
        bool failed = false;
        std::optional<dissect::Instant> ended{};
    };

    static std::string sentence_of(const Problem& problem) {
        return fmt::format("{}: {}", problem.device, problem.sentence);
    }
    [[nodiscard]] PeerContext at(Endpoint& endpoint, dissect::Instant now) {
        return {.endpoint = endpoint, .now = now, .pd = pd_, .counts = counts_, .lines = lines_, .held = held_};
    }
    [[nodiscard]] bool enough() const { return request_.clients && served_ + parties_.size() >= *request_.clients; }
    [[nodiscard]] bool over() const {
        return parties_.empty() && (stopping_ || request_.target || (request_.clients && served_ >= *request_.clients));
    }
    static ExchangeTurn turn_of(const PeerContext& context, Party& party) {
        return {.context = context, .pairs = party.pairs, .silence = context.now - party.last};
    }

    // It says nothing where a program would have told its queue pairs long ago.
    static bool is_silent(const Party& party, dissect::Instant now) {
        return !party.connected && !party.ended && now - party.last >= kExchangeHaste;
    }
    [[nodiscard]] std::map<std::string, std::size_t> silent_parties(dissect::Instant now) const {
        std::map<std::string, std::size_t> silent;
        for (const auto& party : parties_)
            if (is_silent(*party, now)) ++silent[party->connection.peer()];
        return silent;
    }
    // Who comes is looked at: there is a place, or somebody would make room.
    [[nodiscard]] bool may_greet(dissect::Instant now) const {
        return parties_.size() < kMaxSessions ||
               who_makes_room(silent_parties(now), std::string(), kMaxSessions) != nullptr;
    }
    [[nodiscard]] bool make_room(const PeerContext& context, const std::string& newcomer) {
        if (parties_.size() < kMaxSessions) return true;
        const auto silent = silent_parties(context.now);
        const std::string* const greedy = who_makes_room(silent, newcomer, kMaxSessions);
        if (greedy == nullptr) return false;
        const auto oldest = std::ranges::find_if(  // they stand in the order in which they came
            parties_,
            [&](const auto& party) { return is_silent(*party, context.now) && party->connection.peer() == *greedy; });
        ++counts_.failed;
        ++served_;
        say(context, **oldest, "silent: makes room for another client");
        close(context, **oldest);
        parties_.erase(oldest);
        return true;
    }

    [[nodiscard]] std::expected<void, std::string> add(const PeerContext& context, ExchangeConnection connection) {
        auto party = std::make_unique<Party>(Party{.connection = std::move(connection)});
        party->last = context.now;
        const auto& own = context.adapter().settings().addresses;
        const Address gid = request_.target ? context.endpoint.connections().path_to(*request_.target).source
                            : own.empty()   ? Address{}
                                            : own.front();
        if (gid.space == AddressSpace::none) return std::unexpected("no own address of that family");
        auto session = role_.open(turn_of(context, *party), party->transfer, gid);
        if (!session) {
            close(context, *party);
            return std::unexpected(session.error());
        }
        party->session = std::move(*session);
        parties_.push_back(std::move(party));
        return {};
    }
    void close(const PeerContext& context, Party& party) {
        role_.close(turn_of(context, party), party.transfer);
        party.pairs.close(context);
    }

    // One turn of one transfer.
    void tend(const PeerContext& context, Party& party) {
        const std::size_t completed = party.pairs.drain(context, [&](std::uint32_t number, const Done& done) {
            if (!party.ended) role_.done(turn_of(context, party), party.transfer, number, done);
        });
        if (party.ended) return;
        if (completed > 0) party.last = context.now;
        while (!party.ended && advance(context, party)) party.last = context.now;
        if (!party.ended) judge(context, party);
    }
    // As far as it goes without the peer; false: it does not.
    bool advance(const PeerContext& context, Party& party) {
        typename Role::Session& session = *party.session;
        const Awaits before = session.awaits();
        party.connection.drive(session);
        if (party.connection.problem() && session.awaits() == Awaits::traffic) session.closed();
        const ExchangeTurn turn = turn_of(context, party);
        if (party.pairs.complaint()) return false;
        switch (session.awaits()) {
            case Awaits::connect:
                if (!std::exchange(party.connected, true)) role_.connect(turn, party.transfer, session);
                if (party.pairs.complaint() || !party.pairs.reachable(context)) return false;
                ++counts_.connections;
                break;
            case Awaits::receives: break;  // they are posted from the beginning
            case Awaits::traffic:
                if (!std::exchange(party.trafficking, true)) role_.begin(turn, party.transfer, session);
                role_.tend(turn, party.transfer, session);
                if (party.pairs.complaint() || !role_.through(party.transfer)) return false;
                say(context, party, role_.finish(turn, party.transfer, session));
                party.trafficking = false;
                break;
            case Awaits::bytes:
            case Awaits::nothing: return session.awaits() != before;
        }
        session.proceed();
        return true;
    }
    // Whether it is over, and how.
    void judge(const PeerContext& context, Party& party) {
        const typename Role::Session& session = *party.session;
        const bool waits = session.awaits() == Awaits::bytes;
        if (party.pairs.complaint()) return fail(context, party, *party.pairs.complaint());
        if (waits && party.connection.problem()) return fail(context, party, party.connection.problem()->sentence);
        if (!session.problem().empty()) return fail(context, party, session.problem());
        if (!party.connected && context.now - party.last >= kExchangePatience)
            return fail(context, party, "it does not announce its queue pairs");
        if (session.awaits() == Awaits::nothing && party.connection.finished()) party.ended = context.now;
    }
    void fail(const PeerContext& context, Party& party, const std::string& why) {
        ++counts_.failed;
        say(context, party, why);
        party.failed = true;
        party.ended = context.now;
    }
    void say(const PeerContext& context, const Party& party, const std::string& what) const {
        if (!what.empty()) context.say(fmt::format("{}: {}", party.connection.peer(), what));
    }
    // Whether it is gone for good.
    bool left(const PeerContext& context, Party& party) {
        if (!party.ended || context.now - *party.ended < kExchangeFarewell) return false;
        if (!party.failed) say(context, party, role_.farewell(turn_of(context, party), party.transfer, *party.session));
        close(context, party);
        ++served_;
        return true;
    }

    Role role_;
    ProgramRequest request_;
    std::uint16_t port_;
    std::optional<ExchangeListener> listener_{};
    std::vector<std::unique_ptr<Party>> parties_{};
    verbs::Pd pd_{};
    std::size_t held_ = 0;
    std::uint64_t served_ = 0;
    bool stopping_ = false;
    bool settled_ = false;
    std::vector<std::string> lines_{};
    ProgramCounts counts_{};
};

}  // namespace qps::transport::live::peers
