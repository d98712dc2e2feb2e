// Sentences of findings: templates over facts.
//
//   {stalled}              the fact of that name, as its unit is written: "1,234", "268.4 ms", "10.0.0.1 QP 17"
//   {retransmitted:packet} counted, with a noun: "1 packet", "1,234 packets"; {timeouts:times}: "once", "twice", "3
//   times" {requester:host}       of an end, without its queue pair; {length:length} of bytes: "4096 bytes", not "4
//   KiB"; {missing:byte}: "4,096 bytes" {address:hex}          of a number: "0x7f00"; {r_key:key} with all digits of an
//   R_Key: "0x0000007f"; {p_key:hex4}; {depth:plain} as it is: "1234";
//                          {rate:Gbit/s} in that unit
//   {hosts:each}           of a list, with commas alone: "a, b, c", not "a, b and c"; {causes:clauses} with semicolons;
//   {lossless:priority} with a
//                          noun: "priorities 3 and 4", "no priority"
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

}  // namespace qps::transport
