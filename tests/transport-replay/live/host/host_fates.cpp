// Every name of what becomes of a frame, and of how an address is reached, and what causes it: a name that nothing causes is no name.
#include <tests/support/lan.hpp>

#include <set>

using namespace qps::tests::lan;

namespace {

std::vector<std::byte> changed(void (*change)(PacketSpec&)) {  // a SEND from b to a
    PacketSpec spec = roce_to_a(Network::roce_v2_ipv4);
    change(spec);
    return frame_from_stranger(spec);
}

struct FateCause {
    FrameFate fate;
    std::vector<std::byte> (*frame)();
};
constexpr std::array kFateCauses{
    FateCause{FrameFate::roce, [] { return changed([](PacketSpec&) {}); }},
    FateCause{FrameFate::consumed,
              [] {
                  const auto frame = arp_frame({kMacB, kMacA}, {ArpOperation::reply, kMacB, kB, kMacA, kA});
                  return std::vector(frame.begin(), frame.end());
              }},
    FateCause{FrameFate::not_to_our_mac, [] { return changed([](PacketSpec& spec) { set(spec, "eth.dst", std::to_underlying(kMacB)); }); }},
    FateCause{FrameFate::other_vlan,
              [] {
                  return changed([](PacketSpec& spec) {
                      insert_before(spec, LayerKind::ipv4, {{LayerKind::vlan}});
                      set(spec, "vlan.id", 7);
                  });
              }},
    FateCause{FrameFate::not_to_our_address, [] { return changed([](PacketSpec& spec) { set(spec, "ip.dst", ipv4_bits(kB)); }); }},
    FateCause{FrameFate::unreadable, [] { return changed([](PacketSpec& spec) { set(spec, "ip.flags.mf", 1); }); }},
    FateCause{FrameFate::not_understood,
              [] {
                  return changed([](PacketSpec& spec) {
                      spec.headers.resize(2);  // Ethernet and IPv4
                      spec.payload.resize(64);
                      set(spec, "ip.proto", 253);  // RFC 3692: for experiments
                  });
              }},
};

struct ReachCause {
    Reach reach;
    Reach (*ask)(Lan&);
};
Reach asked(Lan& lan, Network network, const Address& to) {
    Route route = route_over(network, to);
    return lan.a.complete(route, 0, lan.now);
}
constexpr std::array kReachCauses{
    ReachCause{Reach::ready, [](Lan& lan) { return asked(lan, Network::roce_v2_ipv4, kGroup); }},
    ReachCause{Reach::resolving, [](Lan& lan) { return asked(lan, Network::roce_v2_ipv4, kB); }},
    ReachCause{Reach::unreachable,
               [](Lan& lan) {
                   const Address nobody = ipv4_address(0xc000'0277);
                   static_cast<void>(asked(lan, Network::roce_v2_ipv4, nobody));
                   lan.pass(4000);
                   return asked(lan, Network::roce_v2_ipv4, nobody);
               }},
    ReachCause{Reach::no_source,
               [](Lan& lan) {
                   Route route = route_over(Network::roce_v2_ipv4, kB);
                   route.source = ipv4_address(0xc000'0299);
                   return lan.a.complete(route, 0, lan.now);
               }},
    ReachCause{Reach::no_gateway, [](Lan& lan) { return asked(lan, Network::roce_v2_ipv4, ipv4_address(0xc633'6401)); }},
    ReachCause{Reach::no_such, [](Lan& lan) { return asked(lan, Network::native_local, kB); }},
};

}  // namespace

TEST_CASE("every fate of a frame has a cause") {
    std::set<FrameFate> caused;
    for (const FateCause& cause : kFateCauses) {
        CAPTURE(kFrameFates[std::to_underlying(cause.fate)]);
        Lan lan;
        lan.settle();
        const FrameFate fate = lan.a.process(cause.frame(), lan.now).fate;
        CHECK(kFrameFates[std::to_underlying(fate)] == kFrameFates[std::to_underlying(cause.fate)]);
        caused.insert(fate);
    }
    CHECK(caused.size() == kFrameFates.size());
}

TEST_CASE("every way that an address is reached or not has a cause") {
    std::set<Reach> caused;
    for (const ReachCause& cause : kReachCauses) {
        CAPTURE(kReaches[std::to_underlying(cause.reach)]);
        Lan lan;
        lan.settle();
        const Reach reach = cause.ask(lan);
        CHECK(kReaches[std::to_underlying(reach)] == kReaches[std::to_underlying(cause.reach)]);
        caused.insert(reach);
    }
    CHECK(caused.size() == kReaches.size());
}
