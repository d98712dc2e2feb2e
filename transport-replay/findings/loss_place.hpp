// Where packets were lost that a responder asked for with sequence NAKs: between their sender and the tap, or behind it.
#pragma once

#include <transport-replay/findings/evidence.hpp>

#include <string>
#include <vector>

namespace qps::transport {

// Of episodes of sequence NAKs that are no matter of order.
class LossPlace {
public:
    LossPlace(const Episodes& found, const std::vector<const Recovery*>& episodes);
    // ", all lost between 10.0.0.1 and this tap"
    [[nodiscard]] std::string text() const;
    // Whether all of them are known to have been lost, and not only late.
    [[nodiscard]] bool proven() const { return behind_ + undecided_ == 0; }
    [[nodiscard]] std::string advice() const;

private:
    std::string from_, to_;
    bool unchecked_ = false;  // whether packets that passed this tap were intact is not known of all
    std::uint64_t before_ = 0;
    std::uint64_t behind_ = 0;
    std::uint64_t corrupt_ = 0;
    std::uint64_t undecided_ = 0;
};

// Whether the requester sent only what was asked for, and its responder had kept what followed (selective repeat): so in all of
// its episodes that show it.
[[nodiscard]] bool is_selective(const std::vector<const Recovery*>& episodes);

}  // namespace qps::transport
