// Words of findings about upper protocols: who the two sides are, and what the protocol itself said, made fit for a
// sentence.
#pragma once

#include <transport-replay/model/fact.hpp>
#include <transport-replay/model/ulp_report.hpp>

#include <string>
#include <string_view>

namespace qps::transport {

struct Timeline;

// The side that asked for the connection, and the side that answers; nothing where the capture tells neither.
struct Sides {
    std::optional<Endpoint> active;
    std::optional<Endpoint> passive;
};
[[nodiscard]] Sides sides_of(const Timeline& timeline, const UlpConversation& conversation);
[[nodiscard]] Sides sides_of(const Timeline& timeline, const UlpEvent& event);

// "NVMe over RDMA"
[[nodiscard]] std::string_view protocol_name(UlpProtocol protocol);

// Words of a protocol inside a sentence: printable, one space between them, no full stop that would end it.
[[nodiscard]] std::string clean(std::string_view words);

}  // namespace qps::transport
