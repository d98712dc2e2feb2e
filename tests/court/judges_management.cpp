// Judges of connection management: its messages, read from their datagrams (volume 1, 12.6 and 12.11), and what was
// negotiated by them.
#include <tests/court/datagram.hpp>
#include <tests/court/judges.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>

namespace qps::court {

namespace {

// Who requested the connection, and of whom.
struct Sides {
    std::string active, passive;
};
std::optional<Sides> sides(Hearing& hearing) {
    const auto active = hearing.end("active_side"), passive = hearing.end("passive_side");
    if (active && passive) return Sides{active->address, passive->address};
    hearing.object("names no active and passive side");
    return {};
}

// What a REQ or SIDR REQ asks for: the last octets of its service ID are a port, where the first say so (A11).
struct Service {
    std::optional<double> port, id;
    [[nodiscard]] bool is_of(const Message& request) const {
        const double service = 0x1p32 * request.number(8, 4) + request.number(12, 4);
        return (!port || request.port() == *port) && (!id || service == *id);
    }
};
Service service_of(Hearing& hearing) { return {hearing.number("service_port"), hearing.number("service_id")}; }
std::uint64_t attempts_of(Hearing& hearing) {
    return 1 + static_cast<std::uint64_t>(hearing.number("more_attempts").value_or(0));
}
bool proves(const Hearing& hearing, const Message& message) {
    return std::ranges::count(hearing.claim().frames, message.mad.wire->frame) != 0;
}

void cm_rejected(Hearing& hearing) {
    const auto ends = sides(hearing);
    if (!ends) return;
    const bool by_active = hearing.flag("by_active");
    const std::string &by = by_active ? ends->active : ends->passive, &to = by_active ? ends->passive : ends->active;
    const Service service = service_of(hearing);
    const auto all = messages(hearing);
    const auto reason = hearing.number("reject_reason");
    const std::string data = hearing.word("private_data").value_or("");
    std::set<std::uint32_t> refused;  // IDs of whom it refused
    std::string why = "no REJ answers a REQ between them";
    bool proven = false;
    for (const Message& reject : all) {
        if (reject.is() != Message::rej || reject.from() != by || reject.to() != to || reject.reason() != reason)
            continue;
        const auto request = std::ranges::find_if(all, [&](const Message& one) {
            return one.is() == Message::req && one.mad.wire->frame < reject.mad.wire->frame && reject.of(one) &&
                   one.from() == ends->active;
        });
        if (request != all.end() && !service.is_of(*request)) {
            why = fmt::format("the REQ in frame {} is for another service", request->mad.wire->frame);
            continue;
        }
        refused.insert(reject.remote());
        if (request == all.end() || proven) continue;
        std::string shown;
        for (std::size_t i = 0; i < data.size() / 2; ++i) shown += fmt::format("{:02x}", reject.number(84 + i, 1));
        why = shown != data ? fmt::format("the private data begins with {}", shown)
              : !proves(hearing, reject)
                  ? fmt::format("frame {}, the REJ, is not in its evidence", reject.mad.wire->frame)
                  : "";
        proven = why.empty();
    }
    if (!proven) hearing.object(why);
    hearing.equal("attempts", attempts_of(hearing), refused.size());
}

// First sendings of a kind from one to the other, of that service where one is named.
std::vector<Message> first_of(const std::vector<Message>& all, std::uint32_t kind, const std::string& from,
                              const std::string& to, const Service& service = {}) {
    std::vector<Message> out;
    for (const Message& one : all) {
        if (one.is() != kind || one.from() != from || one.to() != to || !service.is_of(one)) continue;
        if (std::ranges::none_of(out, [&](const Message& earlier) { return one.repeats(earlier); })) out.push_back(one);
    }
    return out;
}
bool any(const std::vector<Message>& all, const Message& request, std::uint32_t kind) {
    return std::ranges::any_of(all, [&](const Message& one) { return one.is() == kind && one.of(request); });
}

void cm_no_answer(Hearing& hearing) {
    const auto ends = sides(hearing);
    if (!ends) return;
    const auto& [from, to] = *ends;
    const Service service = service_of(hearing);
    const auto all = messages(hearing);
    std::uint64_t requests = 0;
    std::set<std::uint32_t> attempts;
    std::uint32_t timeout = 0;
    for (const Message& one : all) {
        if ((one.is() != Message::req && one.is() != Message::sidr_req) || one.from() != from || one.to() != to)
            continue;
        const bool answered = std::ranges::any_of(all, [&](const Message& other) {
            return other.from() == to &&
                   (other.remote() == one.local() || (other.is() == Message::sidr_rep && other.local() == one.local()));
        });
        if (answered || !service.is_of(one)) continue;
        ++requests;
        attempts.insert(one.local());
        timeout = one.number(43, 1) >> 3U;
    }
    hearing.equal_fact("requests_sent", static_cast<double>(requests));
    hearing.equal("attempts", attempts_of(hearing), attempts.size());
    if (const auto wait = hearing.number("response_timeout_ns"))
        hearing.expect(*wait == 4096.0 * static_cast<double>(1ULL << timeout),
                       "the requests have another response timeout");
    const bool alive =
        std::ranges::any_of(hearing.wires(), [&](const Wire& wire) { return wire.from == to && wire.to == from; });
    hearing.expect(hearing.flag("sends_others") == alive,
                   alive ? "the other end sends it packets" : "the other end sends it nothing");
}

void cm_half_open(Hearing& hearing) {
    const auto ends = sides(hearing);
    if (!ends) return;
    const auto& [active, passive] = *ends;
    const auto all = messages(hearing);
    std::uint64_t open = 0;
    for (const Message& request : first_of(all, Message::req, active, passive, service_of(hearing))) {
        const auto reply =
            std::ranges::find_if(all, [&](const Message& one) { return one.is() == Message::rep && one.of(request); });
        if (reply == all.end() || any(all, request, Message::rtu) || any(all, request, Message::rej)) continue;
        const std::uint32_t qp = reply->number(12, 3);
        const auto is_data = [&](const Wire& wire) {
            return wire.frame > reply->mad.wire->frame && wire.from == ends->active && wire.to == ends->passive &&
                   wire.to_qp == qp;
        };
        open += std::ranges::none_of(hearing.wires(), is_data) ? 1U : 0U;
    }
    hearing.equal("attempts", attempts_of(hearing), open);
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
    const auto ends = sides(hearing);
    if (!ends) return;
    const std::string by = hearing.flag("by_active") ? ends->active : ends->passive;
    const std::string said = hearing.word("cm_message").value_or(""), state = hearing.word("cm_state").value_or("");
    constexpr std::array<std::string_view, 7> kNames{"REQ", "MRA", "REJ", "REP", "RTU", "DREQ", "DREP"};
    const auto all = messages(hearing);
    const auto one = std::ranges::find_if(all, [&](const Message& message) { return proves(hearing, message); });
    if (one == all.end()) return hearing.object("its evidence is no CM message");
    hearing.expect(one->from() == by, "another host sent it");
    hearing.expect(one->is() >= Message::req && one->is() <= Message::drep &&
                       kNames[one->is() - Message::req] == said.substr(0, said.find(' ')),
                   "its evidence is another message");
    const std::string shown = state_before(all, *one);
    hearing.expect(shown == state, "the messages before it lead to " + shown);
}

void cm_retries(Hearing& hearing) {
    const auto ends = sides(hearing);
    if (!ends) return;
    const auto& [active, passive] = *ends;
    const auto all = messages(hearing);
    std::uint64_t again = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const bool between =
            (all[i].from() == active && all[i].to() == passive) || (all[i].from() == passive && all[i].to() == active);
        const auto repeats = [&](const Message& earlier) { return all[i].repeats(earlier); };
        again += between && std::any_of(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(i), repeats) ? 1U : 0U;
    }
    // Attempts that had no answer are told of elsewhere.
    hearing.at_most_fact("cm_retries", static_cast<double>(again));
    const auto requests = first_of(all, Message::req, active, passive);
    hearing.at_most_fact("attempts", static_cast<double>(requests.size()));
    const auto slowest = hearing.number("slowest_setup_ns");
    if (!slowest) return;
    const bool shown = std::ranges::any_of(requests, [&](const Message& request) {
        return std::ranges::any_of(all, [&](const Message& one) {
            return (one.is() == Message::rtu || one.is() == Message::rep) && one.of(request) &&
                   static_cast<double>(one.mad.wire->time - request.mad.wire->time) == *slowest;
        });
    });
    hearing.expect(shown, fmt::format("no setup took {:.12g} ns", *slowest));
}

void cm_unresolved(Hearing& hearing) {
    const auto ends = sides(hearing);
    if (!ends) return;
    constexpr std::array<std::string_view, 6> kStatus{
        "valid",      "service not supported", "rejected by the service", "no queue pair",
        "redirected", "version not supported"};
    const auto all = messages(hearing);
    const auto status = static_cast<std::size_t>(hearing.number("sidr_status").value_or(0));
    std::uint64_t refused = 0;
    bool same = false;
    for (const Message& request : first_of(all, Message::sidr_req, ends->active, ends->passive, service_of(hearing))) {
        const auto reply = std::ranges::find_if(all, [&](const Message& one) {
            return one.is() == Message::sidr_rep && one.from() == ends->passive && one.local() == request.local();
        });
        if (reply == all.end() || reply->number(4, 1) == 0) continue;
        ++refused;
        same |= reply->number(4, 1) == status;
    }
    hearing.equal("attempts", attempts_of(hearing), refused);
    hearing.expect(same, "no SIDR REP has that status");
    hearing.expect(hearing.word("sidr_meaning") == (status < kStatus.size() ? kStatus[status] : "reserved"),
                   "the status means something else");
}

void cm_disconnect_unanswered(Hearing& hearing) {
    const auto ends = sides(hearing);
    if (!ends) return;
    const auto& [active, passive] = *ends;
    const auto all = messages(hearing);
    const Service service = service_of(hearing);
    const auto requests = first_of(all, Message::req, active, passive);
    hearing.expect((!service.port && !service.id) ||
                       std::ranges::any_of(requests, [&](const Message& one) { return service.is_of(one); }),
                   "no REQ is for that service");
    std::uint64_t found = 0;
    for (const bool forth : {true, false})
        for (const Message& first : first_of(all, Message::dreq, forth ? active : passive, forth ? passive : active)) {
            const auto times = std::ranges::count_if(all, [&](const Message& one) { return one.repeats(first); });
            const bool answered = std::ranges::any_of(all, [&](const Message& one) {
                return one.is() == Message::drep && one.from() == first.to() && one.remote() == first.local();
            });
            found += times > 1 && !answered ? 1U : 0U;
        }
    hearing.equal("disconnects", attempts_of(hearing), found);
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
    const auto first = key("first_pkey"), second = key("second_pkey"), sent = key("sent_pkey"),
               negotiated = key("negotiated_pkey");
    if (end && first) hearing.expect(most(end->address) == *first, "most packets of the first end have another P_Key");
    if (other && second)
        hearing.expect(most(other->address) == *second, "most packets of the second end have another P_Key");
    const bool differ = first && second && ((*first ^ *second) & 0x7fffU) != 0,
               limited = first && second && ((*first | *second) & 0x8000U) == 0;
    hearing.expect(sent.has_value() != (differ || limited),
                   "the P_Keys differ, or the members are limited, and it says something else");
    if (sent)
        hearing.expect((sent == first || sent == second) && negotiated && ((*sent ^ *negotiated) & 0x7fffU) != 0,
                       "it was sent by neither, or negotiated");
    if (negotiated) {
        const auto all = messages(hearing);
        hearing.expect(
            std::ranges::any_of(
                all, [&](const Message& one) { return one.is() == Message::req && one.number(48, 2) == *negotiated; }),
            "no REQ has that P_Key");
    }
    std::uint64_t answers = 0;
    for (const Wire* wire : way->all) answers += wire->answer() ? 1U : 0U;
    hearing.expect(hearing.flag("answered") == (answers != 0),
                   answers == 0 ? "nothing is answered" : "packets are answered");
}

void read_depth_exceeded(Hearing& hearing) {
    const auto way = way_between(hearing, "requester", "responder");
    if (!way) return;
    const auto psn = static_cast<std::uint32_t>(hearing.number("psn").value_or(0));
    const auto length = hearing.number("length"), address = hearing.number("address"), key = hearing.number("r_key");
    const bool asked = std::ranges::any_of(way->requests, [&](const Wire* wire) {
        return wire->reth && length == wire->reth->length && address == static_cast<double>(wire->reth->address) &&
               key == wire->reth->key;
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
    // The REQ's initiator depth, and what the REP has resources for (12.6.5, 12.6.8), of the passive side the other way
    // round.
    std::uint32_t depth = UINT32_MAX;
    for (const Message& one : messages(hearing)) {
        if (one.is() == Message::req) depth = std::min(depth, one.number(one.from() == way->from ? 39 : 35, 1));
        if (one.is() == Message::rep) depth = std::min(depth, one.number(one.from() == way->from ? 25 : 24, 1));
    }
    hearing.equal_fact("negotiated_depth", depth);
}

// A REP has the Starting PSN in its bytes 20 to 22, a REQ in 44 to 46 (12.6.5, 12.6.8).
void starting_psn_differs(Hearing& hearing) {
    const auto requester = hearing.end("requester"), responder = hearing.end("responder");
    const auto started = hearing.number("starting_psn"), announced = hearing.number("announced_psn");
    if (!requester || !responder || !started || !announced)
        return hearing.object("does not say who began with which PSN");
    const std::string &from = requester->address, &to = responder->address;
    const auto go_back = [&](const std::string& sender, const std::string& receiver) {
        return static_cast<double>(std::ranges::count_if(hearing.wires(),
                                                         [&](const Wire& wire) {
                                                             return wire.from == sender && wire.to == receiver &&
                                                                    wire.request() && wire.psn == *started;
                                                         })) -
               1;
    };
    if (hearing.number("go_backs")) hearing.equal_fact("go_backs", go_back(from, to));
    if (hearing.word("announced_in") == "sequence NAK") {
        const bool asked = std::ranges::any_of(hearing.wires(), [&](const Wire& wire) {
            return wire.from == to && wire.to == from && wire.nak(0) && wire.psn == *announced;
        });
        return hearing.expect(
            asked && psn_distance(static_cast<std::uint32_t>(*announced), static_cast<std::uint32_t>(*started)) > 0,
            "no NAK asks for a PSN before it");
    }
    const bool by_reply = hearing.word("announced_in") == "REP";
    const auto all = messages(hearing);
    hearing.expect(std::ranges::any_of(all,
                                       [&](const Message& one) {
                                           return one.is() == (by_reply ? Message::rep : Message::req) &&
                                                  one.from() == to && one.to() == from &&
                                                  one.number(by_reply ? 20 : 44, 3) == *announced;
                                       }),
                   "no such message asks for that PSN");
    const auto first = std::ranges::find_if(hearing.wires(), [&](const Wire& wire) {
        return wire.from == from && wire.to == to && wire.request() && wire.to_qp > 1;
    });
    hearing.expect(first != hearing.wires().end() && first->psn == *started, "its first request has another PSN");
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
