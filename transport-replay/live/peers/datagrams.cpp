#include <transport-replay/live/peers/datagrams.hpp>
#include <transport-replay/live/peers/roles.hpp>

namespace qps::transport::live::peers {

std::expected<void, std::string> Datagrams::open(Endpoint& endpoint, dissect::Instant now) {
    verbs::Adapter& adapter = endpoint.adapter();
    const QueueNeeds needs{.type = verbs::QpType::ud,
                           .sends = kMostDatagramReceives,
                           .receives = kMostDatagramReceives,
                           .receive_bytes = bytes_of(adapter.settings().mtu)};
    const auto pd = adapter.alloc_pd();
    const auto cq = adapter.create_cq(completions_of(needs));
    if (!pd || !cq) return std::unexpected("adapter resources exhausted");
    pd_ = *pd;
    cq_ = *cq;
    auto made = Queues::open(context(endpoint, now), cq_, needs, kDefaultPkey);
    verbs::Result<void> ready{};
    if (made) {
        queues = std::move(*made);
        ready = endpoint.connections().activate_datagrams(queues.qpn(), kRdmaCmQkey);
        if (ready) ready = queues.post_all(context(endpoint, now));
    } else {
        ready = std::unexpected(made.error());
    }
    if (!ready) return std::unexpected("cannot create a queue pair for datagrams: " + std::string(name(ready.error())));
    open_ = true;
    return {};
}

void Datagrams::close(Endpoint& endpoint, dissect::Instant now) {
    if (!open_) return;
    open_ = false;
    queues.close(context(endpoint, now));
    (void)endpoint.adapter().destroy_cq(cq_);
    (void)endpoint.adapter().dealloc_pd(pd_);
}

std::optional<Done> Datagrams::next(Endpoint& endpoint, dissect::Instant now) {
    while (open_) {
        if (batch_next_ == batch_size_) {
            batch_next_ = 0;
            batch_size_ = endpoint.adapter().poll_cq(cq_, batch_);
            if (batch_size_ == 0) return std::nullopt;
        }
        const Done done = done_of(batch_[batch_next_++]);
        queues.note(done);
        if (done.wc.status == verbs::WcStatus::success) return done;
        ++counts.failed;
        context(endpoint, now).say("a datagram failed: " + std::string(verbs::name(done.wc.status)));
    }
    return std::nullopt;
}

bool Datagrams::send(const PeerContext& context, const verbs::Sge& piece, const verbs::UdTarget& to,
                     std::uint32_t tag) {
    verbs::SendWr wr{
        .opcode = verbs::WrOpcode::send_with_imm, .imm_data = static_cast<std::uint32_t>(queues.qpn()), .ud = to};
    if (piece.length != 0) wr.sg_list = {&piece, 1};
    if (!queues.post(context, wr, tag)) return false;
    ++counts.messages;
    counts.bytes += piece.length;
    return true;
}

std::expected<void, std::string> sound_datagrams(const ProgramRequest& request) {
    if (request.connections != 1) return std::unexpected("datagram programs have no connections");
    return sound(request, 1, bytes_of(PathMtu::bytes_4096));
}

}  // namespace qps::transport::live::peers
