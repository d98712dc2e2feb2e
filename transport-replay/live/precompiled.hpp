// What nearly every source of what speaks on a wire includes, read once for all of them (cmake/unity.cmake). A source
// still includes what it uses: without unity builds there is no precompiled header either.
#pragma once

#include <dissect/base/packet.hpp>
#include <transport-replay/live/endpoint.hpp>
#include <transport-replay/model/observation.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>
#include <fmt/format.h>
