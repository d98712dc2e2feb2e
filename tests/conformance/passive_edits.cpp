// Captures that break the rule of a passive check by one field, beside those of the other tables: other fields, other
// packets, all of them in place of one.
#include <tests/conformance/passive_mutants.hpp>

namespace qps::tests {

namespace {

enum class Whose : std::uint8_t { one, all };
struct Edit {
    std::string_view id;
    std::string_view what;  // is wrong
    std::string_view sample;
    std::string_view filter;  // packets
    std::string_view field;
    std::uint64_t value;
    bool added = false;  // to what the field is
    Whose whose = Whose::one;
};

constexpr std::array kEdits{
    Edit{"FMT-06", "TVer is 1", "rping_v4", kRcPackets, "infiniband.bth.tver", 1},
    Edit{"FMT-06", "Resv6 is 1", "rping_v4", kRcPackets, "infiniband.bth.reserved6", 1},
    Edit{"FMT-08", "every packet has MigReq 0", "rping_v4", kRcPackets, "infiniband.bth.m", 0, false, Whose::all},
    Edit{"FMT-09", "a datagram of an application asks for an ACK", "ud_pingpong", "infiniband.bth.opcode == 0x64",
         "infiniband.bth.a", 1},
    Edit{"FMT-10", "the FIRST of a WRITE has SE", "write_8k", "infiniband.bth.opcode == 6", "infiniband.bth.se", 1},
    Edit{"FMT-16", "another port than the queue pair's", "rping_v4", kRcPackets, "udp.srcport", 0xc123},
    Edit{"FMT-21", "BECN in one packet", "rping_v4", kRcPackets, "infiniband.bth.becn", 1},
    Edit{"FMT-22", "another source QP", "rping_v4", kGsiPackets, "infiniband.deth.srcqp", 5},
    Edit{"RSP-20", "the MSN of a READ is far behind", "rping_v4", "infiniband.bth.opcode == 15", "infiniband.aeth.msn",
         0xff'ff00, true},
    Edit{"REQ-01", "a LAST has the PSN behind its own", "write_8k", "infiniband.bth.opcode == 8", "infiniband.bth.psn",
         1, true},
    Edit{"REQ-02", "the LAST of a WRITE is a MIDDLE", "write_8k", "infiniband.bth.opcode == 8", "infiniband.bth.opcode",
         7},
    Edit{"REQ-03", "a DMA length is one more", "write_8k", "infiniband.bth.opcode == 6", "infiniband.reth.dmalen", 1,
         true},
    Edit{"CM-01", "the method is GET", "rping_v4", "infiniband.cm.rtu", "infiniband.mad.method", 1},
    Edit{"CM-02", "a reserved field is not 0", "rping_v4", "infiniband.cm.request", "infiniband.cm.req.prim_reserved0",
         1, false, Whose::all},
    Edit{"CM-03", "another destination address", "rping_v4", "infiniband.cm.request", "infiniband.cm.req.ip_cm.dip4",
         0x01020304, false, Whose::all},
    Edit{"CM-26", "an RTU has another transaction ID", "rping_v4", "infiniband.cm.rtu", "infiniband.mad.transactionid",
         4711, false, Whose::all},
    Edit{"CNP-01", "a CNP has SE", "congestion", "infiniband.cnp", "infiniband.bth.se", 1},
    Edit{"CNP-01", "a CNP has AckReq", "congestion", "infiniband.cnp", "infiniband.bth.a", 1},
    Edit{"ERR-07", "the MSN of a READ is five ahead", "rping_v4", "infiniband.bth.opcode == 15", "infiniband.aeth.msn",
         5, true},
};

void edit(RecordedCapture& capture, const Edit& row) {
    const auto places = matching(capture, row.filter);
    REQUIRE_FALSE(places.empty());
    for (const std::size_t place : places) {
        if (row.whose == Whose::one && place != places[places.size() / 2]) continue;
        RecordedFrame& frame = capture.frames[place];
        REQUIRE(set_field(frame, row.field, row.value + (row.added ? field_of(frame, row.field) : 0)));
    }
}

}  // namespace

PassiveMutants edited_mutants() {
    PassiveMutants all;
    for (const Edit& row : kEdits)
        all.push_back({row.id, std::string(row.what), [&row] { return healed(row.sample); },
                       [&row](RecordedCapture& c) { edit(c, row); }});
    return all;
}

}  // namespace qps::tests
