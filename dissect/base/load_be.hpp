// load_be(): read_be() as one load, for long functions that every packet goes through: there the compiler keeps
// read_be()'s loop over bytes, which costs more than all that is done with them. Checked as read_be() is.
#pragma once

#include <dissect/base/bytes.hpp>

#include <bit>
#include <cstring>

namespace qps::dissect {

template <class T> [[nodiscard]] T load_be(Bytes bytes, std::size_t offset) {
    if (bytes.size() < sizeof(T) || offset > bytes.size() - sizeof(T)) return 0;
    T value = 0;
    std::memcpy(&value, bytes.data() + offset, sizeof(T));
    return std::endian::native == std::endian::little ? std::byteswap(value) : value;
}

}  // namespace qps::dissect
