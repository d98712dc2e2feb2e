// Connected<Role>: a program that has connections (RC): opening, accepting, completions, closing, counting. A Role says
// what is said on one of them.
//
// A Role is a value, with a Session for every connection:
//   plan      server: the peer asked (its private data); client: before connecting. What queues it takes, or why not.
//   prepare   the queues are there: makes the blocks of the session; what is said beside the request or the reply.
//   up        it is established; private data is that of the reply (client).
//   done      something completed with success.
//   complete  whether the peer may close it now.
//   close     gives the blocks back; says what there is to say of a connection that was up.
//   again     client, when all connections are gone: whether to connect once more.
//   shut      if there is one: nothing comes any more; gives back what the role itself has.
//   hurried   if there is one: whether it wants to be polled without sleeping.
//   look      if there is one: whether completions are to be looked at now; a role that waits for notifications says
//   no. attend    if there is one: called at every turn, before anything else. turn      if there is one: called at
//   every turn for each link that is up. watch     if there is one, of the role and of each session: descriptors that
//   it waits for besides the device's. due       if there is one, of the role and of each session: when it is to be
//   polled of its own accord.
//
// Invariants: a link is in `links_` from its queue pair's creation to its end; every link ends once; done() is true
// only after the endpoint had a turn since the last one went, so that its farewell is on the wire.
//
// A stranger can connect as often as he likes: kMaxClients, kMostMemory, who_makes_room(); and can vanish: the
// connection manager's and the requester's timeouts end what somebody waits for, and a server waits for nobody else.
#pragma once

#include <transport-replay/live/peers/fair_share.hpp>
#include <transport-replay/live/peers/link.hpp>

#include <algorithm>
#include <array>
#include <map>

#include <boost/unordered/unordered_flat_map.hpp>

namespace qps::transport::live::peers {

template <class Role>
concept RoleLike = requires(Role role, typename Role::Session session, const PeerContext& context, Link& link,
                            dissect::Bytes said, const Done& done) {
    { role.plan(context, session, said) } -> std::same_as<std::expected<QueueNeeds, std::string>>;
    { role.prepare(context, link, session) } -> std::same_as<verbs::Result<CmPrivateBytes>>;
    { role.up(context, link, session, said) };
    { role.done(context, link, session, done) };
    { role.complete(session) } -> std::same_as<bool>;
    { role.close(context, link, session) };
    { role.again() } -> std::same_as<bool>;
};

template <RoleLike Role> class Connected {
public:
    Connected(Role role, const ProgramRequest& request, IpPort port)
        : role_(std::move(role)), request_(request), port_(request.port.value_or(port)) {
        // Borrowed by the request; a role says what is said.
        request_.connect.private_data = {};
    }

    [[nodiscard]] std::expected<void, std::string> begin(Endpoint& endpoint, dissect::Instant now) {
        const auto pd = endpoint.adapter().alloc_pd();
        const auto cq = endpoint.adapter().create_cq(1);
        if (!pd || !cq) return std::unexpected("adapter resources exhausted");
        pd_ = *pd;
        cq_ = *cq;
        if (!request_.target) return start_listening(endpoint, PortSpace::tcp, port_);
        request_.target = as_spoken(endpoint, *request_.target);
        const PeerContext context = at(endpoint, now);
        for (std::uint32_t i = 0; i < request_.connections; ++i)
            if (const auto opened = connect(context); !opened) return opened;
        return {};
    }

    void poll(Endpoint& endpoint, dissect::Instant now) {
        settled_ = over();
        const PeerContext context = at(endpoint, now);
        if constexpr (requires { role_.attend(context); })
            if (!over()) role_.attend(context);
        const std::vector<ConnectionEvent> events = endpoint.connections().take_events();
        for (const ConnectionEvent& event : events) {
            if (event.kind == ConnectionEventKind::request) take_request(context, event);
            if (event.kind == ConnectionEventKind::established) take_established(context, event);
        }
        drain(context);  // what completed before the end came counts
        for (const ConnectionEvent& event : events) take_end(context, event);
        tend(context);
        if (request_.target && !stopping_ && links_.empty() && counts_.failed == 0 && role_.again()) {
            if (const auto opened = connect(context); !opened) {
                ++counts_.failed;
                context.say(opened.error());
            }
        }
        if constexpr (requires { role_.shut(context); })
            if (over()) role_.shut(context);
    }

    [[nodiscard]] std::optional<dissect::Instant> poll_at() const {
        if constexpr (requires { role_.hurried(); })
            if (role_.hurried()) return kAtOnce;
        if (over()) return settled_ ? std::nullopt : std::optional(kAtOnce);
        std::optional<dissect::Instant> due;
        if constexpr (requires { role_.due(); }) due = role_.due();
        if constexpr (requires(const typename Role::Session& session) { role_.due(session); })
            for (const auto& [id, entry] : links_)
                if (const auto of_link = role_.due(entry.session); of_link && (!due || *of_link < *due)) due = of_link;
        for (const auto& [id, entry] : links_)
            if (entry.patience && (!due || *entry.patience < *due)) due = entry.patience;
        return due;
    }
    [[nodiscard]] std::vector<Watched> watched() const {
        std::vector<Watched> all;
        if (over()) return all;
        if constexpr (requires { role_.watch(all); }) role_.watch(all);
        if constexpr (requires(const typename Role::Session& session) { role_.watch(session, all); })
            for (const auto& [id, entry] : links_) role_.watch(entry.session, all);
        return all;
    }

    void stop(Endpoint& endpoint, dissect::Instant now) {
        if (!request_.target && !stopping_) stop_listening(endpoint, PortSpace::tcp, port_);
        stopping_ = true;
        const PeerContext context = at(endpoint, now);
        for (auto next = links_.begin(); next != links_.end();) {
            const auto here = next++;
            leave(context, here->second);
        }
    }

    [[nodiscard]] bool done() const { return settled_ && over(); }
    [[nodiscard]] std::vector<std::string> take_lines() { return std::exchange(lines_, {}); }
    [[nodiscard]] ProgramCounts counts() const { return counts_; }

private:
    struct Entry {
        Link link;
        typename Role::Session session;
        dissect::Instant since{};  // of a server: when it was asked for
        bool proved = false;       // something completed on it
        std::optional<dissect::Instant>
            patience{};  // of a client's that failed: how long the server has to say good-bye
    };
    static constexpr dissect::Duration kPatience{3'000'000'000};

    [[nodiscard]] PeerContext at(Endpoint& endpoint, dissect::Instant now) {
        return {.endpoint = endpoint, .now = now, .pd = pd_, .counts = counts_, .lines = lines_, .held = held_};
    }
    [[nodiscard]] bool over() const {
        if (!links_.empty()) return false;
        if (stopping_ || request_.target) return true;
        return request_.clients && served_ >= *request_.clients;
    }

    // The queues, and room for their completions; then what the role wants to say.
    [[nodiscard]] std::expected<CmPrivateBytes, std::string> open(const PeerContext& context, Entry& entry,
                                                                  dissect::Bytes said) {
        const auto needs = role_.plan(context, entry.session, said);
        if (!needs) return std::unexpected(needs.error());
        const std::uint32_t room = completions_ + completions_of(*needs);
        verbs::Result<void> ready = context.adapter().resize_cq(cq_, room);
        if (ready) {
            auto queues = Queues::open(context, cq_, *needs, kDefaultPkey);
            if (!queues) {
                ready = std::unexpected(queues.error());
            } else {
                entry.link.queues = std::move(*queues);
                completions_ = room;
                const auto says = role_.prepare(context, entry.link, entry.session);
                if (says) return *says;
                ready = std::unexpected(says.error());
            }
        }
        release(context, entry);
        return std::unexpected("cannot allocate a connection: " + std::string(name(ready.error())));
    }
    // Gives back what open() took.
    void release(const PeerContext& context, Entry& entry) {
        role_.close(context, entry.link, entry.session);
        if (entry.link.queues.qpn() == dissect::Qpn{}) return;
        completions_ -= completions_of(entry.link.queues.needs());
        by_qp_.erase(static_cast<std::uint32_t>(entry.link.queues.qpn()));
        entry.link.queues.close(context);
    }
    void keep(CmId id, Entry entry) {
        entry.link.id = id;
        const auto key = static_cast<std::uint32_t>(entry.link.queues.qpn());
        const auto [place, added] = links_.insert_or_assign(static_cast<std::uint32_t>(id), std::move(entry));
        by_qp_.insert_or_assign(key, &place->second);
    }

    [[nodiscard]] std::expected<void, std::string> connect(const PeerContext& context) {
        Entry entry{};
        entry.link.remote = *request_.target;
        const auto says = open(context, entry, {});
        if (!says) return std::unexpected(says.error());
        ConnectOptions options = request_.connect;
        options.private_data = says->bytes();
        const Target target{.address = *request_.target, .port = port_};
        const auto id = context.endpoint.connections().connect(entry.link.queues.qpn(), target, options, context.now);
        if (!id) {
            release(context, entry);
            return std::unexpected("cannot connect: " + std::string(live::name(id.error())));
        }
        keep(*id, std::move(entry));
        return {};
    }

    // Whether one more client can be taken, of that address. Where all places are taken, connections make room on which
    // nothing was ever completed: the oldest of an address with more than its share for somebody else, at once; and one
    // that is silent for long for anybody.
    [[nodiscard]] bool make_room(const PeerContext& context, const Address& newcomer) {
        if (links_.size() < kMaxClients) return true;
        const auto idle = [](const Entry& entry) { return !entry.proved && entry.link.state != LinkState::closing; };
        const auto silent = [&](const Entry& entry) {
            return idle(entry) && context.now - entry.since >= kProvingTime;
        };
        const auto shares_of = [&](const auto& which) {
            std::map<Address, std::size_t> shares;
            for (const auto& [id, entry] : links_)
                if (which(entry)) ++shares[entry.link.remote];
            return shares;
        };
        const auto expel_oldest = [&](const Address& address, const auto& which) {
            Entry* oldest = nullptr;
            for (auto& [id, entry] : links_)
                if (which(entry) && entry.link.remote == address && (oldest == nullptr || entry.since < oldest->since))
                    oldest = &entry;
            expel(context, *oldest);
            return true;
        };
        const auto shares = shares_of(idle);
        if (const Address* const greedy = who_makes_room(shares, newcomer, kMaxClients))
            return expel_oldest(*greedy, idle);
        const auto silences = shares_of(silent);
        const auto most = std::ranges::max_element(silences, {}, [](const auto& share) { return share.second; });
        return most != silences.end() && most->second > kFairShare && expel_oldest(most->first, silent);
    }
    // Its place is free at once; the connection manager goes on saying good-bye by itself.
    void expel(const PeerContext& context, Entry& entry) {
        ++counts_.failed;
        context.say(about(entry.link, "silent: makes room for another client"));
        if (!context.endpoint.connections().disconnect(entry.link.id, context.now))
            (void)context.endpoint.manager().abandon(entry.link.id, context.now);
        entry.link.state = LinkState::closing;
        forget(context, entry);
    }

    void take_request(const PeerContext& context, const ConnectionEvent& event) {
        Connections& connections = context.endpoint.connections();
        const bool enough = request_.clients && served_ + links_.size() >= *request_.clients;
        if (request_.target || stopping_ || enough || !make_room(context, event.remote)) {
            (void)connections.reject(event.id, {}, context.now);
            return;
        }
        Entry entry{};
        entry.link.remote = event.remote;
        entry.since = context.now;
        const auto says = open(context, entry, asked(event));
        if (!says) {
            context.say(about(entry.link, "refused: " + says.error()));
            (void)connections.reject(event.id, {}, context.now);
            return;
        }
        ConnectOptions options = request_.connect;
        options.private_data = says->bytes();
        if (!connections.accept(event.id, entry.link.queues.qpn(), options, context.now)) {
            release(context, entry);
            (void)connections.reject(event.id, {}, context.now);
            return;
        }
        keep(event.id, std::move(entry));
    }
    void take_established(const PeerContext& context, const ConnectionEvent& event) {
        const auto found = links_.find(static_cast<std::uint32_t>(event.id));
        if (found != links_.end()) rise(context, found->second, event.private_data.bytes());
    }
    void rise(const PeerContext& context, Entry& entry, dissect::Bytes said) {
        if (entry.link.state != LinkState::opening) return;
        entry.link.state = LinkState::up;
        ++counts_.connections;
        role_.up(context, entry.link, entry.session, said);
    }

    void drain(const PeerContext& context) {
        if constexpr (requires { role_.look(context, cq_); })
            if (!role_.look(context, cq_)) return;
        std::array<verbs::Wc, 64> batch;
        while (const std::size_t count = context.adapter().poll_cq(cq_, batch))
            for (const verbs::Wc& wc : std::span(batch).first(count)) {
                const auto found = by_qp_.find(static_cast<std::uint32_t>(wc.qp_num));
                if (found != by_qp_.end()) complete(context, *found->second, done_of(wc));
            }
    }
    void complete(const PeerContext& context, Entry& entry, const Done& done) {
        Link& link = entry.link;
        link.queues.note(done);
        if (link.state == LinkState::closing) return;
        if (done.wc.status == verbs::WcStatus::wr_flush_err) {
            link.flushed = true;  // why, an event says, or nobody
        } else if (done.wc.status != verbs::WcStatus::success) {
            link.fail(std::string(done.receive ? "a receive" : "a request") +
                      " failed: " + std::string(verbs::name(done.wc.status)));
        } else if (!link.complaint) {
            rise(context, entry, {});  // data says what an RTU would have said
            entry.proved = true;
            role_.done(context, link, entry.session, done);
        }
    }

    void take_end(const PeerContext& context, const ConnectionEvent& event) {
        const auto found = links_.find(static_cast<std::uint32_t>(event.id));
        if (found == links_.end()) return;
        Entry& entry = found->second;
        switch (event.kind) {
            case ConnectionEventKind::rejected:
            case ConnectionEventKind::unreachable:
                ++counts_.failed;
                context.say(about(entry.link, why_it_failed(event)));
                forget(context, entry);
                break;
            case ConnectionEventKind::disconnected:
                rise(context, entry, {});  // it was established, though the RTU was lost and nothing of ours completed
                if (entry.link.state != LinkState::closing &&
                    (entry.link.complaint || !role_.complete(entry.session))) {
                    ++counts_.failed;
                    context.say(about(entry.link, entry.link.complaint.value_or("the peer disconnected early")));
                }
                forget(context, entry);
                break;
            default:
                if (event.last) forget(context, entry);
                break;
        }
    }
    void forget(const PeerContext& context, Entry& entry) {
        ++served_;
        const auto key = static_cast<std::uint32_t>(entry.link.id);
        release(context, entry);
        links_.erase(key);
    }

    // Ends what is finished, and what went wrong.
    void tend(const PeerContext& context) {
        for (auto next = links_.begin(); next != links_.end();) {
            Entry& entry = (next++)->second;
            Link& link = entry.link;
            if (link.state == LinkState::closing) {
                if (entry.patience && context.now >= *entry.patience) abandon(context, entry);
                continue;
            }
            if constexpr (requires { role_.turn(context, link, entry.session); })
                if (link.state == LinkState::up && !link.complaint && !link.flushed)
                    role_.turn(context, link, entry.session);
            if (link.flushed) link.fail("the queue pair failed");
            if (link.complaint) {
                ++counts_.failed;
                context.say(about(link, *link.complaint));
                if (request_.target) entry.patience = context.now + kPatience;
                leave(context, entry);
            } else if (link.finishing && link.queues.outstanding() == 0) {
                leave(context, entry);
            }
        }
    }
    void leave(const PeerContext& context, Entry& entry) {
        if (entry.link.state == LinkState::closing) return;
        entry.link.state = LinkState::closing;
        if (!context.endpoint.connections().disconnect(entry.link.id, context.now)) abandon(context, entry);
    }
    void abandon(const PeerContext& context, Entry& entry) {
        (void)context.endpoint.manager().abandon(entry.link.id, context.now);
        forget(context, entry);
    }

    Role role_;
    ProgramRequest request_;
    IpPort port_;
    verbs::Pd pd_{};
    verbs::Cq cq_{};
    std::uint32_t completions_ = 0;  // entries of the completion queue that are somebody's
    std::size_t held_ = 0;
    std::uint64_t served_ = 0;
    bool stopping_ = false;
    bool settled_ = false;
    std::map<std::uint32_t, Entry> links_;  // by CmId: places that stay
    boost::unordered_flat_map<std::uint32_t, Entry*> by_qp_;
    std::vector<std::string> lines_;
    ProgramCounts counts_;
};

}  // namespace qps::transport::live::peers
