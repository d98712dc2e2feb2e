// The one QApplication of the tests, without a screen. Settings of a user are neither read nor written.
#pragma once

#include <chrono>
#include <ctime>

namespace qps::gui::tests {

inline constexpr int kPatience = 30'000;  // ms, on a busy machine

// What this process has used of processors: what a bound on work is held against, for others may be at work here too.
[[nodiscard]] inline std::chrono::duration<double> processorTime() {
    return std::chrono::duration<double>(static_cast<double>(std::clock()) / CLOCKS_PER_SEC);
}

// Makes it on the first call. Every test that makes a widget calls it first.
void needApplication();

// A base of what holds widgets: it is there before them.
struct WithApplication {
    WithApplication() { needApplication(); }
};

}  // namespace qps::gui::tests
