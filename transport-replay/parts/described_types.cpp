// The descriptions of all types that are in a part. Plain structs are taken apart by Boost.PFR, classes by what
// private_members.hpp says of them. No other source sees this: it is a quarter of a minute of the compiler's time.
#include <dissect/base/types.hpp>
#include <transport-replay/analysis/part_report.hpp>
#include <transport-replay/parts/archived_type.hpp>
#include <transport-replay/parts/enumerations.hpp>
#include <transport-replay/parts/part.hpp>
#include <transport-replay/parts/part_header.hpp>
#include <transport-replay/parts/private_members.hpp>
#include <transport-replay/parts/soundness.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <boost/pfr/core.hpp>

namespace qps::transport::parts {

namespace {

template <class T>
concept Optional = requires(const T& value) {
    value.has_value();
    *value;
    typename T::value_type;
};
template <class T>
concept Rare = requires(T& value) {
    value.there();
    value.made();
};
template <class T>
concept FixedList = requires { std::tuple_size<T>::value; } && requires(T& value) { value.fill(value[0]); };
template <class T>
concept List = requires(T& value, typename T::value_type item) {
    value.push_back(item);
    value.begin();
} && !std::same_as<T, std::string>;
template <class T>
concept Set = requires(T& value, const typename T::value_type& item) {
    typename T::key_type;
    value.insert(item);
};
template <class T>
concept Map = Set<T> && requires { typename T::mapped_type; };
template <class T>
concept Paired = requires(T& value) {
    value.first;
    value.second;
} && std::tuple_size<T>::value == 2;
template <class T>
concept HasPrivateMembers = requires(T& value) { PrivateMembers::of(value); };

template <class T> consteval Type described_whole();
template <class T> inline constexpr Type kType = described_whole<T>();

void note(std::vector<Member>& members, const void* object, const void* member, const Type* type) {
    members.push_back(
        {static_cast<std::size_t>(static_cast<const std::byte*>(member) - static_cast<const std::byte*>(object)),
         type});
}

// References to all members.
template <class T> auto tie_of(T& value) {
    if constexpr (Paired<T>) return std::tie(value.first, value.second);
    else return PrivateMembers::of(value);
}

template <class T> std::span<const Member> members_of() {
    alignas(T) static std::array<std::byte, sizeof(T)> room;  // no object is in it: addresses of members alone matter
    static const std::vector<Member> kMembers = [] {
        std::vector<Member> members;
        const auto add = [&](auto& member) {
            note(members, room.data(), &member, &kType<std::remove_cvref_t<decltype(member)>>);
        };
        T& value = *reinterpret_cast<T*>(room.data());
        if constexpr (Paired<T> || HasPrivateMembers<T>)
            std::apply([&](auto&... member) { (add(member), ...); }, tie_of(value));
        else boost::pfr::for_each_field(value, add);
        return members;
    }();
    return kMembers;
}

// Of a map: its items, whose key may be written. They lie as those in it do.
template <class T> struct ItemOf {
    using type = typename T::value_type;
};
template <Map T> struct ItemOf<T> {
    using type = std::pair<typename T::key_type, typename T::mapped_type>;
};

constexpr std::size_t kNode = 64;  // of an allocation of its own, or of a place in a table: generously

template <class T> consteval Type described() {
    if constexpr (std::same_as<T, dissect::Psn>) return {.make = Make::psn};
    else if constexpr (std::same_as<T, bool>) return {.make = Make::number, .size = 1, .is_bool = true};
    else if constexpr (std::unsigned_integral<T> || std::same_as<T, std::byte>)
        return {.make = Make::number, .size = sizeof(T)};
    else if constexpr (std::signed_integral<T>) return {.make = Make::signed_number, .size = sizeof(T)};
    else if constexpr (std::floating_point<T>) return {.make = Make::real, .size = sizeof(T)};
    else if constexpr (std::is_enum_v<T>) {
        static_assert(kEnd<T> != 0, "enumerations.hpp does not have its end");
        return {.make = Make::enumeration,
                .size = sizeof(T),
                .end = kEnd<T>,
                .is_signed = std::is_signed_v<std::underlying_type_t<T>>};
    } else if constexpr (std::same_as<T, std::string>) return {.make = Make::text};
    else if constexpr (std::same_as<T, std::string_view>) return {.make = Make::name};
    else if constexpr (Optional<T>) {
        return {.make = Make::optional,
                .item = &kType<typename T::value_type>,
                .get = [](const void* value) -> const void* { return as<T>(value) ? &*as<T>(value) : nullptr; },
                .renew = [](void* value, bool there) -> void* {
                    as<T>(value).reset();
                    return there ? &as<T>(value).emplace() : nullptr;
                }};
    } else if constexpr (Rare<T>) {
        return {.make = Make::rare,
                .item = &kType<std::remove_cvref_t<decltype(*std::declval<const T&>())>>,
                .get = [](const void* value) -> const void* { return as<T>(value).there() ? &*as<T>(value) : nullptr; },
                .renew = [](void* value, bool there) -> void* {
                    as<T>(value) = {};
                    return there ? &as<T>(value).made() : nullptr;
                },
                .cost = sizeof(std::remove_cvref_t<decltype(*std::declval<const T&>())>) + kNode};
    } else if constexpr (FixedList<T>) {
        return {.make = Make::fixed,
                .size = sizeof(typename T::value_type),
                .count = std::tuple_size_v<T>,
                .item = &kType<typename T::value_type>};
    } else if constexpr (List<T> || Set<T>) {
        using Item = typename ItemOf<T>::type;
        return {.make = Map<T>   ? Make::map
                        : Set<T> ? Make::set
                                 : Make::list,
                .item = &kType<Item>,
                .cost = sizeof(Item) + (Set<T> ? kNode : 0),
                .length = [](const void* list) { return as<T>(list).size(); },
                .each =
                    [](const void* list, const VisitConst& visit) {
                        for (const auto& item : as<T>(list)) visit(&item);
                    },
                .clear = [](void* list) { as<T>(list).clear(); },
                .add =
                    [](void* list, const Visit& fill) {
                        if constexpr (Set<T>) {
                            Item item{};
                            fill(&item);
                            as<T>(list).insert(std::move(item));
                        } else {
                            fill(&as<T>(list).emplace_back());
                        }
                    }};
    } else {
        return {.make = HasPrivateMembers<T> ? Make::object : Make::record, .members = members_of<T>};
    }
}

template <class T> consteval Type described_whole() {
    Type type = described<T>();
    if constexpr (requires(const T& value) {
                      { is_sound(value) } -> std::same_as<bool>;
                  })
        type.sound = [](const void* value) { return is_sound(as<T>(value)); };
    return type;
}

}  // namespace

template <> const Type& type_of<AnalysisPart>() { return kType<AnalysisPart>; }
template <> const Type& type_of<PartReport>() { return kType<PartReport>; }
template <> const Type& type_of<GateReport>() { return kType<GateReport>; }
template <> const Type& type_of<LinkReport>() { return kType<LinkReport>; }
template <> const Type& type_of<PartHeader>() { return kType<PartHeader>; }
template <> const Type& type_of<dissect::FrameIndex>() { return kType<dissect::FrameIndex>; }
template <> const Type& type_of<dissect::Instant>() { return kType<dissect::Instant>; }

}  // namespace qps::transport::parts
