// State machines as data: an array of edges {from, event, to}. What has no edge is refused, and a refusal means
// something (a NAK on a wire, a finding in a file), so it is a value and never an assertion.
//
// The machine is checked at compile time (sound()): one edge at most for a state and an event, every state reachable
// from the first. grid() prints all of it; golden files keep it, so that a changed edge is a visible difference.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace qps::transport {

// State and Event are enums that count from 0 without gaps, in the order of the names.
template <class State, class Event> struct Edge {
    State from;
    Event event;
    State to;
};

// The first state is where the machine begins.
template <class State, class Event, std::size_t kStates, std::size_t kEvents, std::size_t kEdges> struct Machine {
    std::array<std::string_view, kStates> states;
    std::array<std::string_view, kEvents> events;
    std::array<Edge<State, Event>, kEdges> edges;
};

// The next state, or nothing where the machine refuses the event.
template <class State, class Event, std::size_t kStates, std::size_t kEvents, std::size_t kEdges>
[[nodiscard]] constexpr std::optional<State> step(const Machine<State, Event, kStates, kEvents, kEdges>& machine,
                                                  std::type_identity_t<State> from, std::type_identity_t<Event> event) {
    for (const Edge<State, Event>& edge : machine.edges)
        if (edge.from == from && edge.event == event) return edge.to;
    return std::nullopt;
}

// Whether the machine is deterministic, names everything it uses, and can reach every state.
template <class State, class Event, std::size_t kStates, std::size_t kEvents, std::size_t kEdges>
[[nodiscard]] consteval bool sound(const Machine<State, Event, kStates, kEvents, kEdges>& machine) {
    for (std::size_t a = 0; a < kEdges; ++a) {
        const Edge<State, Event>& edge = machine.edges[a];
        if (static_cast<std::size_t>(edge.from) >= kStates || static_cast<std::size_t>(edge.to) >= kStates ||
            static_cast<std::size_t>(edge.event) >= kEvents)
            return false;
        for (std::size_t b = a + 1; b < kEdges; ++b)
            if (edge.from == machine.edges[b].from && edge.event == machine.edges[b].event) return false;
    }
    std::array<bool, kStates> reached{};
    reached[0] = true;
    for (std::size_t round = 0; round < kStates; ++round)
        for (const Edge<State, Event>& edge : machine.edges)
            if (reached[static_cast<std::size_t>(edge.from)]) reached[static_cast<std::size_t>(edge.to)] = true;
    return std::ranges::all_of(reached, [](bool each) { return each; });
}

// The whole grid as text: a row an event, a column a state, "-" where the event is refused.
template <class State, class Event, std::size_t kStates, std::size_t kEvents, std::size_t kEdges>
[[nodiscard]] std::string grid(const Machine<State, Event, kStates, kEvents, kEdges>& machine) {
    const auto longest = [](const auto& names) { return std::ranges::max(names, {}, &std::string_view::size).size(); };
    const std::size_t width = longest(machine.states) + 2;
    const std::size_t first = longest(machine.events) + 2;
    std::string text;
    const auto cell = [&](std::string_view word, std::size_t wide) {
        text += word;
        text.append(wide - word.size(), ' ');
    };
    const auto end_line = [&] {
        text.erase(text.find_last_not_of(' ') + 1);
        text += '\n';
    };
    cell({}, first);
    for (std::string_view state : machine.states) cell(state, width);
    end_line();
    for (std::size_t event = 0; event < kEvents; ++event) {
        cell(machine.events[event], first);
        for (std::size_t state = 0; state < kStates; ++state) {
            const auto next = step(machine, static_cast<State>(state), static_cast<Event>(event));
            cell(next ? machine.states[static_cast<std::size_t>(*next)] : "-", width);
        }
        end_line();
    }
    return text;
}

}  // namespace qps::transport
