// Captures that break the rule of a passive check by one field, beside those of passive_mutants.cpp: other fields, other packets, all of
// them in place of one.
#include <tests/support/passive_run.hpp>
#include <transport-replay/checks/catalogue.hpp>

#include <fmt/format.h>

using namespace qps::dissect;
using namespace qps::tests;
using namespace qps::transport::conformance;

namespace {

enum class Whose : std::uint8_t { one, all };
struct Edit {
    std::string_view id;
    std::string_view sample;
    std::string_view filter;  // packets
    std::string_view field;
    std::uint64_t value;
    bool added = false;  // to what the field is
    Whose whose = Whose::one;
};

constexpr std::string_view kRcPackets = "infiniband.bth.opcode < 0x20", kManagement = "infiniband.bth.destqp == 1";

constexpr std::array kEdits{
    Edit{"FMT-06", "rping_v4", kRcPackets, "infiniband.bth.tver", 1},
    Edit{"FMT-06", "rping_v4", kRcPackets, "infiniband.bth.reserved6", 1},
    Edit{"FMT-08", "rping_v4", kRcPackets, "infiniband.bth.m", 0, false, Whose::all},
    Edit{"FMT-09", "ud_pingpong", "infiniband.bth.opcode == 0x64", "infiniband.bth.a", 1},
    Edit{"FMT-10", "write_8k", "infiniband.bth.opcode == 6", "infiniband.bth.se", 1},
    Edit{"FMT-16", "rping_v4", kRcPackets, "udp.srcport", 0xc123},
    Edit{"FMT-21", "rping_v4", kRcPackets, "infiniband.bth.becn", 1},
    Edit{"FMT-22", "rping_v4", kManagement, "infiniband.deth.srcqp", 5},
    Edit{"RSP-20", "rping_v4", "infiniband.bth.opcode == 15", "infiniband.aeth.msn", 0xff'ff00, true},  // far behind
    Edit{"REQ-01", "write_8k", "infiniband.bth.opcode == 8", "infiniband.bth.psn", 1, true},
    Edit{"REQ-02", "write_8k", "infiniband.bth.opcode == 8", "infiniband.bth.opcode", 7},
    Edit{"REQ-03", "write_8k", "infiniband.bth.opcode == 6", "infiniband.reth.dmalen", 1, true},
    Edit{"CM-01", "rping_v4", "infiniband.cm.rtu", "infiniband.mad.method", 1},
    Edit{"CM-02", "rping_v4", "infiniband.cm.request", "infiniband.cm.req.prim_reserved0", 1, false, Whose::all},
    Edit{"CM-03", "rping_v4", "infiniband.cm.request", "infiniband.cm.req.ip_cm.dip4", 0x01020304, false, Whose::all},
    Edit{"CM-26", "rping_v4", "infiniband.cm.rtu", "infiniband.mad.transactionid", 4711, false, Whose::all},
    Edit{"CNP-01", "congestion", "infiniband.cnp", "infiniband.bth.se", 1},
    Edit{"CNP-01", "congestion", "infiniband.cnp", "infiniband.bth.a", 1},
    Edit{"ERR-07", "rping_v4", "infiniband.bth.opcode == 15", "infiniband.aeth.msn", 5, true},
};

CheckResult result_for(const RecordedCapture& capture, std::string_view id) {
    const auto results = check_capture(capture);
    const auto found = std::ranges::find(results, find_check(id), &CheckResult::check);
    REQUIRE(found != results.end());
    return *found;
}

}  // namespace

TEST_CASE("passive checks fail for each field that their rule is about, in one packet or in all") {
    for (const Edit& edit : kEdits) {
        INFO(edit.id << ": " << edit.field << " of " << edit.filter);
        RecordedCapture capture = healed(edit.sample);
        CHECK(result_for(capture, edit.id).verdict != Verdict::fail);
        const auto places = matching(capture, edit.filter);
        REQUIRE_FALSE(places.empty());
        for (const std::size_t place : places) {
            if (edit.whose == Whose::one && place != places[places.size() / 2]) continue;
            RecordedFrame& frame = capture.frames[place];
            REQUIRE(set_field(frame, edit.field, edit.value + (edit.added ? field_of(frame, edit.field) : 0)));
        }
        const CheckResult broken = result_for(capture, edit.id);
        INFO(name(broken.verdict) << ": " << broken.reason);
        CHECK(broken.verdict == Verdict::fail);
    }
}
