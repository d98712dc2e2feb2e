// The header table: every layer kind's row, collected from its family.
#include <dissect/headers/derived.hpp>
#include <dissect/headers/grid_ftp.hpp>
#include <dissect/headers/icmp.hpp>
#include <dissect/headers/infiniband.hpp>
#include <dissect/headers/infiniband_link.hpp>
#include <dissect/headers/internet.hpp>
#include <dissect/headers/link.hpp>
#include <dissect/headers/segment_routing.hpp>
#include <dissect/headers/tunnel.hpp>
#include <dissect/lldp/dcbx.hpp>
#include <dissect/lldp/tlvs.hpp>
#include <dissect/mad/headers.hpp>
#include <dissect/omni_path/management.hpp>
#include <dissect/omni_path/packets.hpp>
#include <dissect/ulp/ipoib.hpp>
#include <dissect/ulp/iser.hpp>
#include <dissect/ulp/iwarp.hpp>
#include <dissect/ulp/libfabric.hpp>
#include <dissect/ulp/lnet.hpp>
#include <dissect/ulp/lustre.hpp>
#include <dissect/ulp/nvme.hpp>
#include <dissect/ulp/rds.hpp>
#include <dissect/ulp/rpc_rdma.hpp>
#include <dissect/ulp/rsockets.hpp>
#include <dissect/ulp/sdp.hpp>
#include <dissect/ulp/smb_direct.hpp>
#include <dissect/ulp/srp.hpp>
#include <dissect/ulp/ucx.hpp>
#include <dissect/ultra_ethernet/native.hpp>
#include <dissect/ultra_ethernet/pds.hpp>
#include <dissect/ultra_ethernet/ses.hpp>

namespace qps::dissect {

namespace {

template <std::size_t N>
constexpr void enter(std::array<Header, kLayerKinds>& table, const std::array<Header, N>& family) {
    for (const Header& row : family) {
        Header& place = table[static_cast<std::size_t>(row.kind)];
        if (!place.title.empty()) throw "two rows for one kind of layer";
        place = row;
    }
}

constexpr std::array<Header, kLayerKinds> kHeaders = [] {
    std::array<Header, kLayerKinds> table{};
    enter(table, kDerivedHeaders);
    enter(table, kLinkHeaders);
    enter(table, kInternetHeaders);
    enter(table, kSegmentRoutingHeaders);
    enter(table, kNativeUetHeaders);
    enter(table, kIcmpHeaders);
    enter(table, kGridFtpHeaders);
    enter(table, kInfinibandLinkHeaders);
    enter(table, kTunnelHeaders);
    enter(table, kInfinibandHeaders);
    enter(table, kMadHeaders);
    enter(table, kNvmeHeaders);
    enter(table, kRdsHeaders);
    enter(table, kIpoibHeaders);
    enter(table, kRsocketsHeaders);
    enter(table, kLnetHeaders);
    enter(table, lustre::kLustreHeaders);
    enter(table, ucx::kUcxHeaders);
    enter(table, libfabric::kLibfabricHeaders);
    enter(table, sdp::kSdpHeaders);
    enter(table, scsi::kScsiHeaders);
    enter(table, iscsi::kIscsiHeaders);
    enter(table, iser::kIserHeaders);
    enter(table, srp::kSrpHeaders);
    enter(table, kRpcRdmaHeaders);
    enter(table, kSmbDirectHeaders);
    enter(table, kOpaPacketHeaders);
    enter(table, kOpaManagementHeaders);
    enter(table, kOpaPsmHeaders);
    enter(table, kIwarpHeaders);
    enter(table, kPdsHeaders);
    enter(table, kSesHeaders);
    enter(table, kLldpHeaders);
    enter(table, kDcbxHeaders);
    for (std::size_t kind = 0; kind < static_cast<std::size_t>(LayerKind::count_); ++kind)
        if (table[kind].title.empty()) throw "a kind of layer without a row";
    return table;
}();

}  // namespace

const Header& header(LayerKind kind) { return kHeaders[static_cast<std::size_t>(kind)]; }

}  // namespace qps::dissect
