#include <dissect/base/types.hpp>
#include <transport-replay/live/replay/conversation_part.hpp>
#include <transport-replay/model/memory_beside.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace qps::transport::live {

using namespace dissect;

namespace {

constexpr std::uint8_t kInvalidRequest = 1, kOperationalError = 3;  // NAK codes (9.7.5.2.4, 9.7.5.2.6)

std::uint32_t place_of(std::vector<Advertisement>& all, const Advertisement& one) {
    const auto found = std::find(all.rbegin(), all.rend(), one);  // the latest are asked for most
    if (found != all.rend() && found - all.rbegin() < 64) return static_cast<std::uint32_t>(all.rend() - found - 1);
    all.push_back(one);
    return static_cast<std::uint32_t>(all.size() - 1);
}

class Planning {
public:
    Planning(const RecordedConversation& conversation, End ours) : conversation_(conversation) { part_.ours = ours; }

    std::expected<ConversationPart, std::string> plan(const MemoryBudget& budget) {
        auto memory = recorded_memory(conversation_, part_.ours, budget);
        if (!memory) return std::unexpected(memory.error());
        part_.memory = std::move(*memory);
        part_.most_posted = bytes_beside(budget, Beside::waiting);
        for (std::uint32_t i = 0; i < conversation_.messages.size(); ++i)
            if (conversation_.messages[i].from != part_.ours) part_.peers.push_back(i);
        plan_posts();
        plan_receives();
        const std::uint64_t room = part_.receives.empty() ? 0 : part_.receives.front().room;
        if (part_.memory.cost + room > bytes_beside(budget, Beside::memory))
            return std::unexpected(
                fmt::format("receives of {} do not fit into the memory: --memory grants more", bytes_text(room)));
        plan_learning();
        plan_advertising();
        plan_fills();
        plan_touches();
        return std::move(part_);
    }

private:
    [[nodiscard]] const RecordedMessage& recorded(std::uint32_t index) const { return conversation_.messages[index]; }

    // What was recorded before that frame, and how long before that time.
    Due due_before(FrameIndex frame, Instant time, std::optional<Instant> previous) {
        while (own_ < part_.posts.size()) {
            const Message& message = recorded(part_.posts[own_].message).message;
            if (message.answer_frame == FrameIndex{} || message.answer_frame >= frame) break;
            ++own_;
        }
        while (peer_ < part_.peers.size() && recorded(part_.peers[peer_]).message.last_frame < frame) ++peer_;
        std::optional<Instant> last = previous;
        const auto consider = [&](Instant instant) { last = last ? std::max(*last, instant) : instant; };
        if (own_ > 0) consider(recorded(part_.posts[own_ - 1].message).message.answer_time);
        if (peer_ > 0) consider(recorded(part_.peers[peer_ - 1]).message.last_time);
        if (!last)
            last = conversation_.messages.front().message.first_time;  // what the connection's beginning stands for
        return {own_, peer_, std::max(Duration{}, time - *last)};
    }
    void from_the_beginning() { own_ = peer_ = 0; }

    void plan_posts() {
        std::optional<Instant> previous;
        for (std::uint32_t i = 0; i < conversation_.messages.size(); ++i) {
            const RecordedMessage& each = recorded(i);
            if (each.from != part_.ours) continue;
            PlannedPost post;
            post.message = i;
            const bool too_long = each.bytes_to_post() > part_.most_posted;
            if (too_long) ++part_.too_long;
            post.playable = each.is_playable() && !too_long;
            post.due = due_before(each.message.first_frame, each.message.first_time, previous);
            previous = each.message.first_time;
            part_.posts.push_back(std::move(post));
        }
    }

    void plan_receives() {
        from_the_beginning();
        std::uint32_t room = kLeastReceive;
        for (const std::uint32_t index : part_.peers)
            if (recorded(index).has_receive_bytes())
                room = std::max(room, static_cast<std::uint32_t>(recorded(index).payload.bytes.size()));
        for (const std::uint32_t index : part_.peers) {
            const RecordedMessage& each = recorded(index);
            if (!each.is_visible()) continue;
            PlannedReceive receive{.message = index, .room = room};
            const Message& message = each.message;
            const auto length = static_cast<std::uint32_t>(each.payload.bytes.size());
            const bool too_long = message.outcome == Outcome::failed && each.has_receive_bytes() && length != 0 &&
                                  (message.nak_code == kInvalidRequest || message.nak_code == kOperationalError);
            if (too_long) receive.room = length - 1;
            if (each.rnr_naks != 0 && each.succeeded())
                receive.held = due_before(each.last_rnr_frame, each.last_rnr, std::nullopt);
            if (each.rnr_naks != 0 && !each.succeeded()) receive.never = true;
            if (receive.held) receive.held->after_peer = std::min(receive.held->after_peer, peers_before(index));
            part_.receives.push_back(receive);
        }
    }
    // How many messages of the peer come before that one: it cannot wait for itself.
    [[nodiscard]] std::uint32_t peers_before(std::uint32_t index) const {
        return static_cast<std::uint32_t>(std::ranges::lower_bound(part_.peers, index) - part_.peers.begin());
    }

    void plan_learning() {
        const AdvertisedMemory advertised_by_peer(conversation_, other(part_.ours));
        for (PlannedPost& post : part_.posts) {
            const Message& message = recorded(post.message).message;
            std::optional<Advertisement> found;
            if (message.access)
                found = advertised_by_peer.find(message.access->key, message.access->address, message.first_frame);
            else if (message.invalidate)
                found = advertised_by_peer.find(*message.invalidate, std::nullopt, message.first_frame);
            if (found) post.target = place_of(part_.learned, *found);
        }
        // Also what nobody asked for before the recording ended: so it is not compared.
        const auto place = [](const Advertisement& each) {
            return std::tuple(each.key, each.message, each.key_offset);
        };
        std::vector<Advertisement> known = part_.learned;
        std::ranges::sort(known, {}, place);
        for (const Advertisement& each : advertised_by_peer.mentions())
            if (!std::ranges::binary_search(known, place(each), {}, place)) part_.learned.push_back(each);
    }

    // The peer asked for memory by that key: where we told of it is found by its address, too.
    [[nodiscard]] bool was_used(Rkey key) const {
        const RecordedRegion* region = part_.memory.find(key, std::nullopt);
        return region == nullptr || region->access != verbs::Access{};
    }

    void plan_advertising() {
        const AdvertisedMemory advertised_by_us(conversation_, part_.ours);
        for (const std::uint32_t index : part_.peers) {
            const Message& message = recorded(index).message;
            const bool used = message.access.has_value();
            if (!used && (!message.invalidate || was_used(*message.invalidate))) continue;
            const auto found =
                used ? advertised_by_us.find(message.access->key, message.access->address, message.first_frame)
                     : advertised_by_us.find(*message.invalidate, std::nullopt, message.first_frame);
            if (found) place_of(part_.advertised, *found);
        }
        for (const Advertisement& place : part_.advertised)
            if (place.message != kInPrivateData) part_.advertised_keys.push_back(place.key);
        std::ranges::sort(part_.advertised_keys);
        for (std::uint32_t i = 0; i < part_.advertised.size(); ++i) {
            if (part_.advertised[i].message == kInPrivateData) {
                part_.private_advertisements.push_back(i);
                continue;
            }
            const auto post =
                std::ranges::lower_bound(part_.posts, part_.advertised[i].message, {}, &PlannedPost::message);
            if (post != part_.posts.end() && post->message == part_.advertised[i].message)
                post->advertises.push_back(i);
        }
    }

    // Done before the first message of ours that came after the last look at the memory; the peer may look again
    // because of it.
    void plan_fills() {
        from_the_beginning();
        for (std::uint32_t i = 0; i < part_.memory.fills.size(); ++i) {
            const MemoryFill& fill = part_.memory.fills[i];
            const auto frame_of = [&](const PlannedPost& each) { return recorded(each.message).message.first_frame; };
            auto post = std::ranges::partition_point(
                part_.posts, [&](const PlannedPost& each) { return frame_of(each) <= fill.after; });
            while (post != part_.posts.end() && frame_of(*post) < fill.before && !post->playable) ++post;
            if (post != part_.posts.end() && frame_of(*post) < fill.before) post->fills.push_back(i);
            else part_.fills.push_back({i, due_before(fill.before, fill.seen, std::nullopt)});
        }
    }

    void plan_touches() {
        for (std::uint32_t i = 0; i < part_.memory.touches.size(); ++i) {
            const MemoryTouch& touch = part_.memory.touches[i];
            const std::uint32_t arrived = peers_before(touch.message) + 1;
            const auto post = std::ranges::lower_bound(part_.posts, arrived, {},
                                                       [](const PlannedPost& each) { return each.due.after_peer; });
            if (post == part_.posts.end()) {
                if (!touch.changed) part_.last_touches.push_back(i);
                continue;
            }
            const FrameIndex looked = recorded(post->message).message.first_frame;
            if (!touch.changed || looked < *touch.changed) post->touches.push_back(i);
        }
    }

    const RecordedConversation& conversation_;
    ConversationPart part_;
    std::uint32_t own_ = 0;
    std::uint32_t peer_ = 0;
};

}  // namespace

std::expected<ConversationPart, std::string> part_of(const RecordedConversation& conversation, End ours,
                                                     const MemoryBudget& memory) {
    return Planning(conversation, ours).plan(memory);
}

}  // namespace qps::transport::live
