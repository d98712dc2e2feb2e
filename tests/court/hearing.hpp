// A hearing: one finding, the packets of its capture, and what speaks against it.
//
// A judge asks for facts and proves each from the packets. A number that nobody asked for is a claim that nobody
// proved, and speaks against the finding like a wrong one.
#pragma once

#include <tests/court/analyser.hpp>
#include <tests/court/wire.hpp>

namespace qps::court {

class Hearing {
public:
    Hearing(const Claim& claim, const Recording& recording, const std::vector<Wire>& wires);

    [[nodiscard]] const Claim& claim() const { return claim_; }
    [[nodiscard]] const Recording& recording() const { return recording_; }
    [[nodiscard]] const std::vector<Wire>& wires() const { return wires_; }
    [[nodiscard]] const std::vector<std::string>& objections() const { return objections_; }
    // The packet of a frame; nothing where it is none.
    [[nodiscard]] const Wire* wire(std::size_t frame) const;

    // Facts of the finding, by their names in JSON. A number that nobody asked for is a claim that nobody proved.
    [[nodiscard]] std::optional<double> number(
        const std::string& name);  // a count, ns, bytes, a share from 0 to 1, a PSN, a code
    [[nodiscard]] std::optional<std::string> word(const std::string& name);  // a word, a text, a host
    [[nodiscard]] std::optional<ClaimedEnd> end(const std::string& name);
    [[nodiscard]] std::vector<std::string> list(const std::string& name);  // empty where it is not there
    [[nodiscard]] bool flag(const std::string& name);
    // The fact against what the packets show; a fact that is not there is an objection. Counts and durations alike.
    void equal_fact(const std::string& name, double shown);
    void at_most_fact(const std::string& name, double shown);
    // The same of a share or a rate, which JSON has with six digits.
    void near_fact(const std::string& name, double shown);
    void object(std::string why) { objections_.push_back(std::move(why)); }
    void expect(bool holds, std::string_view why) {
        if (!holds) object(std::string(why));
    }
    // "says 21 lost packets, and the packets show 20"
    void equal(std::string_view what, std::uint64_t said, std::uint64_t shown);
    void at_most(std::string_view what, std::uint64_t said, std::uint64_t shown);
    // Numbers that nobody took.
    void close();

private:
    const Claim& claim_;
    const Recording& recording_;
    const std::vector<Wire>& wires_;
    std::map<std::string, ClaimedValue> unproven_;
    template <class T> [[nodiscard]] std::optional<T> take_fact(const std::string& name);
    std::vector<std::string> objections_;
};

// One way of a reliable connection: requests from one host to a queue pair of the other, and what comes back.
struct Way {
    std::string from, to;
    std::optional<std::uint32_t> to_qp, from_qp;
    std::vector<const Wire*> requests, answers;
    std::vector<const Wire*> all;  // of both directions, in order

    [[nodiscard]] std::int64_t life() const { return all.empty() ? 0 : all.back()->time - all.front()->time; }
};
// The way whose requester is `from`. Nothing where the finding names no connection with that host.
[[nodiscard]] std::optional<Way> way_of(const Hearing& hearing, const std::string& from);
// The way between two ends that are facts of these names; nothing, and an objection, where the finding has no such
// connection.
[[nodiscard]] std::optional<Way> way_between(Hearing& hearing, const std::string& from, const std::string& to);

// A request that steps back: its PSN is not beyond what was sent before.
struct GoBack {
    const Wire* packet = nullptr;
    std::int64_t silence = 0;  // ns since the requester sent before
    std::int64_t since =
        0;  // ns since it sent this PSN, or a PSN of the same READ, before; as long as the silence where it did not
    const Wire* nak = nullptr;  // the last sequence NAK of just this PSN
};
[[nodiscard]] std::vector<GoBack> go_backs(const Way& way);

struct Repeated {
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;
};
// Requests whose PSN is not beyond all sent before, and their bytes on the wire.
[[nodiscard]] Repeated not_advancing(const Way& way, const Hearing& hearing);

}  // namespace qps::court
