// What nearly every test includes, read once for all programs of tests.
#pragma once

#include <dissect/base/packet.hpp>
#include <tests/support/catch.hpp>
#include <transport-replay/model/observation.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
