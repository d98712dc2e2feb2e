// The walks over messages of upper protocols, a file each. Internal to dissect/: they are reached through upper_rows().
#pragma once

#include <dissect/ulp/upper_hint.hpp>
#include <dissect/walk.hpp>

namespace qps::dissect::ulp {}  // namespace qps::dissect::ulp
