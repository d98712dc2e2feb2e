// The one QApplication of the tests, without a screen. Settings of a user are neither read nor written.
#pragma once

#include <chrono>
#include <ctime>

namespace qps::gui::tests {

inline constexpr int kPatience = 30'000;  // ms, on a busy machine

// What this process has used of processors. It is for work that nothing can count, such as a repaint from ten million
// points or a sort: what is promised there is how much is computed, and the time that passes also has whatever else
// this machine does. Waiting is not in it, so it is right only for what waits for nothing; where work can be counted
// (rows read, cells asked for), count it.
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
