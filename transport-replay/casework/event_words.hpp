// What kinds of events are called, and what of a host they are about: rows of a timeline, words of a tip.
#pragma once

#include <transport-replay/casework/evidence.hpp>

#include <array>
#include <string_view>

namespace qps::casework {

// What an event is about, in the order in which a timeline shows them.
enum class EventGroup : std::uint8_t { link, device, queue_pair, setup, storage, job, other };
inline constexpr std::array<std::string_view, 7> kEventGroupNames{
    "link and switch", "NIC and host", "queue pair", "connection setup", "storage", "job", "other"};
static_assert(kEventGroupNames.size() == static_cast<std::size_t>(EventGroup::other) + 1);

struct EventWords {
    EventKind kind{};
    EventGroup group{};
    std::string_view name{};  // "port down"
};
[[nodiscard]] const EventWords& words_of(EventKind kind);

}  // namespace qps::casework
