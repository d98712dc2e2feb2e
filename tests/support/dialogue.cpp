#include <tests/support/dialogue.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace qps::tests {

using namespace transport;
using namespace transport::live;
using namespace transport::verbs;
using namespace dissect;

namespace {

constexpr std::uint32_t kGap = 8;
constexpr std::uint64_t kBindId = 1'000'000;  // of work requests that bind windows before the dialogue
constexpr Qkey kKey{0x1357'9bdf};
constexpr Access kShown{false, true, true, true, false, true, true};  // through windows
constexpr Duration kQuiet = microseconds(20'000);                     // longer than anything unreliable is under way
constexpr std::uint32_t kHeader = 40;                                 // of datagrams

PortSpace space_of(QpType type) { return type == QpType::ud ? PortSpace::udp : PortSpace::tcp; }

}  // namespace

ReceivePool::ReceivePool(Adapter& adapter, Pd pd, std::uint32_t count, std::uint32_t length, std::uint64_t seed)
    : adapter_(&adapter) {
    Draws draws(seed);
    std::uint64_t at = kGap;
    for (std::uint32_t i = 0; i < count; ++i) {
        auto& pieces = buffers_.emplace_back();
        for (std::uint32_t left = length; left > 0;) {
            const auto part = pieces.size() == 3 ? left : 1 + static_cast<std::uint32_t>(draws.below(left));
            pieces.push_back({.address = at, .length = part, .lkey = {}});
            at += part + kGap;
            left -= part;
        }
    }
    memory_.assign(at + kGap, kFill);
    mr_ = adapter.reg_mr(pd, memory_, kLocalWrite).value_or(Mr{});
    for (auto& pieces : buffers_)
        for (Sge& piece : pieces)
            piece = {.address = mr_.address + piece.address, .length = piece.length, .lkey = mr_.lkey};
}

RecvWr ReceivePool::wr(std::uint32_t index) const { return {.wr_id = index, .sg_list = buffers_[index]}; }

bool ReceivePool::take(std::uint32_t index, Bytes content, std::uint32_t skipped, bool clean) {
    bool right = true;
    for (const Sge& piece : buffers_[index]) {
        const MutableBytes there = MutableBytes(memory_).subspan(piece.address - mr_.address, piece.length + kGap);
        std::size_t used = std::min<std::size_t>(skipped, piece.length);
        skipped -= static_cast<std::uint32_t>(used);
        const Bytes part = content.first(std::min(content.size(), piece.length - used));
        right = right && std::ranges::equal(part, there.subspan(used, part.size()));
        content = content.subspan(part.size());
        used += part.size();
        const Bytes rest = there.subspan(clean ? used : piece.length);
        right = right && std::ranges::all_of(rest, [](std::byte byte) { return byte == kFill; });
        std::ranges::fill(there.first(clean ? used : piece.length), kFill);
    }
    return right && content.empty();
}

void ReceivePool::freshen(std::uint32_t index) {
    for (const Sge& piece : buffers_[index])
        std::ranges::fill(MutableBytes(memory_).subspan(piece.address - mr_.address, piece.length), kFill);
}

bool ReceivePool::untouched() const {
    return std::ranges::all_of(memory_, [](std::byte byte) { return byte == kFill; });
}

bool ReceivePool::close() { return adapter_->dereg_mr(mr_.lkey).has_value(); }

Dialogue::Dialogue(ExchangePlan plan, std::array<ExchangeHost*, 2> hosts, IpPort port, const ExchangeFaults& faults)
    : plan_(std::move(plan)), hosts_(hosts), port_(port), faults_(faults) {
    for (const std::size_t side : {0U, 1U}) open_side(side);
}

void Dialogue::fail(std::string what) {
    if (std::ranges::count(problem_, '\n') < 4)
        problem_ += fmt::format("exchange at port {} ({}): {}\n", std::to_underlying(port_),
                                std::to_underlying(plan_.type), what);
}

void Dialogue::expect(bool holds, const char* what) {
    if (!holds) fail(what);
}

ReceivePool& Dialogue::pool(std::size_t side) {
    return sides_[side].receives ? *sides_[side].receives : *hosts_[side]->shared;
}

void Dialogue::open_side(std::size_t side) {
    Side& mine = sides_[side];
    const SidePlan& plan = plan_.sides[side];
    ExchangeHost& host = *hosts_[side];
    Adapter& verbs = adapter(side);
    mine.memory = plan.memory;
    const auto part = [&](const Piece& piece) { return MutableBytes(mine.memory).subspan(piece.at, piece.length); };
    mine.pattern = verbs.reg_mr(host.pd, part(plan.pattern), {.remote_read = true}).value_or(Mr{});
    mine.open = verbs.reg_mr(host.pd, part(plan.open), kEveryAccess).value_or(Mr{});
    mine.own = verbs.reg_mr(host.pd, part(plan.own), kLocalWrite).value_or(Mr{});
    for (const WindowPlan& window : plan.windows)
        mine.windows.push_back({verbs.alloc_mw(host.pd, window.type).value_or(verbs::Window{}), {}});
    mine.spare.made = verbs.alloc_mw(host.pd, MwType::type_2).value_or(verbs::Window{});
    mine.spare.key = mine.spare.made.rkey;
    mine.send_cq = verbs.create_cq(256).value_or(Cq{});
    mine.recv_cq = verbs.create_cq(1024).value_or(Cq{});
    mine.arrived.resize(plan_.sides[1 - side].steps.size());
    QpInitAttr init{
        .pd = host.pd, .send_cq = mine.send_cq, .recv_cq = mine.recv_cq, .cap = plan.cap, .qp_type = plan_.type};
    init.sq_sig_all = plan.signal_all;
    if (plan.shared) init.srq = host.srq;
    const auto made = verbs.create_qp(init);
    expect(made.has_value(), "no queue pair");
    mine.qp = made.value_or(Qpn{});
    for (std::size_t i = 0; i < plan.steps.size(); ++i)
        if (plan.steps[i].flags.signaled || plan.signal_all) mine.visible.push_back(i);
    if (plan_.type == QpType::ud)
        expect(connections(side).activate_datagrams(mine.qp, kKey).has_value(),
               "a datagram queue pair was not activated");
    if (plan_.type != QpType::ud)
        expect(verbs.modify_qp(mine.qp, {.qp_state = QpState::init, .pkey = Pkey{0xffff}, .access = kEveryAccess})
                   .has_value(),
               "not INIT");
    if (plan.shared) return;
    const std::uint32_t header = plan_.type == QpType::ud ? kHeader : 0;
    mine.receives = std::make_unique<ReceivePool>(verbs, host.pd, plan.receives, plan.longest_receive + header,
                                                  std::to_underlying(mine.qp));
    for (std::uint32_t i = 0; i < mine.receives->size(); ++i) post_receive(side, i);
}

void Dialogue::post_receive(std::size_t side, std::uint32_t index) {
    const RecvWr wr = pool(side).wr(index);
    const bool shared = plan_.sides[side].shared;
    const auto posted =
        shared ? adapter(side).post_srq_recv(*hosts_[side]->srq, wr) : adapter(side).post_recv(sides_[side].qp, wr);
    expect(posted.has_value(), "a receive was not taken");
    ++sides_[side].receives_posted;
}

void Dialogue::begin(Instant now) {
    const std::size_t side = plan_.caller;
    const Target target{.address = hosts_[1 - side]->address, .port = port_, .space = space_of(plan_.type)};
    const SidePlan& plan = plan_.sides[side];
    ConnectOptions options{
        .responder_resources = plan.resources, .initiator_depth = plan.depth, .min_rnr_timer = plan.rnr_timer};
    options.shared_receive_queue = plan.shared;
    expect(connections(1 - side).listen(space_of(plan_.type), port_).has_value(), "no listening");
    const auto id = plan_.type == QpType::ud ? connections(side).resolve(target, {}, now)
                                             : connections(side).connect(sides_[side].qp, target, options, now);
    expect(id.has_value(), "no connecting");
    if (id) sides_[side].id = *id;
}

bool Dialogue::take(std::size_t side, const ConnectionEvent& event, Instant now) {
    Side& mine = sides_[side];
    const bool asked = event.kind == ConnectionEventKind::request || event.kind == ConnectionEventKind::sidr_request;
    if (asked ? event.service != ip_service(space_of(plan_.type), port_) || side == plan_.caller : mine.id != event.id)
        return false;
    const SidePlan& plan = plan_.sides[side];
    ConnectOptions options{
        .responder_resources = plan.resources, .initiator_depth = plan.depth, .min_rnr_timer = plan.rnr_timer};
    options.shared_receive_queue = plan.shared;
    switch (event.kind) {
        case ConnectionEventKind::request:
            if (!mine.id) mine.id = event.id;
            expect(mine.id == event.id, "a second request");
            expect(connections(side).accept(event.id, mine.qp, options, now).has_value(), "accept() failed");
            mine.may_bind = true;
            break;
        case ConnectionEventKind::sidr_request:
            mine.id = event.id;
            expect(connections(side).answer(event.id, mine.qp, kKey, {}, now).has_value(), "answer() failed");
            mine.established = mine.may_bind = true;
            break;
        case ConnectionEventKind::sidr_response:
            expect(event.sidr.status == SidrStatus::valid && event.sidr.qpn == sides_[1 - side].qp, "not resolved");
            mine.established = mine.may_bind = true;
            break;
        case ConnectionEventKind::established: mine.established = mine.may_bind = true; break;
        case ConnectionEventKind::disconnected: expect(ending_, "disconnected too soon"); break;
        case ConnectionEventKind::released: mine.released = true; break;
        case ConnectionEventKind::delayed: break;
        default:
            fail(fmt::format("side {}: an event that cannot be: {}, reason {}{}", side, name(event.kind),
                             std::to_underlying(event.rejection.reason),
                             event.rejection.by_peer ? " of the peer" : ""));
    }
    return true;
}

// As many as the send queue has room for.
void Dialogue::bind_windows(std::size_t side) {
    Side& mine = sides_[side];
    for (; mine.may_bind && mine.bound < mine.windows.size(); ++mine.bound) {
        const WindowPlan& plan = plan_.sides[side].windows[mine.bound];
        ShownWindow& window = mine.windows[mine.bound];
        MwBind bind{.mw = window.made.handle, .rkey = next_rkey(window.made.rkey), .lkey = mine.open.lkey};
        bind.address = mine.open.address + plan.shows.at - plan_.sides[side].open.at;
        bind.length = plan.shows.length;
        bind.access = kShown;
        const SendWr wr{
            .wr_id = kBindId + mine.bound, .opcode = WrOpcode::bind_mw, .send_flags = {.signaled = true}, .bind = bind};
        Result<Rkey> key = bind.rkey;
        if (plan.type == MwType::type_1) key = adapter(side).bind_mw(mine.qp, wr.wr_id, bind, wr.send_flags);
        else if (const auto posted = adapter(side).post_send(mine.qp, wr); !posted)
            key = std::unexpected(posted.error());
        if (!key && key.error() == VerbsError::queue_full) return;
        expect(key.has_value(), "a bind was not taken");
        window.key = key.value_or(Rkey{});
    }
}

std::optional<Remote> Dialogue::remote_of(std::size_t side, const Step& step) const {
    const Side& theirs = sides_[1 - side];
    const SidePlan& plan = plan_.sides[1 - side];
    if (step.opcode == WrOpcode::send_with_inv) return Remote{};
    if (step.window) return Remote{theirs.open.address + step.remote - plan.open.at, theirs.windows[*step.window].key};
    const bool open = step.remote >= plan.open.at;
    return open ? Remote{theirs.open.address + step.remote - plan.open.at, theirs.open.rkey}
                : Remote{theirs.pattern.address + step.remote - plan.pattern.at, theirs.pattern.rkey};
}

Result<void> Dialogue::post(std::size_t side, const Step& step, std::size_t index) {
    Side& mine = sides_[side];
    const SidePlan& plan = plan_.sides[side];
    std::vector<Sge> pieces;
    for (const Piece& piece : step.pieces) {
        const bool pattern = piece.at < plan.open.at;
        const Mr& mr = pattern ? mine.pattern : mine.own;
        pieces.push_back({.address = mr.address + piece.at - (pattern ? plan.pattern.at : plan.own.at),
                          .length = piece.length,
                          .lkey = mr.lkey});
    }
    SendWr wr{.wr_id = index, .sg_list = pieces, .opcode = step.opcode, .send_flags = step.flags, .imm_data = step.imm};
    wr.remote = *remote_of(side, step);
    wr.atomic = step.atomic;
    wr.flush = step.flush;
    if (plan_.type == QpType::ud)
        wr.ud = {.ah = handle_to(hosts_[1 - side]->address), .remote_qpn = sides_[1 - side].qp, .remote_qkey = kKey};
    if (step.opcode == WrOpcode::send_with_inv) wr.invalidate_rkey = sides_[1 - side].windows[*step.window].key;
    if (step.opcode == WrOpcode::local_inv) wr.invalidate_rkey = mine.spare.key;
    if (step.opcode == WrOpcode::bind_mw)
        wr.bind = {mine.spare.made.handle, next_rkey(mine.spare.key), mine.open.lkey,
                   mine.open.address,      mine.open.length,          kShown};
    const auto copy_inline = [&](bool fill) {
        std::size_t done = 0;
        for (const Piece& piece : step.pieces)
            for (std::uint32_t i = 0; i < piece.length; ++i)
                mine.memory[piece.at + i] = fill ? kFill : step.content[done++];
    };
    if (step.flags.inline_data) copy_inline(false);
    const auto posted = adapter(side).post_send(mine.qp, wr);
    if (step.flags.inline_data) copy_inline(true);
    if (posted && step.opcode == WrOpcode::bind_mw) mine.spare.key = wr.bind.rkey;
    return posted;
}

void Dialogue::post_steps(std::size_t side) {
    Side& mine = sides_[side];
    const Side& theirs = sides_[1 - side];
    const SidePlan& plan = plan_.sides[side];
    const bool shown =
        theirs.may_bind && theirs.binds_done == theirs.windows.size() && mine.binds_done == mine.windows.size();
    if (!mine.established || !shown) return;
    for (std::uint32_t left = plan.burst; left > 0 && mine.posted < plan.steps.size(); --left) {
        const auto posted = post(side, plan.steps[mine.posted], mine.posted);
        if (!posted && posted.error() == VerbsError::queue_full) return;
        if (!posted)
            return fail(fmt::format("step {} ({}) was refused: {}", mine.posted,
                                    kWrOpcodeNames[std::to_underlying(plan.steps[mine.posted].opcode)],
                                    kVerbsErrorNames[std::to_underlying(posted.error())]));
        ++mine.posted;
    }
}

void Dialogue::take_send(std::size_t side, const Wc& wc) {
    Side& mine = sides_[side];
    const SidePlan& plan = plan_.sides[side];
    if (wc.status != WcStatus::success)
        return fail(fmt::format("side {}: work {} ended in {}", side, wc.wr_id, name(wc.status)));
    if (wc.wr_id >= kBindId) {
        expect(wc.wr_id == kBindId + mine.binds_done, "binds complete out of order");
        ++mine.binds_done;
        return;
    }
    if (mine.completed >= mine.visible.size() || mine.visible[mine.completed] != wc.wr_id)
        return fail(fmt::format("side {}: work {} completed out of order, or twice", side, wc.wr_id));
    ++mine.completed;
    const Step& step = plan.steps[wc.wr_id];
    const bool answered = step.opcode == WrOpcode::rdma_read || step.opcode == WrOpcode::atomic_cmp_and_swp ||
                          step.opcode == WrOpcode::atomic_fetch_and_add;
    if (!answered) return;
    expect(wc.byte_len == step.content.size(), "a READ or ATOMIC completed with another length");
    std::size_t done = 0;
    for (const Piece& piece : step.pieces) {
        const Bytes there = Bytes(mine.memory).subspan(piece.at, piece.length);
        if (!std::ranges::equal(there, Bytes(step.content).subspan(done, piece.length)))
            fail(fmt::format("side {}: step {} ({}) brought other bytes", side, wc.wr_id,
                             kWrOpcodeNames[std::to_underlying(step.opcode)]));
        done += piece.length;
    }
}

void Dialogue::take_sends(std::size_t side) {
    std::array<Wc, 16> some{};
    while (const std::size_t count = adapter(side).poll_cq(sides_[side].send_cq, some))
        for (const Wc& wc : std::span(some).first(count)) take_send(side, wc);
}

// Which of the peer's steps a receive is.
std::optional<std::size_t> Dialogue::message_of(Side& mine, const SidePlan& plan, const Wc& wc) const {
    if (reliable())
        return mine.received < plan.messages.size() ? std::optional(plan.messages[mine.received]) : std::nullopt;
    if (!wc.flags.with_imm || wc.imm_data >= mine.arrived.size()) return std::nullopt;
    if (mine.arrived[wc.imm_data] && !faults_.doubles) return std::nullopt;
    const auto last = std::ranges::find(mine.arrived.rbegin(), mine.arrived.rend(), true);
    const bool in_order = static_cast<std::ptrdiff_t>(wc.imm_data) >= mine.arrived.rend() - last;
    if (!in_order && !faults_.overtakes && !faults_.doubles) return std::nullopt;
    mine.arrived[wc.imm_data] = true;
    return wc.imm_data;
}

void Dialogue::take_receive(std::size_t side, const Wc& wc) {
    Side& mine = sides_[side];
    const SidePlan& plan = plan_.sides[side];
    const auto index = static_cast<std::uint32_t>(wc.wr_id);
    ++mine.receives_done;
    if (wc.status == WcStatus::wr_flush_err && ending_) return pool(side).freshen(index);
    if (wc.status != WcStatus::success)
        return fail(fmt::format("side {}: a receive ended in {}", side, name(wc.status)));
    const auto which = message_of(mine, plan, wc);
    if (!which) return fail(fmt::format("side {}: a message that nobody sent, or twice, or out of order", side));
    ++mine.received;
    const Step& step = plan_.sides[1 - side].steps[*which];
    const bool send = step.opcode != WrOpcode::rdma_write_with_imm;
    const bool with_imm = step.opcode == WrOpcode::send_with_imm || !send;
    const std::uint32_t header = plan_.type == QpType::ud ? kHeader : 0;
    const auto length = static_cast<std::uint32_t>(step.content.size()) + header;
    const bool clean = plan_.type != QpType::uc || !faults_.loses;  // a message that was lost in part leaves its bytes
    if (!pool(side).take(index, send ? Bytes(step.content) : Bytes{}, header, clean))
        fail(fmt::format("side {}: the message of step {} has other bytes", side, *which));
    expect(wc.byte_len == length, "a receive of another length");
    expect(wc.opcode == (send ? WcOpcode::recv : WcOpcode::recv_rdma_with_imm), "a receive of another kind");
    expect(wc.flags.with_imm == with_imm && (!with_imm || wc.imm_data == step.imm), "another immediate");
    expect(wc.flags.with_inv == (step.opcode == WrOpcode::send_with_inv), "another invalidation");
    if (wc.flags.with_inv) expect(wc.invalidated_rkey == mine.windows[*step.window].key, "another key was invalidated");
    expect(wc.flags.grh == (header != 0), "a network header");
    if (plan_.type == QpType::ud)
        expect(wc.src_qp == sides_[1 - side].qp && wc.source == hosts_[1 - side]->address, "another sender");
    if (!ending_) post_receive(side, index);
}

void Dialogue::take_receives(std::size_t side) {
    std::array<Wc, 16> some{};
    while (const std::size_t count = adapter(side).poll_cq(sides_[side].recv_cq, some))
        for (const Wc& wc : std::span(some).first(count)) take_receive(side, wc);
}

bool Dialogue::done(std::size_t side) const {
    const Side& mine = sides_[side];
    const bool sent = mine.posted == plan_.sides[side].steps.size() && mine.completed == mine.visible.size();
    return mine.established && sent && (!reliable() || mine.received == plan_.sides[side].messages.size());
}

void Dialogue::step(Instant now) {
    if (over_ || !problem_.empty()) return;
    for (const std::size_t side : {0U, 1U}) {
        take_sends(side);
        take_receives(side);
        bind_windows(side);
        if (!ending_) post_steps(side);
    }
    if (!ending_ && done(0) && done(1)) {
        if (!quiet_until_) quiet_until_ = now + (reliable() ? Duration{} : kQuiet);
        if (now >= *quiet_until_) end(now);
    }
    over_ = ending_ && (plan_.type == QpType::ud || (sides_[0].released && sides_[1].released));
}

void Dialogue::end(Instant now) {
    ending_ = true;
    quiet_until_.reset();
    if (!faults_.loses)
        for (const std::size_t side : {0U, 1U})
            expect(sides_[side].received == plan_.sides[side].messages.size(),
                   "messages are missing though nothing was lost");
    for (const std::size_t side : {0U, 1U})
        expect(adapter(side).query_qp(sides_[side].qp)->sends == 0, "work that never completed");
    if (plan_.type == QpType::ud) return;
    for (const std::size_t side : {plan_.closer, 1 - plan_.closer})
        if (side == plan_.closer || plan_.both_close)
            expect(connections(side).disconnect(*sides_[side].id, now).has_value(), "disconnect() failed");
}

std::string Dialogue::progress() const {
    std::string text;
    for (const Side& side : sides_)
        text += fmt::format(" [established {} binds {}/{} posted {} completed {}/{} received {} released {}]",
                            side.established, side.binds_done, side.windows.size(), side.posted, side.completed,
                            side.visible.size(), side.received, side.released);
    return text;
}

void Dialogue::compare(std::size_t side) {
    const SidePlan& plan = plan_.sides[side];
    const Side& mine = sides_[side];
    for (std::uint32_t i = 0; i < plan.image.size(); ++i) {
        const bool open = i >= plan.open.at && i < plan.open.at + plan.open.length;
        if (open && !reliable() && (faults_.loses || faults_.doubles)) continue;
        if (mine.memory[i] != plan.image[i])
            return fail(fmt::format("side {}: byte {} is not what it must be{}", side, i,
                                    open ? ", of what peers change" : ""));
    }
}

void Dialogue::close_side(std::size_t side) {
    Side& mine = sides_[side];
    Adapter& verbs = adapter(side);
    if (plan_.type == QpType::ud) expect(verbs.modify_qp(mine.qp, {.qp_state = QpState::err}).has_value(), "not ERR");
    take_receives(side);
    take_sends(side);
    if (!plan_.sides[side].shared) expect(mine.receives_posted == mine.receives_done, "a receive that never completed");
    compare(side);
    expect(verbs.destroy_qp(mine.qp).has_value(), "destroy_qp() failed");
    for (const ShownWindow& window : mine.windows)
        expect(verbs.dealloc_mw(window.made.handle).has_value(), "dealloc_mw() failed");
    expect(verbs.dealloc_mw(mine.spare.made.handle).has_value(), "dealloc_mw() failed");
    for (const Mr* mr : {&mine.pattern, &mine.open, &mine.own})
        expect(verbs.dereg_mr(mr->lkey).has_value(), "dereg_mr() failed");
    if (mine.receives)
        expect(mine.receives->untouched() && mine.receives->close(),
               "memory of receives was touched, or is still used");
    expect(verbs.destroy_cq(mine.send_cq).has_value() && verbs.destroy_cq(mine.recv_cq).has_value(),
           "destroy_cq() failed");
}

void Dialogue::close() {
    if (!problem_.empty()) return;
    for (const std::size_t side : {0U, 1U}) close_side(side);
}

}  // namespace qps::tests
