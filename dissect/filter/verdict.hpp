// Verdict: what a filter says of a packet of which perhaps not everything is known, by the three-valued logic of
// Kleene: "no and unknown" is no, "yes or unknown" is yes, everything else that is unknown stays so.
//
// And the one evaluation of a compiled filter. Where every test is answered with yes or no, so is the filter.
#pragma once

#include <dissect/filter/parser.hpp>

#include <array>
#include <span>

namespace qps::dissect {

enum class Verdict : std::uint8_t { no, yes, unknown };

[[nodiscard]] constexpr Verdict verdict(bool passes) { return passes ? Verdict::yes : Verdict::no; }

}  // namespace qps::dissect

namespace qps::dissect::filter_language {

// The left side of an "and" or "or" that is unknown: what is on its right decides whether it stays so. Such sides nest
// as the parentheses do, at most one of each operator per level.
class OpenSides {
public:
    // The right side of the jump ends before step `target`, which is a later step.
    void open(Step jump, std::uint32_t target) {
        if (count_ > 0 && sides_[count_ - 1].target == target && sides_[count_ - 1].jump == jump)
            return;  // a and b and c
        if (count_ < sides_.size()) sides_[count_++] = {jump, target};
    }
    // Joins the sides whose right one ends before step `at` with its flag.
    [[nodiscard]] Verdict close(std::size_t at, Verdict flag) {
        for (; count_ > 0 && sides_[count_ - 1].target == at; --count_) {
            const Verdict decisive = sides_[count_ - 1].jump == Step::jump_if_false ? Verdict::no : Verdict::yes;
            if (flag != decisive) flag = Verdict::unknown;
        }
        return flag;
    }

private:
    struct Side {
        Step jump;
        std::uint32_t target;
    };
    std::array<Side, 2 * (kMaxNesting + 1)> sides_;  // only count_ of them
    std::size_t count_ = 0;
};

// Flags put aside for "xor", at most one per level of parentheses.
class FlagsAside {
public:
    void push(Verdict flag) {
        if (count_ < flags_.size()) flags_[count_++] = flag;
    }
    [[nodiscard]] Verdict exclusive_or(Verdict flag) {
        const Verdict other = count_ > 0 ? flags_[--count_] : Verdict::unknown;
        if (flag == Verdict::unknown || other == Verdict::unknown) return Verdict::unknown;
        return verdict(flag != other);
    }

private:
    std::array<Verdict, kMaxNesting + 1> flags_;  // only count_ of them
    std::size_t count_ = 0;
};

[[nodiscard]] constexpr Verdict negated(Verdict flag) {
    return flag == Verdict::unknown ? flag : verdict(flag == Verdict::no);
}

// Runs the steps, asking judge(index of a test) for verdicts. No steps: yes.
template <class Judge> [[nodiscard]] Verdict evaluate(std::span<const Instruction> steps, const Judge& judge) {
    Verdict flag = Verdict::yes;
    OpenSides sides;
    FlagsAside aside;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        flag = sides.close(i, flag);
        const auto [step, operand] = steps[i];
        switch (step) {
            case Step::test: flag = judge(operand); break;
            case Step::negate: flag = negated(flag); break;
            case Step::jump_if_false:
            case Step::jump_if_true:
                if (flag == Verdict::unknown) sides.open(step, operand);
                else if ((flag == Verdict::yes) == (step == Step::jump_if_true)) i = operand - std::size_t{1};
                break;
            case Step::push: aside.push(flag); break;
            case Step::exclusive_or: flag = aside.exclusive_or(flag); break;
        }
    }
    return sides.close(steps.size(), flag);
}

}  // namespace qps::dissect::filter_language
