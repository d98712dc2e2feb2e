// NFS as it is carried in RPC: procedures of version 3 (RFC 1813), operations of 4.0, 4.1 and 4.2 (RFC 7530, 8881,
// 7862, 8276), and status codes; the way from one operation of a COMPOUND to the next.
//
// What an attacker could feed: a COMPOUND of 2^32 operations, an operation that does not exist. The walk ends there,
// and says where.
#pragma once

#include <dissect/ulp/nfs_tables.hpp>
#include <dissect/ulp/xdr.hpp>

#include <optional>

namespace qps::dissect::nfs {

// By its number; nullptr for one that no row has. Callback operations are numbered anew (RFC 8881 20).
[[nodiscard]] const Operation* operation(std::uint32_t number, bool callback);

// Whether results that begin with that operation are of a callback: a server's begin with what sets a file handle, a
// session or a client, which have greater numbers.
[[nodiscard]] constexpr bool begins_callback(std::uint32_t first) {
    constexpr std::uint32_t kFirst = 3, kLast = 15, kDelegPurge = 7;
    return first >= kFirst && first <= kLast && first != kDelegPurge;
}

[[nodiscard]] const Procedure* procedure3(std::uint32_t number);

// Nothing for a number that NFS does not have.
[[nodiscard]] const Status* status(std::uint32_t number);

// The head of a COMPOUND's arguments or results (RFC 7530 16.2), without its operations.
struct Compound {
    bool answer = false;
    bool callback = false;
    std::uint32_t status = 0;  // of an answer
    Bytes tag;
    std::uint32_t minor_version = 0;  // of a call
    std::uint32_t count = 0;
    std::size_t length = 0;  // of the head, in bytes
};
inline constexpr std::uint32_t kMaxOperations = 128;  // of a COMPOUND; servers take some 50
[[nodiscard]] std::optional<Compound> compound(Bytes bytes, bool answer, bool callback);

// One operation after the other. next() is nothing at the end, and where an operation cannot be walked: then at() is
// where the bytes begin that nothing explains.
struct Step {
    const Operation* operation = nullptr;
    std::uint32_t status = 0;  // of an answer
    std::size_t offset = 0;
    std::size_t length = 0;
    XdrMarks marks;
};
class Steps {
public:
    // `bytes` begin at the RPC message that the positions of `reduced` count from; the operations at `at`.
    Steps(Bytes bytes, std::size_t at, const Compound& head, const ReducedItems& reduced)
        : bytes_(bytes), at_(at), head_(head), left_(head.count), reduced_(reduced) {}
    [[nodiscard]] std::optional<Step> next();
    [[nodiscard]] std::size_t at() const { return at_; }
    [[nodiscard]] bool complete() const { return left_ == 0; }

private:
    Bytes bytes_;
    std::size_t at_;
    Compound head_;
    std::uint32_t left_;
    ReducedItems reduced_;
};

}  // namespace qps::dissect::nfs
