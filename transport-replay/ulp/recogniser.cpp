// Messages shown to every protocol.
#include <transport-replay/ulp/recogniser.hpp>

namespace qps::transport {

namespace {

constexpr std::uint8_t kByContent = 90;
constexpr std::uint8_t kByLooks = 60;  // only plausible, several times

}  // namespace

std::optional<UlpDecision> UlpRecogniser::take(const UlpMessage& message, ByteShare& payload) {
    ++tries_;
    if (hopeless_) return std::nullopt;
    hopeless_ = true;
    std::optional<UlpDecision> best;
    for (const ProtocolRow& row : protocol_rows()) {
        if (row.message == nullptr) continue;
        Votes& votes = votes_[static_cast<std::size_t>(row.protocol)];
        if (votes.impossible) continue;
        const Likeness like = row.message(message);
        if (like.percent == 0) {
            votes.impossible = true;
            continue;
        }
        hopeless_ = false;
        const End active = like.from_active ? message.from : other(message.from);
        ++votes.active[static_cast<std::size_t>(active)];
        votes.sure = votes.sure || like.percent >= kSure;
        if (like.percent >= kPlausible) ++votes.plausible;
        if (!votes.sure && votes.plausible < kPlausibleNeeded) continue;
        const std::uint8_t certainty = votes.sure ? kByContent : kByLooks;
        const End end = votes.active[0] >= votes.active[1] ? End::a : End::b;
        if (!best || certainty > best->certainty) best = UlpDecision{row.protocol, UlpBasis::content, certainty, end};
    }
    if (hopeless_) {
        kept_.clear();
    } else if (kept_.size() < kKeptTries) {
        Tried& tried = kept_.emplace_back(Tried{message, {}});
        tried.bytes.append(payload, dissect::slice(message.bytes, 0, kKeptTryBytes));
    }
    return best;
}

}  // namespace qps::transport
