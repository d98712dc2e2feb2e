// `collect`: prints a shell script that gathers what a host knows of its RDMA devices into a tar file. The script is
// collect.sh, which becomes a text of the program when that is built.
#pragma once

#include <string_view>

namespace qps::cli {

[[nodiscard]] std::string_view collect_script();

}  // namespace qps::cli
