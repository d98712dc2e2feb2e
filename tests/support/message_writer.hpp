// MessageWriter: messages of upper protocols for tests, word by word.
#pragma once

#include <dissect/base/bytes.hpp>

#include <string_view>
#include <vector>

namespace qps::tests {

class MessageWriter {
public:
    // Big-endian, as XDR.
    MessageWriter& words(std::initializer_list<std::uint32_t> values) {
        for (const std::uint32_t value : values) big(value, 4);
        return *this;
    }
    MessageWriter& hyper(std::uint64_t value) { return big(value, 8); }
    MessageWriter& zeros(std::size_t count) {
        bytes_.resize(bytes_.size() + count);
        return *this;
    }
    // Length, bytes, pad.
    MessageWriter& opaque(std::string_view text) {
        words({static_cast<std::uint32_t>(text.size())});
        raw(text);
        return zeros((4 - text.size() % 4) % 4);
    }
    MessageWriter& raw(std::string_view text) {
        for (const char c : text) bytes_.push_back(static_cast<std::byte>(c));
        return *this;
    }
    MessageWriter& add(const std::vector<std::byte>& more) {
        bytes_.insert(bytes_.end(), more.begin(), more.end());
        return *this;
    }
    MessageWriter& little(std::uint64_t value, std::size_t size) {
        for (std::size_t i = 0; i < size; ++i) bytes_.push_back(static_cast<std::byte>(value >> (8 * i)));
        return *this;
    }

    [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

private:
    MessageWriter& big(std::uint64_t value, std::size_t size) {
        for (std::size_t i = size; i-- > 0;) bytes_.push_back(static_cast<std::byte>(value >> (8 * i)));
        return *this;
    }

    std::vector<std::byte> bytes_;
};

}  // namespace qps::tests
