// How operations and results of RPC are numbered here: a program's procedure, or what an NFSv4 COMPOUND is for, in one
// code; all ways to fail in one status.
#pragma once

#include <dissect/ulp/rpc_message.hpp>
#include <transport-replay/model/ulp_label.hpp>

#include <utility>

namespace qps::transport {

enum class RpcFamily : std::uint8_t {
    other,
    portmap,
    nfs2,
    nfs3,
    nfs4,
    callback,
    mount,
    lock_manager,
    status_monitor,
    nfs_acl,
    unread,
    count_
};

[[nodiscard]] RpcFamily rpc_family(const dissect::RpcHead& call);

inline constexpr std::uint32_t kOtherProcedure = 0xff;  // one with a greater number
[[nodiscard]] constexpr OperationCode rpc_code(RpcFamily family, std::uint32_t number) {
    const std::uint32_t low = number < kOtherProcedure ? number : kOtherProcedure;
    return static_cast<OperationCode>(std::uint32_t{std::to_underlying(family)} << 8U | low);
}
[[nodiscard]] constexpr RpcFamily family_of(OperationCode code) {
    return static_cast<RpcFamily>(std::to_underlying(code) >> 8U);
}
[[nodiscard]] constexpr std::uint32_t number_of(OperationCode code) { return std::to_underlying(code) & 0xffU; }

inline constexpr OperationCode kUnreadCall =
    rpc_code(RpcFamily::unread, 0);                  // too long for a message, and its bytes were not seen
inline constexpr std::uint32_t kCompoundNumber = 1;  // a COMPOUND that nothing is known of

// What a status is of: in its upper byte.
enum class RpcFailure : std::uint8_t { program, accept, mismatch, authentication, transport };
[[nodiscard]] constexpr std::uint32_t rpc_failure(RpcFailure failure, std::uint32_t number) {
    return static_cast<std::uint32_t>(failure) << 24U | (number & 0xffffffU);
}

}  // namespace qps::transport
