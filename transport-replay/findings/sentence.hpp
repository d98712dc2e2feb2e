// Sentences of findings: templates over facts.
//
//   {stalled}              the fact of that name, as its unit is written: "1,234", "268.4 ms", "10.0.0.1 QP 17"
//   {retransmitted:packet} counted, with a noun: "1 packet", "1,234 packets"; {timeouts:times}: "once", "twice", "3 times"
//   {requester:host}       of an end, without its queue pair; {length:length} of bytes: "4096 bytes", not "4 KiB"
//   {service_id:hex}       a number as "0x1f", {mad_status:hex4} as "0x001f"
//   {hosts:each}           of a list, with commas alone: "a, b, c", not "a, b and c"; {causes:clauses} with semicolons
//   [, lost {lost}]        dropped where a fact in it is not known
//   [probed?A|B]           A where the fact is known, else B, which may be left out; [probed!A]: where it is not
//   [how=selective?A|B]    where the fact is written so
//   {>stall}               a fragment that several findings share, of the table in sentence.cpp
//   \{                     the character itself, likewise \[ \] \| \\.
#pragma once

#include <transport-replay/model/fact.hpp>

#include <functional>
#include <string>
#include <string_view>

namespace qps::transport {

// A template that is not sound gives what can be read of it; fault_of() tells.
[[nodiscard]] std::string sentence(std::string_view text, const Facts& facts);

// What is wrong with a template, of which facts of these names may be given; empty: nothing.
[[nodiscard]] std::string fault_of(std::string_view text, const std::function<bool(std::string_view)>& is_fact);

// A fact as its unit is written, in the style behind a colon, which may be empty.
[[nodiscard]] std::string fact_text(const Fact& fact, std::string_view style = {});

}  // namespace qps::transport
