// Field tables of events (13.4.8.2, 13.4.8.3, 14.2.5.1, 15.2.5.12): notices with the details of each trap,
// subscriptions.
//
// What the 54 bytes of details are is decided by the trap's number, of notices of the specification's own kind only:
// those of vendors have numbers of their own and are another layer. Numbers, ports and paths in the details are the
// sender's word.
#pragma once

#include <dissect/mad/names.hpp>

#include <array>

namespace qps::dissect {

namespace kind {
inline constexpr LayerKind notice = kind_in(LayerFamily::management, 0);
inline constexpr LayerKind vendor_notice = kind_in(LayerFamily::management, 1);
inline constexpr LayerKind notice_issuer = kind_in(LayerFamily::management, 2);
inline constexpr LayerKind inform_info = kind_in(LayerFamily::management, 3);
inline constexpr LayerKind inform_info_record = kind_in(LayerFamily::management, 4);
}  // namespace kind

inline constexpr std::size_t kNoticeLength =
    64;                                         // what an SMP has room for; others have the GID of the issuer behind it
inline constexpr unsigned kNoticeDetails = 10;  // offset
inline constexpr std::size_t kNoticeDetailsLength = 54;

inline constexpr std::array kNoticeTypes{
    ValueName{0, "Fatal"},         ValueName{1, "Urgent"},
    ValueName{2, "Security"},      ValueName{3, "Subnet management"},
    ValueName{4, "Informational"}, ValueName{0x7f, "Empty"},
};
inline constexpr std::array kProducerTypes{
    ValueName{1, "Channel adapter"},   ValueName{2, "Switch"},     ValueName{3, "Router"},
    ValueName{4, "Subnet management"}, ValueName{0xffffff, "All"},  // of a subscription
};
// 14.2.5.1 and 14.4.11; 68 and 69 came with release 1.2.
inline constexpr std::array kTrapNumbers{
    ValueName{64, "GID now in service"},
    ValueName{65, "GID out of service"},
    ValueName{66, "Multicast group created"},
    ValueName{67, "Multicast group deleted"},
    ValueName{68, "Path is not valid any more"},
    ValueName{69, "Path was computed again"},
    ValueName{128, "Link state of a port changed"},
    ValueName{129, "Local link integrity threshold reached"},
    ValueName{130, "Excessive buffer overrun threshold reached"},
    ValueName{131, "Flow control watchdog timer expired"},
    ValueName{144, "Capabilities, settings or name changed"},
    ValueName{145, "System image GUID changed"},
    ValueName{256, "Bad M_Key"},
    ValueName{257, "Bad P_Key"},
    ValueName{258, "Bad Q_Key"},
    ValueName{259, "Bad P_Key at a port of a switch"},
};

namespace notice_rows {

inline constexpr std::uint16_t kTrap = at(4);  // bits of the trap's number
inline constexpr unsigned kMostDetails = 64;

// The parts of the details of every trap, each under the condition of its number.
struct Details {
    std::array<Field, kMostDetails> rows{};
    std::size_t count = 0;
    constexpr void add(unsigned trap, const Field& field) { rows[count++] = field.part().only_if(kTrap, 16, trap); }
};

constexpr std::uint16_t in(unsigned byte, unsigned bit = 0) { return at(kNoticeDetails + byte, bit); }

constexpr void add_key_violation(Details& all, unsigned trap, unsigned key_bytes) {
    const unsigned sl = 6 + key_bytes;  // what follows the key
    all.add(trap, row::decimal("infiniband.trap.lidaddr1", "First LID", in(2), 16));
    all.add(trap, row::decimal("infiniband.trap.lidaddr2", "Second LID", in(4), 16));
    all.add(trap, row::decimal("infiniband.trap.sl", "SL", in(sl), 4));
    all.add(trap, row::decimal("infiniband.trap.qp1", "First QP", in(sl + 1), 24));
    all.add(trap, row::decimal("infiniband.trap.qp2", "Second QP", in(sl + 5), 24));
    all.add(trap, row::ipv6("infiniband.trap.gidaddr1", "First GID", in(sl + 8)));
    all.add(trap, row::ipv6("infiniband.trap.gidaddr2", "Second GID", in(sl + 24)));
}

constexpr void add_local_change(Details& all) {
    constexpr unsigned kChange = 144;
    all.add(kChange, row::decimal("infiniband.trap.lidaddr", "LID of the port", in(2), 16));
    all.add(kChange, row::flag("infiniband.trap.otherlocalchanges", "Other local changes", in(5, 7)));
    all.add(kChange, row::hex("infiniband.trap.capabilitymask", "Capability mask", in(6), 32));
    all.add(kChange, row::flag("infiniband.trap.linkspeecenabledchange", "Link speeds enabled changed", in(11, 5)));
    all.add(kChange, row::flag("infiniband.trap.linkwidthenabledchange", "Link widths enabled changed", in(11, 6)));
    all.add(kChange, row::flag("infiniband.trap.nodedescriptionchange", "Node description changed", in(11, 7)));
    constexpr unsigned kImage = 145;
    all.add(kImage, row::decimal("infiniband.trap.lidaddr", "LID of the port", in(2), 16));
    all.add(kImage, row::guid("infiniband.trap.systemimageguid", "New system image GUID", in(6)));
}

constexpr void add_m_key_violation(Details& all) {
    constexpr unsigned kTrapNumber = 256;
    all.add(kTrapNumber, row::decimal("infiniband.trap.lidaddr", "LID of the port", in(2), 16));
    all.add(kTrapNumber, row::decimal("infiniband.trap.drslid", "Directed route source LID", in(4), 16));
    all.add(kTrapNumber, row::hex("infiniband.trap.method", "Method of the SMP", in(6), 8).named(kMethods));
    all.add(kTrapNumber, row::hex("infiniband.trap.attributeid", "Attribute ID of the SMP", in(8), 16));
    all.add(kTrapNumber, row::hex("infiniband.trap.attributemodifier", "Attribute modifier of the SMP", in(10), 32));
    all.add(kTrapNumber, row::hex("infiniband.trap.mkey", "M_Key of the SMP", in(14), 64));
    all.add(kTrapNumber, row::flag("infiniband.trap.drnotice", "The SMP was directed-route", in(23)));
    all.add(kTrapNumber, row::flag("infiniband.trap.drpathtruncated", "Path truncated", in(23, 1)));
    all.add(kTrapNumber, row::decimal("infiniband.trap.drhopcount", "Hop count", in(23, 2), 6));
    all.add(kTrapNumber, row::bytes("infiniband.trap.drnoticereturnpath", "Return path", in(24), 240));
}

inline constexpr Details kDetails = [] {
    Details all;
    for (const unsigned trap : {64U, 65U, 66U, 67U}) all.add(trap, row::ipv6("infiniband.trap.gidaddr", "GID", in(6)));
    all.add(128, row::decimal("infiniband.trap.lidaddr", "LID of the switch", in(0), 16));
    for (const unsigned trap : {129U, 130U, 131U}) {
        all.add(trap, row::decimal("infiniband.trap.lidaddr", "LID of the port", in(2), 16));
        all.add(trap, row::decimal("infiniband.trap.portno", "Port number", in(4), 8));
    }
    add_local_change(all);
    add_m_key_violation(all);
    for (const unsigned trap : {257U, 258U}) {
        all.add(trap, row::hex("infiniband.trap.key", "P_Key or Q_Key", in(6), 32));
        add_key_violation(all, trap, 4);
    }
    constexpr unsigned kAtSwitch = 259;
    all.add(kAtSwitch, row::hex("infiniband.trap.datavalid", "Which of the details are valid", in(0), 16));
    all.add(kAtSwitch, row::hex("infiniband.trap.pkey", "P_Key", in(6), 16));
    add_key_violation(all, kAtSwitch, 2);
    all.add(kAtSwitch, row::decimal("infiniband.trap.swlidaddr", "LID of the switch", in(48), 16));
    all.add(kAtSwitch, row::decimal("infiniband.trap.portno", "Port number of the switch", in(50), 8));
    return all;
}();

}  // namespace notice_rows

inline constexpr auto kNoticeFields = [] {
    constexpr std::array kCommon{
        row::flag("infiniband.notice.isgeneric", "Generic: of the specification's own kind", at(0)),
        row::decimal("infiniband.notice.type", "Type", at(0, 1), 7).named(kNoticeTypes),
        row::decimal("infiniband.notice.producertypevendorid", "Type of the producer", at(1), 24).named(kProducerTypes),
        row::decimal("infiniband.notice.trapnumberdeviceid", "Trap number", at(4), 16).named(kTrapNumbers),
        row::decimal("infiniband.notice.issuerlid", "LID of the issuer", at(6), 16),
        row::flag("infiniband.notice.noticetoggle", "Toggle", at(8)),
        row::decimal("infiniband.notice.noticecount", "Notices that wait", at(8, 1), 15),
        row::bytes("infiniband.notice.datadetails", "Details", at(kNoticeDetails), kNoticeDetailsLength * 8),
    };
    std::array<Field, kCommon.size() + notice_rows::kDetails.count> all{};
    std::size_t next = 0;
    for (const Field& field : kCommon) all[next++] = field;
    for (std::size_t i = 0; i < notice_rows::kDetails.count; ++i) all[next++] = notice_rows::kDetails.rows[i];
    return all;
}();
static_assert(tiles(kNoticeFields, kNoticeLength));

inline constexpr std::array kVendorNoticeFields{
    row::flag("infiniband.notice.isgeneric", "Generic: not set of a vendor's notice", at(0)),
    row::decimal("infiniband.notice.type", "Type", at(0, 1), 7).named(kNoticeTypes),
    row::decimal("infiniband.notice.producertypevendorid", "Vendor ID", at(1), 24),
    row::decimal("infiniband.notice.trapnumberdeviceid", "Device ID", at(4), 16),
    row::decimal("infiniband.notice.issuerlid", "LID of the issuer", at(6), 16),
    row::flag("infiniband.notice.noticetoggle", "Toggle", at(8)),
    row::decimal("infiniband.notice.noticecount", "Notices that wait", at(8, 1), 15),
    row::bytes("infiniband.notice.datadetails", "Details", at(kNoticeDetails), kNoticeDetailsLength * 8),
};
static_assert(tiles(kVendorNoticeFields, kNoticeLength));

inline constexpr std::array kNoticeIssuerFields{
    row::ipv6("infiniband.notice.issuergid", "GID of the issuer", at(0)),
};
static_assert(tiles(kNoticeIssuerFields, 16));

// 13.4.8.3.
inline constexpr std::array kInformInfoFields{
    row::ipv6("infiniband.informinfo.gid", "GID whose events are subscribed to", at(0)),
    row::decimal("infiniband.informinfo.lidrangebegin", "First LID whose events are subscribed to", at(16), 16),
    row::decimal("infiniband.informinfo.lidrangeend", "Last LID whose events are subscribed to", at(18), 16),
    row::reserved(at(20), 16),
    row::decimal("infiniband.informinfo.isgeneric", "Generic: of the specification's own kind", at(22), 8),
    row::decimal("infiniband.informinfo.subscribe", "Subscribe, else unsubscribe", at(23), 8),
    row::decimal("infiniband.informinfo.type", "Type", at(24), 16),
    row::decimal("infiniband.informinfo.trapnumberdeviceid", "Trap number, or device ID of a vendor's", at(26), 16),
    row::decimal("infiniband.informinfo.qpn", "QP of the subscriber", at(28), 24),
    row::reserved(at(31), 3),
    row::exponent("infiniband.informinfo.resptimevalue", "Response time of the subscriber", at(31, 3), 5),
    row::reserved(at(32), 8),
    row::decimal("infiniband.informinfo.producertypevendorid", "Type of the producer, or vendor ID", at(33), 24),
};
static_assert(tiles(kInformInfoFields, 36));

// 15.2.5.12: before the InformInfo.
inline constexpr std::array kInformInfoRecordFields{
    row::ipv6("infiniband.informinforecord.subscribergid", "GID of the subscriber", at(0)),
    row::decimal("infiniband.informinforecord.enum", "Number of the subscription", at(16), 16),
    row::reserved(at(18), 48),
};
static_assert(tiles(kInformInfoRecordFields, 24));

inline constexpr std::array kNoticeHeaders{
    Header{kind::notice, "infiniband.notice", "Notice", kNoticeLength, kNoticeFields},
    Header{kind::vendor_notice, "infiniband.notice.vendor", "Notice of a Vendor", kNoticeLength, kVendorNoticeFields},
    Header{kind::notice_issuer, "infiniband.notice.issuer", "Issuer of the Notice", 16, kNoticeIssuerFields},
    Header{kind::inform_info, "infiniband.informinfo", "InformInfo", 36, kInformInfoFields},
    Header{kind::inform_info_record, "infiniband.informinforecord", "InformInfoRecord", 24, kInformInfoRecordFields},
};

}  // namespace qps::dissect
