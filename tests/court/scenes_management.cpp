// Scenes of connections that are not set up, or not as agreed, and of managers that count, report and refuse.
#include <tests/court/stage.hpp>
#include <tests/support/catch.hpp>

#include <array>

namespace qps::court {

namespace scenes {

namespace {

using namespace dissect;

void later(Stage& stage) {
    stage.wait(10 * kASecond);
    stage.dialogue(3, 4, 22);
}

void cm_rejected(Stage& stage, unsigned variant) {
    constexpr std::array<std::uint64_t, kVariants> kReasons{8, 28, 10};
    stage.req();
    stage.cm(2, 2, 1, {{"infiniband.cm.rej.remotecommid", 0xa1}, {"infiniband.cm.rej.reason", kReasons[variant]}});
}

void cm_no_answer(Stage& stage, unsigned variant) {
    for (unsigned i = 0; i <= variant; ++i) stage.req(), stage.wait(kASecond);
    if (variant == 2) stage.dialogue(2, 1, 31);  // alive
    later(stage);
}

void cm_half_open(Stage& stage, unsigned variant) {
    for (unsigned i = 0; i <= variant; ++i) {
        stage.req({{"infiniband.cm.req", 0xa1 + i},
                   {"infiniband.cm.req.localqpn", 1021 + i},
                   {"infiniband.mad.transactionid", 77 + i}});
        stage.rep({{"infiniband.cm.rep", 0xb2 + i},
                   {"infiniband.cm.rep.remotecommid", 0xa1 + i},
                   {"infiniband.cm.rep.localqpn", 21 + i},
                   {"infiniband.mad.transactionid", 77 + i}});
        stage.wait(kAMillisecond);
    }
    later(stage);
}

void cm_unexpected_message(Stage& stage, unsigned variant) {
    if (variant != 2) stage.connect();
    if (variant == 0)
        stage.cm(4, 2, 1, {{"infiniband.cm.rtu.localcommid", 0xb2}, {"infiniband.cm.rtu.remotecommid", 0xa1}});
    if (variant == 1) {
        stage.cm(5, 1, 2,
                 {{"infiniband.mad.transactionid", 78},
                  {"infiniband.cm.dreq.localcommid", 0xa1},
                  {"infiniband.cm.dreq.remotecommid", 0xb2},
                  {"infiniband.cm.req.remoteqpneecn", 21}});
        stage.rep({{"infiniband.cm.rep.localqpn", 99}});
    }
    if (variant != 2) return;
    stage.req();
    stage.cm(4, 2, 1, {{"infiniband.cm.rtu.localcommid", 0xb2}, {"infiniband.cm.rtu.remotecommid", 0xa1}});
}

void cm_retries(Stage& stage, unsigned variant) {
    stage.req();
    for (unsigned i = 0; i < variant; ++i) stage.wait((300 + i) * kAMillisecond), stage.req();
    stage.wait(50 * kAMillisecond);
    stage.rep();
    stage.wait(20 * kAMillisecond);
    stage.rep();
    stage.rtu();
}

void cm_unresolved(Stage& stage, unsigned variant) {
    for (unsigned i = 0; i <= variant; ++i) {
        stage.cm(7, 1, 2,
                 {{"infiniband.cm.sidr_req.requestid", 5 + i},
                  {"infiniband.cm.sidr_req.serviceid", 0x1111f91},
                  {"infiniband.mad.transactionid", 90 + i}});
        stage.cm(8, 2, 1,
                 {{"infiniband.cm.sidr_rep.requestid", 5 + i},
                  {"infiniband.cm.sidr_rep.status", 1 + variant},
                  {"infiniband.mad.transactionid", 90 + i}});
    }
}

void cm_disconnect_unanswered(Stage& stage, unsigned variant) {
    stage.connect();
    stage.dialogue(1, 2, 21);
    const bool passive = variant == 1;
    for (unsigned i = 0; i < 2 + variant; ++i) {
        stage.cm(5, passive ? 2 : 1, passive ? 1 : 2,
                 {{"infiniband.mad.transactionid", 78},
                  {"infiniband.cm.dreq.localcommid", passive ? 0xb2 : 0xa1},
                  {"infiniband.cm.dreq.remotecommid", passive ? 0xa1 : 0xb2},
                  {"infiniband.cm.req.remoteqpneecn", passive ? 1021 : 21}});
        stage.wait(kASecond);
    }
}

void pkey_mismatch(Stage& stage, unsigned variant) {
    const auto key = [](std::uint64_t value) { return Settings{{"infiniband.bth.p_key", value}}; };
    if (variant == 0) stage.dialogue(1, 2, 21, 8, key(0x7fff), key(0x7fff));
    if (variant == 1) stage.dialogue(1, 2, 21, 8, key(0x8001), key(0x8002));
    if (variant != 2) return;
    stage.connect();
    stage.dialogue(1, 2, 21, 8, key(0x8001), key(0x8001));
}

// Host 1 begins with 21'000. Variant 0 and 2: behind what the REP asks for; 1: ahead, and the first ACK counts one
// message.
void starting_psn(Stage& stage, unsigned variant) {
    stage.req();
    stage.rep({{"infiniband.cm.rep.startpsn", variant == 1 ? 20'990 : 21'005 + 4'000 * variant}});
    stage.rtu();
    stage.send(1, 2, 21, 0);
    stage.acknowledge(2, 1, 21, 0, {{"infiniband.aeth.msn", 1}});
    stage.dialogue(1, 2, 21, 6, {}, {}, 1);
}

void read_depth_exceeded(Stage& stage, unsigned variant) {
    stage.connect({{"infiniband.cm.req.initdepth", 2 + variant}}, {{"infiniband.cm.rep.respres", 2 + variant}});
    const unsigned reads = 3 + variant;
    for (unsigned i = 0; i < reads; ++i)
        stage.packet(0x0c, 1, 2,
                     {{"infiniband.bth.destqp", 21},
                      {"infiniband.bth.psn", 21'000 + i},
                      {"infiniband.bth.a", 1},
                      {"infiniband.reth.va", 0x1000 + 64 * i},
                      {"infiniband.reth.r_key", 0x55},
                      {"infiniband.reth.dmalen", 64}});
    stage.acknowledge(2, 1, 21, reads - 1, {{"infiniband.aeth.syndrome", 0x61}});
}

// Of other classes, between the same two hosts: 1 asks, 2 answers.

struct Said {
    ManagementClass management_class;
    std::uint16_t attribute;
    std::uint64_t method;
    std::uint64_t transaction;
    bool back = false;
};
void say(Stage& stage, const Said& said, const Settings& more = {}) {
    PacketSpec spec = mad_packet(said.management_class, *find_attribute(said.management_class, said.attribute),
                                 dissect::Network::roce_v2_ipv4);
    const auto version = said.management_class == ManagementClass::subnet_administration ? 2U : 1U;
    for (const auto& [field, value] : joined({{"ip.src", 0xc0000201 + (said.back ? 1 : 0)},
                                              {"ip.dst", 0xc0000201 + (said.back ? 0 : 1)},
                                              {"infiniband.mad.classversion", version},
                                              {"infiniband.mad.method", said.method},
                                              {"infiniband.mad.transactionid", said.transaction}},
                                             more)) {
        INFO(field);
        REQUIRE(set(spec, field, value));
    }
    stage.put(spec);
}

constexpr std::uint64_t kGet = 1, kSet = 2, kTrap = 5, kReport = 6, kGetResponse = 0x81;
constexpr auto kAdministration = ManagementClass::subnet_administration;

void multicast_join_failed(Stage& stage, unsigned variant) {
    for (unsigned i = 0; i <= variant; ++i) {
        say(stage, {kAdministration, 0x38, kSet, 5 + i}, {{"infiniband.mcmemberrecord.joinstate", 1}});
        say(stage, {kAdministration, 0x38, kGetResponse, 5 + i, true},
            {{"infiniband.mcmemberrecord.joinstate", 1}, {"infiniband.mad.status", 0x0200 + 0x100 * variant}});
    }
}

void port_errors_counted(Stage& stage, unsigned variant) {
    for (unsigned i = 0; i < 3 + variant; ++i) {
        say(stage, {ManagementClass::performance, 0x12, kGet, 20 + i}, {{"infiniband.portcounters.portselect", 2}});
        say(stage, {ManagementClass::performance, 0x12, kGetResponse, 20 + i, true},
            {{"infiniband.portcounters.portselect", 2},
             {"infiniband.portcounters.symbolerrorcounter", 7 + 5 * i},
             {"infiniband.portcounters.linkerrorrecoverycounter", 1 + variant * i}});
        stage.wait(100 * kAMillisecond);
    }
}

void trap_reported(Stage& stage, unsigned variant) {
    for (unsigned i = 0; i <= variant; ++i) {
        say(stage, {ManagementClass::subnet_lid_routed, 2, variant == 1 ? kReport : kTrap, 40 + (variant == 1 ? i : 0)},
            {{"infiniband.notice.isgeneric", 1},
             {"infiniband.notice.type", 1},
             {"infiniband.notice.producertypevendorid", 2},
             {"infiniband.notice.trapnumberdeviceid", variant == 2 ? 131 : 128},
             {"infiniband.notice.issuerlid", 3}});
        stage.wait(kASecond);
    }
}

void management_unanswered(Stage& stage, unsigned variant) {
    for (unsigned i = 0; i < 3 + variant; ++i) say(stage, {kAdministration, 0x35, kGet, 50}), stage.wait(kASecond);
    later(stage);
}

void sa_query_failed(Stage& stage, unsigned variant) {
    for (unsigned i = 0; i <= variant; ++i) {
        say(stage, {kAdministration, 0x35, kGet, 60 + i});
        say(stage, {kAdministration, 0x35, kGetResponse, 60 + i, true},
            {{"infiniband.mad.status", variant == 1 ? 0x0200 : 0x0300}});
    }
}

constexpr std::array kManagementScenes{
    Scene{"cm-rejected", cm_rejected},
    Scene{"cm-no-answer", cm_no_answer},
    Scene{"cm-half-open", cm_half_open},
    Scene{"cm-unexpected-message", cm_unexpected_message},
    Scene{"cm-retries", cm_retries},
    Scene{"cm-unresolved", cm_unresolved},
    Scene{"cm-disconnect-unanswered", cm_disconnect_unanswered},
    Scene{"pkey-mismatch", pkey_mismatch},
    Scene{"starting-psn-differs", starting_psn},
    Scene{"read-depth-exceeded", read_depth_exceeded},
    Scene{"multicast-join-failed", multicast_join_failed},
    Scene{"port-errors-counted", port_errors_counted},
    Scene{"trap-reported", trap_reported},
    Scene{"management-unanswered", management_unanswered},
    Scene{"sa-query-failed", sa_query_failed},
};

}  // namespace

}  // namespace scenes

std::span<const Scene> management_scenes() { return scenes::kManagementScenes; }

}  // namespace qps::court
