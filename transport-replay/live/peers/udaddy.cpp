// udaddy: datagrams there and back. As udaddy of librdmacm speaks: the client asks for the queue pair that serves the
// port (SIDR), sends all its messages, each with the number of its own queue pair as immediate data, and waits for as
// many.
//
// The original's server answers when all have come, ours answers each at once, which a client cannot tell; and one
// queue pair serves all clients. Datagrams get lost: a client that hears nothing for kQuiet gives up and says how many
// came back.
//
// An answer goes to the queue pair that the datagram's own header names. Strangers can make us send as much as they
// send, to where they say they are, no more.
#include <transport-replay/live/peers/datagrams.hpp>
#include <transport-replay/live/peers/pattern.hpp>
#include <transport-replay/live/peers/roles.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace qps::transport::live::peers {

namespace {

class UdaddyServer {
public:
    explicit UdaddyServer(const ProgramRequest& request)
        : request_(request), port_(request.port.value_or(kRpingPort)) {}

    [[nodiscard]] std::expected<void, std::string> begin(Endpoint& endpoint, dissect::Instant now) {
        if (auto opened = datagrams_.open(endpoint, now); !opened) return opened;
        return start_listening(endpoint, PortSpace::udp, port_);
    }
    void poll(Endpoint& endpoint, dissect::Instant now) {
        settled_ = !datagrams_.is_open();
        const PeerContext context = datagrams_.context(endpoint, now);
        for (const ConnectionEvent& event : endpoint.connections().take_events()) {
            if (event.kind != ConnectionEventKind::sidr_request) continue;
            if (!datagrams_.is_open()) continue;
            if (endpoint.connections().answer(event.id, datagrams_.queues.qpn(), kRdmaCmQkey, {}, now))
                ++datagrams_.counts.connections;
        }
        while (const auto done = datagrams_.next(endpoint, now)) {
            if (done->receive) {
                answer(context, *done);
            } else {
                (void)datagrams_.queues.post_receive(context, done->tag);
                ++answered_;
            }
        }
        const std::uint64_t each = request_.count.value_or(kDefaultDatagrams);
        if (request_.clients && answered_ >= *request_.clients * each) stop(endpoint, now);
    }
    [[nodiscard]] std::optional<dissect::Instant> poll_at() const {
        return !datagrams_.is_open() && !settled_ ? std::optional(kAtOnce) : std::nullopt;
    }
    void stop(Endpoint& endpoint, dissect::Instant now) {
        if (!datagrams_.is_open()) return;
        stop_listening(endpoint, PortSpace::udp, port_);
        datagrams_.context(endpoint, now).say(fmt::format("{} answered", counted(answered_, "datagram")));
        datagrams_.close(endpoint, now);
    }
    [[nodiscard]] bool done() const { return settled_ && !datagrams_.is_open(); }
    [[nodiscard]] std::vector<std::string> take_lines() { return std::exchange(datagrams_.lines, {}); }
    [[nodiscard]] ProgramCounts counts() const { return datagrams_.counts; }

private:
    void answer(const PeerContext& context, const Done& done) {
        const dissect::Bytes message = datagrams_.queues.message(done);
        if (request_.verify && judge(message) == Content::wrong) ++datagrams_.counts.wrong;
        const verbs::UdTarget to{
            .ah = verbs::handle_to(done.wc.source), .remote_qpn = done.wc.src_qp, .remote_qkey = kRdmaCmQkey};
        // The slot is posted again when the answer is out.
        if (!datagrams_.send(context, datagrams_.queues.message_piece(done), to, done.tag))
            (void)datagrams_.queues.post_receive(context, done.tag);
    }

    ProgramRequest request_;
    IpPort port_;
    Datagrams datagrams_;
    std::uint64_t answered_ = 0;
    bool settled_ = false;
};

class UdaddyClient {
public:
    explicit UdaddyClient(const ProgramRequest& request)
        : request_(request),
          size_(request.size.value_or(kDefaultDatagram)),
          count_(request.count.value_or(kDefaultDatagrams)) {}

    [[nodiscard]] std::expected<void, std::string> begin(Endpoint& endpoint, dissect::Instant now) {
        if (size_ > bytes_of(endpoint.adapter().settings().mtu))
            return std::unexpected("messages are longer than the MTU");
        if (auto opened = datagrams_.open(endpoint, now); !opened) return opened;
        auto out =
            Block::open(datagrams_.context(endpoint, now), std::size_t{size_} * request_.depth, verbs::kLocalWrite);
        if (!out) return std::unexpected("no memory for messages");
        out_ = std::move(*out);
        request_.target = as_spoken(endpoint, *request_.target);
        const Target target{
            .address = *request_.target, .port = request_.port.value_or(kRpingPort), .space = PortSpace::udp};
        const auto id = endpoint.connections().resolve(target, {}, now);
        if (!id) return std::unexpected("cannot resolve the service: " + std::string(live::name(id.error())));
        id_ = *id;
        return {};
    }
    void poll(Endpoint& endpoint, dissect::Instant now) {
        settled_ = over_;
        if (over_) return;
        const PeerContext context = datagrams_.context(endpoint, now);
        for (const ConnectionEvent& event : endpoint.connections().take_events())
            if (event.id == id_) take(event, now);
        while (const auto done = datagrams_.next(endpoint, now))
            if (done->receive) {
                look_at(context, *done);
                quiet_until_ = now + kQuiet;
                (void)datagrams_.queues.post_receive(context, done->tag);
            }
        if (to_) send(context);
        const bool given_up = quiet_until_ && now >= *quiet_until_;
        if (to_ && (back_ >= count_ || given_up)) finish(endpoint, now);
        if (refused_) finish(endpoint, now);
    }
    [[nodiscard]] std::optional<dissect::Instant> poll_at() const {
        if (over_) return settled_ ? std::nullopt : std::optional(kAtOnce);
        return quiet_until_;
    }
    void stop(Endpoint& endpoint, dissect::Instant now) {
        if (over_) return;
        stopped_ = true;
        finish(endpoint, now);
    }
    [[nodiscard]] bool done() const { return over_ && settled_; }
    [[nodiscard]] std::vector<std::string> take_lines() { return std::exchange(datagrams_.lines, {}); }
    [[nodiscard]] ProgramCounts counts() const { return datagrams_.counts; }

private:
    void take(const ConnectionEvent& event, dissect::Instant now) {
        if (event.kind == ConnectionEventKind::sidr_response && event.sidr.status == SidrStatus::valid) {
            to_ = verbs::UdTarget{
                .ah = verbs::handle_to(*request_.target), .remote_qpn = event.sidr.qpn, .remote_qkey = event.sidr.qkey};
            ++datagrams_.counts.connections;
            quiet_until_ = now + kQuiet;
        } else if (!to_) {
            refused_ = true;
        }
    }
    // All at once, as the queue has room: who answers must have posted as many receives.
    void send(const PeerContext& context) {
        while (sent_ < count_ && datagrams_.queues.outstanding() < request_.depth) {
            const std::size_t slot = sent_ % request_.depth * size_;
            fill(out_.bytes().subspan(slot, size_), static_cast<std::uint32_t>(request_.seed), sent_);
            if (!datagrams_.send(context, out_.piece(slot, size_), *to_, 0)) return;
            ++sent_;
        }
    }
    void look_at(const PeerContext& context, const Done& done) {
        const dissect::Bytes message = datagrams_.queues.message(done);
        ++context.counts.messages;
        context.counts.bytes += message.size();
        const Content content = judge(message);
        const std::uint64_t number = dissect::read_be<std::uint64_t>(message, 8);
        if (content == Content::right && number < count_) {
            if (seen_.size() <= number) seen_.resize(number + 1);  // at most count_
            if (seen_[number]) return;                             // a copy
            seen_[number] = true;
        } else if (content != Content::foreign && request_.verify) {
            ++context.counts.wrong;
            return;
        }
        ++back_;
    }
    void finish(Endpoint& endpoint, dissect::Instant now) {
        const PeerContext context = datagrams_.context(endpoint, now);
        if (refused_) {
            context.say("no service at the port, or no answer");
        } else {
            context.say(fmt::format("{} of {} of {} returned", grouped(back_), counted(count_, "datagram"),
                                    counted(size_, "byte")));
        }
        if (!stopped_ && (refused_ || back_ < count_)) ++datagrams_.counts.failed;
        out_.close(context);
        datagrams_.close(endpoint, now);
        over_ = true;
    }

    ProgramRequest request_;
    std::uint32_t size_;
    std::uint64_t count_;
    Datagrams datagrams_;
    Block out_;
    CmId id_{};
    std::optional<verbs::UdTarget> to_{};
    std::optional<dissect::Instant> quiet_until_{};
    std::uint64_t sent_ = 0;
    std::uint64_t back_ = 0;
    std::vector<bool> seen_;  // by number
    bool refused_ = false;
    bool stopped_ = false;
    bool over_ = false;
    bool settled_ = false;
};

}  // namespace

Made make_udaddy(const ProgramRequest& request) {
    if (const auto fits = sound_datagrams(request); !fits) return std::unexpected(fits.error());
    if (!request.target) return UdaddyServer(request);
    if (request.count && *request.count > kMostDatagrams)
        return std::unexpected(fmt::format("more than {} datagrams", kMostDatagrams));
    return UdaddyClient(request);
}

}  // namespace qps::transport::live::peers
