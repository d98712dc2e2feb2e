#include <transport-replay/analysis/conclusion.hpp>
#include <transport-replay/analysis/lane.hpp>
#include <transport-replay/analysis/part_report.hpp>
#include <transport-replay/analysis/sharded_analysis.hpp>
#include <transport-replay/model/stable_order.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::uint8_t kNobody = 0xff;
constexpr std::size_t kAhead = 8;   // packets from one line that is asked for to the next
constexpr std::size_t kStages = 3;  // of lines that lead to each other

std::uint8_t one_of(std::uint64_t hash, std::size_t lanes) { return static_cast<std::uint8_t>(mix(hash) % lanes); }

// Other bits than those that choose among lanes.
bool is_of(PartOf part, std::uint64_t hash) { return (mix(hash) >> 32U) % part.parts == part.number - 1; }

}  // namespace

void ShardedBatch::add(const Packet& packet, std::uint16_t file) {
    if (used_ == all_.size()) all_.emplace_back();
    observe(packet, all_[used_]);
    all_[used_].file = file;
    share_out(used_++);
}

std::optional<StraightPlaces> ShardedBatch::add_straight(const Frame& frame, std::uint16_t file) {
    if (used_ == all_.size()) all_.emplace_back();
    const auto places = observe_straight(frame, all_[used_]);
    if (!places) return {};
    all_[used_].file = file;
    share_out(used_++);
    return places;
}

void ShardedBatch::add(const Observation& observation) {
    if (used_ == all_.size()) all_.emplace_back();
    all_[used_] = observation;
    share_out(used_++);
}

bool ShardedBatch::follows_last() const { return hosts_[used_ - 1] != kNobody; }

// Hosts that are none, of pauses, are followed by nobody.
void ShardedBatch::share_out(std::size_t place) {
    if (hosts_.size() < all_.size()) {
        hosts_.resize(all_.size());
        receiver_.resize(all_.size());
    }
    const Observation& observation = all_[place];
    summary_.add(observation);
    const bool data = Lane::carries_data(observation);
    if (events_.size() == 1 && part_.parts == 1) {
        hosts_[place] = 0;
        receiver_[place] = data ? 0 : kNobody;
        return;
    }
    const std::uint64_t source = hash_of(observation.flow.source), destination = hash_of(observation.flow.destination);
    hosts_[place] = is_of(part_, source + destination) ? one_of(source + destination, events_.size()) : kNobody;
    receiver_[place] = data && is_of(part_, destination) ? one_of(destination, events_.size()) : kNobody;
}

struct ShardedState {
    // A lane, and who it tells of what while it follows a batch.
    struct Member {
        explicit Member(const AnalysisSettings& settings, std::uint16_t recording = 0, std::uint32_t numbered = 0)
            : lane(settings, recording, numbered) {}
        explicit Member(const Lane& of) : lane(of) {}
        Lane lane;
        std::vector<std::uint32_t> places;   // of the batch that it follows
        std::vector<std::uint32_t> numbers;  // of its connections, among all
    };
    ShardedState(AnalysisSettings given, std::size_t count, bool with_records, bool part,
                 std::vector<LaneListener> listening = {});
    [[nodiscard]] std::shared_ptr<ShardedState> empty_copy() const;
    [[nodiscard]] AnalysisSettings of_lane(std::size_t lane);
    void tell(LaneEvents& events, const LaneListener& listener, std::size_t& told) const;
    void copy_lane(std::size_t lane, ShardedState& copy) const;
    void number(ShardedBatch& batch);
    void number_the_rest();
    void finish_lanes(const GateReport& report, bool tells);
    void end_recording();
    [[nodiscard]] PartReport finish(const Drops& drops, bool tells);
    [[nodiscard]] Timeline finish_whole(const Drops& drops, bool tells);

    FinalNumbers final_numbers;  // not among the settings, of which each lane has a copy
    AnalysisSettings settings;
    std::vector<LaneListener> listeners;  // by lane
    bool records = false;
    CaptureGate gate;
    RepetitionWindow window;  // of gates that look everything up in it
    std::unique_ptr<LinkWatch> links;
    std::vector<std::unique_ptr<Member>> members;
    std::vector<LaneReport> reports;  // of recordings that ended
    std::vector<LaneEvents*> hears;   // by lane: what is being followed
    std::vector<std::uint32_t> here;  // the place of the packet
    std::uint64_t packets = 0;
    std::uint32_t next_number = 1;
    std::vector<std::uint64_t> first_packets;  // of connections, by number: of a part
    Numbering numbering = Numbering::dense;
    bool is_part = false;
    bool over = false;
};

ShardedState::ShardedState(AnalysisSettings given, std::size_t count, bool with_records, bool part,
                           std::vector<LaneListener> listening)
    : final_numbers(std::exchange(given.numbers, {})),
      settings(std::move(given)),
      listeners(std::move(listening)),
      records(with_records),
      gate(settings),
      links(std::make_unique<LinkWatch>()),
      hears(count),
      here(count),
      is_part(part) {
    listeners.resize(count);
    for (std::size_t lane = 0; lane < count; ++lane) members.push_back(std::make_unique<Member>(of_lane(lane)));
}

AnalysisSettings ShardedState::of_lane(std::size_t lane) {
    AnalysisSettings known = settings;
    if (settings.message || listeners[lane].message)
        known.message = [this, lane](ConnectionId connection, End requester, const Message& message) {
            if (hears[lane] != nullptr) hears[lane]->messages.push_back({here[lane], {connection, requester, message}});
        };
    if (settings.operation)
        known.operation = [this, lane](const UlpOperation& operation) {
            if (hears[lane] != nullptr) hears[lane]->operations.push_back({here[lane], operation});
        };
    if (settings.retired)
        known.retired = [this, lane](ConnectionId connection) {
            if (hears[lane] != nullptr) hears[lane]->retired.push_back({here[lane], connection});
        };
    return known;
}

ShardedAnalysis::ShardedAnalysis(AnalysisSettings settings, std::size_t lanes, bool records, bool part,
                                 std::vector<LaneListener> listeners)
    : state_(std::make_unique<ShardedState>(std::move(settings), std::clamp<std::size_t>(lanes, 1, kMostLanes), records,
                                            part, std::move(listeners))) {
    if (state_->gate.looks_up_all()) state_->window.begin();
}
ShardedAnalysis::~ShardedAnalysis() = default;

std::size_t ShardedAnalysis::lanes() const { return state_->members.size(); }
bool ShardedAnalysis::over() const { return state_->over; }

std::size_t ShardedAnalysis::sieves() const {
    const std::size_t sieves = ShardedBatch::sieves_of(lanes());
    return sieves > 1 && state_->gate.looks_up_all() ? sieves : 0;
}

void ShardedAnalysis::sift(ShardedBatch& batch, std::size_t sieve) {
    RepetitionWindow& window = state_->window;
    auto& [met, done] = batch.sifted_[sieve];
    met.clear();
    done = true;
    const std::size_t sieves = batch.sifted_.size();
    const std::span entries(batch.summary_.entries());
    const auto is_mine = [&](std::uint64_t hash) { return RepetitionWindow::share_of(hash, sieves) == sieve; };
    for (std::uint32_t place = 0; place < entries.size(); ++place) {
        const std::uint64_t near = entries[std::min(place + kAhead, entries.size() - 1)].packet.hash;
        if (is_mine(near)) window.prefetch(near);
        if (!entries[place].numbered || !is_mine(entries[place].packet.hash)) continue;
        if (const Met found = window.observe(entries[place].packet); found.anything()) met.push_back({place, found});
    }
}

// Gives the repetitions that all sieves found, in order.
std::span<const MetAt> ShardedAnalysis::take_met(ShardedBatch& batch) {
    batch.met_.clear();
    if (!state_->gate.looks_up_all()) return batch.met_;
    for (std::size_t sieve = 0; sieve < batch.sifted_.size(); ++sieve) {
        auto& [met, done] = batch.sifted_[sieve];
        if (!done) sift(batch, sieve);
        batch.met_.insert(batch.met_.end(), met.begin(), met.end());
        done = false;
    }
    if (batch.sifted_.size() > 1) std::ranges::sort(batch.met_, {}, &MetAt::place);
    return batch.met_;
}

void ShardedAnalysis::gate(ShardedBatch& batch, bool copies) {
    ShardedState& state = *state_;
    batch.first_ = state.packets;
    state.packets += batch.used_;
    batch.sights_.resize(std::max(batch.sights_.size(), batch.used_));
    if (state.records) batch.records_.resize(std::max(batch.records_.size(), batch.used_));
    if (!state.settings.traits.tenants.empty())
        for (std::size_t i = 0; i < batch.used_; ++i) take_tenant(state.settings.traits, batch.all_[i]);
    state.gate.pass(batch.summary_, std::span(batch.all_).first(batch.used_), take_met(batch), batch.sights_);
    batch.copy_.reset();
    if (!copies) return;
    batch.copy_ = state.empty_copy();
    batch.copy_->gate = state.gate;
}

void ShardedAnalysis::follow(ShardedBatch& batch, std::size_t number, std::size_t name) {
    ShardedState& state = *state_;
    ShardedState::Member& member = *state.members[number];
    Lane& lane = member.lane;
    LaneEvents& events = batch.events_[number];
    events.clear();
    state.hears[number] = &events;
    member.places.resize(batch.used_ + kStages * kAhead);
    std::size_t count = 0;
    for (std::uint32_t i = 0; i < batch.used_; ++i) {
        member.places[count] = i;
        count += batch.hosts_[i] == number ? 1U : 0U;
        if (batch.receiver_[i] == number && batch.sights_[i].handling == Handling::follow)
            lane.receive(batch.all_[i], batch.first_ + i);
        if (number != 0) continue;
        state.links->glimpse(batch.all_[i]);
        if (state.links->wants(batch.all_[i])) state.links->follow(batch.all_[i], batch.sights_[i]);
    }
    if (count != 0)  // none is far ahead of the last
        std::fill_n(member.places.begin() + static_cast<std::ptrdiff_t>(count), kStages * kAhead,
                    member.places[count - 1]);
    const auto ahead = [&](std::size_t from, std::size_t stages) -> const Observation& {
        return batch.all_[member.places[from + stages * kAhead]];
    };
    const LaneListener& listener = state.listeners[number];
    std::size_t told = 0;
    std::uint32_t numbered = lane.numbered();
    for (std::size_t i = 0; i < count; ++i) {
        lane.prefetch(ahead(i, 3), ahead(i, 2), ahead(i, 1));
        const std::uint32_t place = state.here[number] = member.places[i];
        const PacketRecord record = lane.follow(batch.all_[place], batch.sights_[place]);
        if (state.records) batch.records_[place] = record;
        if (listener.packet) listener.packet(name, place, batch.all_[place], record);
        state.tell(events, listener, told);
        for (; numbered != lane.numbered(); ++numbered) events.begun.push_back(place);
    }
    state.hears[number] = nullptr;
    if (state.members.size() > 1) events.peaks = lane.peaks();
    if (batch.copy_ != nullptr) state.copy_lane(number, *batch.copy_);
}

// To who listens to the lane: the messages from that one on.
void ShardedState::tell(LaneEvents& events, const LaneListener& listener, std::size_t& told) const {
    if (!listener.message) return;
    for (; told < events.messages.size(); ++told) {
        const LaneEvents::Ended& ended = events.messages[told].what;
        listener.message(ended.connection, ended.requester, ended.message);
    }
    if (settings.message) return;  // nobody else will ask for them
    events.messages.clear();
    told = 0;
}

void ShardedState::copy_lane(std::size_t lane, ShardedState& copy) const {
    // Constructed, never assigned: that would be as much code again for each tracker.
    copy.members[lane] = std::make_unique<Member>(members[lane]->lane);
    copy.members[lane]->lane.listen({});
    if (lane == 0) copy.links = std::make_unique<LinkWatch>(*links);
}

// Connections of all lanes have numbers in the order in which they began.
void ShardedState::number(ShardedBatch& batch) {
    if (members.size() == 1) {
        if (is_part)
            for (const std::uint32_t place : batch.events_[0].begun) first_packets.push_back(batch.first_ + place);
        return;
    }
    std::vector<std::pair<std::uint32_t, std::size_t>> begun;  // place, lane
    Peaks needed;
    for (std::size_t lane = 0; lane < members.size(); ++lane) {
        for (const std::uint32_t place : batch.events_[lane].begun) begun.emplace_back(place, lane);
        needed.add(batch.events_[lane].peaks);
    }
    std::ranges::stable_sort(begun);
    for (const auto& [place, lane] : begun) {
        members[lane]->numbers.push_back(next_number++);
        if (is_part) first_packets.push_back(batch.first_ + place);
    }
    const std::size_t most_open = Tracker::most_open(settings.memory, needed.needed(Need::connections));
    const bool too_many_open = most_open < RequestStream::kMaxOpen && needed.needed(Need::messages_of_way) >= most_open;
    over |= !needed.within_bounds() || too_many_open;
}

// A run that was stopped leaves batches that were not visited: their connections are numbered too.
void ShardedState::number_the_rest() {
    for (const auto& member : members)
        while (member->numbers.size() < member->lane.numbered()) member->numbers.push_back(next_number++);
    if (is_part) first_packets.resize(next_number - 1, packets);
}

void ShardedAnalysis::visit(ShardedBatch& batch, const Visit& visit, const std::function<void()>& after,
                            std::size_t from) {
    ShardedState& state = *state_;
    state.number(batch);
    if (state.over) return;
    if (!state.records && !state.settings.message && !state.settings.operation && !state.settings.retired && !after)
        return;
    const bool several = state.members.size() > 1;
    struct Told {
        std::size_t messages = 0, operations = 0, retired = 0;
    };
    std::vector<Told> told(state.members.size());
    const auto among_all = [&](ConnectionId& connection, std::size_t lane) {
        if (several) connection = ConnectionId{state.members[lane]->numbers[std::to_underlying(connection) - 1]};
    };
    const bool settles = state.final_numbers.any();
    const auto anew = [&](ConnectionId& connection, End& end, std::size_t lane) {
        among_all(connection, lane);
        if (settles) state.final_numbers.settle(connection, end);
    };
    const PacketRecord none;
    for (std::uint32_t place = 0; place < batch.used_; ++place) {
        const std::size_t lane = batch.hosts_[place];
        if (lane == kNobody) continue;  // another part's
        LaneEvents& events = batch.events_[lane];
        if (state.records && batch.records_[place].connection)
            anew(*batch.records_[place].connection, batch.records_[place].from, lane);
        const bool tells = place >= from;
        if (tells && !visit(batch.all_[place], state.records ? batch.records_[place] : none, place)) return;
        auto& [messages, operations, retired] = told[lane];
        for (; messages < events.messages.size() && events.messages[messages].place == place; ++messages) {
            LaneEvents::Ended& ended = events.messages[messages].what;
            anew(ended.connection, ended.requester, lane);
            if (tells) state.settings.message(ended.connection, ended.requester, ended.message);
        }
        for (; operations < events.operations.size() && events.operations[operations].place == place; ++operations) {
            UlpOperation& ended = events.operations[operations].what;
            anew(ended.connection, ended.requester, lane);
            if (tells) state.settings.operation(ended);
        }
        for (; retired < events.retired.size() && events.retired[retired].place == place; ++retired) {
            ConnectionId& connection = events.retired[retired].what;
            among_all(connection, lane);
            // A part of a connection goes on under that one's number.
            if (!tells || state.final_numbers.is_part(connection)) continue;
            End end{};
            state.final_numbers.settle(connection, end);
            state.settings.retired(connection);
        }
        if (tells && after) after();
    }
}

void ShardedState::finish_lanes(const GateReport& report, bool tells) {
    std::vector<LaneEvents> last(members.size());
    for (std::size_t lane = 0; lane < members.size(); ++lane) {
        hears[lane] = tells ? &last[lane] : nullptr;
        reports.push_back(members[lane]->lane.finish(report));
        hears[lane] = nullptr;
        std::size_t told = 0;
        tell(last[lane], listeners[lane], told);
        if (members.size() > 1) renumber(reports.back(), members[lane]->numbers);
    }
    LaneEvents all;
    for (std::size_t lane = 0; lane < members.size(); ++lane) {
        const auto anew = [&](ConnectionId& connection, End& end) {
            if (members.size() > 1)
                connection = ConnectionId{members[lane]->numbers[std::to_underlying(connection) - 1]};
            final_numbers.settle(connection, end);
        };
        for (auto& ended : last[lane].messages) {
            anew(ended.what.connection, ended.what.requester);
            all.messages.push_back(std::move(ended));
        }
        for (auto& ended : last[lane].operations) {
            anew(ended.what.connection, ended.what.requester);
            all.operations.push_back(std::move(ended));
        }
    }
    order_stably(all.messages, [](const auto& ended) { return ended.what.connection; });
    order_stably(all.operations, [](const auto& ended) { return ended.what.connection; });
    for (const auto& ended : all.messages)
        settings.message(ended.what.connection, ended.what.requester, ended.what.message);
    for (const auto& ended : all.operations) settings.operation(ended.what);
}

void ShardedState::end_recording() {
    finish_lanes(gate.so_far(), true);
    gate.end_recording();
    for (std::size_t lane = 0; lane < members.size(); ++lane) {
        auto next = std::make_unique<Member>(of_lane(lane), static_cast<std::uint16_t>(gate.so_far().recordings.size()),
                                             members[lane]->lane.numbered());
        next->numbers = std::move(members[lane]->numbers);
        members[lane] = std::move(next);
    }
}

PartReport ShardedState::finish(const Drops& drops, bool tells) {
    GateReport report = gate.finish(drops);
    number_the_rest();
    finish_lanes(report, tells);
    LinkReport of_links = links->finish(report);
    return {std::move(report), std::move(of_links), merge(std::move(reports)), std::move(first_packets)};
}

Timeline ShardedState::finish_whole(const Drops& drops, bool tells) {
    PartReport whole = finish(drops, tells);
    return conclude(settings, std::move(whole.gate), std::move(whole.links), std::move(whole.lanes), {}, numbering);
}

// With room for its lanes, which tell nobody anything.
std::shared_ptr<ShardedState> ShardedState::empty_copy() const {
    AnalysisSettings quiet = settings;
    quiet.message = {};
    quiet.operation = {};
    quiet.retired = {};
    auto copy = std::make_shared<ShardedState>(std::move(quiet), members.size(), false, false);
    copy->numbering = Numbering::kept;  // packets so far have these
    return copy;
}

Timeline ShardedAnalysis::so_far(const Drops& drops) const {
    const std::shared_ptr<ShardedState> copy = state_->empty_copy();
    copy->gate = state_->gate;
    copy->reports = state_->reports;
    copy->next_number = state_->next_number;
    for (std::size_t lane = 0; lane < copy->members.size(); ++lane) {
        state_->copy_lane(lane, *copy);
        copy->members[lane]->numbers = state_->members[lane]->numbers;
    }
    return copy->finish_whole(drops, false);
}

Timeline ShardedAnalysis::so_far(ShardedBatch& batch, const Drops& drops) const {
    const std::shared_ptr<ShardedState> copy = std::exchange(batch.copy_, nullptr);
    copy->reports = state_->reports;
    copy->next_number = state_->next_number;
    for (std::size_t lane = 0; lane < copy->members.size(); ++lane)
        copy->members[lane]->numbers = state_->members[lane]->numbers;
    return copy->finish_whole(drops, false);
}

std::vector<std::uint32_t> ShardedAnalysis::numbers(std::size_t lane) const {
    std::vector<std::uint32_t> numbers = state_->members[lane]->numbers;
    if (state_->members.size() > 1) return numbers;
    numbers.resize(state_->members[0]->lane.numbered());
    std::iota(numbers.begin(), numbers.end(), 1U);
    return numbers;
}

void ShardedAnalysis::keep_numbers() { state_->numbering = Numbering::kept; }
void ShardedAnalysis::end_recording() { state_->end_recording(); }
bool ShardedAnalysis::continues(const Observation& observation) const {
    return std::ranges::any_of(state_->members,
                               [&](const auto& member) { return member->lane.continues(observation); });
}
std::optional<Instant> ShardedAnalysis::last() const { return state_->gate.so_far().last; }

Timeline ShardedAnalysis::finish(const Drops& drops) { return state_->finish_whole(drops, true); }
PartReport ShardedAnalysis::finish_part(const Drops& drops) { return state_->finish(drops, true); }

}  // namespace qps::transport
