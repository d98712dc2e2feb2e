#include <tests/support/exchange_plan.hpp>

#include <algorithm>
#include <cstring>
#include <span>

namespace qps::tests {

using namespace transport;
using namespace transport::verbs;

namespace {

constexpr std::uint32_t kInline = 96;

std::uint32_t number(Draws& draws, std::uint64_t bound) { return static_cast<std::uint32_t>(draws.below(bound)); }

// None, one byte, odd ones, around multiples of the MTU, anything.
std::uint32_t draw_length(Draws& draws, const ExchangeWish& wish) {
    const std::uint32_t longest = wish.type == QpType::ud ? wish.mtu
                                  : wish.huge             ? kHuge
                                                          : std::min(12 * wish.mtu, 20'000U);
    const std::uint32_t packets = 1 + number(draws, std::max(1U, longest / wish.mtu));
    std::uint32_t length = 0;
    switch (draws.below(wish.huge ? 6 : 5)) {
        case 0: length = number(draws, 4); break;
        case 1: length = 1 + 2 * number(draws, 600); break;
        case 2: length = packets * wish.mtu - 1 + number(draws, 3); break;
        case 3: length = number(draws, 2 * wish.mtu); break;
        case 4: length = 1 + number(draws, std::min(longest, 8 * wish.mtu)); break;
        default: length = longest - number(draws, 5000);
    }
    return std::min(length, longest);
}

class Drawing {
public:
    Drawing(Draws& draws, const ExchangeWish& wish) : draws_(draws), wish_(wish) {}

    ExchangePlan plan() {
        plan_.type = wish_.type;
        plan_.caller = draws_.below(2);
        plan_.closer = draws_.below(2);
        plan_.both_close = draws_.chance(0.2);
        for (SidePlan& side : plan_.sides) lay_out(side);
        for (const std::size_t side : {0U, 1U}) draw_steps(side);
        for (SidePlan& side : plan_.sides) {
            side.own.length += 8;
            side.memory.resize(side.own.at + side.own.length + kGuard, kFill);
            side.image.resize(side.memory.size(), kFill);
        }
        return std::move(plan_);
    }

private:
    void lay_out(SidePlan& side) {
        const std::uint32_t longest = wish_.huge ? kHuge : 21'000;
        side.pattern = {kGuard, longest + number(draws_, 500)};
        side.open = {(side.pattern.at + side.pattern.length + kGuard + 7) & ~7U, longest + 64 + number(draws_, 500)};
        side.own = {side.open.at + side.open.length + kGuard, 0};
        side.image.assign(side.own.at, kFill);
        const std::uint32_t salt = number(draws_, 1U << 20);
        for (const Piece& part : {side.pattern, side.open})
            for (std::uint32_t i = 0; i < part.length; ++i)
                side.image[part.at + i] = static_cast<std::byte>((i * 131 + (i >> 8) * 17 + salt + part.at) & 0xff);
        side.memory = side.image;
        const bool unreliable = wish_.type != QpType::rc;
        side.receives = unreliable || wish_.plenty ? wish_.steps + 8 : wish_.huge ? 2 : 1 + number(draws_, 8);
        side.shared = wish_.shared;
        side.signal_all = draws_.chance(0.3);
        side.burst = 1 + number(draws_, 12);
        side.resources = static_cast<std::uint8_t>(1 + draws_.below(16));
        side.depth = static_cast<std::uint8_t>(1 + draws_.below(16));
        side.rnr_timer = static_cast<std::uint8_t>(1 + draws_.below(8));
        side.cap = {.max_send_wr = 1 + number(draws_, 24), .max_recv_wr = side.receives, .max_inline_data = kInline};
        if (unreliable) return;
        for (std::uint64_t left = draws_.below(4); left > 0; --left) {
            const std::uint32_t at = 8 * number(draws_, side.open.length / 16);
            const std::uint32_t length = side.open.length - at - number(draws_, 100);
            side.windows.push_back({draws_.chance(0.4) ? MwType::type_1 : MwType::type_2, {side.open.at + at, length}});
        }
    }

    // A new place for answers, with untouched bytes behind.
    Piece place(SidePlan& side, std::uint32_t length) {
        const std::uint32_t at = side.own.at + side.own.length;
        side.own.length += length + 8;
        side.image.resize(at + length + 8, kFill);
        side.memory.resize(at + length + 8, kFill);
        return {at, length};
    }
    std::vector<std::uint32_t> split(std::uint32_t length) {
        std::vector<std::uint32_t> lengths;
        for (std::uint64_t more = draws_.below(4); more > 0 && length > 0; --more) {
            lengths.push_back(number(draws_, length));
            length -= lengths.back();
        }
        if (length > 0 || draws_.chance(0.5)) lengths.push_back(length);
        return lengths;
    }
    void gather(SidePlan& side, Step& step, std::uint32_t length) {
        for (const std::uint32_t part : split(length)) {
            Piece piece{side.pattern.at + number(draws_, side.pattern.length - part + 1), part};
            const auto from = side.image.begin() + piece.at;
            step.content.insert(step.content.end(), from, from + part);
            if (step.flags.inline_data) piece = place(side, part);
            step.pieces.push_back(piece);
        }
    }
    void scatter(SidePlan& side, Step& step, std::span<const std::byte> content) {
        step.content.assign(content.begin(), content.end());
        std::uint32_t done = 0;
        for (const std::uint32_t part : split(static_cast<std::uint32_t>(content.size()))) {
            const Piece piece = place(side, part);
            std::ranges::copy(content.subspan(done, part), side.image.begin() + piece.at);
            step.pieces.push_back(piece);
            done += part;
        }
    }
    // Where peers may change something, perhaps through a window.
    std::uint32_t reach(Step& step, const SidePlan& peer, std::uint32_t& length, std::uint32_t alignment = 1) {
        Piece part = peer.open;
        if (!alive_.empty() && draws_.chance(0.4)) {
            step.window = alive_[draws_.below(alive_.size())];
            part = peer.windows[*step.window].shows;
        }
        length = std::min(length, part.length);
        return part.at + number(draws_, (part.length - length) / alignment + 1) * alignment;
    }
    void change(SidePlan& peer, Step& step) {
        if (std::exchange(read_pending_, false))
            step.flags.fence = true;  // a READ that is asked for again must find what it found
        std::ranges::copy(step.content, peer.image.begin() + step.remote);
    }

    Step draw_unreliable(SidePlan& side, SidePlan& peer, std::uint32_t index) {
        const std::uint32_t length = draw_length(draws_, wish_);
        const std::uint64_t which = wish_.type == QpType::ud ? 0 : draws_.below(3);
        Step step{.opcode = which == 0   ? WrOpcode::send_with_imm
                            : which == 1 ? WrOpcode::rdma_write_with_imm
                                         : WrOpcode::rdma_write,
                  .imm = index};
        step.flags = {.solicited = draws_.chance(0.3), .inline_data = length <= kInline && draws_.chance(0.5)};
        gather(side, step, length);
        std::uint32_t fits = length;
        if (which != 0) {
            step.remote = reach(step, peer, fits);
            change(peer, step);
        }
        return step;
    }
    Step draw_message(SidePlan& side, bool invalidates) {
        const std::uint32_t length = draw_length(draws_, wish_);
        Step step{.opcode = draws_.chance(0.4) ? WrOpcode::send_with_imm : WrOpcode::send,
                  .imm = number(draws_, 1ULL << 32)};
        step.flags = {.fence = draws_.chance(0.1),
                      .solicited = draws_.chance(0.3),
                      .inline_data = length <= kInline && draws_.chance(0.5)};
        if (invalidates) {
            const auto victim = alive_2();
            if (victim) {
                step.opcode = WrOpcode::send_with_inv;
                step.window = *victim;
                std::erase(alive_, *victim);
                if (std::exchange(read_pending_, false)) step.flags.fence = true;
            }
        }
        gather(side, step, length);
        return step;
    }
    std::optional<unsigned> alive_2() const {
        for (const unsigned window : alive_)
            if (peer_windows_[window].type == MwType::type_2) return window;
        return std::nullopt;
    }
    Step draw_write(SidePlan& side, SidePlan& peer) {
        std::uint32_t length = draw_length(draws_, wish_);
        Step step{.opcode = draws_.chance(0.4) ? WrOpcode::rdma_write_with_imm : WrOpcode::rdma_write,
                  .imm = number(draws_, 1ULL << 32)};
        step.remote = reach(step, peer, length);
        step.flags = {.fence = draws_.chance(0.1),
                      .solicited = draws_.chance(0.3),
                      .inline_data = length <= kInline && draws_.chance(0.5)};
        gather(side, step, length);
        change(peer, step);
        return step;
    }
    Step draw_read(SidePlan& side, SidePlan& peer) {
        std::uint32_t length = draw_length(draws_, wish_);
        Step step{.opcode = WrOpcode::rdma_read};
        if (draws_.chance(0.5)) {
            length = std::min(length, peer.pattern.length);
            step.remote = peer.pattern.at + number(draws_, peer.pattern.length - length + 1);
        } else {
            step.remote = reach(step, peer, length);
            read_pending_ = true;
        }
        const std::vector<std::byte> now(peer.image.begin() + step.remote, peer.image.begin() + step.remote + length);
        scatter(side, step, now);
        return step;
    }
    Step draw_atomic(SidePlan& side, SidePlan& peer) {
        std::uint32_t length = 8;
        Step step{.opcode = draws_.chance(0.5) ? WrOpcode::atomic_cmp_and_swp : WrOpcode::atomic_fetch_and_add};
        step.remote = reach(step, peer, length, 8);
        std::uint64_t value = 0;
        std::memcpy(&value, peer.image.data() + step.remote, 8);
        step.content.resize(8);
        std::memcpy(step.content.data(), &value, 8);
        step.pieces = {place(side, 8)};
        std::ranges::copy(step.content, side.image.begin() + step.pieces[0].at);
        step.atomic = {.compare_add = number(draws_, 1ULL << 40), .swap = number(draws_, 1ULL << 50)};
        if (step.opcode == WrOpcode::atomic_cmp_and_swp && draws_.chance(0.7)) step.atomic.compare_add = value;
        if (step.opcode == WrOpcode::atomic_fetch_and_add) value += step.atomic.compare_add;
        else if (value == step.atomic.compare_add) value = step.atomic.swap;
        if (std::exchange(read_pending_, false)) step.flags.fence = true;
        std::memcpy(peer.image.data() + step.remote, &value, 8);
        return step;
    }
    Step draw_atomic_write(SidePlan& side, SidePlan& peer) {
        std::uint32_t length = 8;
        Step step{.opcode = WrOpcode::atomic_write};
        step.remote = reach(step, peer, length, 8);
        step.flags.inline_data = draws_.chance(0.5);
        gather(side, step, 8);
        change(peer, step);
        return step;
    }
    Step draw_flush(const SidePlan& peer) {
        std::uint32_t length = draw_length(draws_, wish_);
        Step step{.opcode = WrOpcode::flush};
        step.remote = reach(step, peer, length);
        step.flush = {.length = length,
                      .global_visibility = draws_.chance(0.7),
                      .persistent = true,
                      .whole_region = draws_.chance(0.2)};
        return step;
    }

    Step draw_reliable(SidePlan& side, SidePlan& peer) {
        switch (draws_.below(16)) {
            case 0:
            case 1:
            case 2:
            case 3: return draw_message(side, draws_.chance(0.3));
            case 4:
            case 5:
            case 6:
            case 7: return draw_write(side, peer);
            case 8:
            case 9:
            case 10: return draw_read(side, peer);
            case 11:
            case 12: return draw_atomic(side, peer);
            case 13: return draw_atomic_write(side, peer);
            case 14: return draw_flush(peer);
            default: {  // of a window of one's own that no peer knows
                spare_bound_ = !spare_bound_;
                return {.opcode = spare_bound_ ? WrOpcode::bind_mw : WrOpcode::local_inv};
            }
        }
    }

    void draw_steps(std::size_t which) {
        SidePlan& side = plan_.sides[which];
        SidePlan& peer = plan_.sides[1 - which];
        peer_windows_ = peer.windows;
        alive_.clear();
        for (unsigned i = 0; i < peer.windows.size(); ++i) alive_.push_back(i);
        read_pending_ = spare_bound_ = false;
        const std::uint32_t count = 1 + number(draws_, wish_.steps);
        for (std::uint32_t i = 0; i < count; ++i) {
            Step step = wish_.type == QpType::rc ? draw_reliable(side, peer) : draw_unreliable(side, peer, i);
            step.flags.signaled = draws_.chance(0.5) || i + 1 == count;
            const bool takes = step.opcode == WrOpcode::send || step.opcode == WrOpcode::send_with_imm ||
                               step.opcode == WrOpcode::send_with_inv || step.opcode == WrOpcode::rdma_write_with_imm;
            if (takes) peer.messages.push_back(i);
            if (takes && step.opcode != WrOpcode::rdma_write_with_imm)
                peer.longest_receive = std::max(peer.longest_receive, static_cast<std::uint32_t>(step.content.size()));
            side.steps.push_back(std::move(step));
        }
    }

    Draws& draws_;
    const ExchangeWish& wish_;
    ExchangePlan plan_;
    std::vector<WindowPlan> peer_windows_;
    std::vector<unsigned> alive_;
    bool read_pending_ = false;
    bool spare_bound_ = false;
};

}  // namespace

ExchangePlan plan_exchange(Draws& draws, const ExchangeWish& wish) { return Drawing(draws, wish).plan(); }

}  // namespace qps::tests
