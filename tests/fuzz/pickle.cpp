// A pickle of any bytes: what is read of it is bounded, and becomes JSON without anything being done.
#include <transport-replay/casework/pickle_reader.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::size_t kMost = 1U << 16U;
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const auto json = qps::casework::json_of_pickle(bytes, kMost);
    // The last value that is written may be one text of the input, of which a byte becomes at most six.
    return json.bytes.size() <= 2 * kMost + 6 * size ? 0 : (std::abort(), 1);
}
