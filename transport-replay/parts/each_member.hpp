// for_each_of<Wanted>(): every value of a type inside another value, however deep: frames and times of a report, say, which all move
// when it is joined with those of other captures. Costly to include: for parts/ alone.
#pragma once

#include <transport-replay/parts/archive.hpp>

namespace qps::transport::parts {

template <class Wanted, class T, class Visit>
void for_each_of(T& value, const Visit& visit) {
    if constexpr (std::same_as<T, Wanted>) visit(value);
    else if constexpr (std::same_as<T, dissect::Psn> || std::is_arithmetic_v<T> || std::is_enum_v<T> || std::convertible_to<T, std::string_view>) return;
    else if constexpr (Optional<T>) {
        if (value) for_each_of<Wanted>(*value, visit);
    } else if constexpr (Rare<T>) {
        if (value.there()) for_each_of<Wanted>(value.made(), visit);
    } else if constexpr (FixedList<T> || (List<T> && !Set<T>)) {
        using Item = typename T::value_type;
        if constexpr (std::same_as<Item, Wanted> || !(std::is_arithmetic_v<Item> || std::is_enum_v<Item>))
            for (auto& item : value) for_each_of<Wanted>(item, visit);
    } else if constexpr (Map<T>) {
        for (auto& [key, mapped] : value) for_each_of<Wanted>(mapped, visit);
    } else if constexpr (Set<T>) {
        static_assert(!std::same_as<typename T::key_type, Wanted>, "members of a set cannot be changed in place");
    } else if constexpr (Paired<T>) {
        for_each_of<Wanted>(value.first, visit);
        for_each_of<Wanted>(value.second, visit);
    } else if constexpr (HasPrivateMembers<T>) {
        std::apply([&](auto&... member) { (for_each_of<Wanted>(member, visit), ...); }, PrivateMembers::of(value));
    } else {
        boost::pfr::for_each_field(value, [&](auto& member) { for_each_of<Wanted>(member, visit); });
    }
}

}  // namespace qps::transport::parts
