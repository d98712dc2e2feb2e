// Every name of what becomes of a frame, and of how an address is reached, and what causes it: a name that nothing
// causes is no name.
#include <tests/support/lan.hpp>

#include <set>

using namespace qps::tests::lan;

namespace {

std::vector<std::byte> changed(void (*change)(PacketSpec&)) {  // a SEND from b to a
    PacketSpec spec = roce_to_a(Network::roce_v2_ipv4);
    change(spec);
    return frame_from_stranger(spec);
}

struct DispositionCause {
    FrameDisposition disposition;
    std::vector<std::byte> (*frame)();
};
constexpr std::array kDispositionCauses{
    DispositionCause{FrameDisposition::roce, [] { return changed([](PacketSpec&) {}); }},
    DispositionCause{FrameDisposition::consumed,
                     [] {
                         const auto frame = arp_frame({kMacB, kMacA}, {ArpOperation::reply, kMacB, kB, kMacA, kA});
                         return std::vector(frame.begin(), frame.end());
                     }},
    DispositionCause{FrameDisposition::not_to_our_mac,
                     [] { return changed([](PacketSpec& spec) { set(spec, "eth.dst", std::to_underlying(kMacB)); }); }},
    DispositionCause{FrameDisposition::other_vlan,
                     [] {
                         return changed([](PacketSpec& spec) {
                             insert_before(spec, LayerKind::ipv4, {{LayerKind::vlan}});
                             set(spec, "vlan.id", 7);
                         });
                     }},
    DispositionCause{FrameDisposition::not_to_our_address,
                     [] { return changed([](PacketSpec& spec) { set(spec, "ip.dst", ipv4_bits(kB)); }); }},
    DispositionCause{FrameDisposition::unreadable,
                     [] { return changed([](PacketSpec& spec) { set(spec, "ip.flags.mf", 1); }); }},
    DispositionCause{FrameDisposition::not_understood,
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
    ReachCause{Reach::no_gateway,
               [](Lan& lan) { return asked(lan, Network::roce_v2_ipv4, ipv4_address(0xc633'6401)); }},
    ReachCause{Reach::no_such, [](Lan& lan) { return asked(lan, Network::native_local, kB); }},
};

}  // namespace

TEST_CASE("every disposition of a frame has a cause") {
    std::set<FrameDisposition> caused;
    for (const DispositionCause& cause : kDispositionCauses) {
        CAPTURE(kFrameDispositions[std::to_underlying(cause.disposition)]);
        Lan lan;
        lan.settle();
        const FrameDisposition disposition = lan.a.process(cause.frame(), lan.now).disposition;
        CHECK(kFrameDispositions[std::to_underlying(disposition)] ==
              kFrameDispositions[std::to_underlying(cause.disposition)]);
        caused.insert(disposition);
    }
    CHECK(caused.size() == kFrameDispositions.size());
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
