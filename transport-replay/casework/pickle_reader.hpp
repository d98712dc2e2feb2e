// Reads the plain subset of Python's pickle that PyTorch's flight recorder writes (protocol 2), as JSON.
//
// Nothing is executed and nothing is looked up: dictionaries, lists, tuples, texts, numbers, True, False and None are
// values; whatever would call or import something ends the reading with a sentence that names it.
//
// What an attacker could feed: lengths beyond the end, values that contain themselves, small ones that grow when they
// are written out. Values, depth and text are bounded.
#pragma once

#include <transport-replay/casework/archive_reader.hpp>

#include <cstddef>
#include <string_view>

namespace qps::casework {

// Whether the bytes begin as a pickle of that protocol does.
[[nodiscard]] bool is_pickle(std::string_view bytes);
// At most so many bytes of JSON; `problem` says why not all is there.
[[nodiscard]] Unpacked json_of_pickle(std::string_view bytes, std::size_t most);

}  // namespace qps::casework
