// The right forms of what the files beside this one get wrong.
#include <dissect/base/field.hpp>
#include <dissect/base/types.hpp>

#include <array>

using namespace qps::dissect;

void takes_qpn(Qpn);
void takes_psn(Psn);

void passes_each_as_itself() {
    takes_qpn(Qpn{7});
    takes_psn(Psn{7});
    static_cast<void>(Psn{7} + 1);
    static_cast<void>(Psn{7}.before(Psn{8}));
}

constexpr std::array kWhole{row::decimal("a", "A", at(0), 8), row::decimal("b", "B", at(1), 24),
                            row::flag("c", "C", at(1, 3)).part()};
static_assert(tiles(kWhole, 4));
static_assert(named(kWhole, "b").width == 24);
