// What a file of a part begins with, behind its magic number: whether this program can read the rest.
#pragma once

#include <cstdint>
#include <string>

namespace qps::transport {

struct PartHeader {
    std::uint64_t version = 0;
    std::uint64_t shape = 0;  // of the types that follow (parts::shape_of)
    std::string program;      // its version
    std::uint64_t size = 0;   // of the body, unpacked
};

}  // namespace qps::transport
