// What queue pair 1 sends and receives: one management datagram and whom it is for or from.
//
// The interface between the connection manager, which knows what is in the bytes, and the adapter, which puts DETH, BTH
// and the headers of the network around them. A UD packet to QP 1 with the Q_Key of the GSI carries exactly these 256
// bytes (C13-3); whatever has another length never becomes one of these. Every byte, and both addresses, are the
// sender's word.
#pragma once

#include <dissect/base/types.hpp>
#include <dissect/mad/mad.hpp>
#include <transport-replay/model/address.hpp>

#include <array>
#include <cstddef>

namespace qps::transport::live {

inline constexpr dissect::Qkey kGsiQkey{0x8001'0000};  // 3.5.3: of QP 1, well known
inline constexpr dissect::Pkey kDefaultPkey{
    0xffff};  // full member of the default partition (10.9.1.1; RoCE has no other, A17.7.1)
inline constexpr std::uint16_t kFullMembership{0x8000};  // bit 15 of a P_Key (10.9.1.1)

struct ManagementDatagram {
    std::array<std::byte, dissect::kMadLength> bytes{};
    Address remote{};  // where it goes or came from
    Address local{};   // arrived: where it went to; to send: from where (AddressSpace::none: the host chooses)
    dissect::Qpn remote_qp = dissect::kGsiQpn;  // of the DETH of one that arrived; where one to send goes
    dissect::Pkey pkey = kDefaultPkey;          // of the BTH
    [[nodiscard]] bool operator==(const ManagementDatagram&) const = default;
};

}  // namespace qps::transport::live
