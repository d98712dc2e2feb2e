// Packets of a packet delivery context of Ultra Ethernet, as frames: for tests that follow them.
#pragma once

#include <tests/support/iwarp_dialogue.hpp>
#include <tests/support/ultra_ethernet.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace qps::tests {

// Between two hosts, whose context has a number at each end. A message has pieces of `piece` bytes.
struct UetExchange {
    std::uint32_t start = 0x7fff'fffe;  // so that PSNs pass the middle of their numbers
    std::uint16_t initiator = 0x0101, target = 0x0202;
    std::size_t piece = 64;
    std::uint32_t hosts = 0;  // which pair of hosts
    std::vector<Block> frames{};

    struct Request {
        std::uint32_t number = 0;  // of the packet, from 0
        std::uint16_t entropy = 0xc001;
        bool again = false;
        bool opens = false;
        bool ordered = false;
        std::uint16_t message = 1;
        std::uint32_t place = 0, pieces = 1;  // of it in the message
        std::uint64_t operation = 1;          // WRITE
        bool trimmed = false;
        std::uint8_t ecn = 2;
    };
    struct Answer {
        std::uint32_t number = 0;      // the packet that is answered
        std::uint32_t cumulative = 0;  // all before it have arrived, and it
        std::uint64_t sack = 0;        // from `cumulative` + 1 on
        bool again = false;
        std::vector<UetHeader> semantics{};
        std::uint64_t form = 0;
        std::size_t data = 0;
    };

    void add(dissect::PacketSpec spec, bool back) {
        using namespace dissect;
        if (hosts != 0) {
            auto& settings = spec.headers[1].settings;
            std::erase_if(settings, [](const FieldSetting& one) {
                return one.field->name == "ip.src" || one.field->name == "ip.dst";
            });
            const std::uint64_t one = 0x0a000000 + 2 * hosts, two = one + 1;
            set(spec, "ip.src", back ? two : one);
            set(spec, "ip.dst", back ? one : two);
        }
        frames.push_back(build(spec));
    }
    [[nodiscard]] UetHeader semantics(const Request& request) const {
        using namespace dissect;
        const bool first = request.place == 0;
        UetHeader made{first ? kind::ses_standard : kind::ses_standard_later,
                       {{"uet.ses.std.opcode", request.operation},
                        {"uet.ses.std.som", first ? 1 : 0},
                        {"uet.ses.std.eom", request.place + 1 == request.pieces ? 1 : 0},
                        {"uet.ses.std.message_id", request.message},
                        {"uet.ses.std.job_id", 0xabc},
                        {"uet.ses.std.request_length", request.pieces * piece}}};
        if (!first) {
            made.fields.emplace_back("uet.ses.std.payload_length", piece);
            made.fields.emplace_back("uet.ses.std.message_offset", request.place * piece);
        }
        return made;
    }
    void send(const Request& request) {
        using namespace dissect;
        UetHeader delivery{request.opens ? kind::uet_request_syn : kind::uet_request,
                           {{"uet.pds.type", request.ordered ? 3 : 2},
                            {"uet.pds.nh", 3},
                            {"uet.pds.flags.retx", request.again ? 1 : 0},
                            {"uet.pds.psn", std::uint32_t{start + request.number}},
                            {"uet.pds.spdcid", initiator}}};
        if (request.opens) {
            delivery.fields.emplace_back("uet.pds.flags.syn", 1);
            delivery.fields.emplace_back("uet.pds.psn_offset", request.number);
        } else {
            delivery.fields.emplace_back("uet.pds.dpdcid", target);
        }
        constexpr std::uint64_t kRead = 2;
        const std::size_t carried = request.operation == kRead ? 0 : piece;
        PacketSpec spec = uet_packet({.entropy = request.entropy, .ecn = request.ecn}, {delivery, semantics(request)},
                                     pattern(carried));
        if (request.trimmed) {
            const std::uint64_t whole = 8 + 12 + 44 + spec.payload.size();
            spec.payload.clear();
            set(spec, "udp.length", whole);
        }
        add(std::move(spec), false);
    }
    void acknowledge(const Answer& answer) {
        using namespace dissect;
        std::vector<UetHeader> headers{
            {kind::uet_ack,
             {{"uet.pds.type", 8},
              {"uet.pds.nh", answer.form},
              {"uet.pds.flags.retx", answer.again ? 1 : 0},
              {"uet.pds.ack_psn_offset", (answer.number - answer.cumulative) & 0xffff},
              {"uet.pds.cack_psn", std::uint32_t{start + answer.cumulative}},
              {"uet.pds.spdcid", target},
              {"uet.pds.dpdcid", initiator}}},
            {kind::uet_ack_nscc, {{"uet.pds.ack.sack_offset", 1}, {"uet.pds.ack.sack_bitmap", answer.sack}}}};
        headers.insert(headers.end(), answer.semantics.begin(), answer.semantics.end());
        add(uet_packet({.back = true}, headers, pattern(answer.data)), true);
    }
    void refuse(std::uint32_t number, std::uint64_t code) {
        using namespace dissect;
        add(uet_packet({.back = true}, {{kind::uet_nack,
                                         {{"uet.pds.type", 10},
                                          {"uet.pds.nack.code", code},
                                          {"uet.pds.nack.psn", std::uint32_t{start + number}},
                                          {"uet.pds.spdcid", target},
                                          {"uet.pds.dpdcid", initiator}}}}),
            true);
    }
    void close(std::uint32_t number) {
        using namespace dissect;
        add(uet_packet({}, {{kind::uet_control,
                             {{"uet.pds.type", 11},
                              {"uet.pds.ctl_type", 4},
                              {"uet.pds.flags.ar", 1},
                              {"uet.pds.psn", std::uint32_t{start + number}},
                              {"uet.pds.spdcid", initiator},
                              {"uet.pds.dpdcid", target}}}}),
            false);
    }
    // A WRITE of so many packets, sprayed, each acknowledged.
    void write(std::uint32_t first, std::uint32_t pieces, std::uint16_t message, bool opens = false) {
        for (std::uint32_t i = 0; i < pieces; ++i)
            send({.number = first + i,
                  .entropy = static_cast<std::uint16_t>(0xc001 + i % 4),
                  .opens = opens,
                  .message = message,
                  .place = i,
                  .pieces = pieces});
        for (std::uint32_t i = 0; i < pieces; ++i) acknowledge({.number = first + i, .cumulative = first + i});
    }
};

}  // namespace qps::tests
