// Scenes of Ultra Ethernet: contexts that are sprayed over paths, and what is then lost, trimmed, refused or slow.
#include <tests/court/stage.hpp>
#include <tests/support/uet_exchange.hpp>

#include <array>

namespace qps::court {

namespace scenes {

namespace {

using tests::UetExchange;

void show(Stage& stage, const UetExchange& exchange) {
    for (const tests::Block& block : exchange.frames) {
        Octets frame;
        for (const std::byte byte : block) frame.push_back(std::to_integer<std::uint8_t>(byte));
        stage.put(std::move(frame));
        stage.wait(20 * kAMicrosecond);
    }
}

UetExchange begun(unsigned variant) {
    UetExchange exchange;
    exchange.start = 0xffff'fff0U + variant;
    for (std::uint32_t i = 0; i < 4; ++i) exchange.write(4 * i, 4, static_cast<std::uint16_t>(i + 1), i == 0);
    return exchange;
}
constexpr std::uint32_t kNext = 16;  // packets that begun() has

// Some are sent again: after a NACK, needlessly, or with a first sending that nobody saw.
void uet_again(Stage& stage, unsigned variant) {
    UetExchange exchange = begun(variant);
    for (std::uint32_t i = 0; i < 6; ++i) {
        const std::uint32_t number = kNext + i;
        const auto message = static_cast<std::uint16_t>(50 + i);
        if (i != 3 || variant == 0) exchange.send({.number = number, .entropy = 0xc002, .message = message});
        if (i == 1) exchange.refuse(number, variant == 1 ? 1 : 7);
        if (i == 4) exchange.acknowledge({.number = number, .cumulative = kNext - 1, .sack = std::uint64_t{1} << i});
        if (i == 1 || i == 3 || i == 4)
            exchange.send({.number = number, .entropy = 0xc003, .again = true, .message = message});
    }
    exchange.acknowledge({.number = kNext + 5, .cumulative = kNext + 5});
    show(stage, exchange);
}

void uet_nacked(Stage& stage, unsigned variant) {
    UetExchange exchange = begun(variant);
    constexpr std::array<std::uint64_t, kVariants> kCodes{7, 0x0d, 0x0e};
    for (std::uint32_t i = 0; i <= variant; ++i) {
        exchange.send({.number = kNext + i, .message = static_cast<std::uint16_t>(60 + i)});
        exchange.refuse(kNext + i, kCodes[variant]);
    }
    show(stage, exchange);
}

void uet_cut(Stage& stage, unsigned variant) {
    UetExchange exchange = begun(variant);
    for (std::uint32_t i = 0; i < 3; ++i) {
        exchange.send({.number = kNext + i,
                       .entropy = 0xc002,
                       .message = static_cast<std::uint16_t>(70 + i),
                       .trimmed = variant != 1 || i == 2});
        exchange.refuse(kNext + i, i == variant ? 2 : 1);
        exchange.send(
            {.number = kNext + i, .entropy = 0xc003, .again = true, .message = static_cast<std::uint16_t>(70 + i)});
        exchange.acknowledge({.number = kNext + i, .cumulative = kNext + i, .again = true});
    }
    show(stage, exchange);
}

// Of four paths one loses, or takes ten times as long.
void uet_lossy(Stage& stage, unsigned variant) {
    UetExchange exchange;
    for (std::uint32_t i = 0; i < 120; ++i) {
        const auto message = static_cast<std::uint16_t>(i);
        exchange.send(
            {.number = i, .entropy = static_cast<std::uint16_t>(0xc000 + i % 4), .opens = i == 0, .message = message});
        const bool lost = (i % 4 == 2 && i / 4 < 9 + variant) || i == 5;
        if (lost) exchange.send({.number = i, .entropy = 0xc000, .again = true, .message = message});
        exchange.acknowledge({.number = i, .cumulative = i, .again = lost});
    }
    show(stage, exchange);
}
void uet_detour(Stage& stage, unsigned variant) {
    UetExchange exchange;
    const std::uint32_t behind = 40 + 10 * variant;
    std::uint32_t next = 0;  // slow packet that is not answered yet
    const auto answer = [&](std::uint32_t number) {
        exchange.acknowledge({.number = number, .cumulative = next == 0 ? 0xffffffff : next - 1});
    };
    for (std::uint32_t i = 0; i < 120 + behind; ++i) {
        if (i < 120)
            exchange.send({.number = i,
                           .entropy = static_cast<std::uint16_t>(0xc000 + i % 4),
                           .opens = i == 0,
                           .message = static_cast<std::uint16_t>(i)});
        if (i < 120 && i % 4 != 3) answer(i);
        if (i >= behind && (i - behind) % 4 == 3) answer(i - behind);
    }
    show(stage, exchange);
}

void uet_rejected(Stage& stage, unsigned variant) {
    using namespace dissect;
    UetExchange exchange = begun(variant);
    for (std::uint32_t i = 0; i <= variant; ++i) {
        const std::uint64_t message = 80 + i;
        exchange.send({.number = kNext + i, .message = static_cast<std::uint16_t>(message)});
        const tests::UetHeader refusal{kind::ses_response,
                                       {{"uet.ses.rsp.opcode", 1},
                                        {"uet.ses.rsp.return_code", 0x19 + variant},
                                        {"uet.ses.rsp.message_id", message},
                                        {"uet.ses.rsp.job_id", 0xabc}}};
        exchange.acknowledge({.number = kNext + i, .cumulative = kNext + i, .semantics = {refusal}, .form = 4});
    }
    show(stage, exchange);
}

constexpr std::array kUltraEthernetScenes{
    Scene{"uet-retransmitted", uet_again}, Scene{"uet-nack", uet_nacked},      Scene{"uet-trimmed", uet_cut},
    Scene{"uet-path-loss", uet_lossy},     Scene{"uet-path-slow", uet_detour}, Scene{"uet-refused", uet_rejected},
};

}  // namespace

}  // namespace scenes

std::span<const Scene> ultra_ethernet_scenes() { return scenes::kUltraEthernetScenes; }

}  // namespace qps::court
