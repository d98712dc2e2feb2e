// THE table of scripts of NVMe over RDMA: which check each decides, what it breaks on purpose, and its lines.
#include <dissect/ulp/nvme_names.hpp>
#include <transport-replay/checks/catalogue.hpp>
#include <transport-replay/conformance/nvme/script_text.hpp>
#include <transport-replay/conformance/script/parser.hpp>

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

namespace qps::transport::conformance::nvme {

namespace {

constexpr std::uint16_t kNoController = 0xfff3;  // reserved: no controller has it (Base 3.1.2.3)
constexpr std::uint8_t kIdentify = 0x06, kReservedAdmin = 0x74, kReservedFabrics = 0x55;
constexpr unsigned kInFlight = 16;

// --- Set-up.

void accepts(ScriptText& text) {
    text.request({});
    text.open("either");
    text.line("< gsi REP remote_comm=$gsi.comm dut:=local_qp");
    text.line("> gsi RTU");
    text.line("> gsi DREQ remote_qp=$dut");
    text.branch();
    text.line("< gsi REJ remote_comm=$gsi.comm");
    text.line("fail \"it is rejected\"");
    text.close();
}
void rejects_format(ScriptText& text) {
    text.request({.record_format = 1});
    text.open("either");
    text.line("< gsi REJ remote_comm=$gsi.comm reason=28 why:=le16@2");
    text.line("assert $why == 1 || $why == 2 \"it is rejected with another status than Invalid Record Format\"");
    text.branch();
    text.line("< gsi REP remote_comm=$gsi.comm");
    text.line("> gsi REJ msgrej=1 reason=28");
    text.line("fail \"it is accepted\"");
    text.close();
}
void large_queue(ScriptText& text) {
    text.request({.receives = 4096, .sends = 4095});
    text.open("either");
    text.line("< gsi REJ remote_comm=$gsi.comm reason=28 why:=le16@2");
    text.line("assert $why >= 4 && $why <= 6 \"it is rejected, and neither for its size nor for want of resources\"");
    text.branch();
    text.line("< gsi REP remote_comm=$gsi.comm");
    text.line("> gsi REJ msgrej=1 reason=28");
    text.close();
}
// Behind a REQ: it is rejected, or what it accepted is served.
void rejected_or(ScriptText& text, const QueueRequest& request, const Connect& connect, std::uint16_t controller,
                 bool fails) {
    text.request(request);
    text.open("either");
    text.line("< gsi REJ remote_comm=$gsi.comm reason=28");
    text.branch();
    text.line("< gsi REP remote_comm=$gsi.comm dut:=local_qp psn:=start_psn");
    text.line("> gsi RTU");
    text.known();
    text.send(capsule(connect));
    static const Otherwise kSilence{"< a nothing for $patience", "> gsi DREQ remote_qp=$dut",
                                    "fail \"it is accepted, and its Connect is not answered\""};
    text.reads_or_answers(connect_data(text.names().subsystem, text.names().host, controller), {.others = {kSilence}});
    text.line("> gsi DREQ remote_qp=$dut");
    if (fails) text.fails("the Connect");
    text.close();
}
void no_receives(ScriptText& text) { rejected_or(text, {.receives = 0}, {}, kAnyController, false); }
void nothing_said(ScriptText& text) {
    rejected_or(text, {.receives = 0, .sends = 0}, {.size = 0}, kAnyController, false);
}
void stray_queue(ScriptText& text) { rejected_or(text, {.queue = 1}, {.queue = 1}, kNoController, true); }

// --- Connects.

void connects(ScriptText& text) {
    text.set_up();
    text.connect(7);
    text.succeeds("the Connect");
    text.line("assert $brought >= 1024 \"it succeeds without its data: what it READ is less\"");
    text.line("assert $cid == 7 \"the response is not that of the Connect\"");
    text.line("assert $result % 0x10000 < 0xfff0 \"it names no controller\"");
}
void first_not_connect(ScriptText& text) {
    text.set_up();
    text.send(capsule(Property{.wide = true, .offset = kCapabilities}));
    text.answers();
    text.fails("a Property Get before Connect");
}
// A Connect whose data is READ, or not.
void wrong_connect(ScriptText& text, const Connect& connect, std::uint16_t controller, std::string_view what,
                   unsigned status = 0) {
    text.set_up();
    text.send(capsule(connect));
    text.reads_or_answers(connect_data(text.names().subsystem, text.names().host, controller));
    if (status != 0) text.fails_with(what, status);
    else text.fails(what);
}
void connect_format(ScriptText& text) {
    wrong_connect(text, {.record_format = 1}, kAnyController, "the Connect", kIncompatibleFormat);
}
void connect_size(ScriptText& text) { wrong_connect(text, {.size = 0}, kAnyController, "the Connect"); }
void connect_queue(ScriptText& text) { wrong_connect(text, {.queue = 1}, 1, "the Connect"); }
void connect_controller(ScriptText& text) { wrong_connect(text, {}, kNoController, "the Connect", kInvalidParameters); }
void connect_subsystem(ScriptText& text) {
    text.set_up();
    text.send(capsule(Connect{}));
    text.reads_or_answers(connect_data("nqn.2026-11.org.example:nobody", text.names().host));
    text.fails_with("the Connect", kInvalidParameters);
}
void connect_twice(ScriptText& text) {
    text.connected();
    text.send(capsule(Connect{.cid = 1}));
    text.reads_or_answers(connect_data(text.names().subsystem, text.names().host));
    text.fails("the second Connect");
}
void connect_fused(ScriptText& text) { wrong_connect(text, {.flags = kFused}, kAnyController, "the Connect"); }
void connect_by_address(ScriptText& text) {
    text.set_up();
    text.send(capsule(Connect{.data = {.length = 1024, .type = kByAddress}}));
    text.answers();
    text.fails("the Connect");
}
void connect_of_tcp(ScriptText& text) {
    text.set_up();
    text.send(capsule(Connect{.data = {.length = 1024, .type = kOfTcp, .address = 0}}));
    text.answers();
    text.fails("the Connect");
}
void connect_short_data(ScriptText& text) {
    constexpr std::uint32_t kHalf = 512;
    text.set_up();
    text.send(capsule(Connect{.data = {.length = kHalf}}));
    CapsuleBytes data = connect_data(text.names().subsystem, text.names().host);
    data.resize(kHalf);
    text.reads_or_answers(data, {.length = kHalf});
    text.fails("the Connect");
}
void connect_no_data(ScriptText& text) {
    text.set_up();
    text.send(capsule(Connect{.data = {.length = 0}}));
    text.answers();
    text.fails("the Connect");
}
void connect_left(ScriptText& text) {
    text.set_up();
    text.send(capsule(Connect{}));
    text.reads();
    text.line("> gsi DREQ remote_qp=$a.dut");
    text.line("< gsi DREP remote_comm=$gsi.comm");
}

// --- Capsules and memory.

void in_capsule(ScriptText& text) {
    text.set_up();
    CapsuleBytes whole = capsule(Connect{.data = {.length = 1024, .type = kByOffset, .address = 0}});
    const CapsuleBytes data = connect_data(text.names().subsystem, text.names().host);
    whole.insert(whole.end(), data.begin(), data.end());
    constexpr std::size_t kFirst = 1024;
    text.line(fmt::format("> a RC_SEND_FIRST data={}", hex(dissect::Bytes(whole).first(kFirst))));
    text.line(fmt::format("> a RC_SEND_LAST ackreq data={}", hex(dissect::Bytes(whole).subspan(kFirst))));
    text.is_refused("the Connect");
}
void past_capsule(ScriptText& text) {
    constexpr std::uint64_t kBeyond = 8192;
    text.set_up();
    text.send(capsule(Connect{.data = {.length = 1024, .type = kByOffset, .address = kBeyond}}));
    text.is_refused("the Connect");
}
void short_capsule(ScriptText& text) {
    constexpr std::size_t kLess = 60;
    text.set_up();
    text.send(dissect::Bytes(capsule(Connect{})).first(kLess));
    text.is_refused("the Connect");
}
void invalidated(ScriptText& text) {
    text.set_up();
    text.send(capsule(Connect{.data = {.length = 1024, .type = kKeyedInvalidated}}));
    text.reads_or_answers(connect_data(text.names().subsystem, text.names().host), {.invalidates = true});
    text.succeeds("the Connect");
}
void bad_key(ScriptText& text) {
    text.set_up();
    text.send(capsule(Connect{}));
    text.reads();
    text.line("> a RC_ACKNOWLEDGE msn=$msn nak=REMOTE_ACCESS_ERROR");
    text.ends("a READ that was refused");
}

// --- Properties.

void properties(ScriptText& text) {
    text.connected();
    for (const Property& each :
         {Property{.cid = 1, .wide = true, .offset = kCapabilities}, Property{.cid = 2, .offset = kVersion},
          Property{.cid = 3, .offset = kConfiguration}, Property{.cid = 4, .offset = kStatus}}) {
        text.property(each, false);
        text.succeeds("the Property Get");
        text.line(fmt::format("assert $cid == {} \"the response is not that of the Property Get\"", each.cid));
    }
}
void property_reserved(ScriptText& text) {
    text.connected();
    text.property({.offset = kStatus, .reserved_zero = true}, false);
    text.succeeds("the Property Get");
}
void property_of_nothing(ScriptText& text) {
    constexpr std::uint32_t kNowhere = 0x2000;
    text.connected();
    text.property({.offset = kNowhere}, false);
    text.fails("the Property Get");
}
void property_size(ScriptText& text) {
    text.connected();
    text.property({.cid = 1, .offset = kCapabilities}, false);
    text.fails("a Property Get of 4 bytes of CAP");
    text.property({.cid = 2, .wide = true, .offset = kVersion}, false);
    text.fails("a Property Get of 8 bytes of VS");
}
void property_read_only(ScriptText& text) {
    text.connected();
    text.property({.cid = 1, .offset = kVersion});
    text.line("let before = $result");
    text.property({.cid = 2, .sets = true, .offset = kVersion, .value = 0x10101}, false);
    text.property({.cid = 3, .offset = kVersion});
    text.line("assert $result == $before \"a Property Set changed VS\"");
}

// --- Commands.

void gets_ready(ScriptText& text) {
    text.connected();
    text.property({.cid = 5, .offset = kStatus});
    text.line("assert $result % 2 == 0 \"the controller is ready before it is enabled\"");
    text.enable(true);
}
void identifies(ScriptText& text, std::string_view what, bool enabled) {
    for (const std::string_view opcode : {"FIRST", "MIDDLE", "LAST", "ONLY"})
        text.line(fmt::format("allow a RC_RDMA_WRITE_{}", opcode));
    text.send(capsule(Command{.opcode = kIdentify, .cid = 9, .data = {.length = 4096}, .dword10 = 1}));
    if (enabled) text.counts();  // the WRITE, which is not looked at
    text.answers();
    if (enabled) {
        text.succeeds(what);
        text.line("assert $cid == 9 \"the response is not that of Identify\"");
    } else {
        text.fails(what);
    }
}
void identify(ScriptText& text) {
    text.connected();
    text.enable();
    identifies(text, "Identify Controller", true);
}
void before_enable(ScriptText& text) {
    text.connected();
    identifies(text, "Identify Controller", false);
}
void write_refused(ScriptText& text) {
    text.connected();
    text.enable();
    text.send(capsule(Command{.opcode = kIdentify, .cid = 9, .data = {.length = 4096}, .dword10 = 1}));
    text.line("< a any opcode=RC_RDMA_WRITE_FIRST|RC_RDMA_WRITE_ONLY wrong:=psn");
    text.line("> a RC_ACKNOWLEDGE psn=$wrong msn=$msn nak=REMOTE_ACCESS_ERROR");
    text.ends("a WRITE that was refused");
}
void unknown_fabrics(ScriptText& text) {
    text.connected();
    text.send(capsule(Command{.opcode = dissect::kNvmeFabrics, .fabrics = kReservedFabrics}));
    text.answers();
    text.fails("a fabrics command that does not exist");
}
void unknown_admin(ScriptText& text) {
    text.connected();
    text.enable();
    text.send(capsule(Command{.opcode = kReservedAdmin, .cid = 9}));
    text.answers();
    text.fails("an admin command that does not exist");
}
// Their responses may come in any order: all IDs together are known.
void many_at_once(ScriptText& text) {
    text.connected();
    unsigned sum = 0;
    for (unsigned i = 0; i < kInFlight; ++i) {
        const auto cid = static_cast<std::uint16_t>(1U << (i % kInFlight));
        sum += cid;
        text.send(capsule(Property{.cid = cid, .offset = kStatus}));
    }
    text.line("let sum = 0");
    text.open(fmt::format("repeat {}", kInFlight));
    text.answers();
    text.succeeds("a Property Get");
    text.line("let sum = $sum + $cid");
    text.close();
    text.line(fmt::format("assert $sum == {} \"some command was answered twice, and another never\"", sum));
    text.line("< a nothing for 200ms");
}

struct Row {
    std::string_view check;
    std::string_view title;
    void (*lines)(ScriptText& text);
    std::string_view breaks{};  // checks that the host fails
};
constexpr std::array kRows{
    Row{"NVME-09", "a REQ of another record format is rejected", rejects_format, "NVME-01"},
    Row{"NVME-51", "a REQ for an admin queue is accepted", accepts},
    Row{"NVME-52", "a Connect of an admin queue succeeds", connects},
    Row{"NVME-53", "CAP, VS, CC and CSTS can be read", properties},
    Row{"NVME-54", "a Property Get whose reserved bytes are 0 succeeds", property_reserved},
    Row{"NVME-55", "a Property Get of a property that does not exist fails", property_of_nothing},
    Row{"NVME-56", "a Property Get of another size than the property has fails", property_size, "NVME-50"},
    Row{"NVME-57", "a REQ for an admin queue of 4,096 entries is rejected for its size, or accepted", large_queue},
    Row{"NVME-58", "a REQ of a host without receives is rejected, or its Connect is answered", no_receives},
    Row{"NVME-59", "a REQ whose private data is all 0 is rejected, or its Connect is answered", nothing_said},
    Row{"NVME-60", "a Property Get before Connect fails", first_not_connect, "NVME-12"},
    Row{"NVME-61", "a Connect of record format 1 fails with Connect Incompatible Format", connect_format, "NVME-15"},
    Row{"NVME-62", "a Connect for a queue of one entry fails", connect_size, "NVME-10 NVME-15"},
    Row{"NVME-63", "a Connect for queue 1 on an admin queue fails", connect_queue, "NVME-11"},
    Row{"NVME-64", "a Connect to a subsystem that is not there fails with Connect Invalid Parameters",
        connect_subsystem},
    Row{"NVME-65", "a Connect to a controller that cannot be fails with Connect Invalid Parameters",
        connect_controller},
    Row{"NVME-66", "a second Connect fails", connect_twice, "NVME-14"},
    Row{"NVME-67", "a queue for I/O of a controller that is not there is rejected, or its Connect fails", stray_queue},
    Row{"NVME-68", "a fused Connect fails", connect_fused},
    Row{"NVME-69", "a Connect whose descriptor has no key fails", connect_by_address, "NVME-28"},
    Row{"NVME-70", "a Connect with a descriptor of TCP fails", connect_of_tcp, "NVME-28"},
    Row{"NVME-71", "a Connect with 512 bytes of data fails", connect_short_data, "NVME-16"},
    Row{"NVME-72", "a Connect without data fails", connect_no_data, "NVME-16"},
    Row{"NVME-73", "a Connect with its data in the capsule of an admin queue is refused", in_capsule, "NVME-19"},
    Row{"NVME-74", "a Connect with an offset past its capsule is refused", past_capsule},
    Row{"NVME-75", "a capsule of 60 bytes is refused", short_capsule, "NVME-23"},
    Row{"NVME-76", "what is invalidated is the key that the host asked for", invalidated},
    Row{"NVME-77", "after a READ that was refused the connection ends", bad_key},
    Row{"NVME-78", "a fabrics command that does not exist fails", unknown_fabrics},
    Row{"NVME-79", "Identify before the controller is enabled fails", before_enable, "NVME-49"},
    Row{"NVME-80", "a controller that is enabled gets ready", gets_ready},
    Row{"NVME-81", "Identify Controller succeeds", identify},
    Row{"NVME-82", "an admin command that does not exist fails", unknown_admin},
    Row{"NVME-83", "after a WRITE that was refused the connection ends", write_refused},
    Row{"NVME-84", "each of 16 commands at once is answered once", many_at_once},
    Row{"NVME-85", "a host may leave within its Connect", connect_left},
    Row{"NVME-86", "a Property Set leaves VS as it is", property_read_only},
};

std::string name_of(std::string_view check) {
    std::string name(check);
    std::ranges::transform(name, name.begin(),
                           [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    return name + ".script";
}

// The texts are ours: a test parses all.
script::Script parsed(std::string_view name, std::string_view text) {
    auto made = script::parse_script(name, text);
    return made ? std::move(*made)
                : script::Script{.files = {{explain(made.error()), {}}},
                                 .checks = {},
                                 .title = {},
                                 .needs = {},
                                 .breaks = {},
                                 .body = {}};
}

}  // namespace

std::span<const std::string_view> scripted_checks() {
    static constexpr auto kChecks = [] {
        std::array<std::string_view, kRows.size()> all;
        std::ranges::transform(kRows, all.begin(), &Row::check);
        return all;
    }();
    return kChecks;
}

std::vector<script::Script> scripts(const Names& names) {
    std::vector<script::Script> all;
    for (const Row& row : kRows) {
        ScriptText text(names);
        text.line(fmt::format("check {}", row.check));
        text.line(fmt::format("title \"{}\"", row.title));
        text.line("needs cm");
        if (find_check(row.check)->dangerous) text.line("dangerous");
        if (!row.breaks.empty()) text.line(fmt::format("breaks {}", row.breaks));
        row.lines(text);
        all.push_back(parsed(name_of(row.check), text.take()));
    }
    std::ranges::stable_partition(all, [](const script::Script& each) { return !each.dangerous; });
    return all;
}

script::Script sign_of_life(const Names& names) {
    ScriptText text(names);
    text.line("title \"the target answers\"");
    text.line("needs cm");
    text.line(fmt::format("qp a rc cm mtu=1024 private={}", hex(private_data())));
    text.may_come();
    text.send(capsule(Connect{}));
    text.reads_or_answers(
        connect_data(names.subsystem, names.host),
        {.others = {{"< a any opcode=RC_SEND_ONLY|RC_SEND_ONLY_WITH_INVALIDATE",
                     "fail \"what it answers to a Connect is no response capsule, which has 16 bytes\""},
                    {"< a any opcode=RC_ACKNOWLEDGE", "fail \"it does not take a Connect of NVMe\""},
                    {"< a nothing for $patience", "fail \"it does not answer a Connect of NVMe\""}}});
    const auto refuses = [&](unsigned status, std::string_view why) {
        text.open(fmt::format("if $status / 2 % 2048 == {}", status));
        text.line(fmt::format("fail \"{}\"", why));
        text.close();
    };
    refuses(
        kInvalidParameters,
        "the target answers Connect Invalid Parameters: it has no such subsystem (--nqn), or not for this host (--host-nqn)");
    refuses(kInvalidHost, "the target answers Connect Invalid Host: it does not take this host (--host-nqn)");
    text.open("if $status / 2 % 2048 == 0 && $brought == 0");
    text.line("fail \"it says that a Connect succeeds without READing its data: it is no NVMe over RDMA target\"");
    text.close();
    text.open("if $status / 2 % 2048 == 0 && $result / 0x10000 % 0x10000 != 0");
    text.line("fail \"the target wants hosts to authenticate themselves, which cannot be done here\"");
    text.close();
    return parsed("alive", text.take());
}

}  // namespace qps::transport::conformance::nvme
