#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/analysis/conclusion.hpp>
#include <transport-replay/analysis/lane.hpp>
#include <transport-replay/model/timeline.hpp>

#include <optional>
#include <utility>

namespace qps::transport {

using namespace dissect;

struct Analysis::State {
    explicit State(AnalysisSettings given)
        : settings(std::move(given)), gate(settings), lane(std::make_unique<Lane>(settings)) {}
    State(const State& of)
        : settings(of.settings),
          gate(of.gate),
          lane(std::make_unique<Lane>(*of.lane)),
          reports(of.reports),
          links(of.links),
          packets(of.packets),
          numbering(of.numbering) {}

    AnalysisSettings settings;
    CaptureGate gate;
    std::unique_ptr<Lane> lane;
    std::vector<LaneReport> reports;  // of recordings that ended
    LinkWatch links;
    std::uint64_t packets = 0;
    Numbering numbering = Numbering::dense;
};

Analysis::Analysis(AnalysisSettings settings) : state_(std::make_unique<State>(std::move(settings))) {}
Analysis::Analysis(const Analysis& other) : state_(std::make_unique<State>(*other.state_)) {}
Analysis& Analysis::operator=(const Analysis& other) {
    if (this != &other) state_ = std::make_unique<State>(*other.state_);
    return *this;
}
Analysis::Analysis(Analysis&&) noexcept = default;
Analysis& Analysis::operator=(Analysis&&) noexcept = default;
Analysis::~Analysis() = default;

PacketRecord Analysis::observe(const Observation& of) {
    State& state = *state_;
    std::optional<Observation> tenant;
    if (!state.settings.traits.tenants.empty()) take_tenant(state.settings.traits, tenant.emplace(of));
    const Observation& observation = tenant ? *tenant : of;
    const std::uint64_t packet = state.packets++;
    const Sight sight = state.gate.pass(observation);
    state.links.glimpse(observation);
    if (state.links.wants(observation)) state.links.follow(observation, sight);
    if (sight.handling == Handling::follow) state.lane->receive(observation, packet);
    PacketRecord record = state.lane->follow(observation, sight);
    if (observation.kind == ObservationKind::credits) record.link_credits = state.links.link_credits();
    return record;
}

void Analysis::prefetch(const Observation& far, const Observation& nearer, const Observation& near) const {
    state_->gate.prefetch(near);
    state_->lane->prefetch(far, nearer, near);
}

void Analysis::end_recording() {
    State& state = *state_;
    state.reports.push_back(state.lane->finish(state.gate.so_far()));
    state.gate.end_recording();
    state.lane = std::make_unique<Lane>(
        state.settings, static_cast<std::uint16_t>(state.gate.so_far().recordings.size()), state.lane->numbered());
}

bool Analysis::continues(const Observation& observation) const {
    Observation tenant = observation;
    take_tenant(state_->settings.traits, tenant);
    return state_->lane->continues(tenant);
}
std::optional<Instant> Analysis::last() const { return state_->gate.so_far().last; }

Timeline Analysis::so_far(const Drops& drops) const {
    Analysis copy = *this;
    copy.state_->lane->listen({});
    copy.state_->numbering = Numbering::kept;  // packets so far have these
    return copy.finish(drops);
}

Timeline Analysis::finish(const Drops& drops) {
    State& state = *state_;
    GateReport report = state.gate.finish(drops);
    std::vector<LaneReport> lanes = std::move(state.reports);
    lanes.push_back(state.lane->finish(report));
    LinkReport links = state.links.finish(report);
    return conclude(state.settings, std::move(report), std::move(links), merge(std::move(lanes)), {}, state.numbering);
}

}  // namespace qps::transport
