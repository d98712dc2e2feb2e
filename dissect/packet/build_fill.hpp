// The half of build() that fills in what a specification left open. Internal to dissect/build.
#pragma once

#include <dissect/packet/build.hpp>

namespace qps::dissect {

struct PlacedHeader {
    const HeaderSpec* spec;
    std::size_t offset;  // in the frame
    std::size_t length;  // with its tail
};

// Takes the frame up to the end of its payload; appends pad, ICRC and VCRC, and fills the headers.
void fill_in(const PacketSpec& spec, const std::vector<PlacedHeader>& headers, std::vector<std::byte>& bytes);

}  // namespace qps::dissect
