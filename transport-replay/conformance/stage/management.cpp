// What a message of communication management says where the script leaves it open: what rdma_cm says (A11, chapter 12).
#include <dissect/mad/cm.hpp>
#include <transport-replay/conformance/stage/packet_maker.hpp>
#include <transport-replay/live/cm/ip_cm.hpp>

#include <array>

namespace qps::transport::conformance::stage {

using namespace dissect;

namespace {

struct Usual {
    std::string_view field;
    std::uint64_t value;
};
constexpr std::uint64_t kTimeout = 20;  // 4.3 s, as rdma_cm of Linux

constexpr std::array kUsualReq{
    Usual{"infiniband.cm.req.responderres", 4},
    Usual{"infiniband.cm.req.initdepth", 4},
    Usual{"infiniband.cm.req.remoteresptout", kTimeout},
    Usual{"infiniband.cm.req.localresptout", kTimeout},
    Usual{"infiniband.cm.req.retrcount", 7},
    Usual{"infiniband.cm.req.rnrretrcount", 7},
    Usual{"infiniband.cm.req.pkey", 0xffff},
    Usual{"infiniband.cm.req.pppmtu", 3},
    Usual{"infiniband.cm.req.maxcmretr", 15},
    Usual{"infiniband.cm.req.prim_locallid", 0xffff},
    Usual{"infiniband.cm.req.prim_remotelid", 0xffff},
    Usual{"infiniband.cm.req.prim_hoplim", 64},
    Usual{"infiniband.cm.req.prim_subnetlocal", 0},  // as the hop limit says
    Usual{"infiniband.cm.req.prim_localacktout", 18},
    Usual{"infiniband.cm.req.prim_pktrate", 7},
};

// Numbers that no other message of the run has.
std::uint64_t draw(Management& management) { return mix(management.guid * 31 + ++management.drawn); }

void set_request(PacketSpec& spec, const Making& making) {
    const Management& management = making.management;
    for (const Usual& row : kUsualReq) set(spec, row.field, row.value);
    set(spec, "infiniband.cm.req", management.our_comm);
    set(spec, "infiniband.cm.req.serviceid",
        static_cast<std::uint64_t>(live::ip_service(live::PortSpace::tcp, live::IpPort{0})));
    set(spec, "infiniband.cm.req.localcaguid", management.guid);
    set(spec, "infiniband.cm.req.localqpn", std::to_underlying(management.local_qp));
    set(spec, "infiniband.cm.req.startpsn", management.start_psn.value());
    set(spec, "infiniband.cm.req.prim_localgid", Bytes(gid_of(making.route.source)));
    set(spec, "infiniband.cm.req.prim_remotegid", Bytes(gid_of(making.route.destination)));
}

// Local and remote communication ID, wherever the message has them.
void set_ids(PacketSpec& spec, const Management& management) {
    struct Names {
        std::string_view local, remote;
    };
    static constexpr std::array kNames{
        Names{"infiniband.cm.mra.localcommid", "infiniband.cm.mra.remotecommid"},
        Names{"infiniband.cm.rej.localcommid", "infiniband.cm.rej.remotecommid"},
        Names{"infiniband.cm.rep", "infiniband.cm.rep.remotecommid"},
        Names{"infiniband.cm.rtu.localcommid", "infiniband.cm.rtu.remotecommid"},
        Names{"infiniband.cm.dreq.localcommid", "infiniband.cm.dreq.remotecommid"},
        Names{"infiniband.cm.drsp.localcommid", "infiniband.cm.drsp.remotecommid"},
        Names{"infiniband.cm.lap.localcommid", "infiniband.cm.lap.remotecommid"},
        Names{"infiniband.cm.apr.localcommid", "infiniband.cm.apr.remotecommid"},
    };
    for (const Names& row : kNames) {
        set(spec, row.local, management.our_comm);
        set(spec, row.remote, management.their_comm);
    }
}

}  // namespace

std::array<std::byte, 16> gid_of(const Address& address) {
    std::array<std::byte, 16> bytes{};
    write_bits(bytes, 0, 64, address.bits[0]);
    write_bits(bytes, 64, 64, address.bits[1]);
    return bytes;
}

void set_management(PacketSpec& spec, const MadAttribute& attribute, const Making& making) {
    Management& management = making.management;
    constexpr std::uint64_t kClassVersion = 2, kSend = 3, kGsiQkey = 0x8001'0000;
    set(spec, "infiniband.deth.q_key", kGsiQkey);
    set(spec, "infiniband.mad.classversion", kClassVersion);
    set(spec, "infiniband.mad.method", kSend);
    const bool begins = attribute.data == LayerKind::cm_req || attribute.data == LayerKind::cm_sidr_req;
    const bool own = begins || attribute.data == LayerKind::cm_dreq || attribute.data == LayerKind::cm_lap;
    if (begins) {
        management.our_comm = static_cast<std::uint32_t>(draw(management));
        management.source_port = static_cast<std::uint16_t>(0xc000U | (draw(management) & 0x3fffU));
        management.local_qp = Qpn{static_cast<std::uint32_t>(0x80'0000U | (draw(management) & 0x3f'ffffU))};
        management.start_psn = Psn(static_cast<std::uint32_t>(draw(management)));
    } else if (management.our_comm == 0) {
        management.our_comm = static_cast<std::uint32_t>(draw(management));  // we answer the device's request
    }
    if (own) management.our_tid = draw(management);
    set(spec, "infiniband.mad.transactionid",
        own || management.their_tid == 0 ? management.our_tid : management.their_tid);
    set_ids(spec, management);
    if (attribute.data == LayerKind::cm_req) set_request(spec, making);
    set(spec, "infiniband.cm.rep.localqpn", std::to_underlying(management.local_qp));
    set(spec, "infiniband.cm.rep.startpsn", management.start_psn.value());
    set(spec, "infiniband.cm.rep.localcaguid", management.guid);
    set(spec, "infiniband.cm.rep.rnrretrcount", 7);
    set(spec, "infiniband.cm.sidr_req.requestid", management.our_comm);
    set(spec, "infiniband.cm.sidr_req.pkey", 0xffff);
    set(spec, "infiniband.cm.sidr_rep.requestid", management.their_comm);
}

HeaderSpec ip_cm_header(const Making& making) {
    HeaderSpec header_spec{LayerKind::cm_ip_private};
    const bool ipv4 = live::is_ipv4(making.route.source);
    set(header_spec, "infiniband.cm.req.ip_cm.ipv", ipv4 ? 4 : 6);
    set(header_spec, "infiniband.cm.req.ip_cm.sport", making.management.source_port);
    if (ipv4) {
        set(header_spec, "infiniband.cm.req.ip_cm.sip4", live::ipv4_bits(making.route.source));
        set(header_spec, "infiniband.cm.req.ip_cm.dip4", live::ipv4_bits(making.route.destination));
    } else {
        set(header_spec, "infiniband.cm.req.ip_cm.sip6", Bytes(gid_of(making.route.source)));
        set(header_spec, "infiniband.cm.req.ip_cm.dip6", Bytes(gid_of(making.route.destination)));
    }
    return header_spec;
}

}  // namespace qps::transport::conformance::stage
