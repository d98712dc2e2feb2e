// The walks over messages of upper protocols, a file each. Internal to dissect/: they are reached through upper_rows().
#pragma once

#include <dissect/ulp/upper_hint.hpp>
#include <dissect/walk.hpp>

namespace qps::dissect::ulp {

// iWARP is what carries messages, not a message: it stands in the place of what a TCP segment carries.
void walk_iwarp(Packet& packet, const UpperHint& hint);

}  // namespace qps::dissect::ulp
