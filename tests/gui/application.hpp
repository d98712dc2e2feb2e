// The one QApplication of the tests, without a screen. Settings of a user are neither read nor written.
#pragma once

namespace qps::gui::tests {

inline constexpr int kPatience = 30'000;  // ms, on a busy machine

// Makes it on the first call. Every test that makes a widget calls it first.
void needApplication();

// A base of what holds widgets: it is there before them.
struct WithApplication {
    WithApplication() { needApplication(); }
};

}  // namespace qps::gui::tests
