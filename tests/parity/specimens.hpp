// Captures built for the comparison: headers and attributes that no sample capture has, with a distinct value in every
// field.
#pragma once

#include <string>
#include <vector>

namespace qps::test {

struct Capture {
    std::string name;
    std::string path;
};

// Writes them into a folder:
//   built_opcodes   RC, UC and UD over every Ethernet network
//   built_mads      every attribute of every management class, in RoCEv2
//   built_notices   a notice of each trap
//   built_omni_path every attribute of Omni-Path that is named, in ERF records with and without notes of the host
//   built_tunnels   tags, tunnels, extension headers, PAUSE and PFC
//   built_smb_direct  a dialogue of SMB Direct with SMB2
//   built_erf       native packets in ERF records, the one form in which tshark reads them
//   built_lnet      every message of LNet's o2iblnd
//   built_lustre    requests and replies of Lustre above it
//   built_ipoib     ARP and UDP over IPoIB datagrams
//   built_icmp      ICMP, ICMPv6, neighbour discovery and multicast listener discovery, errors with what they quote
//   built_cooked    behind a Linux cooked header
//   built_loopback  behind a null header
// Other payloads are long and do not look like a protocol, so that no heuristic of tshark's takes them.
[[nodiscard]] std::vector<Capture> write_specimens(const std::string& folder);

}  // namespace qps::test
