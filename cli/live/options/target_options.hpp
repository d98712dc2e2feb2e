// Whom a program speaks to, where and how much: what `peer` and `pingpong` take. What is not there is the program's
// own.
#pragma once

#include <cli/options/option_table.hpp>
#include <transport-replay/model/address.hpp>

#include <cstdint>
#include <optional>

namespace qps::transport::live {
enum class IpPort : std::uint16_t;
struct ConnectOptions;
}  // namespace qps::transport::live

namespace qps::cli {

struct TargetOptions {
    std::optional<transport::Address> target;  // none: serve
    std::optional<transport::live::IpPort> port;
    std::optional<std::uint64_t> count;       // messages or rounds
    std::optional<std::uint32_t> size;        // bytes of a message
    std::optional<std::uint32_t> depth;       // messages under way
    std::optional<std::uint64_t> clients;     // of a server, before it ends
    std::optional<std::uint8_t> ack_timeout;  // of connections by CM, as codes and counts of verbs
    std::optional<std::uint8_t> retry;
    std::optional<std::uint8_t> rnr_retry;
    std::optional<std::uint8_t> min_rnr_timer;
    bool verify = true;

    void add(OptionTable& table);
    // What connections are to be like, where the user says so.
    void set_timers(transport::live::ConnectOptions& connect) const;
};

}  // namespace qps::cli
