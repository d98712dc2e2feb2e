#include <transport-replay/live/device/device.hpp>
#include <transport-replay/live/host/neighbours.hpp>

#include <algorithm>

#include <boost/unordered/unordered_flat_map.hpp>

namespace qps::transport::live {

using namespace dissect;

namespace {

bool asks(NeighbourState state) {
    return state == NeighbourState::asking || state == NeighbourState::verifying || state == NeighbourState::doubted;
}

}  // namespace

struct Neighbours::Table {
    struct Hash {
        using is_avalanching = void;
        [[nodiscard]] std::size_t operator()(const Address& address) const { return hash_of(address); }
    };
    boost::unordered_flat_map<Address, Entry, Hash> entries;
};

Neighbours::Neighbours() : table_(std::make_unique<Table>()) {}
Neighbours::Neighbours(Neighbours&&) noexcept = default;
Neighbours& Neighbours::operator=(Neighbours&&) noexcept = default;
Neighbours::~Neighbours() = default;

std::size_t Neighbours::size() const { return table_->entries.size(); }

void Neighbours::schedule(Entry& entry, Instant at) {
    entry.due = at;
    if (!due_at_ || at < *due_at_) due_at_ = at;
}

// Follows the edge, if there is one, and sets when the entry is due in its new state.
void Neighbours::take(Entry& entry, NeighbourEvent event, Instant now) {
    const auto next = step(kNeighbourMachine, entry.state, event);
    if (!next) return;
    entry.state = *next;
    entry.questions = 0;
    entry.claimed.reset();
    switch (*next) {
        case NeighbourState::asking:
        case NeighbourState::verifying:
        case NeighbourState::doubted: return schedule(entry, now);
        case NeighbourState::reachable: ++counts_.resolved; return schedule(entry, now + kReachableTime);
        case NeighbourState::stale: return schedule(entry, now + (entry.unsolicited ? kInUse : kForgetTime));
        case NeighbourState::unreachable: ++counts_.unreachable; return schedule(entry, now + kUnreachableTime);
        case NeighbourState::none: return;
    }
}

// Whether another entry may be added: the longest unused one makes room, unless even that one is in use.
bool Neighbours::make_room(Instant now) {
    if (table_->entries.size() < kMaxNeighbours) return true;
    const auto victim = std::ranges::min_element(table_->entries, {}, [](const auto& entry) {
        return entry.second.unsolicited || entry.second.state == NeighbourState::unreachable ? Instant{}
                                                                                             : entry.second.used;
    });
    const Entry& entry = victim->second;
    if (!entry.unsolicited && entry.state != NeighbourState::unreachable && entry.used + kInUse > now) return false;
    if (entry.unsolicited) --unsolicited_;
    table_->entries.erase(victim);
    return true;
}

Neighbour Neighbours::find(const Address& address, Instant now) {
    auto found = table_->entries.find(address);
    if (found == table_->entries.end()) {
        if (!make_room(now)) {
            ++counts_.refused;
            return {Resolution::unreachable};
        }
        found = table_->entries.try_emplace(address).first;
    }
    Entry& entry = found->second;
    if (entry.unsolicited) --unsolicited_;
    entry.unsolicited = false;
    entry.used = now;
    if (entry.state == NeighbourState::none || entry.state == NeighbourState::stale)
        take(entry, NeighbourEvent::wanted, now);
    if (entry.state == NeighbourState::asking) return {Resolution::resolving};
    if (entry.state == NeighbourState::unreachable) return {Resolution::unreachable};
    return {Resolution::resolved, entry.mac};
}

void Neighbours::answered(const Address& address, Mac mac, Instant now) {
    const auto found = table_->entries.find(address);
    if (found == table_->entries.end()) return;
    Entry& entry = found->second;
    if (!asks(entry.state) || entry.questions == 0) return learn(entry, mac, now);
    const bool another = entry.state != NeighbourState::asking && entry.mac != mac;
    if (another && entry.state == NeighbourState::verifying)
        return learn(entry, mac, now);  // only the old one was asked
    if (another) {                      // the old one may still answer, until the next question
        if (!entry.claimed) entry.claimed = mac;
        return;
    }
    entry.mac = mac;
    take(entry, NeighbourEvent::answered, now);
}

// Of an entry that exists, and of which nothing was asked.
void Neighbours::learn(Entry& entry, Mac mac, Instant now) {
    const bool known = entry.state != NeighbourState::none && entry.state != NeighbourState::asking &&
                       entry.state != NeighbourState::unreachable;
    if (known && entry.mac != mac) {
        ++counts_.contradicted;
        return take(entry, NeighbourEvent::contradicted, now);
    }
    if (known) return;
    entry.mac = mac;
    take(entry, NeighbourEvent::unsolicited, now);
}

void Neighbours::announced(const Address& address, Mac mac, Instant now) {
    if (const auto found = table_->entries.find(address); found != table_->entries.end())
        learn(found->second, mac, now);
}

void Neighbours::asked_us(const Address& address, Mac mac, Instant now) {
    auto found = table_->entries.find(address);
    if (found == table_->entries.end()) {
        if (unsolicited_ == kMaxUnsolicited || table_->entries.size() == kMaxNeighbours) return;
        found = table_->entries.try_emplace(address).first;
        found->second.unsolicited = true;
        ++unsolicited_;
    }
    learn(found->second, mac, now);
}

// What an entry does once its time has come.
void Neighbours::come_due(const Address& address, Entry& entry, Instant now) {
    if (asks(entry.state)) {
        if (entry.claimed) {
            entry.mac = *entry.claimed;
            return take(entry, NeighbourEvent::answered, now);
        }
        if (entry.questions == kMaxQuestions) take(entry, NeighbourEvent::gave_up, now);
        if (!asks(entry.state)) return;
        ++entry.questions;
        ++counts_.asked;
        questions_.push_back(
            {address, entry.state == NeighbourState::verifying ? std::optional(entry.mac) : std::nullopt});
        return schedule(entry, now + kAskAgain);
    }
    if (entry.state == NeighbourState::stale) return take(entry, NeighbourEvent::forgotten, now);
    take(entry, NeighbourEvent::aged, now);
}

// One pass over all entries: everything that is due happens, and the next time is known.
void Neighbours::collect(Instant now) {
    due_at_.reset();
    for (auto at = table_->entries.begin(); at != table_->entries.end();) {
        Entry& entry = at->second;
        if (entry.due <= now) come_due(at->first, entry, now);
        if (entry.state == NeighbourState::none) {
            if (entry.unsolicited) --unsolicited_;
            table_->entries.erase(at++);
            continue;
        }
        schedule(entry, entry.due);
        ++at;
    }
}

std::optional<Question> Neighbours::due(Instant now) {
    if (questions_.empty() && due_at_ && *due_at_ <= now) collect(now);
    if (questions_.empty()) return std::nullopt;
    const Question next = questions_.back();
    questions_.pop_back();
    return next;
}

std::optional<Instant> Neighbours::due_at() const {
    if (!questions_.empty()) return kAtOnce;
    return due_at_;
}

NeighbourState Neighbours::state_of(const Address& address) const {
    const auto found = table_->entries.find(address);
    return found == table_->entries.end() ? NeighbourState::none : found->second.state;
}

}  // namespace qps::transport::live
