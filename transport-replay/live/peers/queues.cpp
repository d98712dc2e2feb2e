#include <transport-replay/live/peers/queues.hpp>
#include <transport-replay/queue_pair/responder.hpp>

#include <algorithm>
#include <utility>

#include <sys/mman.h>

namespace qps::transport::live::peers {

namespace {

// A work request's id: bit 63 a receive, bits 32 to 62 how many requests the completion stands for, the rest the tag.
constexpr std::uint64_t kReceive = std::uint64_t{1} << 63;
constexpr unsigned kCountShift = 32;
constexpr std::uint64_t kCountMask = 0x7fff'ffff;

constexpr std::size_t header_bytes(verbs::QpType type) { return type == verbs::QpType::ud ? kNetworkHeaderBytes : 0; }

}  // namespace

void Unmap::operator()(std::byte* memory) const { ::munmap(memory, size); }

verbs::Result<Block> Block::open(const PeerContext& context, std::size_t bytes, const verbs::Access& access) {
    if (bytes > kMostMemory - std::min(context.held, kMostMemory)) return std::unexpected(verbs::VerbsError::too_many);
    Block block;
    const std::size_t mapped = std::max<std::size_t>(bytes, 1);
    void* memory = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return std::unexpected(verbs::VerbsError::too_many);
    block.memory_ = {static_cast<std::byte*>(memory), Unmap{mapped}};
    block.size_ = bytes;
    const verbs::Result<verbs::Mr> mr = context.adapter().reg_mr(context.pd, block.bytes(), access);
    if (!mr) return std::unexpected(mr.error());
    block.mr_ = *mr;
    context.held += bytes;
    return block;
}

void Block::close(const PeerContext& context) {
    if (memory_ == nullptr) return;
    (void)context.adapter().dereg_mr(mr_.lkey);
    context.held -= size_;
    memory_.reset();
    size_ = 0;
    mr_ = {};
}

Done done_of(const verbs::Wc& wc) {
    Done done{.wc = wc};
    done.receive = (wc.wr_id & kReceive) != 0;
    done.tag = static_cast<std::uint32_t>(wc.wr_id);
    done.count = static_cast<std::uint32_t>(wc.wr_id >> kCountShift & kCountMask);
    return done;
}

verbs::Result<Queues> Queues::open(const PeerContext& context, verbs::Cq cq, const QueueNeeds& needs,
                                   dissect::Pkey pkey) {
    Queues queues;
    queues.needs_ = needs;
    if (needs.receive_bytes != 0 && needs.receives != 0) {
        const std::size_t each = header_bytes(needs.type) + needs.receive_bytes;
        auto slots = Block::open(context, each * needs.receives, verbs::kLocalWrite);
        if (!slots) return std::unexpected(slots.error());
        queues.slots_ = std::move(*slots);
    }
    if (const auto ready = queues.open_queue_pairs(context, cq, pkey); !ready) {
        queues.close(context);
        return std::unexpected(ready.error());
    }
    return queues;
}

verbs::Result<void> Queues::open_queue_pairs(const PeerContext& context, verbs::Cq cq, dissect::Pkey pkey) {
    verbs::Adapter& adapter = context.adapter();
    const auto qp = adapter.create_qp({.pd = context.pd,
                                       .send_cq = cq,
                                       .recv_cq = cq,
                                       .cap = {.max_send_wr = needs_.sends, .max_recv_wr = needs_.receives},
                                       .qp_type = needs_.type});
    if (!qp) return std::unexpected(qp.error());
    qpn_ = *qp;
    if (needs_.type == verbs::QpType::ud) return {};
    const verbs::QpAttr to_init{.qp_state = verbs::QpState::init, .pkey = pkey, .access = needs_.access};
    auto ready = adapter.modify_qp(qpn_, to_init);
    if (ready && needs_.type == verbs::QpType::xrc_send) ready = open_extended(context, cq);
    if (ready && extended_) ready = adapter.modify_qp(extended_->target, to_init);
    return ready ? post_all(context) : ready;
}

verbs::Result<void> Queues::open_extended(const PeerContext& context, verbs::Cq cq) {
    verbs::Adapter& adapter = context.adapter();
    ExtendedQueues& made = extended_.emplace();
    const auto domain = adapter.open_xrcd();
    if (!domain) return std::unexpected(domain.error());
    made.domain = *domain;
    const auto srq = adapter.create_xrc_srq(context.pd, made.domain, cq, std::max(needs_.receives, 1U));
    if (!srq) return std::unexpected(srq.error());
    made.srq = *srq;
    const auto target = adapter.create_qp({.xrcd = made.domain, .qp_type = verbs::QpType::xrc_recv});
    if (!target) return std::unexpected(target.error());
    made.target = *target;
    return {};
}

void Queues::close(const PeerContext& context) {
    verbs::Adapter& adapter = context.adapter();
    if (qpn_ != dissect::Qpn{}) (void)adapter.destroy_qp(qpn_);
    qpn_ = {};
    if (const auto gone = std::exchange(extended_, std::nullopt)) {  // what was not made is unknown
        (void)adapter.destroy_qp(gone->target);
        (void)adapter.destroy_srq(gone->srq.handle);
        (void)adapter.close_xrcd(gone->domain);
    }
    slots_.close(context);
    outstanding_ = 0;
    quiet_ = 0;
}

verbs::Result<void> Queues::post(const PeerContext& context, verbs::SendWr wr, std::uint32_t tag) {
    if (room() == 0) return std::unexpected(verbs::VerbsError::queue_full);
    wr.wr_id = std::uint64_t{quiet_ + 1} << kCountShift | tag;
    wr.send_flags.signaled = true;
    const verbs::Result<void> posted = context.adapter().post_send(qpn_, wr);
    if (!posted) return posted;
    ++outstanding_;
    quiet_ = 0;
    return posted;
}

verbs::Result<void> Queues::post_quietly(const PeerContext& context, verbs::SendWr wr, std::uint32_t tag, bool last) {
    if (last || quiet_ + 1 >= std::max(1U, needs_.sends / 2)) return post(context, wr, tag);
    if (room() < 2) return post(context, wr, tag);  // the signaled one that frees it needs room, too
    wr.wr_id = std::uint64_t{1} << kCountShift | tag;
    wr.send_flags.signaled = false;
    const verbs::Result<void> posted = context.adapter().post_send(qpn_, wr);
    if (!posted) return posted;
    ++outstanding_;
    ++quiet_;
    return posted;
}

void Queues::note(const Done& done) {
    if (!done.receive) outstanding_ -= std::min(outstanding_, done.count);
}

verbs::Result<void> Queues::post_all(const PeerContext& context) {
    verbs::Result<void> posted{};
    for (std::uint32_t slot = 0; posted && slot < needs_.receives; ++slot) posted = post_receive(context, slot);
    return posted;
}

verbs::Result<void> Queues::post_receive(const PeerContext& context, std::uint32_t slot) {
    const std::size_t each = needs_.receives == 0 ? 0 : slots_.size() / needs_.receives;
    const verbs::Sge piece = slots_.piece(each * slot, each);
    verbs::RecvWr wr{.wr_id = kReceive | std::uint64_t{1} << kCountShift | slot};
    if (each != 0) wr.sg_list = {&piece, 1};
    return extended_ ? context.adapter().post_srq_recv(extended_->srq.handle, wr)
                     : context.adapter().post_recv(qpn_, wr);
}

dissect::MutableBytes Queues::message(const Done& done) const {
    const std::size_t each = needs_.receives == 0 ? 0 : slots_.size() / needs_.receives;
    const std::size_t skip = header_bytes(needs_.type);
    if (done.wc.byte_len < skip || done.wc.byte_len > each || done.tag >= needs_.receives) return {};
    return slots_.bytes().subspan(each * done.tag + skip, done.wc.byte_len - skip);
}

verbs::Sge Queues::message_piece(const Done& done) const {
    const dissect::MutableBytes bytes = message(done);
    return slots_.piece(bytes.empty() ? 0 : static_cast<std::size_t>(bytes.data() - slots_.bytes().data()),
                        bytes.size());
}

std::string_view name(verbs::VerbsError error) { return verbs::kVerbsErrorNames[static_cast<std::size_t>(error)]; }

}  // namespace qps::transport::live::peers
