// mckey: sends to a multicast group, or receives what is sent there. As mckey of librdmacm speaks: SENDs with the
// sender's queue pair as immediate data, to queue pair 0xffffff, with the Q_Key of rdma_cm.
//
// An IPv4 group is the GID ::ffff:a.b.c.d on RoCEv2 and ff0e::ffff:a.b.c.d on RoCEv1, an IPv6 group is its own GID,
// as rdma_cm maps them. That routers and switches hear of the group is the host's work.
//
// Anybody can send to a group: content is judged by what it says of itself, and all that comes counts.
#include <transport-replay/live/peers/datagrams.hpp>
#include <transport-replay/live/peers/pattern.hpp>
#include <transport-replay/live/peers/roles.hpp>
#include <transport-replay/report/figures.hpp>

#include <fmt/format.h>

namespace qps::transport::live::peers {

namespace {

constexpr dissect::Qpn kMulticastQpn{0xff'ffff};

// The GID of a group, as the endpoint speaks.
Address gid_of(Endpoint& endpoint, const Address& group) {
    Address gid = as_spoken(endpoint, group);
    if (gid.space == AddressSpace::roce_v1 && family_of(group) == Family::ipv4) gid.bits[0] = 0xff0e'0000'0000'0000;
    return gid;
}

class Mckey {
public:
    Mckey(const ProgramRequest& request, bool sends)
        : request_(request),
          size_(request.size.value_or(kDefaultDatagram)),
          count_(request.count.value_or(kDefaultDatagrams)),
          sends_(sends) {}

    [[nodiscard]] std::expected<void, std::string> begin(Endpoint& endpoint, dissect::Instant now) {
        if (size_ > bytes_of(endpoint.adapter().settings().mtu))
            return std::unexpected("messages are longer than the MTU");
        if (auto opened = datagrams_.open(endpoint, now); !opened) return opened;
        auto out =
            Block::open(datagrams_.context(endpoint, now), std::size_t{size_} * request_.depth, verbs::kLocalWrite);
        if (!out) return std::unexpected("no memory for messages");
        out_ = std::move(*out);
        group_ = gid_of(endpoint, *request_.target);
        if (!sends_)
            if (const auto attached = endpoint.adapter().attach_mcast(datagrams_.queues.qpn(), group_); !attached)
                return std::unexpected("cannot join the group: " + std::string(name(attached.error())));
        return {};
    }
    void poll(Endpoint& endpoint, dissect::Instant now) {
        settled_ = over_;
        if (over_) return;
        (void)endpoint.connections().take_events();
        const PeerContext context = datagrams_.context(endpoint, now);
        while (const auto done = datagrams_.next(endpoint, now)) {
            if (!done->receive) continue;
            if (received_ < count_) look_at(context, *done);
            (void)datagrams_.queues.post_receive(context, done->tag);
        }
        if (sends_) send(context);
        if (sends_ ? sent_ == count_ && datagrams_.queues.outstanding() == 0 : received_ >= count_)
            finish(endpoint, now);
    }
    [[nodiscard]] std::optional<dissect::Instant> poll_at() const {
        return over_ && !settled_ ? std::optional(kAtOnce) : std::nullopt;
    }
    void stop(Endpoint& endpoint, dissect::Instant now) {
        if (!over_) finish(endpoint, now);
    }
    [[nodiscard]] bool done() const { return over_ && settled_; }
    [[nodiscard]] std::vector<std::string> take_lines() { return std::exchange(datagrams_.lines, {}); }
    [[nodiscard]] ProgramCounts counts() const { return datagrams_.counts; }

private:
    void send(const PeerContext& context) {
        const verbs::UdTarget to{
            .ah = verbs::handle_to(group_), .remote_qpn = kMulticastQpn, .remote_qkey = kRdmaCmQkey};
        while (sent_ < count_ && datagrams_.queues.outstanding() < request_.depth) {
            const std::size_t slot = sent_ % request_.depth * size_;
            fill(out_.bytes().subspan(slot, size_), static_cast<std::uint32_t>(request_.seed), sent_);
            if (!datagrams_.send(context, out_.piece(slot, size_), to, 0)) return;
            ++sent_;
        }
    }
    void look_at(const PeerContext& context, const Done& done) {
        const dissect::Bytes message = datagrams_.queues.message(done);
        ++received_;
        ++context.counts.messages;
        context.counts.bytes += message.size();
        if (request_.verify && judge(message) == Content::wrong) ++context.counts.wrong;
    }
    void finish(Endpoint& endpoint, dissect::Instant now) {
        const PeerContext context = datagrams_.context(endpoint, now);
        context.say(
            fmt::format("{} {}", counted(sends_ ? sent_ : received_, "datagram"), sends_ ? "sent" : "received"));
        out_.close(context);
        if (!sends_) (void)endpoint.adapter().detach_mcast(datagrams_.queues.qpn(), group_);
        datagrams_.close(endpoint, now);
        over_ = true;
    }

    ProgramRequest request_;
    std::uint32_t size_;
    std::uint64_t count_;
    bool sends_;
    Address group_{};  // its GID
    Datagrams datagrams_;
    Block out_;
    std::uint64_t sent_ = 0;
    std::uint64_t received_ = 0;
    bool over_ = false;
    bool settled_ = false;
};

Made make(const ProgramRequest& request, bool sends) {
    if (const auto fits = sound_datagrams(request); !fits) return std::unexpected(fits.error());
    if (!request.target || !is_multicast_group(*request.target))
        return std::unexpected("the target is not a multicast group");
    return Mckey(request, sends);
}

}  // namespace

Made make_mckey(const ProgramRequest& request) { return make(request, false); }
Made make_mckey_sender(const ProgramRequest& request) { return make(request, true); }

}  // namespace qps::transport::live::peers
