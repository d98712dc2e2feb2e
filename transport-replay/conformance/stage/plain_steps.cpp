// Lines that neither send nor ask: variables, blocks, conditions, time.
#include <transport-replay/conformance/stage/run.hpp>

#include <fmt/format.h>

namespace qps::transport::conformance::stage {

using namespace dissect;

Step Run::play(const script::Let& line) {
    const auto value = number(line.value);
    if (!value) return Step::ended;
    variables_.set(line.name, *value);
    return Step::next;
}

Step Run::play(const script::Repeat& line) {
    const auto count = number(line.count);
    if (!count) return Step::ended;
    enter(line.body, &line, nullptr, *count);
    return Step::next;
}

Step Run::play(const script::ForEach& line) {
    enter(line.body, nullptr, &line, line.values.size());
    return Step::next;
}

Step Run::play(const script::GivenThat& line) {
    enter(line.body, nullptr, nullptr, 1);
    if (!line.body.empty()) cursors_.back().given = &line;
    return Step::next;
}

Step Run::play(const script::If& line) {
    const auto condition = number(line.condition);
    if (!condition) return Step::ended;
    enter(*condition != 0 ? line.then : line.otherwise, nullptr, nullptr, 1);
    return Step::next;
}

Step Run::play(const script::Require& line) {
    const auto condition = number(line.condition);
    if (!condition) return Step::ended;
    if (*condition != 0) return Step::next;
    end(Verdict::not_applicable, line.reason);
    return Step::ended;
}

// What was measured says nothing of the device.
Step Run::play(const script::Trust& line) {
    const auto condition = number(line.condition);
    if (!condition) return Step::ended;
    if (*condition != 0) return Step::next;
    end(Verdict::inconclusive, fmt::format("{} ({})", line.reason, values_in(line.condition)));
    return Step::ended;
}

// What the variables of an expression are.
std::string Run::values_in(const script::Expression& expression) const {
    std::string values;
    for (const script::Term& term : expression.terms)
        if (term.operation == script::Operation::variable)
            if (const auto value = variables_.number(term.name);
                value && values.find(fmt::format("${} is", term.name)) == std::string::npos)
                values += fmt::format("{}${} is {}", values.empty() ? "" : ", ", term.name, *value);
    return values.empty() ? "0" : values;
}

Step Run::play(const script::Assert& line) {
    const auto condition = number(line.condition);
    if (!condition) return Step::ended;
    if (*condition != 0) {
        ++outcome_.examined;
        return Step::next;
    }
    fail_agent(line.condition.text, values_in(line.condition), line.reason);
    return Step::ended;
}

Step Run::play(const script::Fail& line) {
    fail_agent("not to get here", "got here", line.reason);
    return Step::ended;
}

Step Run::play(const script::Wait& line) {
    if (!waits_.until) {
        const auto lasting = duration(line.lasting);
        if (!lasting) return Step::ended;
        waits_.until = now_ + *lasting;
    }
    if (wait_until(*waits_.until)) return Step::wait;
    event_ = now_;
    return Step::next;
}

Step Run::play(const script::Mark& line) {
    variables_.set(line.name, static_cast<std::uint64_t>(std::max(event_ - began_, Duration{})));
    return Step::next;
}

}  // namespace qps::transport::conformance::stage
