// Rewriter: rules of rewriting (rewrite_rule.hpp) applied to a frame, in place and without allocation.
//
// Which fields a rule is about stands in one table of layers and field names. Checksums of IP, UDP and TCP and the ICRC
// change by what the rules changed: right ones stay right, wrong ones wrong, and a UDP checksum of 0 stays "none".
//
// What an attacker could feed: any frame, of a capture or a wire: only layers that decode() found are touched, within
// their bytes. Packets whose ICRC cannot be concluded (cut, fragments, IP options) keep the one they have.
#pragma once

#include <dissect/base/packet.hpp>
#include <transport-replay/live/replay/rewrite_rule.hpp>

#include <span>
#include <vector>

namespace qps::transport::live {

inline constexpr std::size_t kMaxRewriteRules = 1024;  // each is compared with every field it is about

class Rewriter {
public:
    Rewriter() = default;
    explicit Rewriter(std::span<const RewriteRule> rules);  // those beyond kMaxRewriteRules do not count

    [[nodiscard]] bool idle() const { return rules_.empty(); }
    // Rewrites the Ethernet frame in the first `length` bytes of the room; its new length, which a VLAN tag changes. 0
    // where the room is too short for that.
    [[nodiscard]] std::size_t apply(dissect::MutableBytes room, std::size_t length);

private:
    struct RuledField {  // a field that some rule is about
        const dissect::Field* field = nullptr;
        Subject subject{};
        Side side{};
    };
    struct RuledLayer {
        dissect::LayerKind kind{};
        std::vector<RuledField> places{};
    };
    // The addresses of the packet as recorded, which "at" asks for.
    struct Ends {
        Wide source;
        Wide destination;
    };

    [[nodiscard]] const RewriteRule* rule_for(const RuledField& place, const Wide& value, const Ends& ends) const;
    bool rewrite_field(dissect::MutableBytes frame, const dissect::Layer& layer, const RuledField& place,
                       const Ends& ends) const;
    [[nodiscard]] std::size_t retag(dissect::MutableBytes room, std::size_t length) const;

    std::vector<RewriteRule> rules_;
    std::vector<RuledLayer> layers_;
    bool tags_ = false;       // some rule is about VLAN tags
    bool fields_ = false;     // some is about fields
    bool asks_ends_ = false;  // some is about one host
    dissect::Packet packet_{};
};

}  // namespace qps::transport::live
