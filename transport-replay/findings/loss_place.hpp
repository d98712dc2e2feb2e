// Says where packets were lost that a responder asked for with sequence NAKs: between their sender and the tap, or
// behind it; between the taps of two hosts, where captures of several hosts were joined.
#pragma once

#include <transport-replay/findings/evidence.hpp>

#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace qps::transport {

// Of episodes of sequence NAKs that are no matter of order.
class LossPlace {
public:
    LossPlace(const Episodes& found, const std::vector<const Recovery*>& episodes, std::span<const CapturedHost> hosts);
    // Where, in words and in numbers.
    [[nodiscard]] Facts facts() const;
    // Whether all of them are known to have been lost, and not only late.
    [[nodiscard]] bool proven() const;
    // A template over these facts and those of the two ends.
    [[nodiscard]] std::string_view advice() const;

private:
    enum class Kind : std::uint8_t { before, corrupt, behind, undecided };
    struct Place {
        Kind kind{};
        HostNumber passed{};  // see Recovery
        HostNumber missed{};
        PsnDispositions left{};  // of undecided ones
        [[nodiscard]] auto operator<=>(const Place&) const = default;
    };
    [[nodiscard]] std::string tap(HostNumber host) const;
    [[nodiscard]] std::string words(const Place& place) const;

    std::string from_;
    std::span<const CapturedHost> hosts_;
    bool unchecked_ = false;  // whether packets that passed this tap were intact is not known of all
    std::map<Place, std::uint64_t> places_;
    std::uint64_t discarded_ = 0;  // behind one that was lost
};

// What timers waited for, as far as captures of several hosts tell: "2 of them because requests were lost between the
// tap of node1 and the tap of node2"; nothing where they do not.
[[nodiscard]] std::vector<std::string> timeouts_placed(const std::vector<const Recovery*>& episodes,
                                                       std::span<const CapturedHost> hosts);

// Whether the requester sent only what was asked for, and its responder had kept what followed (selective repeat): so
// in all of its episodes that show it.
[[nodiscard]] bool is_selective(const Way& way, const std::vector<const Recovery*>& episodes);

// Facts of a LossPlace.
[[nodiscard]] std::span<const FactRow* const> loss_place_facts();

}  // namespace qps::transport
