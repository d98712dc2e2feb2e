#include <cli/live/options/secret_file.hpp>
#include <cli/options/refuse.hpp>
#include <transport-replay/conformance/agent/secret.hpp>

#include <utility>

namespace qps::cli {

std::string read_secret_file(const std::string& path) {
    std::string why;
    auto secret = transport::conformance::agent::read_secret(path, why);
    if (!secret) refuse(why);
    return std::move(*secret);
}

}  // namespace qps::cli
