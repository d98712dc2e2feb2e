// The way from one operation of a COMPOUND to the next.
#include <dissect/ulp/nfs.hpp>

#include <algorithm>

namespace qps::dissect::nfs {

namespace {

template <class Row, std::size_t N> constexpr const Row* row_of(const std::array<Row, N>& rows, std::uint32_t number) {
    const auto found = std::ranges::lower_bound(rows, number, {}, &Row::number);
    return found == rows.end() || found->number != number ? nullptr : &*found;
}
static_assert(std::ranges::is_sorted(kOperations, {}, &Operation::number));
static_assert(std::ranges::is_sorted(kCallbackOperations, {}, &Operation::number));
static_assert(std::ranges::is_sorted(kStatus, {}, &Status::number));

std::string_view results_of(const Operation& operation, std::uint32_t status) {
    if (status == 0) return operation.results;
    return operation.failure_status == 0 || operation.failure_status == status ? operation.failure : std::string_view{};
}

}  // namespace

const Operation* operation(std::uint32_t number, bool callback) {
    return callback ? row_of(kCallbackOperations, number) : row_of(kOperations, number);
}
const Procedure* procedure3(std::uint32_t number) { return row_of(kProcedures3, number); }
const Status* status(std::uint32_t number) { return row_of(kStatus, number); }

std::optional<Compound> compound(Bytes bytes, bool answer, bool callback) {
    Xdr xdr(bytes);
    Compound head{.answer = answer, .callback = callback, .tag = {}};
    if (answer) head.status = xdr.word();
    head.tag = xdr.opaque();
    if (!answer) head.minor_version = xdr.word();
    if (!answer && callback) (void)xdr.word();  // callback_ident
    head.count = xdr.word();
    head.length = xdr.at();
    if (!xdr.ok() || head.count > kMaxOperations) return std::nullopt;
    return head;
}

std::optional<Step> Steps::next() {
    if (left_ == 0) return std::nullopt;
    Xdr xdr(bytes_, at_);
    Step step{.operation = operation(xdr.word(), head_.callback), .offset = at_, .marks = {}};
    if (!xdr.ok() || step.operation == nullptr) return std::nullopt;
    std::string_view pattern = step.operation->arguments;
    if (head_.answer) {
        step.status = xdr.word();
        pattern = results_of(*step.operation, step.status);
    }
    if (!walk_xdr(pattern, xdr, reduced_, step.marks)) return std::nullopt;
    step.length = xdr.at() - at_;
    at_ = xdr.at();
    --left_;
    return step;
}

}  // namespace qps::dissect::nfs
