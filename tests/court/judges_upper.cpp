// Judges of upper protocols: what was asked, how it was answered and when, and what an end said of the other.
#include <tests/court/datagram.hpp>
#include <tests/court/judges.hpp>
#include <tests/court/messages.hpp>

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

namespace qps::court {

namespace {

std::uint64_t sum_of(const std::string& words) { return count_of(words).value_or(0); }
bool proves(const Hearing& hearing, std::size_t frame) { return std::ranges::count(hearing.claim().frames, frame) != 0; }

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
    const auto row = std::ranges::find_if(kMeanings, [&](const Meaning& one) { return one.upper == upper && one.status == status; });
    if (row == kMeanings.end())
        return hearing.object(fmt::format("the court does not know status 0x{:x}, said to be \"{}\"", status, words));
    hearing.expect(words.starts_with(row->words), fmt::format("status 0x{:x} is \"{}\"", status, row->words));
}

void operation_failed(Hearing& hearing) {
    const auto said =
        hearing.must_say("^" + kHost + " answered (.+?) from " + kHost + " \\(" + kUpperName + "\\) " + kTimes + " with (.*)\\.$");
    const auto upper = said ? upper_of((*said)[4]) : std::nullopt;
    if (!upper) return;
    const auto all = operations(hearing, *upper, (*said)[3], (*said)[1]);
    const Operation* proof = first_proof(hearing, all, true);
    if (proof == nullptr) return hearing.object("no frame of its evidence answers anything");
    std::uint64_t failed = 0;
    for (const Operation& one : all) failed += one.answered && one.code == proof->code && one.status == proof->status ? 1U : 0U;
    hearing.expect(proof->status != 0, "it did not fail");
    // A compound of NFSv4 has operations that the court does not tell apart.
    constexpr std::uint32_t kCompound = 1;
    if (*upper == Upper::rpc && proof->code == kCompound) hearing.at_most("failures", sum_of((*said)[5]), failed);
    // Of SCSI the sense says more than the status, and MODE SENSE or a service action is part of the name.
    else if (*upper == Upper::iser || *upper == Upper::srp) hearing.at_most("failures", sum_of((*said)[5]), failed);
    else hearing.equal("failures", sum_of((*said)[5]), failed);
    means(hearing, *upper, proof->status, (*said)[6]);
    for (const std::size_t frame : hearing.claim().frames)
        hearing.expect(std::ranges::any_of(all,
                                           [&](const Operation& one) {
                                               return one.answered && one.answered->last_frame == frame && one.status == proof->status;
                                           }),
                       fmt::format("frame {} answers nothing with that status", frame));
}

void operation_unanswered(Hearing& hearing) {
    const auto said = hearing.must_say("^" + kHost + " never answered (.+?) from " + kHost + " \\(" + kUpperName + "\\), requested " +
                                       kTimes + ", first " + kQuantity + " before (the capture ended|[^ ]+ disconnected)");
    const auto upper = said ? upper_of((*said)[4]) : std::nullopt;
    if (!upper) return;
    const auto all = operations(hearing, *upper, (*said)[3], (*said)[1]);
    const Operation* proof = first_proof(hearing, all, false);
    if (proof == nullptr) return hearing.object("no frame of its evidence asks anything");
    std::vector<const Operation*> open;
    for (const Operation& one : all)
        if (!one.answered && one.code == proof->code) open.push_back(&one);
    hearing.equal("without answer", sum_of((*said)[5]), open.size());
    if (open.empty() || (*said)[7] != "the capture ended") return;
    const auto named = quantity_of((*said)[6]);
    const std::int64_t end = hearing.recording().records.back().time;
    hearing.expect(named && (named->has(static_cast<double>(end - open.front()->asked.time)) ||
                             named->has(static_cast<double>(end - open.front()->asked.begun))),
                   "the first was asked at another time");
}

void operation_slow(Hearing& hearing) {
    const auto said = hearing.must_say("^(At least )?" + kNumber + " of " + kNumber + " (.+?) operations?(?: that were not truncated)? took (?:up to )?" + kQuantity +
                                       " \\(median " + kQuantity + ", p99 " + kQuantity + "\\)");
    if (!said) return;
    // The sentence names no hosts: the two and the protocol are those of its evidence.
    for (const Upper upper : {Upper::nvme, Upper::iser, Upper::srp, Upper::rpc})
        for (const Sent& sent : sent_messages(hearing)) {
            if (!proves(hearing, sent.first_frame) && !proves(hearing, sent.last_frame)) continue;
            const auto all = operations(hearing, upper, sent.from, sent.to);
            const Operation* proof = first_proof(hearing, all, false);
            if (proof == nullptr || !proof->answered) continue;
            std::vector<double> waits;
            for (const Operation& one : all)
                if (one.answered && one.code == proof->code) waits.push_back(static_cast<double>(one.answered->time - one.asked.time));
            std::ranges::sort(waits);
            const double median = waits[(waits.size() + 1) / 2 - 1];
            const auto slow =
                static_cast<std::uint64_t>(std::ranges::count_if(waits, [&](double wait) { return wait >= std::max(1e6, 9 * median); }));
            hearing.at_most("slow operations", sum_of((*said)[2]), slow);
            hearing.equal("operations", sum_of((*said)[3]), waits.size());
            hearing.equal("at worst", (*said)[5], waits.back());
            // From a histogram: within its steps of 1/16.
            constexpr double kStep = 0.07;
            const auto about = quantity_of((*said)[6]);
            hearing.expect(about && std::abs(about->least - median) <= kStep * median, fmt::format("the median is {:.4g} ns", median));
            hearing.at_most("p99", (*said)[7], waits.back());
            if (const auto part = hearing.take("; ([\\d.]+) % of that was spent on"))
                hearing.expect(std::stod((*part)[1]) <= 100, "spends more than all of the time");
            (void)hearing.take("during " + kNumber + " retransmission episodes?");
            return;
        }
    hearing.object("its evidence is no operation");
}

void serialised(Hearing& hearing) {
    const auto said =
        hearing.must_say("^" + kHost + " sent " + kNumber + " " + kUpperName + " operations? to " + kHost +
                         " one at a time and never had two outstanding: at " + kQuantity + " each it waited ([\\d.]+) % of the time");
    const auto upper = said ? upper_of((*said)[3]) : std::nullopt;
    if (!upper) return;
    const auto all = operations(hearing, *upper, (*said)[1], (*said)[4]);
    hearing.equal("operations", sum_of((*said)[2]), all.size());
    std::int64_t waited = 0, last = 0;
    for (const Operation& one : all) {
        hearing.expect(last == 0 || one.asked.time >= last, "two were outstanding");
        if (!one.answered) continue;
        last = one.answered->time;
        waited += last - one.asked.time;
    }
    if (all.empty()) return;
    hearing.equal("each", (*said)[5], static_cast<double>(waited / static_cast<std::int64_t>(all.size())));
    hearing.share((*said)[6], static_cast<std::uint64_t>(waited), static_cast<std::uint64_t>(last - all.front().asked.time));
}

// Credits: of RPC they are the third word of each message (RFC 8166 4.1), of calls and of replies.

std::uint32_t granted(const std::vector<Operation>& all) {
    std::uint32_t most = 0;
    for (const Operation& one : all)
        if (one.answered) most = std::max(most, number_at(one.answered->bytes, 8, 4));
    return most;
}

void single_credit(Hearing& hearing) {
    const auto said = hearing.must_say("^" + kHost + " never granted " + kHost + " more than one credit for " + kUpperName + ", so " +
                                       kNumber + " operations? were sent");
    if (!said || upper_of((*said)[3]) != Upper::rpc) return hearing.expect(!said, "the court reads no credits of that protocol");
    const auto all = operations(hearing, Upper::rpc, (*said)[2], (*said)[1]);
    hearing.equal("operations", sum_of((*said)[4]), all.size());
    hearing.equal("credits at most", 1, granted(all));
}

void credits_exhausted(Hearing& hearing) {
    const auto said =
        hearing.must_say("^" + kHost + " used up the " + kNumber + " credits? that " + kHost + " grants for " + kUpperName + " " + kTimes);
    if (!said || upper_of((*said)[4]) != Upper::rpc) return hearing.expect(!said, "the court reads no credits of that protocol");
    const auto all = operations(hearing, Upper::rpc, (*said)[1], (*said)[3]);
    hearing.equal("credits", sum_of((*said)[2]), granted(all));
    std::uint64_t most = 0;
    for (const Operation& one : all)
        most = std::max(most, static_cast<std::uint64_t>(std::ranges::count_if(all, [&](const Operation& other) {
                            return other.asked.time <= one.asked.time && (!other.answered || other.answered->time > one.asked.time);
                        })));
    hearing.expect(most >= sum_of((*said)[2]), fmt::format("{} were outstanding at most", most));
}

// What ends said in words

void login_failed(Hearing& hearing) {
    const auto said =
        hearing.must_say("^" + kHost + " failed to log in to " + kHost + " \\(" + kUpperName + "\\) " + kTimes + ": (.*)\\.$");
    const auto upper = said ? upper_of((*said)[3]) : std::nullopt;
    if (!upper) return;
    constexpr std::uint32_t kConnect = 0x7f, kLogin = 0x103;  // Fabrics commands have one opcode
    const auto all = operations(hearing, *upper, (*said)[1], (*said)[2]);
    std::uint64_t failed = 0;
    const bool silent = (*said)[5] == "the target closed the connection without an answer";
    for (const Operation& one : all) {
        if (one.code != (*upper == Upper::nvme ? kConnect : kLogin) || one.answered.has_value() == silent || (!silent && one.status == 0))
            continue;
        const Sent& proof = silent ? one.asked : *one.answered;
        if (!proves(hearing, proof.last_frame) && !proves(hearing, proof.first_frame)) continue;
        ++failed;
        if (!silent) means(hearing, *upper, one.status, (*said)[5]);
    }
    hearing.equal("logins that failed", sum_of((*said)[4]), failed);
}

// A REJ with what the protocol says of its reason in private data, behind the 84 bytes of a REJ (12.6.7).
void protocol_refused(Hearing& hearing) {
    const auto said = hearing.must_say("^" + kHost + " refused " + kUpperName + " from " + kHost + " " + kTimes + ": (.*)\\.$");
    const auto upper = said ? upper_of((*said)[2]) : std::nullopt;
    if (!upper) return;
    constexpr std::size_t kPrivate = 84;
    static const std::map<std::uint32_t, std::string> kNvme{
        {1, "invalid private data length"},     {2, "invalid record format"}, {3, "invalid queue ID"}, {4, "invalid host send queue size"},
        {5, "invalid host receive queue size"}, {6, "no resources"},          {7, "invalid IRD"},      {8, "invalid ORD"}};
    static const std::map<std::uint32_t, std::string> kSrp{{0x10001, "login rejected: insufficient RDMA channel resources"},
                                                           {0x10006, "login rejected: RDMA channel limit reached for this initiator"}};
    std::uint64_t refused = 0;
    for (const Message& one : messages(hearing)) {
        if (one.is() != Message::rej || one.from() != (*said)[1] || one.to() != (*said)[3]) continue;
        const bool nvme = *upper == Upper::nvme;
        const std::uint32_t reason = nvme ? one.number(kPrivate + 2, 1) : one.number(kPrivate + 4, 4);
        const auto& words = nvme ? kNvme : kSrp;
        const auto known = words.find(reason);
        if (known == words.end() || known->second != (*said)[5]) continue;
        ++refused;
        hearing.expect(proves(hearing, one.mad.wire->frame), fmt::format("frame {}, the REJ, is not in its evidence", one.mad.wire->frame));
    }
    hearing.equal("refusals", sum_of((*said)[4]), refused);
}

// An RDMA_ERROR (RFC 8166 4.5), of its message type 4.
void protocol_error(Hearing& hearing) {
    const auto said = hearing.must_say("^" + kHost + " reported to " + kHost + " an error of RPC over RDMA " + kTimes +
                                       ": RDMA_ERROR: (version not supported|chunks cannot be used)");
    if (!said) return;
    constexpr std::uint32_t kError = 4, kVersion = 1, kChunks = 2;
    std::uint64_t errors = 0;
    for (const Sent& sent : sent_messages(hearing)) {
        if (sent.from != (*said)[1] || sent.to != (*said)[2] || sent.bytes.size() < 20 || number_at(sent.bytes, 12, 4) != kError) continue;
        if (number_at(sent.bytes, 16, 4) != ((*said)[4].starts_with("version") ? kVersion : kChunks)) continue;
        ++errors;
        hearing.expect(proves(hearing, sent.last_frame), fmt::format("frame {} is not in its evidence", sent.last_frame));
    }
    hearing.equal("errors", sum_of((*said)[3]), errors);
}

// Of RPC over RDMA (RFC 8166 4): the first four words of a header, and its XID again behind three empty lists.
void message_malformed(Hearing& hearing) {
    const auto said = hearing.must_say("^" + kHost + " sent " + kHost + " " + kNumber +
                                       " messages? of RPC over RDMA that breaks? the format: (version (\\d+), not 1|message type (\\d+), which does not exist|"
                                       "another XID than the RPC header behind it)\\.$");
    if (!said) return;
    constexpr std::size_t kLists = 28;
    std::uint64_t broken = 0;
    for (const Sent& sent : sent_messages(hearing)) {
        if (sent.from != (*said)[1] || sent.to != (*said)[2] || sent.bytes.size() < kLists + 4) continue;
        const auto version = number_at(sent.bytes, 4, 4), type = number_at(sent.bytes, 12, 4);
        const bool other = version == 1 && type <= 1 && number_at(sent.bytes, 0, 4) != number_at(sent.bytes, kLists, 4);
        const bool breaks = !(*said)[5].empty()   ? version != 1 && version == sum_of((*said)[5])
                            : !(*said)[6].empty() ? type > 4 && type == sum_of((*said)[6])
                                                  : other;
        if (!breaks) continue;
        ++broken;
        hearing.expect(proves(hearing, sent.last_frame), fmt::format("frame {} is not in its evidence", sent.last_frame));
    }
    hearing.equal("messages", sum_of((*said)[3]), broken);
}

// An asynchronous message of iSCSI that drops the connection or the session (RFC 7143 11.9).
void session_terminated(Hearing& hearing) {
    const auto said = hearing.must_say("^" + kHost + " terminated iSER with " + kHost + " because of an error: ");
    if (!said) return;
    constexpr std::size_t kPdu = 28, kEvent = kPdu + 36;
    constexpr std::uint8_t kAsynchronous = 0x32;
    bool found = false;
    for (const Sent& sent : sent_messages(hearing)) {
        if (sent.from != (*said)[1] || sent.to != (*said)[2] || sent.bytes.size() <= kEvent || (sent.bytes[kPdu] & 0x3fU) != kAsynchronous)
            continue;
        found |= (sent.bytes[kEvent] == 2 || sent.bytes[kEvent] == 3) && proves(hearing, sent.last_frame);
    }
    hearing.expect(found, "its evidence ends no session");
}

// Keep Alive commands of NVMe (opcode 0x18), and the timeout of the Connect command (its bytes 48 to 51).
void keep_alive_late(Hearing& hearing) {
    const auto said =
        hearing.must_say("^" + kHost + " sent a keep-alive of NVMe over RDMA to " + kHost + " too late " + kTimes + ", after " + kQuantity +
                         " at worst \\((?:a keep-alive was answered after|no keep-alive for) (\\d+) ms, the timeout is (\\d+) ms\\)");
    if (!said) return;
    constexpr std::uint32_t kKeepAlive = 0x18, kFabrics = 0x7f;
    std::optional<std::int64_t> before;
    bool timeout = false, late = false;
    const auto named = quantity_of((*said)[4]);
    for (const Operation& one : operations(hearing, Upper::nvme, (*said)[1], (*said)[2])) {
        const Octets& command = one.asked.bytes;
        if (one.code == kFabrics && command[4] == 1) {  // Connect
            const std::uint64_t asked =
                command[48] | static_cast<std::uint64_t>(command[49]) << 8U | static_cast<std::uint64_t>(command[50]) << 16U;
            timeout |= asked == sum_of((*said)[6]);
            if (asked != 0 && one.answered) before = one.answered->time;
        }
        if (one.code != kKeepAlive) continue;
        for (const std::int64_t wait : {before ? one.asked.time - *before : 0, one.answered ? one.answered->time - one.asked.time : 0})
            late |= named && named->has(static_cast<double>(wait / 1'000'000 * 1'000'000)) &&
                    wait / 1'000'000 == static_cast<std::int64_t>(sum_of((*said)[5])) &&
                    wait > static_cast<std::int64_t>(sum_of((*said)[6])) * 1'000'000;
        before = one.asked.time;
    }
    hearing.expect(timeout, "no Connect has that timeout");
    hearing.expect(late, "no keep-alive was as late");
}

constexpr std::array kUpperJudges{
    Judge{"operation-failed", operation_failed}, Judge{"operation-unanswered", operation_unanswered},
    Judge{"operation-slow", operation_slow},     Judge{"serialised-io", serialised},
    Judge{"single-credit", single_credit},     Judge{"credits-exhausted", credits_exhausted},
    Judge{"login-failed", login_failed},         Judge{"protocol-refused", protocol_refused},
    Judge{"protocol-error", protocol_error},     Judge{"session-terminated", session_terminated},
    Judge{"keep-alive-late", keep_alive_late},   Judge{"message-malformed", message_malformed},
};

}  // namespace

std::span<const Judge> upper_judges() { return kUpperJudges; }

}  // namespace qps::court
