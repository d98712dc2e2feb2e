#include <tests/support/endpoint_world.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace qps::tests {

using namespace transport;
using namespace transport::live;
using namespace transport::verbs;
using namespace dissect;

namespace {

constexpr Duration kLongest = microseconds(600'000'000);  // virtual: far above retries and TIMEWAIT
constexpr std::uint64_t kMostTurns = 2'000'000;
constexpr std::array kInterfaceMtus{std::size_t{1500}, std::size_t{1500}, std::size_t{2400}, std::size_t{4200},
                                    std::size_t{9000}};

}  // namespace

World::World(std::uint64_t seed, const WorldWish& wish) : seed_(seed), draws_(seed * 7919 + 13) {
    space_ = draws_.chance(0.25) ? AddressSpace::roce_v1 : AddressSpace::roce_v2;
    ipv4_ = draws_.chance(0.5);
    interface_mtu_ = kInterfaceMtus[draws_.below(kInterfaceMtus.size())];
    mtu_ = static_cast<PathMtu>(1 + draws_.below(5));
    batched_ = draws_.chance(0.5);
    dscp_ = static_cast<std::uint8_t>(draws_.below(64));
    if (draws_.chance(0.2)) vlan_ = std::uint16_t{100};
    const auto faults = [&] {
        const auto up_to = [&](double worst) { return draws_.chance(0.7) ? draws_.unit() * worst : 0.0; };
        return LinkFaults{up_to(wish.worst.loss), up_to(wish.worst.duplication), up_to(wish.worst.reordering),
                          up_to(wish.worst.corruption), up_to(wish.worst.marking)};
    };
    LinkSettings link;
    link.seed = seed;
    link.delay = nanoseconds(200 + static_cast<std::int64_t>(draws_.below(60'000)));
    link.speed = BitsPerSecond{1'000'000'000ULL * (1 + draws_.below(100))};
    link.reorder_delay = microseconds(1 + static_cast<std::int64_t>(draws_.below(200)));
    link.a_to_b = faults();
    link.b_to_a = faults();
    link.exact = wish.exact;
    for (const LinkFaults& way : {link.a_to_b, link.b_to_a}) {
        faults_.loses = faults_.loses || way.loss > 0 || way.corruption > 0 || way.reordering > 0 ||
                        way.duplication > 0 || !wish.exact.empty();
        faults_.overtakes = faults_.overtakes || way.reordering > 0 || !wish.exact.empty();
        faults_.doubles = faults_.doubles || way.duplication > 0 || !wish.exact.empty();
    }
    wire_ = make_wire(link, {.place = static_cast<TapPlace>(draws_.below(3))}, start_);
    for (const std::size_t side : {0U, 1U})
        endpoints_.emplace_back(open_sim_device(wire_, side == 0 ? End::a : End::b), settings_of(side), start_);
    plan(wish);
}

EndpointSettings World::settings_of(std::size_t side) {
    const auto last = static_cast<std::uint32_t>(side + 1);
    const Address own = ipv4_ ? ipv4_address(0xc000'0200 + last) : ipv6_address(0x2001'0db8'0000'0000, last);
    EndpointSettings settings{.host = {.mac = Mac{0x0200'0000'0000ULL + last},
                                       .addresses = {{own, static_cast<std::uint8_t>(ipv4_ ? 24 : 64)}}}};
    settings.host.mtu = interface_mtu_;
    settings.host.detect_duplicates = draws_.chance(0.2);
    settings.host.vlan = vlan_;
    settings.adapter.mtu = mtu_;  // of both: a request for more than ours is refused (12.6.7.2)
    settings.adapter.first_qp = Qpn{static_cast<std::uint32_t>(2 + draws_.below(0xffff00))};
    settings.adapter.end_to_end_credits = draws_.chance(0.7);
    settings.adapter.window = static_cast<std::uint32_t>(1 + draws_.below(200));
    settings.adapter.ack_every = static_cast<std::uint32_t>(draws_.below(6));
    settings.adapter.ecn_capable = draws_.chance(0.8);
    if (draws_.chance(0.3)) settings.adapter.dcqcn = DcqcnSettings{};
    settings.roce_v1 = space_ == AddressSpace::roce_v1;
    settings.dscp = dscp_;
    settings.seed = seed_ * 2 + side;
    hosts_[side].address = in_space(own, space_);
    return settings;
}

void World::open_host(std::size_t side) {
    ExchangeHost& host = hosts_[side];
    host.endpoint = &endpoints_[side];
    host.pd = endpoints_[side].adapter().alloc_pd().value_or(Pd{});
}

void World::plan(const WorldWish& wish) {
    for (const std::size_t side : {0U, 1U}) open_host(side);
    const bool huge = wish.huge && draws_.chance(0.04);
    const std::uint32_t mtu =
        std::min(bytes_of(endpoints_[0].adapter().settings().mtu), bytes_of(endpoints_[1].adapter().settings().mtu));
    const std::uint64_t count = huge ? 1 : 1 + draws_.below(4);
    std::vector<ExchangePlan> plans;
    for (std::uint64_t i = 0; i < count; ++i) {
        ExchangeWish dialogue{.mtu = mtu, .huge = huge, .steps = huge ? 5U : 16U, .plenty = wish.plenty};
        const std::uint64_t type = wish.any_type && !huge ? draws_.below(10) : 9;
        dialogue.type = type == 0 ? QpType::uc : type == 1 ? QpType::ud : QpType::rc;
        dialogue.shared = dialogue.type == QpType::rc && draws_.chance(0.3);
        plans.push_back(plan_exchange(draws_, dialogue));
    }
    for (const std::size_t side : {0U, 1U}) {
        std::uint32_t longest = 0, receives = 0;
        for (const ExchangePlan& plan : plans)
            if (plan.sides[side].shared) {
                longest = std::max(longest, plan.sides[side].longest_receive);
                receives += plan.sides[side].receives;
            }
        if (receives == 0) continue;
        ExchangeHost& host = hosts_[side];
        Adapter& adapter = endpoints_[side].adapter();
        host.srq = adapter.create_srq(host.pd, receives).value_or(Srq{});
        host.shared = std::make_unique<ReceivePool>(adapter, host.pd, receives, longest, seed_);
        for (std::uint32_t i = 0; i < receives; ++i)
            static_cast<void>(adapter.post_srq_recv(*host.srq, host.shared->wr(i)));
    }
    for (std::size_t i = 0; i < plans.size(); ++i)
        dialogues_.push_back(std::make_unique<Dialogue>(std::move(plans[i]), std::array{&hosts_[0], &hosts_[1]},
                                                        IpPort{static_cast<std::uint16_t>(5000 + i)}, faults_));
}

void World::turn() {
    ++turns_;
    for (const std::size_t side : {0U, 1U}) {
        endpoints_[side].arrive(now_);
        if (!batched_) endpoints_[side].depart(now_);
        for (const ConnectionEvent& event : endpoints_[side].connections().take_events())
            for (const auto& dialogue : dialogues_)
                if (dialogue->take(side, event, now_)) break;
        if (!endpoints_[side].manager().take_events().empty()) kept_back_ = true;
    }
    for (const auto& dialogue : dialogues_) dialogue->step(now_);
    for (Endpoint& endpoint : endpoints_)
        if (batched_) endpoint.depart(now_);
}

std::optional<Instant> World::due() {
    std::optional<Instant> first;
    const auto consider = [&](std::optional<Instant> at) {
        if (at && (!first || *at < *first)) first = at;
    };
    for (const Endpoint& endpoint : endpoints_) consider(endpoint.poll_at());
    for (const auto& dialogue : dialogues_) consider(dialogue->poll_at());
    return first;
}

std::string World::stuck(const char* why) {
    std::string text = fmt::format("{} after {} us", why, static_cast<std::int64_t>(lasted()) / 1000);
    for (const auto& dialogue : dialogues_) text += dialogue->progress();
    return text;
}

Duration World::lasted() const {
    return nanoseconds(static_cast<std::int64_t>(now_) - static_cast<std::int64_t>(start_));
}

std::string World::run() {
    const Instant end = start_ + kLongest;
    for (const auto& dialogue : dialogues_) dialogue->begin(now_);
    std::uint64_t still = 0;
    const auto over = [](const std::unique_ptr<Dialogue>& dialogue) { return dialogue->over(); };
    for (bool forgotten = false; !forgotten;) {
        turn();
        for (const auto& dialogue : dialogues_)
            if (!dialogue->problem().empty()) return dialogue->problem();
        if (kept_back_) return "an event was kept back until the next poll()";
        forgotten = std::ranges::all_of(dialogues_, over) &&
                    endpoints_[0].manager().size() + endpoints_[1].manager().size() == 0;
        const auto next = due();
        if (forgotten) break;
        if (!next) return stuck("nothing is ever due");
        still = *next <= now_ ? still + 1 : 0;
        now_ = std::max(now_, *next);
        if (now_ > end || still > 20'000 || turns_ > kMostTurns)
            return stuck(still > 20'000 ? "time stands still" : "not over");
    }
    for (const auto& dialogue : dialogues_) {
        dialogue->close();
        if (!dialogue->problem().empty()) return dialogue->problem();
    }
    return leaks();
}

std::string World::leaks() {
    for (const std::size_t side : {0U, 1U}) {
        Endpoint& endpoint = endpoints_[side];
        ExchangeHost& host = hosts_[side];
        if (host.srq && !endpoint.adapter().destroy_srq(*host.srq)) return "the shared receive queue is still used";
        if (host.shared && (!host.shared->untouched() || !host.shared->close()))
            return "shared receives were touched, or are still used";
        if (!endpoint.adapter().dealloc_pd(host.pd)) return "the protection domain is still used";
        if (endpoint.manager().size() != 0 || endpoint.manager().half_open() != 0)
            return "the connection manager remembers something";
        if (endpoint.waiting() != 0) return "packets still wait for an address";
        if (endpoint.counts().malformed != 0) return "a packet of ours was malformed";
    }
    return {};
}

}  // namespace qps::tests
