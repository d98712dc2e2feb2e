// Upper protocols as the court reads them: messages that SENDs of reliable connections carry, and of each protocol what
// asks and what answers, by which tag, and with which status. NVMe over RDMA, iSER, SRP, and RPC over RDMA with NFS.
#pragma once

#include <tests/court/hearing.hpp>

namespace qps::court {

// What one or more SENDs made: each PSN once, in order.
struct Sent {
    std::size_t first_frame = 0, last_frame = 0;
    std::int64_t begun = 0, time = 0;  // of its first and last packet
    std::string from, to;
    std::uint32_t to_qp = 0;
    Octets bytes{};
};
[[nodiscard]] std::vector<Sent> sent_messages(const Hearing& hearing);

enum class Upper : std::uint8_t { nvme, iser, srp, rpc };
// "NVMe over RDMA"; nothing where it is another.
[[nodiscard]] std::optional<Upper> upper_of(const std::string& name);

// What a message says of an operation.
struct Said {
    bool asks = false;
    std::uint64_t tag = 0;
    std::uint32_t code = 0;    // of what asks: opcode of the command or the CDB, procedure
    std::uint32_t status = 0;  // of what answers; 0 is success
};
inline constexpr std::uint32_t kRpcRdmaError = 0x10000;  // of RPC over RDMA itself; the others are NFS's
// `active`: the message is of the host, initiator or client.
[[nodiscard]] std::optional<Said> read_upper(Upper upper, const Octets& bytes, bool active);

// What was asked, with its answer where there is one.
struct Operation {
    Sent asked;
    std::uint32_t code = 0;
    std::optional<Sent> answered{};
    std::uint32_t status = 0;
};
// Those that `active` asked of `passive`; of the connection that the finding is of, if it names one.
[[nodiscard]] std::vector<Operation> operations(const Hearing& hearing, Upper upper, const std::string& active,
                                                const std::string& passive);

}  // namespace qps::court
