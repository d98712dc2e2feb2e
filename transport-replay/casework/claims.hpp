// Words and small questions that rules share: how a queue pair, a list of hosts and a number are written, who
// complains.
#pragma once

#include <transport-replay/casework/rules.hpp>

#include <initializer_list>
#include <set>
#include <string>
#include <vector>

namespace qps::casework {

void claim(Verdict& verdict, std::string_view id, Weight weight, Party party, std::string host, std::string text,
           std::vector<Place> evidence, transport::Facts facts = {});
void consequence(Verdict& verdict, std::string text, std::vector<Place> evidence);
void contradiction(Verdict& verdict, std::string text, std::vector<Place> evidence);
// Once each, in the order in which rules ask for them.
void next_step(Verdict& verdict, std::string command, std::string where, std::vector<Outcome> outcomes = {});
void undecided(Verdict& verdict, std::string text);

[[nodiscard]] std::string queue_pair_text(dissect::Qpn qpn);  // "QP 0x3340 (13120)"
[[nodiscard]] std::string at_host(const std::string& host);   // "node-a", or "this host" of nobody
[[nodiscard]] std::string list_text(const std::set<std::string>& words, std::size_t most = 6);
[[nodiscard]] std::vector<Place> places_of(const std::vector<const Event*>& events, std::size_t most = 4);
[[nodiscard]] std::vector<const Event*> events_of(const Case& read, std::initializer_list<EventKind> kinds);
[[nodiscard]] std::set<std::string> hosts_of(const std::vector<const Event*>& events);
// Something failed: a completion, a watchdog, a timeout.
[[nodiscard]] bool anything_failed(const Case& read);
[[nodiscard]] bool has_status(const Case& read, std::uint32_t status);
// Somebody waited for an answer that did not come, or could not even ask.
[[nodiscard]] bool no_answer(const Case& read);
// What an event of a host is to the complaints of the case: whether it can be tied to them, and on which side it lies.
struct Tie {
    bool complaints = false;  // there are some
    bool own = false;         // of this very host
    bool named = false;       // others name this host as their peer
    bool near = false;        // one of the same host and clock stands within a minute
    bool late = false;        // of a program's log: all complaints of the file stand before it
};
[[nodiscard]] Tie tie_of(const Case& read, const Event& event);
// What LLDP tells behind a port of a switch; empty: nobody says.
[[nodiscard]] std::string behind_port(const Case& read, std::string_view host, std::string_view port);

// Families of rules.
void judge_completions(const Facts& facts, Verdict& verdict);
void judge_flushes(const Facts& facts, Verdict& verdict);
void judge_ports(const Facts& facts, Verdict& verdict);
void judge_host_events(const Facts& facts, Verdict& verdict);
void judge_set_up(const Facts& facts, Verdict& verdict);
void judge_device(const Facts& facts, Verdict& verdict);
void judge_storage(const Facts& facts, Verdict& verdict);
void judge_blocked(const Facts& facts, Verdict& verdict);
void judge_gids(const Facts& facts, Verdict& verdict);
void judge_queue_pairs(const Facts& facts, Verdict& verdict);
void judge_acs(const Facts& facts, Verdict& verdict);
void judge_environment(const Facts& facts, Verdict& verdict);
void judge_port_readings(const Facts& facts, Verdict& verdict);
void judge_link_settings(const Facts& facts, Verdict& verdict);
void judge_classes(const Facts& facts, Verdict& verdict);
void judge_loss(const Facts& facts, Verdict& verdict);
void judge_receivers(const Facts& facts, Verdict& verdict);
void judge_pauses(const Facts& facts, Verdict& verdict);
void judge_signals(const Facts& facts, Verdict& verdict);
void judge_traffic(const Facts& facts, Verdict& verdict);
void judge_readings(const Facts& facts, Verdict& verdict);
void judge_netdev(const Facts& facts, Verdict& verdict);
void judge_software(const Facts& facts, Verdict& verdict);
void judge_ranks(const Facts& facts, Verdict& verdict);
void judge_watchdogs(const Facts& facts, Verdict& verdict);
void judge_order(const Facts& facts, Verdict& verdict);
void judge_captures(const Facts& facts, Verdict& verdict);
void judge_unrelated(const Facts& facts, Verdict& verdict);
void judge_notices(const Facts& facts, Verdict& verdict);
void judge_bootstrap(const Facts& facts, Verdict& verdict);
void judge_states(const Facts& facts, Verdict& verdict);
void judge_placement(const Facts& facts, Verdict& verdict);
void judge_unexplained(const Facts& facts, Verdict& verdict);

}  // namespace qps::casework
