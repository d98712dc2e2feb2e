// Names of RPC's operations, and its failures in words.
#include <dissect/ulp/nfs.hpp>
#include <dissect/ulp/rpc_rdma.hpp>
#include <transport-replay/ulp/rpc_codes.hpp>
#include <transport-replay/ulp/rpc_protocol.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace qps::transport {

using namespace dissect;

namespace {

struct ProgramRow {
    std::uint32_t program;
    std::uint32_t version;  // 0: any
    RpcFamily family;
};
constexpr std::array kPrograms{
    ProgramRow{rpc_program::kNfs, 4, RpcFamily::nfs4},
    ProgramRow{rpc_program::kNfs, 3, RpcFamily::nfs3},
    ProgramRow{rpc_program::kNfs, 2, RpcFamily::nfs2},
    ProgramRow{rpc_program::kMount, 0, RpcFamily::mount},
    ProgramRow{rpc_program::kLockManager, 0, RpcFamily::lock_manager},
    ProgramRow{rpc_program::kPortmap, 0, RpcFamily::portmap},
    ProgramRow{rpc_program::kStatusMonitor, 0, RpcFamily::status_monitor},
    ProgramRow{rpc_program::kNfsAcl, 0, RpcFamily::nfs_acl},
};

constexpr std::array kPortmap{
    ValueName{0, "PORTMAP NULL"},    ValueName{1, "PORTMAP SET"},  ValueName{2, "PORTMAP UNSET"},
    ValueName{3, "PORTMAP GETPORT"}, ValueName{4, "PORTMAP DUMP"}, ValueName{5, "PORTMAP CALLIT"},
};
constexpr std::array kMount{
    ValueName{0, "MOUNT NULL"}, ValueName{1, "MOUNT MNT"},     ValueName{2, "MOUNT DUMP"},
    ValueName{3, "MOUNT UMNT"}, ValueName{4, "MOUNT UMNTALL"}, ValueName{5, "MOUNT EXPORT"},
};
constexpr std::array kLockManager{
    ValueName{0, "NLM NULL"},         ValueName{1, "NLM TEST"},         ValueName{2, "NLM LOCK"},
    ValueName{3, "NLM CANCEL"},       ValueName{4, "NLM UNLOCK"},       ValueName{5, "NLM GRANTED"},
    ValueName{6, "NLM TEST_MSG"},     ValueName{7, "NLM LOCK_MSG"},     ValueName{8, "NLM CANCEL_MSG"},
    ValueName{9, "NLM UNLOCK_MSG"},   ValueName{10, "NLM GRANTED_MSG"}, ValueName{11, "NLM TEST_RES"},
    ValueName{12, "NLM LOCK_RES"},    ValueName{13, "NLM CANCEL_RES"},  ValueName{14, "NLM UNLOCK_RES"},
    ValueName{15, "NLM GRANTED_RES"}, ValueName{20, "NLM SHARE"},       ValueName{21, "NLM UNSHARE"},
    ValueName{22, "NLM NM_LOCK"},     ValueName{23, "NLM FREE_ALL"},
};
constexpr std::array kNfsAcl{
    ValueName{0, "NFSACL NULL"},    ValueName{1, "NFSACL GETACL"}, ValueName{2, "NFSACL SETACL"},
    ValueName{3, "NFSACL GETATTR"}, ValueName{4, "NFSACL ACCESS"},
};
constexpr std::array kUnread{ValueName{0, "long call"}};

struct FamilyRow {
    std::span<const ValueName> names;
    std::string_view other;  // a procedure without a name
};
// In the order of RpcFamily.
constexpr std::array kFamilies{
    FamilyRow{{}, "RPC call"},
    FamilyRow{kPortmap, "PORTMAP call"},
    FamilyRow{{}, "NFSv2 call"},
    FamilyRow{nfs::kProcedure3Names, "NFSv3 call"},
    FamilyRow{nfs::kOperationNames, "NFSv4 call"},
    FamilyRow{nfs::kCallbackOperationNames, "NFSv4 callback"},
    FamilyRow{kMount, "MOUNT call"},
    FamilyRow{kLockManager, "NLM call"},
    FamilyRow{{}, "STAT call"},
    FamilyRow{kNfsAcl, "NFSACL call"},
    FamilyRow{kUnread, "long call"},
};
static_assert(kFamilies.size() == static_cast<std::size_t>(RpcFamily::count_));

std::string numbered(std::string_view what, std::string_view name, std::uint32_t number) {
    return name.empty() ? fmt::format("{} {}", what, number) : fmt::format("{} {}", what, name);
}

}  // namespace

RpcFamily rpc_family(const RpcHead& call) {
    if (is_callback_program(call.program)) return RpcFamily::callback;
    for (const ProgramRow& row : kPrograms)
        if (row.program == call.program && (row.version == 0 || row.version == call.program_version)) return row.family;
    return RpcFamily::other;
}

std::string_view rpc_operation_name(OperationCode code) {
    const std::size_t family = std::to_underlying(family_of(code));
    if (family >= kFamilies.size()) return "RPC call";
    const std::uint32_t number = number_of(code);
    const bool four = family_of(code) == RpcFamily::nfs4;
    const bool callback = family_of(code) == RpcFamily::callback;
    if ((four || callback) && number == 0) return four ? "NULL" : "CB_NULL";
    if ((four || callback) && number == kCompoundNumber) return four ? "COMPOUND" : "CB_COMPOUND";
    const std::string_view name = name_in(kFamilies[family].names, number);
    return name.empty() ? kFamilies[family].other : name;
}

std::string rpc_description(const UlpOperation& operation) {
    const bool moves = operation.bytes > 0;
    if (moves) return fmt::format("offset {}, {} bytes", operation.subject[0], operation.bytes);
    if (operation.subject[0] != 0) return fmt::format("offset {}", operation.subject[0]);
    return {};
}

std::string rpc_status(const UlpOperation& operation) {
    constexpr std::uint32_t kNumber = 0xffffff;
    const std::uint32_t number = operation.status & kNumber;
    switch (static_cast<RpcFailure>(operation.status >> 24U)) {
        case RpcFailure::program:
            if (const nfs::Status* status = nfs::status(number))
                return fmt::format("{}: {}", status->name, status->words);
            return fmt::format("NFS status {}", number);
        case RpcFailure::accept: return numbered("RPC not done:", name_in(kRpcAcceptStates, number), number);
        case RpcFailure::mismatch: return "RPC denied: RPC_MISMATCH";
        case RpcFailure::authentication: return numbered("RPC denied:", name_in(kRpcAuthStates, number), number);
        case RpcFailure::transport: return numbered("RDMA_ERROR", name_in(kRpcRdmaErrors, number), number);
    }
    return fmt::format("status {:#010x}", operation.status);
}

// What a program gets that looks whether a file is there, or wants to be the one that makes it.
bool rpc_everyday(std::uint32_t status) {
    constexpr std::array<std::uint32_t, 4> kEveryday{
        2, 17, 66, 10095};  // NOENT, EXIST, NOTEMPTY, NOXATTR (RFC 7530 13, RFC 8276 8.4)
    constexpr std::uint32_t kNumber = 0xffffff;
    return static_cast<RpcFailure>(status >> 24U) == RpcFailure::program &&
           std::ranges::find(kEveryday, status & kNumber) != kEveryday.end();
}

}  // namespace qps::transport
