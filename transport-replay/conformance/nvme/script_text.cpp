#include <dissect/packet/render_value.hpp>
#include <transport-replay/conformance/nvme/script_text.hpp>

#include <fmt/format.h>

namespace qps::transport::conformance::nvme {

namespace {

constexpr std::string_view kResponse = "len=16 result:=le64@0 cid:=le16@12 status:=le16@14 last:=psn";

}  // namespace

std::string hex(dissect::Bytes bytes) {
    std::string text;
    dissect::append_hex(text, bytes);
    return text;
}

void ScriptText::line(std::string_view words) {
    text_.append(2 * depth_, ' ');
    text_ += words;
    text_ += '\n';
}
void ScriptText::open(std::string_view words) {
    line(words);
    ++depth_;
}
void ScriptText::branch() {
    --depth_;
    open("or");
}
void ScriptText::close() {
    --depth_;
    line("end");
}

void ScriptText::send(dissect::Bytes capsule) { line(fmt::format("> a RC_SEND_ONLY ackreq data={}", hex(capsule))); }
// All of it, or the first of several pieces: $at, $piece.
void ScriptText::reads(std::uint32_t length) {
    line(fmt::format("< a RC_RDMA_READ_REQUEST va={0}..{1} rkey={2} dmalen=0..{3} at:=va piece:=dmalen last:=psn",
                     kMemory, kMemory + length, kKey, length));
    line(fmt::format("assert $at - {} + $piece <= {} \"it READs past the data\"", kMemory, length));
}
void ScriptText::bring(dissect::Bytes data) {
    counts();
    line(fmt::format("> a RC_RDMA_READ_RESPONSE_ONLY psn=$last msn=$msn data={} from=$at-{} len=$piece", hex(data),
                     kMemory));
    line("let brought = $brought + $piece");
}
// A message of the target: what answers it says how many there were (9.7.5.1.1).
void ScriptText::counts() { line("let msn = $msn + 1"); }
void ScriptText::succeeds(std::string_view what) {
    line(fmt::format("assert $status / 2 % 2048 == 0 \"{} fails\"", what));
}
void ScriptText::fails(std::string_view what) {
    line(fmt::format("assert $status / 2 % 2048 != 0 \"{} succeeds\"", what));
}
void ScriptText::fails_with(std::string_view what, unsigned status) {
    fails(what);
    line(fmt::format("assert $status / 2 % 2048 == {} \"{} fails with another status\"", status, what));
}

void ScriptText::may_come() {
    line("let last = psn($a.dut_psn + 0xffffff)");  // none yet
    line("let prior = $last");                      // where two READs are under way
    line("let msn = 0");
    line("let brought = 0");
    line("allow a RC_ACKNOWLEDGE");
    line("allow a any psn=$last");
    line("allow a any psn=$prior");
    for (const std::string_view message : {"MRA", "REP"}) line(fmt::format("allow gsi {}", message));  // once more
}

void ScriptText::set_up(const QueueRequest& request) {
    open("given NVME-51");
    line(fmt::format("qp a rc cm mtu=1024 private={}", hex(private_data(request))));
    close();
    may_come();
}

void ScriptText::known() {
    line("qp a rc known us=$us dut=$dut psn=$psn dut_psn=$first mtu=1024");
    may_come();
}

void ScriptText::request(const QueueRequest& request) {
    line(fmt::format("> gsi REQ port=$port infiniband.cm.req.ip_cm.private={}", hex(private_data(request))));
    line("let us = $gsi.qpn");
    line("let first = $gsi.psn");
    line("allow gsi MRA");
    for (const std::string_view message : {"REP", "REJ", "DREQ", "DREP"})
        line(fmt::format("allow gsi {} remote_comm=!$gsi.comm", message));
}

void ScriptText::answers() {
    line(fmt::format("< a any opcode=RC_SEND_ONLY|RC_SEND_ONLY_WITH_INVALIDATE {}", kResponse));
    counts();
    line("> a RC_ACKNOWLEDGE msn=$msn");
}

void ScriptText::reads_or_answers(dissect::Bytes data, const Reading& how) {
    line("let answered = 0");
    open(fmt::format("repeat {}", kMostPieces));
    open("if $answered == 0");
    line("let prior = $last");
    open("either");
    reads(how.length);
    bring(data);
    branch();
    if (how.invalidates) {
        line(fmt::format("< a RC_SEND_ONLY_WITH_INVALIDATE infiniband.ieth={:08x} {}", kKey, kResponse));
        line("let answered = 1");
        branch();
        line(fmt::format("< a RC_SEND_ONLY {}", kResponse));
    } else {
        line(fmt::format("< a any opcode=RC_SEND_ONLY|RC_SEND_ONLY_WITH_INVALIDATE {}", kResponse));
    }
    line("let answered = 1");
    for (const Otherwise& each : how.others) {
        branch();
        for (const std::string_view words : each) line(words);
    }
    close();
    close();
    close();
    line(fmt::format("require $answered == 1 \"the target READs the data of a Connect in {} pieces or more\"",
                     kMostPieces));
    counts();
    line("> a RC_ACKNOWLEDGE psn=$last msn=$msn");
}

void ScriptText::connect(std::uint16_t cid) {
    send(capsule(Connect{.cid = cid}));
    reads_or_answers(connect_data(names_.subsystem, names_.host));
}

void ScriptText::connected() {
    set_up();
    open("given NVME-52");
    connect();
    succeeds("a Connect");
    close();
}

void ScriptText::property(const Property& wanted, bool right) {
    if (right) open("given NVME-53");
    send(capsule(wanted));
    answers();
    if (!right) return;
    succeeds("a Property Get or Set");
    close();
}

// IOSQES 6, IOCQES 4, EN; it may take CAP.TO (in 500 ms), and is asked as often.
void ScriptText::enable(bool own_rule) {
    constexpr std::uint64_t kEnable = 0x460001;
    property({.cid = 2, .wide = true, .offset = kCapabilities});
    line("let tries = max($result / 0x1000000 % 256, 1) * 5");
    if (!own_rule) open("given NVME-80");
    send(capsule(Property{.cid = 3, .sets = true, .offset = kConfiguration, .value = kEnable}));
    answers();
    succeeds("the Property Set that enables the controller");
    line("let ready = 0");
    open("repeat $tries");
    open("if $ready == 0");
    send(capsule(Property{.cid = 4, .offset = kStatus}));
    answers();
    line("let ready = $result % 2");
    open("if $ready == 0");
    line("wait 100ms");
    close();
    close();
    close();
    line("assert $ready == 1 \"the controller does not get ready in the time that CAP.TO says\"");
    if (!own_rule) close();
}

void ScriptText::is_refused(std::string_view what) {
    open("either");
    answers();
    fails(what);
    branch();
    line("< a RC_ACKNOWLEDGE nak=*");
    branch();
    line("< gsi DREQ remote_comm=$gsi.comm");
    line("> gsi DREP");
    close();
}

void ScriptText::ends(std::string_view after) {
    line("allow a any");
    open("either");
    line("< gsi DREQ remote_comm=$gsi.comm within 2*$patience");
    line("> gsi DREP");
    branch();
    line("< gsi nothing for 2*$patience");
    line(fmt::format("fail \"the connection does not end after {}\"", after));
    close();
}

}  // namespace qps::transport::conformance::nvme
