// LnetMachine: LNet over o2iblnd. A PUT_REQ is accepted by a PUT_ACK that names memory of the responder, which the
// requester WRITEs and then says so (PUT_DONE); a GET_REQ names memory of the requester, which the responder WRITEs
// (GET_DONE). Short messages are immediate: a GET is answered by a REPLY, a PUT by an ACK if it asks for one. Where a
// PUT carries a request of Lustre (ptlrpc), that is the operation: its reply is a PUT of the other end with the same
// match bits, the XID, immediate or by RDMA.
//
// What an attacker could feed: cookies without end, memory in a thousand pieces. kMaxOpen cookies are kept,
// kMostLnetPieces pieces of one message are looked at.
#pragma once

#include <transport-replay/ulp/likeness.hpp>
#include <transport-replay/ulp/ulp_session.hpp>

#include <boost/unordered/unordered_flat_map.hpp>

namespace qps::dissect::lustre {
struct Said;
}

namespace qps::transport {

namespace lnet {
// With data by RDMA; and immediate ones.
inline constexpr OperationCode kPut{1}, kGet{2}, kShortPut{3}, kShortGet{4}, kHello{5};
// Requests of Lustre, from here on by their number.
inline constexpr std::uint16_t kFirstRequest = 0x1000;
[[nodiscard]] constexpr bool is_request(OperationCode code) {
    return static_cast<std::uint16_t>(code) >= kFirstRequest;
}
[[nodiscard]] Likeness likeness(const UlpMessage& message);
[[nodiscard]] bool is_private_data(const CmAttempt& attempt);
[[nodiscard]] std::string_view operation_name(OperationCode code);
[[nodiscard]] std::string describe(const UlpOperation& operation);
[[nodiscard]] std::string status(const UlpOperation& operation);
[[nodiscard]] bool everyday(std::uint32_t status);
// A refusal in LNet's words.
void attempt(const CmAttempt& attempt, UlpReport& report);
}  // namespace lnet

class LnetMachine {
public:
    void connected(const CmAttempt& attempt, UlpSession& session);
    Understood message(const UlpMessage& message, UlpSession& session);

private:
    // A message with the byte order it is in.
    struct Read;
    [[nodiscard]] Understood take_request(const Read& from, UlpSession& session);
    [[nodiscard]] Understood take_immediate(const Read& from, UlpSession& session);
    [[nodiscard]] Understood take_lustre(const Read& from, const dissect::lustre::Said& said, UlpSession& session);
    [[nodiscard]] Understood take_put_ack(const Read& from, UlpSession& session);
    [[nodiscard]] Understood take_end(const Read& from, UlpSession& session);

    // Which request a PUT_DONE ends: its cookie is the responder's.
    boost::unordered_flat_map<std::uint64_t, std::uint64_t> accepted_;
    // Of replies by RDMA: which request of Lustre the end of a PUT answers, by the cookie of the PUT.
    boost::unordered_flat_map<std::uint64_t, std::uint64_t> replying_;
    // Requests of clients that know no early replies.
    boost::unordered_flat_map<std::uint64_t, bool> plain_;
};

}  // namespace qps::transport
