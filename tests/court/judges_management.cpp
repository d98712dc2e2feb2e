// Judges of connection management: its messages, read from their datagrams (volume 1, 12.6 and 12.11), and what was negotiated by them.
#include <tests/court/datagram.hpp>
#include <tests/court/judges.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>

namespace qps::court {

namespace {

std::uint64_t counted(const std::string& words) { return count_of(words).value_or(0); }

void cm_rejected(Hearing& hearing) {
    const auto said =
        hearing.must_say("^" + kHost + " rejected the connection requested by " + kHost + "(?: to port (\\d+))?(?: \\(and " + kNumber +
                         " more attempts?\\))?: reason (\\d+)");
    if (!said) return;
    const std::uint64_t reason = count_of((*said)[5]).value_or(0);
    std::set<std::uint32_t> refused;  // IDs of who asked
    for (const Message& reject : messages(hearing))
        if (reject.is() == Message::rej && reject.from() == (*said)[1] && reject.to() == (*said)[2] && reject.reason() == reason) refused.insert(reject.remote());
    if (!(*said)[4].empty()) hearing.equal("attempts", count_of((*said)[4]).value_or(0) + 1, refused.size());
    std::string why = "no REJ answers a REQ between them";
    for (const std::vector<Message> all = messages(hearing); const Message& reject : all) {
        if (reject.is() != Message::rej || reject.from() != (*said)[1] || reject.to() != (*said)[2]) continue;
        const auto is_answered = [&](const Message& request) {
            return request.is() == Message::req && request.mad.wire->frame < reject.mad.wire->frame && request.local() == reject.remote() &&
                   request.from() == (*said)[2];
        };
        const auto request = std::ranges::find_if(all, is_answered);
        if (request == all.end()) continue;
        why = reject.reason() != reason ? fmt::format("the REJ in frame {} has reason {}", reject.mad.wire->frame, reject.reason())
              : !(*said)[3].empty() && request->port() != count_of((*said)[3])
                  ? fmt::format("the REQ in frame {} is for port {}", request->mad.wire->frame, request->port())
              : std::ranges::count(hearing.claim().frames, reject.mad.wire->frame) == 0
                  ? fmt::format("frame {}, the REJ, is not in its evidence", reject.mad.wire->frame)
                  : "";
        if (const auto data = hearing.take("private data ([0-9a-f]+)")) {
            std::string shown;
            for (std::size_t i = 0; i < (*data)[1].size() / 2; ++i) shown += fmt::format("{:02x}", reject.number(84 + i, 1));
            if (shown != (*data)[1]) why = fmt::format("the private data begins with {}", shown);
        }
        if (why.empty()) return;
    }
    hearing.object(why);
}

// " to port 7174", " for service id 0x1": what a REQ or SIDR REQ asks for ends with that.
const std::string kService = "(port (\\d+)|service id 0x[0-9a-f]+|a service that was not captured)",
                  kMoreAttempts = "(?: \\(and " + kNumber + " more attempts?\\))?";

// First sendings of a kind from one to the other, for that port where one is named.
std::vector<Message> first_of(const std::vector<Message>& all, std::uint32_t kind, const std::string& from, const std::string& to,
                              const std::string& port) {
    std::vector<Message> out;
    for (const Message& one : all) {
        if (one.is() != kind || one.from() != from || one.to() != to || (!port.empty() && one.port() != counted(port))) continue;
        if (std::ranges::none_of(out, [&](const Message& earlier) { return one.repeats(earlier); })) out.push_back(one);
    }
    return out;
}
bool any(const std::vector<Message>& all, const Message& request, std::uint32_t kind) {
    return std::ranges::any_of(all, [&](const Message& one) { return one.is() == kind && one.of(request); });
}

void cm_no_answer(Hearing& hearing) {
    const auto said = hearing.must_say("^" + kHost + " sent " + kNumber + " CM requests? to " + kHost + " for " + kService);
    if (!said) return;
    const auto all = messages(hearing);
    const std::string &from = (*said)[1], &to = (*said)[3];
    std::uint64_t requests = 0;
    std::uint32_t timeout = 0;
    for (const Message& one : all) {
        if ((one.is() != Message::req && one.is() != Message::sidr_req) || one.from() != from || one.to() != to) continue;
        const bool answered = std::ranges::any_of(all, [&](const Message& other) {
            return other.from() == to &&
                   (other.remote() == one.local() || (other.is() == Message::sidr_rep && other.local() == one.local()));
        });
        if (answered || (!(*said)[5].empty() && one.port() != counted((*said)[5]))) continue;
        ++requests;
        timeout = one.number(43, 1) >> 3U;
    }
    hearing.equal("requests without answer", counted((*said)[2]), requests);
    if (const auto wait = hearing.take("each with a response timeout of " + kQuantity))
        hearing.equal("as response timeout", (*wait)[1], 4096.0 * static_cast<double>(1ULL << timeout));
    const bool alive = std::ranges::any_of(hearing.wires(), [&](const Wire& wire) { return wire.from == to && wire.to == from; });
    hearing.expect(hearing.claim().sentence.find("sends other packets to it") == std::string::npos ? !alive : alive,
                   alive ? "the other end sends it packets" : "the other end sends it nothing");
}

void cm_half_open(Hearing& hearing) {
    const auto said = hearing.must_say("^" + kHost + " accepted a connection from " + kHost + " to " + kService + kMoreAttempts +
                                       ", but neither an RTU nor data followed its REP");
    if (!said) return;
    const auto all = messages(hearing);
    std::uint64_t open = 0;
    for (const Message& request : first_of(all, Message::req, (*said)[2], (*said)[1], (*said)[4])) {
        const auto reply = std::ranges::find_if(all, [&](const Message& one) { return one.is() == Message::rep && one.of(request); });
        if (reply == all.end() || any(all, request, Message::rtu) || any(all, request, Message::rej)) continue;
        const std::uint32_t qp = reply->number(12, 3);
        open += std::ranges::none_of(hearing.wires(),
                                     [&](const Wire& wire) {
                                         return wire.frame > reply->mad.wire->frame && wire.from == (*said)[2] && wire.to == (*said)[1] &&
                                                wire.to_qp == qp;
                                     })
                    ? 1U
                    : 0U;
    }
    hearing.equal("attempts", (*said)[5].empty() ? 1 : counted((*said)[5]) + 1, open);
}

// Which states an attempt can be in when a message of that kind comes, by what was said before.
std::string state_before(const std::vector<Message>& all, const Message& last) {
    std::string state = "unseen";
    for (const Message& one : all) {
        if (one.mad.wire->frame >= last.mad.wire->frame) break;
        if (one.is() == Message::req) state = "req-sent";
        if (one.is() == Message::rep && state == "req-sent") state = "rep-sent";
        if (one.is() == Message::rtu && state == "rep-sent") state = "established";
        if (one.is() == Message::rej && state != "established") state = "rejected";
        if (one.is() == Message::dreq && state == "established") state = "dreq-sent";
        if (one.is() == Message::drep && state == "dreq-sent") state = "timewait";
    }
    return state;
}

void cm_unexpected_message(Hearing& hearing) {
    const auto said = hearing.must_say("^" + kHost + " sent a CM message that is not valid in the state of the attempt between " + kHost +
                                       " and " + kHost + ": ([A-Z]+)[A-Za-z ]* in state ([a-z-]+)");
    if (!said) return;
    constexpr std::array<std::string_view, 7> kNames{"REQ", "MRA", "REJ", "REP", "RTU", "DREQ", "DREP"};
    const auto all = messages(hearing);
    const auto frames = hearing.claim().frames;
    const auto one =
        std::ranges::find_if(all, [&](const Message& message) { return std::ranges::count(frames, message.mad.wire->frame) != 0; });
    if (one == all.end()) return hearing.object("its evidence is no CM message");
    hearing.expect(one->from() == (*said)[1], "another host sent it");
    hearing.expect(one->is() >= Message::req && one->is() <= Message::drep && kNames[one->is() - Message::req] == (*said)[4],
                   "its evidence is another message");
    const std::string state = state_before(all, *one);
    hearing.expect(state == (*said)[5], "the messages before it lead to " + state);
}

void cm_retries(Hearing& hearing) {
    const auto said =
        hearing.must_say("^" + kHost + " and " + kHost + " retransmitted " + kNumber + " CM messages? in " + kNumber + " attempts?");
    if (!said) return;
    const auto all = messages(hearing);
    std::uint64_t again = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const bool between =
            (all[i].from() == (*said)[1] && all[i].to() == (*said)[2]) || (all[i].from() == (*said)[2] && all[i].to() == (*said)[1]);
        again += between && std::any_of(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(i),
                                        [&](const Message& earlier) { return all[i].repeats(earlier); })
                     ? 1U
                     : 0U;
    }
    // Attempts that had no answer are told of elsewhere.
    hearing.at_most("retransmitted messages", counted((*said)[3]), again);
    const auto requests = first_of(all, Message::req, (*said)[1], (*said)[2], "");
    hearing.at_most("attempts", counted((*said)[4]), requests.size());
    const auto slowest = hearing.take("setup took up to " + kQuantity);
    const auto named = slowest ? quantity_of((*slowest)[1]) : std::nullopt;
    if (!named) return;
    const bool shown = std::ranges::any_of(requests, [&](const Message& request) {
        return std::ranges::any_of(all, [&](const Message& one) {
            return (one.is() == Message::rtu || one.is() == Message::rep) && one.of(request) &&
                   named->has(static_cast<double>(one.mad.wire->time - request.mad.wire->time));
        });
    });
    hearing.expect(shown, "no setup took " + (*slowest)[1]);
}

void cm_unresolved(Hearing& hearing) {
    const auto said =
        hearing.must_say("^" + kHost + " did not resolve " + kService + " for " + kHost + kMoreAttempts + ": status (\\d+), ([a-z ]+)");
    if (!said) return;
    constexpr std::array<std::string_view, 6> kStatus{"valid",      "service not supported", "rejected by the service", "no queue pair",
                                                      "redirected", "version not supported"};
    const auto all = messages(hearing);
    const std::uint64_t status = counted((*said)[6]);
    std::uint64_t refused = 0;
    bool same = false;
    for (const Message& request : first_of(all, Message::sidr_req, (*said)[4], (*said)[1], (*said)[3])) {
        const auto reply = std::ranges::find_if(all, [&](const Message& one) {
            return one.is() == Message::sidr_rep && one.from() == (*said)[1] && one.local() == request.local();
        });
        if (reply == all.end() || reply->number(4, 1) == 0) continue;
        ++refused;
        same |= reply->number(4, 1) == status;
    }
    hearing.equal("attempts", (*said)[5].empty() ? 1 : counted((*said)[5]) + 1, refused);
    hearing.expect(same, "no SIDR REP has that status");
    hearing.expect(status < kStatus.size() ? kStatus[status] == (*said)[7] : (*said)[7] == "reserved", "the status means something else");
}

void cm_disconnect_unanswered(Hearing& hearing) {
    const auto said = hearing.must_say("^A DREQ between " + kHost + " and " + kHost + " was repeated and not answered" + kMoreAttempts);
    if (!said) return;
    const auto all = messages(hearing);
    std::uint64_t found = 0;
    for (const bool forth : {true, false})
        for (const Message& first : first_of(all, Message::dreq, (*said)[forth ? 1 : 2], (*said)[forth ? 2 : 1], "")) {
            const auto times = std::ranges::count_if(all, [&](const Message& one) { return one.repeats(first); });
            const bool answered = std::ranges::any_of(all, [&](const Message& one) {
                return one.is() == Message::drep && one.from() == first.to() && one.remote() == first.local();
            });
            found += times > 1 && !answered ? 1U : 0U;
        }
    hearing.equal("disconnects", (*said)[3].empty() ? 1 : counted((*said)[3]) + 1, found);
}

// What was negotiated

void pkey_mismatch(Hearing& hearing) {
    std::optional<Way> way;
    const auto most = [&](const std::string& from) {
        std::map<std::uint32_t, std::uint64_t> keys;
        for (const Wire* wire : way->all)
            if (wire->from == from) ++keys[wire->partition_key];
        return keys.empty() ? 0 : std::ranges::max_element(keys, {}, [](const auto& one) { return one.second; })->first;
    };
    const auto end = hearing.end("first_end"), other = hearing.end("second_end");
    if (!end && !other) return hearing.object("does not say whose P_Key it is");
    way = way_of(hearing, (end ? end : other)->address);
    if (!way) return hearing.object("names no connection of its own");
    const auto key = [&](const std::string& name) -> std::optional<std::uint32_t> {
        const auto said = hearing.number(name);
        return said ? std::optional(static_cast<std::uint32_t>(*said)) : std::nullopt;
    };
    const auto first = key("first_pkey"), second = key("second_pkey"), sent = key("sent_pkey"), negotiated = key("negotiated_pkey");
    if (end && first) hearing.expect(most(end->address) == *first, "most packets of the first end have another P_Key");
    if (other && second) hearing.expect(most(other->address) == *second, "most packets of the second end have another P_Key");
    const bool differ = first && second && ((*first ^ *second) & 0x7fffU) != 0, limited = first && second && ((*first | *second) & 0x8000U) == 0;
    hearing.expect(sent.has_value() != (differ || limited), "the P_Keys differ, or the members are limited, and it says something else");
    if (sent) hearing.expect((sent == first || sent == second) && negotiated && ((*sent ^ *negotiated) & 0x7fffU) != 0, "it was sent by neither, or negotiated");
    if (negotiated) {
        const auto all = messages(hearing);
        hearing.expect(std::ranges::any_of(all, [&](const Message& one) { return one.is() == Message::req && one.number(48, 2) == *negotiated; }),
                       "no REQ has that P_Key");
    }
    std::uint64_t answers = 0;
    for (const Wire* wire : way->all) answers += wire->answer() ? 1U : 0U;
    hearing.expect(hearing.flag("answered") == (answers != 0), answers == 0 ? "nothing is answered" : "packets are answered");
}

void read_depth_exceeded(Hearing& hearing) {
    const auto way = way_between(hearing, "requester", "responder");
    if (!way) return;
    const auto psn = static_cast<std::uint32_t>(hearing.number("psn").value_or(0));
    const auto length = hearing.number("length"), address = hearing.number("address"), key = hearing.number("r_key");
    const bool asked = std::ranges::any_of(way->requests, [&](const Wire* wire) {
        return wire->reth && length == wire->reth->length && address == static_cast<double>(wire->reth->address) && key == wire->reth->key;
    });
    hearing.expect(asked, "no request is like the one that was refused");
    std::set<std::uint32_t> open;
    bool refused = false;
    for (const Wire* wire : way->all) {
        if (wire->from == way->from && (wire->read_request() || wire->atomic_request())) open.insert(wire->psn);
        if (wire->from == way->to && (wire->read_response() || wire->atomic_response())) open.erase(wire->psn);
        if (wire->from != way->to || !wire->any_nak() || wire->psn != psn) continue;
        refused = true;
        hearing.equal_fact("reads_outstanding", static_cast<double>(open.size()));
        hearing.expect(std::ranges::count(hearing.claim().frames, wire->frame) != 0, "the NAK is not in its evidence");
        break;
    }
    hearing.expect(refused, "no NAK has that PSN");
    // The REQ's initiator depth, and what the REP has resources for (12.6.5, 12.6.8), of the passive side the other way round.
    std::uint32_t depth = UINT32_MAX;
    for (const Message& one : messages(hearing)) {
        if (one.is() == Message::req) depth = std::min(depth, one.number(one.from() == way->from ? 39 : 35, 1));
        if (one.is() == Message::rep) depth = std::min(depth, one.number(one.from() == way->from ? 25 : 24, 1));
    }
    hearing.equal_fact("negotiated_depth", depth);
}

// A REP has the Starting PSN in its bytes 20 to 22, a REQ in 44 to 46 (12.6.5, 12.6.8).
void starting_psn_differs(Hearing& hearing) {
    const auto said = hearing.must_say("^" + kHost + kQp + " began to send to " + kHost + " with PSN " + kNumber + ", although the (REP|REQ) of " + kHost +
                                       " asks for " + kNumber + ": nothing was lost before\\.$");
    if (!said) return;
    const std::string &from = (*said)[1], &to = (*said)[3];
    const bool by_reply = (*said)[5] == "REP";
    const auto all = messages(hearing);
    hearing.expect(std::ranges::any_of(all,
                                       [&](const Message& one) {
                                           return one.is() == (by_reply ? Message::rep : Message::req) && one.from() == to && one.to() == from &&
                                                  one.number(by_reply ? 20 : 44, 3) == counted((*said)[7]);
                                       }),
                   "no such message asks for that PSN");
    const auto first = std::ranges::find_if(hearing.wires(), [&](const Wire& wire) {
        return wire.from == from && wire.to == to && wire.request() && wire.to_qp > 1;
    });
    hearing.expect(first != hearing.wires().end() && first->psn == counted((*said)[4]), "its first request has another PSN");
}

constexpr std::array kManagementJudges{
    Judge{"cm-rejected", cm_rejected},
    Judge{"cm-no-answer", cm_no_answer},
    Judge{"cm-half-open", cm_half_open},
    Judge{"cm-unexpected-message", cm_unexpected_message},
    Judge{"cm-retries", cm_retries},
    Judge{"cm-unresolved", cm_unresolved},
    Judge{"cm-disconnect-unanswered", cm_disconnect_unanswered},
    Judge{"pkey-mismatch", pkey_mismatch},
    Judge{"starting-psn-differs", starting_psn_differs},
    Judge{"read-depth-exceeded", read_depth_exceeded},
};

}  // namespace

std::span<const Judge> management_judges() { return kManagementJudges; }

}  // namespace qps::court
