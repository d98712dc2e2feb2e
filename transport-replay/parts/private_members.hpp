// PrivateMembers: what of classes with private state goes into an archive. They name it as a friend, and say nothing
// else of archives.
#pragma once

#include <transport-replay/collectives/collective_tracker.hpp>
#include <transport-replay/model/congestion_report.hpp>
#include <transport-replay/model/connection.hpp>
#include <transport-replay/model/incident.hpp>
#include <transport-replay/model/latency_sketch.hpp>
#include <transport-replay/model/ordered_span.hpp>
#include <transport-replay/model/peaks.hpp>

#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>

namespace qps::transport {

template <class T> inline constexpr bool kIsSet = false;
template <class E> inline constexpr bool kIsSet<Set<E>> = true;
template <class T> inline constexpr bool kIsFewValues = false;
template <class T, std::size_t kMost> inline constexpr bool kIsFewValues<FewValues<T, kMost>> = true;

struct PrivateMembers {
    template <class T, class Of> static constexpr bool kIs = std::same_as<std::remove_const_t<T>, Of>;

    template <class T>
        requires kIsSet<std::remove_const_t<T>>
    static auto of(T& value) {
        return std::tie(value.bits_);
    }
    template <class T>
        requires kIsFewValues<std::remove_const_t<T>>
    static auto of(T& value) {
        return std::tie(value.first_, value.others_);
    }

    template <class T>
        requires kIs<T, OrderedSpan>
    static auto of(T& value) {
        return std::tie(value.begin_, value.end_, value.has_ended_);
    }
    template <class T>
        requires kIs<T, LatencySketch>
    static auto of(T& value) {
        return std::tie(value.values_, value.bins_, value.count_, value.bits_);
    }
    template <class T>
        requires kIs<T, Distribution>
    static auto of(T& value) {
        return std::tie(value.count_, value.stride_, value.least_, value.most_, value.samples_);
    }
    template <class T>
        requires kIs<T, Peaks>
    static auto of(T& value) {
        return std::tie(value.rows_);
    }
    template <class T>
        requires kIs<T, BurstList>
    static auto of(T& value) {
        return std::tie(value.bursts_, value.pause_, value.bytes_, value.full_);
    }
    template <class T>
        requires kIs<T, NcclChannel>
    static auto of(T& value) {
        return std::tie(value.offers_, value.messages_, value.pending_, value.arrived_, value.open_, value.counted_,
                        value.newest_, value.size_, value.sender_, value.contradicted_);
    }
    template <class T>
        requires kIs<T, TrafficSignature>
    static auto of(T& value) {
        return std::tie(value.ends_);
    }
    // Of one that is settled: where its connections are found by number does not matter any more.
    template <class T>
        requires kIs<T, CollectiveTracker>
    static auto of(T& value) {
        return std::tie(value.followed_, value.ways_, value.channels_, value.events_, value.left_out_);
    }
};

}  // namespace qps::transport
