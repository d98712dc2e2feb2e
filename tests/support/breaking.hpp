// How a right endpoint becomes one that breaks exactly one rule: which packets, and what becomes of them; what its
// agent says.
//
//   Broken{.damage = outward(change(naks(), "infiniband.bth.psn", plus(1)))}          // its NAKs name the PSN that
//   came Broken{.damage = inward(drop(from(2, is("RC_SEND_ONLY"))))}                       // it is deaf from its
//   second request on Broken{.lie = answered(agent::Verb::poll, ...)}                                   // its agent
//   lies
//
// A packet that becomes another one has its ICRC and its header checksum made right. What counts or remembers is good
// for one run.
#pragma once

#include <dissect/base/opcode.hpp>
#include <tests/support/damage.hpp>
#include <tests/support/lying_agent.hpp>

#include <optional>
#include <string_view>

namespace qps::tests {

using Frames = std::vector<FrameBytes>;
using Which = std::function<bool(const dissect::Packet&)>;
using Becomes = std::function<std::uint64_t(std::uint64_t)>;

struct Broken {
    Damage damage{};
    Lie lie{};
};

// Which packets.
[[nodiscard]] std::optional<std::uint64_t> value_in(const dissect::Packet& packet, std::string_view field);
[[nodiscard]] Which every();
[[nodiscard]] Which is(std::string_view opcode);  // the whole name
[[nodiscard]] Which begins(std::string_view opcode);
[[nodiscard]] Which requests();  // to a queue pair of the user's
[[nodiscard]] Which acks();
[[nodiscard]] Which rnr_naks();
[[nodiscard]] Which naks();
[[nodiscard]] Which cnps();
[[nodiscard]] Which wrong_icrc();
[[nodiscard]] Which message(dissect::LayerKind kind);
[[nodiscard]] Which where(std::string_view field, std::uint64_t value);
[[nodiscard]] Which without(std::string_view field, std::uint64_t value);   // the field is there, and is something else
[[nodiscard]] Which carries(std::size_t least, std::size_t most = 65'535);  // bytes of payload
[[nodiscard]] Which both(Which one, Which other);
[[nodiscard]] Which nth(std::size_t n, Which which);    // from 1
[[nodiscard]] Which from(std::size_t n, Which which);   // that one and all of them after it
[[nodiscard]] Which after(std::size_t n, Which which);  // every packet after the n-th of them
[[nodiscard]] Which again(Which which);                 // one of them had the same PSN before

// What a field becomes.
[[nodiscard]] Becomes exactly(std::uint64_t value);
[[nodiscard]] Becomes plus(std::uint64_t value);
[[nodiscard]] Becomes minus(std::uint64_t value);

// What becomes of them.
[[nodiscard]] Alter change(Which which, std::string_view field, Becomes becomes);
[[nodiscard]] Alter drop(Which which);
[[nodiscard]] Alter twice(Which which);
[[nodiscard]] Alter swap_with_next(Which which);
[[nodiscard]] Alter other_bytes(Which which);  // of payload
[[nodiscard]] Alter right_icrc();
[[nodiscard]] Alter then(Alter first, Alter second);
// Field `to` of packets that `which` likes becomes what `field` of the last packet was that `remembered` liked, either
// way.
struct Memory {
    Alter watch;  // for the direction that is remembered
    Alter use;    // for the one that is changed
};
[[nodiscard]] Memory remember(Which remembered, std::string_view field, Which which, std::string_view to);

[[nodiscard]] Broken inward(Alter alter);
[[nodiscard]] Broken outward(Alter alter);
[[nodiscard]] Broken dies_after(std::size_t n, Which which);  // of what it gets
// What `said` liked last among what it sent is said again whenever it gets what `when` likes.
[[nodiscard]] Broken says_again(Which when, Which said);
// It answers what `when` likes: an acknowledgment with this syndrome, or the very packet, to the half that sent it.
[[nodiscard]] Broken acknowledges(Which when, std::uint8_t syndrome);
[[nodiscard]] Broken sends_back(Which when);
// What `when` likes goes to every queue pair that was made, not to one alone.
[[nodiscard]] Broken reaches_all(Which when);
// Packets to a queue pair number that is nobody's go to the queue pair that was made last.
[[nodiscard]] Broken takes_for_its_own(Which when);
[[nodiscard]] Broken takes_any_key();  // an R_Key that nobody has is that of the first region
[[nodiscard]] Broken executes_duplicates();

// What the agent says.
[[nodiscard]] Broken every_status(std::string_view word);  // of completions that failed
[[nodiscard]] Broken no_success();                         // of completions that did succeed
[[nodiscard]] Broken completions_of_nothing();             // where there is none it tells of one
[[nodiscard]] Broken always_in(std::string_view state);    // every queue pair
[[nodiscard]] Broken memory_differs();
[[nodiscard]] Broken no_events();                         // asynchronous ones
[[nodiscard]] Broken every_event(std::string_view word);  // is that one
[[nodiscard]] Broken events_of_others();                  // name another queue pair
[[nodiscard]] Broken asked(transport::conformance::agent::Verb verb,
                           std::function<void(transport::conformance::agent::Request&)> becomes);
// Asked so, it hears another value of that key.
[[nodiscard]] Broken asked_with(transport::conformance::agent::Verb verb, transport::conformance::agent::Key key,
                                std::uint64_t value);

}  // namespace qps::tests
