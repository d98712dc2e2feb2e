// Judges of upper protocols: what was asked, how it was answered and when, and what an end said of the other.
#include <tests/court/datagram.hpp>
#include <tests/court/judges.hpp>
#include <tests/court/messages.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <regex>

#include <fmt/format.h>

namespace qps::court {

namespace {

// Who asked whom by which protocol; of a login or a session, the active side is who asks.
struct Session {
    std::string active, passive;
    Upper upper{};
};
std::optional<Session> session_of(Hearing& hearing, const std::string& active, const std::string& passive) {
    const auto from = hearing.end(active), to = hearing.end(passive);
    const auto upper = upper_of(hearing.word("upper_protocol").value_or(""));
    if (from && to && upper) return Session{from->address, to->address, *upper};
    hearing.object("does not say who spoke to whom, in a protocol that the court reads");
    return {};
}
std::optional<Session> asking(Hearing& hearing) { return session_of(hearing, "requester", "responder"); }
std::optional<Session> in_session(Hearing& hearing) { return session_of(hearing, "active_side", "passive_side"); }
// A share is printed with six digits.
void equal_share(Hearing& hearing, const std::string& name, double shown) {
    constexpr double kDigits = 1e-5;
    const auto said = hearing.number(name);
    hearing.expect(said && std::abs(*said - shown) <= kDigits * shown,
                   fmt::format("the packets show {} of {:.6g}", name, shown));
}
bool proves(const Hearing& hearing, std::size_t frame) {
    return std::ranges::count(hearing.claim().frames, frame) != 0;
}

// Of the operation that the first frame of the evidence is of: its answer where `answer`, else what asked.
const Operation* first_proof(const Hearing& hearing, const std::vector<Operation>& all, bool answer) {
    for (const std::size_t frame : hearing.claim().frames)
        for (const Operation& one : all) {
            const std::optional<Sent> sent = answer ? one.answered : one.asked;
            if (sent && (sent->last_frame == frame || sent->first_frame == frame)) return &one;
        }
    return nullptr;
}

// What a status means, of those that captures of the court have.
struct Meaning {
    Upper upper;
    std::uint32_t status;
    std::string_view words;
};
constexpr std::uint32_t kDoNotRetry = 0x4000;
constexpr std::array kMeanings{
    Meaning{Upper::rpc, 1, "PERM"},
    Meaning{Upper::rpc, 2, "NOENT"},
    Meaning{Upper::rpc, 5, "IO"},
    Meaning{Upper::rpc, 13, "ACCESS"},
    Meaning{Upper::rpc, 66, "NOTEMPTY"},
    Meaning{Upper::rpc, kRpcRdmaError | 1, "RDMA_ERROR ERR_VERS"},
    Meaning{Upper::rpc, kRpcRdmaError | 2, "RDMA_ERROR ERR_CHUNK"},
    Meaning{Upper::iser, 2, "CHECK CONDITION"},
    Meaning{Upper::srp, 2, "CHECK CONDITION"},
    Meaning{Upper::nvme, kDoNotRetry | 0x001, "invalid command opcode, do not retry"},
    Meaning{Upper::nvme, kDoNotRetry | 0x002, "invalid field in command, do not retry"},
    Meaning{Upper::nvme, kDoNotRetry | 0x006, "internal error, do not retry"},
    Meaning{Upper::nvme, kDoNotRetry | 0x00f, "data SGL length invalid, do not retry"},
    Meaning{Upper::nvme, kDoNotRetry | 0x182, "connect invalid parameters, do not retry"},
    Meaning{Upper::nvme, kDoNotRetry | 0x184, "connect invalid host, do not retry"},
    Meaning{Upper::iser, 0x0201, "authentication failure"},
    Meaning{Upper::iser, 0x0301, "service unavailable"},
};
void means(Hearing& hearing, Upper upper, std::uint32_t status, const std::string& words) {
    const auto row =
        std::ranges::find_if(kMeanings, [&](const Meaning& one) { return one.upper == upper && one.status == status; });
    if (row == kMeanings.end())
        return hearing.object(fmt::format("the court does not know status 0x{:x}, said to be \"{}\"", status, words));
    hearing.expect(words.starts_with(row->words), fmt::format("status 0x{:x} is \"{}\"", status, row->words));
}

void operation_failed(Hearing& hearing) {
    const auto said = asking(hearing);
    if (!said) return;
    const auto all = operations(hearing, said->upper, said->active, said->passive);
    const Operation* proof = first_proof(hearing, all, true);
    if (proof == nullptr) return hearing.object("no frame of its evidence answers anything");
    std::uint64_t failed = 0;
    for (const Operation& one : all)
        failed += one.answered && one.code == proof->code && one.status == proof->status ? 1U : 0U;
    hearing.expect(proof->status != 0, "it did not fail");
    // A compound of NFSv4 has operations that the court does not tell apart. Of SCSI the sense says more than the
    // status, and MODE SENSE or a service action is part of the name.
    constexpr std::uint32_t kCompound = 1;
    const bool in_part = (said->upper == Upper::rpc && proof->code == kCompound) || said->upper == Upper::iser ||
                         said->upper == Upper::srp;
    if (in_part) hearing.at_most_fact("failures", static_cast<double>(failed));
    else hearing.equal_fact("failures", static_cast<double>(failed));
    means(hearing, said->upper, proof->status, hearing.word("upper_status").value_or(""));
    for (const std::size_t frame : hearing.claim().frames)
        hearing.expect(std::ranges::any_of(all,
                                           [&](const Operation& one) {
                                               return one.answered && one.answered->last_frame == frame &&
                                                      one.status == proof->status;
                                           }),
                       fmt::format("frame {} answers nothing with that status", frame));
}

void operation_unanswered(Hearing& hearing) {
    const auto said = asking(hearing);
    if (!said) return;
    const auto all = operations(hearing, said->upper, said->active, said->passive);
    const Operation* proof = first_proof(hearing, all, false);
    if (proof == nullptr) return hearing.object("no frame of its evidence asks anything");
    std::vector<const Operation*> open;
    for (const Operation& one : all)
        if (!one.answered && one.code == proof->code) open.push_back(&one);
    hearing.equal_fact("unanswered", static_cast<double>(open.size()));
    const auto waited = hearing.number("first_waited_ns");
    const bool released = hearing.flag("requester_disconnected");
    if (open.empty()) return;
    const auto fits = [&](std::int64_t end) {
        return waited == static_cast<double>(end - open.front()->asked.time) ||
               waited == static_cast<double>(end - open.front()->asked.begun);
    };
    const auto ends = [&](const Message& one) {
        return one.is() == Message::dreq && one.from() == said->active && fits(one.mad.wire->time);
    };
    hearing.expect(
        released ? std::ranges::any_of(messages(hearing), ends) : fits(hearing.recording().records.back().time),
        "the first was asked at another time");
}

void operation_slow(Hearing& hearing) {
    const auto said = asking(hearing);
    if (!said) return;
    const auto all = operations(hearing, said->upper, said->active, said->passive);
    const Operation* proof = first_proof(hearing, all, false);
    if (proof == nullptr || !proof->answered) return hearing.object("its evidence is no operation");
    std::vector<double> waits;
    for (const Operation& one : all)
        if (one.answered && one.code == proof->code)
            waits.push_back(static_cast<double>(one.answered->time - one.asked.time));
    std::ranges::sort(waits);
    const double median = waits[(waits.size() + 1) / 2 - 1];
    const auto slow = std::ranges::count_if(waits, [&](double wait) { return wait >= std::max(1e6, 9 * median); });
    hearing.at_most_fact("slow_operations", static_cast<double>(slow));
    hearing.equal_fact("operations", static_cast<double>(waits.size()));
    hearing.equal_fact("slowest_ns", waits.back());
    // From a histogram: within its steps of 1/16.
    constexpr double kStep = 0.07;
    const auto about = hearing.number("median_ns");
    hearing.expect(about && std::abs(*about - median) <= kStep * median,
                   fmt::format("the median is {:.4g} ns", median));
    hearing.at_most_fact("p99_ns", waits.back());
    if (hearing.word("slow_part").value_or("none") != "none") hearing.at_most_fact("share_of_time", 1);
    (void)hearing.number("episodes_meanwhile");
}

void serialised(Hearing& hearing) {
    const auto said = asking(hearing);
    if (!said) return;
    const auto all = operations(hearing, said->upper, said->active, said->passive);
    hearing.equal_fact("operations", static_cast<double>(all.size()));
    std::int64_t waited = 0, last = 0;
    for (const Operation& one : all) {
        hearing.expect(last == 0 || one.asked.time >= last, "two were outstanding");
        if (!one.answered) continue;
        last = one.answered->time;
        waited += last - one.asked.time;
    }
    if (all.empty()) return;
    hearing.equal_fact("mean_latency_ns", static_cast<double>(waited / static_cast<std::int64_t>(all.size())));
    equal_share(hearing, "share_of_time",
                static_cast<double>(waited) / static_cast<double>(last - all.front().asked.time));
}

// Credits: of RPC they are the third word of each message (RFC 8166 4.1), of calls and of replies.

std::uint32_t granted(const std::vector<Operation>& all) {
    std::uint32_t most = 0;
    for (const Operation& one : all)
        if (one.answered) most = std::max(most, number_at(one.answered->bytes, 8, 4));
    return most;
}

void single_credit(Hearing& hearing) {
    const auto said = in_session(hearing);
    if (!said || said->upper != Upper::rpc) return hearing.expect(!said, "the court reads no credits of that protocol");
    const auto all = operations(hearing, Upper::rpc, said->active, said->passive);
    hearing.equal_fact("operations", static_cast<double>(all.size()));
    hearing.equal("credits at most", 1, granted(all));
}

void credits_exhausted(Hearing& hearing) {
    const auto said = in_session(hearing);
    if (!said || said->upper != Upper::rpc) return hearing.expect(!said, "the court reads no credits of that protocol");
    const auto all = operations(hearing, Upper::rpc, said->active, said->passive);
    const std::uint64_t credits = granted(all);
    hearing.equal_fact("granted", static_cast<double>(credits));
    std::uint64_t times = 0;
    for (const Operation& one : all) {
        const auto is_open = [&](const Operation& other) {
            return other.asked.time <= one.asked.time && (!other.answered || other.answered->time > one.asked.time);
        };
        times += static_cast<std::uint64_t>(std::ranges::count_if(all, is_open)) >= credits ? 1U : 0U;
    }
    hearing.at_most_fact("occurrences", static_cast<double>(times));
}

// What ends said in words

void login_failed(Hearing& hearing) {
    const auto ends = in_session(hearing);
    if (!ends) return;
    const std::string said = hearing.word("said").value_or("");
    constexpr std::uint32_t kConnect = 0x7f, kLogin = 0x103;  // Fabrics commands have one opcode
    const auto all = operations(hearing, ends->upper, ends->active, ends->passive);
    std::uint64_t failed = 0;
    const bool silent = said == "the target closed the connection without an answer";
    for (const Operation& one : all) {
        if (one.code != (ends->upper == Upper::nvme ? kConnect : kLogin) || one.answered.has_value() == silent ||
            (!silent && one.status == 0))
            continue;
        const Sent& proof = silent ? one.asked : *one.answered;
        if (!proves(hearing, proof.last_frame) && !proves(hearing, proof.first_frame)) continue;
        ++failed;
        if (!silent) means(hearing, ends->upper, one.status, said);
    }
    hearing.equal_fact("occurrences", static_cast<double>(failed));
}

// A REJ with what the protocol says of its reason in private data, behind the 84 bytes of a REJ (12.6.7).
void protocol_refused(Hearing& hearing) {
    const auto ends = in_session(hearing);
    if (!ends) return;
    const std::string said = hearing.word("said").value_or("");
    constexpr std::size_t kPrivate = 84;
    static const std::map<std::uint32_t, std::string> kNvme{{1, "invalid private data length"},
                                                            {2, "invalid record format"},
                                                            {3, "invalid queue ID"},
                                                            {4, "invalid host send queue size"},
                                                            {5, "invalid host receive queue size"},
                                                            {6, "no resources"},
                                                            {7, "invalid IRD"},
                                                            {8, "invalid ORD"}};
    static const std::map<std::uint32_t, std::string> kSrp{
        {0x10001, "login rejected: insufficient RDMA channel resources"},
        {0x10006, "login rejected: RDMA channel limit reached for this initiator"}};
    std::uint64_t refused = 0;
    for (const Message& one : messages(hearing)) {
        if (one.is() != Message::rej || one.from() != ends->passive || one.to() != ends->active) continue;
        const bool nvme = ends->upper == Upper::nvme;
        const std::uint32_t reason = nvme ? one.number(kPrivate + 2, 1) : one.number(kPrivate + 4, 4);
        const auto& words = nvme ? kNvme : kSrp;
        const auto known = words.find(reason);
        if (known == words.end() || known->second != said) continue;
        ++refused;
        hearing.expect(proves(hearing, one.mad.wire->frame),
                       fmt::format("frame {}, the REJ, is not in its evidence", one.mad.wire->frame));
    }
    hearing.equal_fact("occurrences", static_cast<double>(refused));
}

// An RDMA_ERROR (RFC 8166 4.5), of its message type 4.
void protocol_error(Hearing& hearing) {
    const auto ends = in_session(hearing);
    if (!ends) return;
    const bool by_active = hearing.flag("by_active");
    const std::string &from = by_active ? ends->active : ends->passive, &to = by_active ? ends->passive : ends->active;
    const std::string said = hearing.word("said").value_or("");
    constexpr std::uint32_t kError = 4, kVersion = 1, kChunks = 2;
    const bool of_version = said == "RDMA_ERROR: version not supported";
    hearing.expect(ends->upper == Upper::rpc && (of_version || said == "RDMA_ERROR: chunks cannot be used"),
                   "the court does not know that error");
    std::uint64_t errors = 0;
    for (const Sent& sent : sent_messages(hearing)) {
        if (sent.from != from || sent.to != to || sent.bytes.size() < 20 || number_at(sent.bytes, 12, 4) != kError)
            continue;
        if (number_at(sent.bytes, 16, 4) != (of_version ? kVersion : kChunks)) continue;
        ++errors;
        hearing.expect(proves(hearing, sent.last_frame),
                       fmt::format("frame {} is not in its evidence", sent.last_frame));
    }
    hearing.equal_fact("occurrences", static_cast<double>(errors));
}

// Of RPC over RDMA (RFC 8166 4): the first four words of a header, and its XID again behind three empty lists.
void message_malformed(Hearing& hearing) {
    const auto ends = in_session(hearing);
    const bool by_active = hearing.flag("by_active");
    const std::string said = hearing.word("said").value_or("");
    if (!ends) return;
    hearing.expect(ends->upper == Upper::rpc, "the court does not know that protocol");
    const std::string &from = by_active ? ends->active : ends->passive, &to = by_active ? ends->passive : ends->active;
    constexpr std::size_t kLists = 28;
    std::uint64_t broken = 0;
    for (const Sent& sent : sent_messages(hearing)) {
        if (sent.from != from || sent.to != to || sent.bytes.size() < kLists + 4) continue;
        const auto version = number_at(sent.bytes, 4, 4), type = number_at(sent.bytes, 12, 4);
        const bool other = version == 1 && type <= 1 && number_at(sent.bytes, 0, 4) != number_at(sent.bytes, kLists, 4);
        const bool breaks = (version != 1 && said == fmt::format("version {}, not 1", version)) ||
                            (type > 4 && said == fmt::format("message type {}, which does not exist", type)) ||
                            (other && said == "another XID than the RPC header behind it");
        if (!breaks) continue;
        ++broken;
        hearing.expect(proves(hearing, sent.last_frame),
                       fmt::format("frame {} is not in its evidence", sent.last_frame));
    }
    hearing.equal_fact("occurrences", static_cast<double>(broken));
}

// An asynchronous message of iSCSI that drops the connection or the session (RFC 7143 11.9).
void session_terminated(Hearing& hearing) {
    const auto ends = in_session(hearing);
    if (!ends) return;
    const bool by_active = hearing.flag("by_active");
    const std::string &from = by_active ? ends->active : ends->passive, &to = by_active ? ends->passive : ends->active;
    constexpr std::size_t kPdu = 28, kEvent = kPdu + 36;
    constexpr std::uint8_t kAsynchronous = 0x32;
    std::uint64_t found = 0;
    for (const Sent& sent : sent_messages(hearing)) {
        if (sent.from != from || sent.to != to || sent.bytes.size() <= kEvent ||
            (sent.bytes[kPdu] & 0x3fU) != kAsynchronous)
            continue;
        found += (sent.bytes[kEvent] == 2 || sent.bytes[kEvent] == 3) && proves(hearing, sent.last_frame) ? 1U : 0U;
    }
    hearing.expect(ends->upper == Upper::iser && found != 0, "its evidence ends no session");
    hearing.equal_fact("occurrences", static_cast<double>(found));
}

// Keep Alive commands of NVMe (opcode 0x18), and the timeout of the Connect command (its bytes 48 to 51).
void keep_alive_late(Hearing& hearing) {
    const auto ends = in_session(hearing);
    if (!ends) return;
    constexpr std::int64_t kMillisecond = 1'000'000;
    static const std::regex kSaid(
        "(?:a keep-alive was answered after|no keep-alive for) (\\d+) ms, the timeout is (\\d+) ms");
    const std::string said = hearing.word("said").value_or("");
    std::smatch match;
    const auto worst = hearing.number("without_keep_alive_ns");
    if (!std::regex_match(said, match, kSaid) || !worst)
        return hearing.object("does not say how late, of which timeout");
    const std::int64_t silence = std::stoll(match[1]), limit = std::stoll(match[2]);
    constexpr std::uint32_t kKeepAlive = 0x18, kFabrics = 0x7f;
    std::optional<std::int64_t> before;
    std::uint64_t times = 0;
    bool timeout = false, late = false;
    for (const Operation& one : operations(hearing, ends->upper, ends->active, ends->passive)) {
        const Octets& command = one.asked.bytes;
        if (one.code == kFabrics && command[4] == 1) {  // Connect
            const std::int64_t asked = command[48] | command[49] << 8 | command[50] << 16;
            timeout |= asked == limit;
            if (asked != 0 && one.answered) before = one.answered->time;
        }
        if (one.code != kKeepAlive) continue;
        for (const std::int64_t wait :
             {before ? one.asked.time - *before : 0, one.answered ? one.answered->time - one.asked.time : 0}) {
            const std::int64_t whole = wait / kMillisecond;
            times += wait > limit * kMillisecond ? 1U : 0U;
            late |=
                static_cast<double>(whole * kMillisecond) == *worst && whole == silence && wait > limit * kMillisecond;
        }
        before = one.asked.time;
    }
    hearing.expect(timeout, "no Connect has that timeout");
    hearing.expect(late, "no keep-alive was as late");
    hearing.at_most_fact("occurrences", static_cast<double>(times));
}

constexpr std::array kUpperJudges{
    Judge{"operation-failed", operation_failed}, Judge{"operation-unanswered", operation_unanswered},
    Judge{"operation-slow", operation_slow},     Judge{"serialised-io", serialised},
    Judge{"single-credit", single_credit},       Judge{"credits-exhausted", credits_exhausted},
    Judge{"login-failed", login_failed},         Judge{"protocol-refused", protocol_refused},
    Judge{"protocol-error", protocol_error},     Judge{"session-terminated", session_terminated},
    Judge{"keep-alive-late", keep_alive_late},   Judge{"message-malformed", message_malformed},
};

}  // namespace

std::span<const Judge> upper_judges() { return kUpperJudges; }

}  // namespace qps::court
