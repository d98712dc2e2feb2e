#include <tests/support/catch.hpp>
#include <tests/support/golden.hpp>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace qps::tests {

namespace {

std::string text_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

// The first line that differs, from both texts.
std::string first_difference(const std::string& wanted, const std::string& found) {
    std::istringstream a(wanted);
    std::istringstream b(found);
    std::string left;
    std::string right;
    for (int line = 1;; ++line) {
        const bool more_left = static_cast<bool>(std::getline(a, left));
        const bool more_right = static_cast<bool>(std::getline(b, right));
        if (!more_left && !more_right) return "no line differs";
        if (more_left != more_right || left != right)
            return "line " + std::to_string(line) + "\n  golden: " + (more_left ? left : "(ends)") +
                   "\n  now:    " + (more_right ? right : "(ends)");
    }
}

}  // namespace

void check_golden(const std::string& name, const std::string& text) {
    const std::string path = std::string(QPSCOPE_SOURCE_DIR) + "/tests/" + name;
    if (std::getenv("QPSCOPE_REWRITE_GOLDEN") != nullptr) {
        std::ofstream(path, std::ios::binary) << text;
        return;
    }
    const std::string wanted = text_of(path);
    INFO(path << ": " << first_difference(wanted, text));
    CHECK(wanted == text);
}

}  // namespace qps::tests
