// XDR (RFC 4506): big-endian words, opaque items with their length before them and a pad behind.
//
// A structure is written as a pattern, one letter an item, so that what an operation carries is a row of a table:
//
//   i 4 bytes   l 8 bytes   v verifier, 8 bytes   s state id, 16 bytes   x session or device id, 16 bytes   c change
//   info, 20 bytes o opaque or string   b bitmap   a attributes: bitmap and opaque   d opaque that may have gone by
//   RDMA instead
//   [..] counted array   (..) list, a true before each   {0:..|7:..|*:..} union by the word before, * for any other
//
// Capital letters are items that somebody wants to find again: O an l; C Q T an i; S an s; X an x; N F an o; of a d its
// length is found. What an attacker could feed: counts of 2^32 and items that end beyond the bytes. Every step takes
// bytes that are there, or the walk ends.
#pragma once

#include <dissect/base/bytes.hpp>

#include <array>
#include <string_view>

namespace qps::dissect {

// Where a reader of XDR stands. A read beyond the end yields zero and ends all further reading.
class Xdr {
public:
    explicit Xdr(Bytes bytes, std::size_t at = 0) : bytes_(bytes), at_(at) {}

    std::uint32_t word() { return read_be<std::uint32_t>(take(4), 0); }
    std::uint64_t hyper() { return read_be<std::uint64_t>(take(8), 0); }
    Bytes take(std::size_t length);
    // An opaque item without its length and pad.
    Bytes opaque();
    void fail() { ok_ = false; }

    [[nodiscard]] bool ok() const { return ok_; }
    [[nodiscard]] std::size_t at() const { return at_; }
    [[nodiscard]] Bytes rest() const { return ok_ ? slice(bytes_, at_) : Bytes{}; }

private:
    Bytes bytes_;
    std::size_t at_;
    bool ok_ = true;
};

// Items that were taken out of a message and went by RDMA (RFC 8166 3.4): of a call, at the positions of its read
// chunks; of an answer, one for each write chunk that was used.
struct ReducedItems {
    static constexpr std::size_t kMost = 8;
    struct Read {
        std::uint32_t position = 0;  // from the start of the call as it was
        std::uint64_t length = 0;
    };
    std::array<Read, kMost> reads{};
    std::size_t read_count = 0;
    std::array<bool, kMost> written{};  // whether each write chunk was used
    std::size_t write_count = 0;
    std::size_t write_next = 0;
    std::uint64_t removed = 0;  // bytes taken out before where the walk stands

    // Whether the item whose bytes would stand at `at` is not there.
    [[nodiscard]] bool takes(std::size_t at, std::uint32_t length);
};

// The first item of each capital letter.
struct XdrMark {
    char letter = 0;
    std::size_t offset = 0;  // of its bytes; of an opaque item, behind its length
    std::size_t length = 0;
};
struct XdrMarks {
    std::array<XdrMark, 8> marks{};
    std::size_t count = 0;
    [[nodiscard]] const XdrMark* find(char letter) const;
};

// Steps over what the pattern says. False where the bytes end before, or a union has no such case.
bool walk_xdr(std::string_view pattern, Xdr& xdr, ReducedItems& reduced, XdrMarks& marks);

}  // namespace qps::dissect
