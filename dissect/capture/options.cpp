// Options of pcapng blocks: every length is checked against the bytes left.
#include <dissect/capture/options.hpp>

namespace qps::dissect {

bool OptionReader::next(Option& option) {
    constexpr std::size_t kHeader = 4;
    if (rest_.size() < kHeader) return false;
    const bool little = order_ == ByteOrder::little;
    const auto code = little ? read_le<std::uint16_t>(rest_, 0) : read_be<std::uint16_t>(rest_, 0);
    const std::size_t length = little ? read_le<std::uint16_t>(rest_, 2) : read_be<std::uint16_t>(rest_, 2);
    if (code == kOptionEnd || length > rest_.size() - kHeader) {
        rest_ = {};
        return false;
    }
    option = {code, rest_.subspan(kHeader, length)};
    rest_ = slice(rest_, kHeader + (length + 3) / 4 * 4);
    return true;
}

std::string_view comment(const Frame& frame) {
    OptionReader options(frame.options, frame.options_order);
    for (Option option; options.next(option);)
        if (option.code == kOptionComment)
            return {reinterpret_cast<const char*>(option.value.data()), option.value.size()};
    return {};
}

std::uint64_t dropped_before(const Frame& frame) {
    OptionReader options(frame.options, frame.options_order);
    for (Option option; options.next(option);) {
        if (option.code != kOptionDropCount || option.value.size() != sizeof(std::uint64_t)) continue;
        return frame.options_order == ByteOrder::little ? read_le<std::uint64_t>(option.value, 0)
                                                        : read_be<std::uint64_t>(option.value, 0);
    }
    return 0;
}

}  // namespace qps::dissect
