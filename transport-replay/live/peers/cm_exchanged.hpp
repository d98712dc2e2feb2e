// CmExchanged<Role>: a program as Exchanged<Role> has them, whose exchange goes over rdma_cm (perftest -R): by SENDs on
// a connection that is made for it, and the queue pairs are connected by rdma_cm too, to the same port, where the
// session awaits it. A Role is that of Exchanged.
//
// Nothing says to whom a request for a connection belongs. One from the address of a peer whose queue pairs are awaited
// is taken as one of them; any other is a new peer. Two peers at one address that come at the same time can be taken
// for each other, and fail then.
//
// Invariants: connections of a party are numbered, 0 that of the exchange, n + 1 that of its queue pair n; each is in
// places_ from its CM id's beginning to its end. A party goes when all of its connections have ended.
//
// A stranger may connect and say nothing, or connect one queue pair of many: kExchangePatience; many may: kMaxSessions,
// more are rejected, but for those of who_makes_room(). Messages of the exchange are at most kMostSaid bytes long, what
// they say is judged by the session.
#pragma once

#include <transport-replay/live/peers/exchanged.hpp>
#include <transport-replay/live/peers/link.hpp>

#include <map>

namespace qps::transport::live::peers {

inline constexpr std::uint32_t kMostSaid = 256;  // bytes of a message; more than any of perftest's
// perftest's server listens for its queue pairs only after it said that it would; its client comes again after 100 ms,
// 10 times.
inline constexpr dissect::Duration kCmPause = microseconds(100'000);
inline constexpr std::uint32_t kCmCalls = 20;
inline constexpr dissect::Duration kCmFarewell = microseconds(3'000'000);  // for connections to end

template <ExchangeRoleLike Role> class CmExchanged {
public:
    CmExchanged(Role role, const ProgramRequest& request)
        : role_(std::move(role)), request_(request), port_(request.port.value_or(IpPort{kExchangePort})) {
        request_.connect.private_data = {};
        // As these programs have it; rdma_cm's own would be 2 s.
        if (!request_.connect.ack_timeout) request_.connect.ack_timeout = kExchangeTimeout;
    }

    [[nodiscard]] std::expected<void, std::string> begin(Endpoint& endpoint, dissect::Instant now) {
        const auto pd = endpoint.adapter().alloc_pd();
        if (!pd) return std::unexpected("adapter resources exhausted");
        pd_ = *pd;
        if (!request_.target) return start_listening(endpoint, PortSpace::tcp, port_);
        request_.target = as_spoken(endpoint, *request_.target);
        const PeerContext context = at(endpoint, now);
        auto party = add(context, *request_.target);
        if (!party) return std::unexpected(party.error());
        if (call(context, **party, 0)) return {};
        close(context, **party);
        parties_.clear();
        return std::unexpected("cannot connect: no own address of that family");
    }

    void poll(Endpoint& endpoint, dissect::Instant now) {
        settled_ = over();
        const PeerContext context = at(endpoint, now);
        const std::vector<ConnectionEvent> events = endpoint.connections().take_events();
        for (const ConnectionEvent& event : events) {
            if (event.kind == ConnectionEventKind::request) take_request(context, event);
            if (event.kind == ConnectionEventKind::established) rise(context, event.id);
            if (event.kind == ConnectionEventKind::disconnected || event.kind == ConnectionEventKind::rejected)
                part(event);
        }
        for (const auto& party : parties_) tend(context, *party);  // what completed before the end came counts
        for (const ConnectionEvent& event : events) take_end(context, event);
        for (const auto& party : parties_) tend(context, *party);
        std::erase_if(parties_, [&](const auto& party) { return left(context, *party); });
    }

    [[nodiscard]] std::optional<dissect::Instant> poll_at() const {
        std::optional<dissect::Instant> due = over() && !settled_ ? std::optional(kAtOnce) : std::nullopt;
        const auto consider = [&](std::optional<dissect::Instant> time) {
            if (time && (!due || *time < *due)) due = time;
        };
        for (const auto& party : parties_) {
            if (party->ended) {
                consider(party->leaving ? *party->ended + kCmFarewell : leaves_at(*party));
                continue;
            }
            if (!party->connected) consider(party->last + kExchangePatience);
            consider(party->calls_again);
            if (party->trafficking) consider(role_.due(party->transfer, party->last));
        }
        return due;
    }

    void stop(Endpoint& endpoint, dissect::Instant now) {
        if (!request_.target && !stopping_) stop_listening(endpoint, PortSpace::tcp, port_);
        stopping_ = true;
        const PeerContext context = at(endpoint, now);
        for (const auto& party : parties_) {
            if (!party->ended) party->failed = true;  // nothing is said of it
            leave(context, *party);
        }
    }

    [[nodiscard]] bool done() const { return settled_ && over(); }
    [[nodiscard]] std::vector<std::string> take_lines() { return std::exchange(lines_, {}); }
    [[nodiscard]] ProgramCounts counts() const { return counts_; }

private:
    enum class Way : std::uint8_t { closed, opening, open };
    struct Connection {
        CmId id{};
        Way way = Way::closed;
        std::uint32_t calls = 0;
    };
    struct Party {
        Address remote{};
        ExchangePairs control{};  // one: that of the exchange
        Block words{};            // what it says next
        ExchangePairs pairs{};
        typename Role::Transfer transfer{};
        std::optional<typename Role::Session> session{};
        std::vector<Connection> connections{};
        dissect::Instant last{};                        // when something last happened
        std::optional<dissect::Instant> calls_again{};  // a client, whose call was rejected
        bool calls = false;                             // its queue pairs are to be connected
        bool connected = false;
        bool trafficking = false;
        bool failed = false;
        bool parted = false;  // the peer ended a connection
        bool leaving = false;
        std::optional<dissect::Instant> ended{};
    };
    struct Place {
        Party* party = nullptr;
        std::uint32_t number = 0;
    };

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
    [[nodiscard]] Place place_of(CmId id) const {
        const auto found = places_.find(static_cast<std::uint32_t>(id));
        return found == places_.end() ? Place{} : found->second;
    }
    static dissect::Qpn qpn_of(Party& party, std::uint32_t number) {
        return number == 0 ? party.control.at(0).qpn() : party.pairs.at(number - 1).qpn();
    }

    [[nodiscard]] std::expected<Party*, std::string> add(const PeerContext& context, const Address& remote) {
        auto party = std::make_unique<Party>();
        party->remote = remote;
        party->last = context.now;
        const Address own = context.endpoint.connections().path_to(remote).source;
        constexpr QueueNeeds kNeeds{
            .sends = 8, .receives = 4, .receive_bytes = kMostSaid, .access = verbs::kLocalWrite};
        std::expected<typename Role::Session, std::string> session = std::unexpected("cannot allocate a connection");
        auto control = ExchangePairs::open(context, kNeeds, 1, dissect::Qkey{}, own, request_.seed);
        auto words = Block::open(context, kMostSaid, verbs::kLocalWrite);
        if (control) party->control = std::move(*control);
        if (words) party->words = std::move(*words);
        if (control && words) session = role_.open(turn_of(context, *party), party->transfer, own);
        if (!session) {
            close(context, *party);
            return std::unexpected(session.error());
        }
        party->session = std::move(*session);
        party->connections.resize(party->pairs.size() + 1);
        parties_.push_back(std::move(party));
        return parties_.back().get();
    }
    void close(const PeerContext& context, Party& party) {
        role_.close(turn_of(context, party), party.transfer);
        party.pairs.close(context);
        party.control.close(context);
        party.words.close(context);
    }
    void keep(Party& party, std::uint32_t number, CmId id) {
        party.connections[number].id = id;
        party.connections[number].way = Way::opening;
        places_.insert_or_assign(static_cast<std::uint32_t>(id), Place{&party, number});
    }
    void forget(Party& party, std::uint32_t number) {
        places_.erase(static_cast<std::uint32_t>(party.connections[number].id));
        party.connections[number].way = Way::closed;
    }

    // A client connects its connection of that number. False: that is not possible.
    bool call(const PeerContext& context, Party& party, std::uint32_t number) {
        const Target target{.address = party.remote, .port = port_};
        const auto id =
            context.endpoint.connections().connect(qpn_of(party, number), target, request_.connect, context.now);
        if (!id) return false;
        ++party.connections[number].calls;
        keep(party, number, *id);
        return true;
    }
    // A peer whose queue pairs are awaited, and the next of them that is not connected.
    [[nodiscard]] Place awaited(const Address& remote) const {
        for (const auto& party : parties_) {
            if (party->remote != remote || party->ended || party->session->awaits() != Awaits::connect) continue;
            for (std::uint32_t i = 1; i < party->connections.size(); ++i)
                if (party->connections[i].way == Way::closed) return {party.get(), i};
        }
        return {};
    }
    // Where all places are taken, an address with more than its share of peers that say nothing gives up the oldest of
    // them for another one.
    [[nodiscard]] bool make_room(const PeerContext& context, const Address& newcomer) {
        if (parties_.size() < kMaxSessions) return true;
        const auto is_silent = [&](const Party& party) {
            return !party.connected && !party.ended && context.now - party.last >= kExchangeHaste;
        };
        std::map<Address, std::size_t> silent;
        for (const auto& party : parties_)
            if (is_silent(*party)) ++silent[party->remote];
        const Address* const greedy = who_makes_room(silent, newcomer, kMaxSessions);
        if (greedy == nullptr) return false;
        const auto oldest = std::ranges::find_if(
            parties_, [&](const auto& party) { return is_silent(*party) && party->remote == *greedy; });
        fail(context, **oldest, "silent: makes room for another client");
        return true;
    }
    void take_request(const PeerContext& context, const ConnectionEvent& event) {
        Connections& connections = context.endpoint.connections();
        Place place = request_.target || stopping_ ? Place{} : awaited(event.remote);
        if (place.party == nullptr && !request_.target && !stopping_ && !enough() && make_room(context, event.remote)) {
            const auto party = add(context, event.remote);
            if (party) place.party = *party;
            else context.say(fmt::format("{}: refused: {}", text(event.remote), party.error()));
        }
        if (place.party == nullptr) {
            (void)connections.reject(event.id, {}, context.now);
            return;
        }
        if (connections.accept(event.id, qpn_of(*place.party, place.number), request_.connect, context.now))
            return keep(*place.party, place.number, event.id);
        (void)connections.reject(event.id, {}, context.now);
        fail(context, *place.party, "its connection cannot be accepted");
    }
    void rise(const PeerContext& context, CmId id) {
        const Place place = place_of(id);
        if (place.party == nullptr || place.party->connections[place.number].way != Way::opening) return;
        place.party->connections[place.number].way = Way::open;
        place.party->last = context.now;
    }
    void part(const ConnectionEvent& event) {
        const Place place = place_of(event.id);
        if (place.party == nullptr) return;
        place.party->pairs.part();
        place.party->control.part();
    }
    void take_end(const PeerContext& context, const ConnectionEvent& event) {
        const Place place = place_of(event.id);
        if (place.party == nullptr) return;
        Party& party = *place.party;
        switch (event.kind) {
            case ConnectionEventKind::rejected:
            case ConnectionEventKind::unreachable:
                forget(party, place.number);
                if (event.kind == ConnectionEventKind::rejected && place.number > 0 &&
                    party.connections[place.number].calls < kCmCalls)
                    party.calls_again = context.now + kCmPause;
                else fail(context, party, why_it_failed(event));
                break;
            case ConnectionEventKind::disconnected:
                forget(party, place.number);
                party.parted = true;
                if (!party.ended) party.session->closed();
                break;
            default:
                if (event.last) forget(party, place.number);
                break;
        }
    }

    void drain(const PeerContext& context, Party& party) {
        std::size_t completed = party.control.drain(context, [&](std::uint32_t, const Done& done) {
            rise(context, party.connections.front().id);  // data says what an RTU would have said
            if (!done.receive || party.ended) return;
            party.session->process(party.control.at(0).message(done));
            party.control.post_receive(context, 0, done.tag);
        });
        completed += party.pairs.drain(context, [&](std::uint32_t number, const Done& done) {
            rise(context, party.connections[number + 1].id);
            if (!party.ended) role_.done(turn_of(context, party), party.transfer, number, done);
        });
        if (completed > 0) party.last = context.now;
    }
    // One turn of one transfer.
    void tend(const PeerContext& context, Party& party) {
        drain(context, party);
        while (!party.ended && advance(context, party)) party.last = context.now;
        if (!party.ended) judge(context, party);
    }
    // When it leaves by itself: a peer may not have our last ACK yet.
    static dissect::Instant leaves_at(const Party& party) {
        return party.failed || party.parted ? *party.ended : *party.ended + kExchangeFarewell;
    }
    void speak(const PeerContext& context, Party& party) {
        if (party.connections.front().way != Way::open) return;
        for (auto said = party.session->take_output(); !said.empty(); said = party.session->take_output()) {
            if (said.size() > party.words.size()) return party.control.complain("what we have to say is too long");
            std::ranges::copy(said, party.words.bytes().begin());
            const verbs::Sge piece = party.words.piece(0, said.size());
            if (!party.control.post(context, 0, {.sg_list = {&piece, 1}, .send_flags = {.inline_data = true}}, 0))
                return;
        }
    }
    // As far as it goes without the peer; false: it does not.
    bool advance(const PeerContext& context, Party& party) {
        typename Role::Session& session = *party.session;
        const Awaits before = session.awaits();
        speak(context, party);
        const ExchangeTurn turn = turn_of(context, party);
        if (party.control.complaint() || party.pairs.complaint()) return false;
        switch (session.awaits()) {
            case Awaits::connect:
                if (!connect(context, party)) return false;
                party.connected = true;
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
    // Whether all queue pairs are connected. A client connects them; a server only waits, its peer does.
    bool connect(const PeerContext& context, Party& party) {
        if (!std::exchange(party.calls, true)) {
            role_.connect(turn_of(context, party), party.transfer, *party.session);
            if (request_.target) party.calls_again = context.now + kCmPause;
        }
        if (party.pairs.complaint()) return false;
        const bool now = party.calls_again && context.now >= *party.calls_again;
        if (now) party.calls_again.reset();
        bool all = true;
        for (std::uint32_t i = 1; i < party.connections.size(); ++i) {
            const Connection& each = party.connections[i];
            if (now && each.way == Way::closed) {
                const bool renewed = each.calls == 0 || party.pairs.renew(context, i - 1);
                if (!renewed || !call(context, party, i)) party.pairs.complain("cannot connect queue pairs");
            }
            if (each.way != Way::open) all = false;
        }
        return all;
    }
    // Whether it is over, and how.
    void judge(const PeerContext& context, Party& party) {
        const typename Role::Session& session = *party.session;
        if (!session.problem().empty()) return fail(context, party, session.problem());
        if (session.awaits() == Awaits::nothing) {
            if (party.control.outstanding() == 0 || party.parted) party.ended = context.now;
            return;
        }
        if (party.parted) return fail(context, party, "the peer disconnected early");
        for (const ExchangePairs* each : {&party.pairs, &party.control})
            if (each->complaint()) return fail(context, party, *each->complaint());
        if (!party.connected && context.now - party.last >= kExchangePatience)
            fail(context, party, "it does not announce its queue pairs, or does not connect them");
    }
    void fail(const PeerContext& context, Party& party, const std::string& why) {
        if (party.ended) return;
        ++counts_.failed;
        say(context, party, why);
        party.failed = true;
        party.ended = context.now;
    }
    static void say(const PeerContext& context, const Party& party, const std::string& what) {
        if (!what.empty()) context.say(fmt::format("{}: {}", text(party.remote), what));
    }
    // Ends its connections.
    void leave(const PeerContext& context, Party& party) {
        if (std::exchange(party.leaving, true)) return;
        party.ended = context.now;
        for (std::uint32_t i = 0; i < party.connections.size(); ++i) {
            const Connection& each = party.connections[i];
            if (each.way == Way::closed || context.endpoint.connections().disconnect(each.id, context.now)) continue;
            (void)context.endpoint.manager().abandon(each.id, context.now);
            forget(party, i);
        }
    }
    // Whether it is gone for good.
    bool left(const PeerContext& context, Party& party) {
        if (party.ended && context.now >= leaves_at(party)) leave(context, party);
        if (!party.leaving) return false;
        const bool patient = context.now - *party.ended < kCmFarewell;
        for (std::uint32_t i = 0; i < party.connections.size(); ++i) {
            if (party.connections[i].way == Way::closed) continue;
            if (patient) return false;
            (void)context.endpoint.manager().abandon(party.connections[i].id, context.now);
            forget(party, i);
        }
        if (!party.failed) say(context, party, role_.farewell(turn_of(context, party), party.transfer, *party.session));
        close(context, party);
        ++served_;
        return true;
    }

    Role role_;
    ProgramRequest request_;
    IpPort port_;
    std::vector<std::unique_ptr<Party>> parties_{};
    std::map<std::uint32_t, Place> places_{};  // by CmId
    verbs::Pd pd_{};
    std::size_t held_ = 0;
    std::uint64_t served_ = 0;
    bool stopping_ = false;
    bool settled_ = false;
    std::vector<std::string> lines_{};
    ProgramCounts counts_{};
};

}  // namespace qps::transport::live::peers
