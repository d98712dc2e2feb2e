// Writer and Reader: values to bytes and back, member by member. Numbers are LEB128, signed ones zigzag; lists have their count before
// them; plain structs are taken apart by Boost.PFR, classes by what private_members.hpp says of them. Costly to include: for parts/ alone.
//
// What an attacker could feed a Reader: any bytes. A count never exceeds the bytes that are left, so that what is read takes memory in
// proportion to them; numbers must fit their type, enumerations be below their end (enumerations.hpp). The first failure is kept, and
// everything behind it is read as nothing.
#pragma once

#include <dissect/types.hpp>
#include <transport-replay/parts/enumerations.hpp>
#include <transport-replay/parts/private_members.hpp>
#include <transport-replay/parts/soundness.hpp>

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <boost/pfr/core.hpp>

namespace qps::transport::parts {

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

// A name of static storage for what was read; empty where there is no room for another one.
[[nodiscard]] std::string_view interned(std::string_view name);

class Writer {
public:
    template <class T>
    void put(const T& value) {
        if constexpr (std::same_as<T, dissect::Psn>) number(value.value());
        else if constexpr (std::same_as<T, bool> || std::unsigned_integral<T>) number(value);
        else if constexpr (std::signed_integral<T>) number(zigzag(value));
        else if constexpr (std::same_as<T, std::byte>) number(std::to_integer<std::uint8_t>(value));
        else if constexpr (std::floating_point<T>) number(std::bit_cast<std::uint64_t>(static_cast<double>(value)));
        else if constexpr (std::is_enum_v<T>) put(std::to_underlying(value));
        else if constexpr (std::convertible_to<T, std::string_view>) text(value);
        else if constexpr (Optional<T>) {
            put(value.has_value());
            if (value) put(*value);
        } else if constexpr (Rare<T>) {
            put(value.there());
            if (value.there()) put(*value);
        } else if constexpr (FixedList<T>) {
            for (const auto& item : value) put(item);
        } else if constexpr (List<T> || Set<T>) {
            number(value.size());
            for (const auto& item : value) put(item);
        } else if constexpr (Paired<T>) {
            put(value.first);
            put(value.second);
        } else if constexpr (HasPrivateMembers<T>) {
            std::apply([&](const auto&... member) { (put(member), ...); }, PrivateMembers::of(value));
        } else {
            boost::pfr::for_each_field(value, [&](const auto& member) { put(member); });
        }
    }
    [[nodiscard]] std::string take() { return std::move(bytes_); }

private:
    template <std::signed_integral T>
    static std::uint64_t zigzag(T value) {
        const auto wide = static_cast<std::int64_t>(value);
        return static_cast<std::uint64_t>(wide) << 1U ^ static_cast<std::uint64_t>(wide >> 63);
    }
    void number(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7U) bytes_ += static_cast<char>(value | 0x80);
        bytes_ += static_cast<char>(value);
    }
    void text(std::string_view value) {
        number(value.size());
        bytes_ += value;
    }

    std::string bytes_;
};

class Reader {
public:
    explicit Reader(std::string_view bytes) : left_(bytes) {}

    [[nodiscard]] bool failed() const { return failed_; }
    [[nodiscard]] bool at_end() const { return left_.empty(); }

    template <class T>
    void take(T& value) {
        if constexpr (std::same_as<T, dissect::Psn>) value = dissect::Psn(static_cast<std::uint32_t>(number(dissect::Psn::kMask)));
        else if constexpr (std::same_as<T, bool>) value = number(1) != 0;
        else if constexpr (std::unsigned_integral<T>) value = static_cast<T>(number(std::numeric_limits<T>::max()));
        else if constexpr (std::signed_integral<T>) value = signed_number<T>();
        else if constexpr (std::same_as<T, std::byte>) value = static_cast<std::byte>(number(0xff));
        else if constexpr (std::floating_point<T>) value = static_cast<T>(std::bit_cast<double>(number()));
        else if constexpr (std::is_enum_v<T>) enumeration(value);
        else if constexpr (std::same_as<T, std::string>) value = text();
        else if constexpr (std::same_as<T, std::string_view>) name(value);
        else if constexpr (Optional<T>) {
            value.reset();
            if (number(1) != 0) take(value.emplace());
        } else if constexpr (Rare<T>) {
            value = {};
            if (number(1) != 0) take(value.made());
        } else if constexpr (FixedList<T>) {
            for (auto& item : value) take(item);
        } else if constexpr (Map<T>) {
            each([&] {
                std::pair<typename T::key_type, typename T::mapped_type> item;
                take(item);
                value.insert(std::move(item));
            });
        } else if constexpr (Set<T>) {
            each([&] {
                typename T::key_type item{};
                take(item);
                value.insert(std::move(item));
            });
        } else if constexpr (List<T>) {
            value.clear();
            each([&] { take(value.emplace_back()); });
        } else if constexpr (Paired<T>) {
            take(value.first);
            take(value.second);
        } else if constexpr (HasPrivateMembers<T>) {
            std::apply([&](auto&... member) { (take(member), ...); }, PrivateMembers::of(value));
        } else {
            boost::pfr::for_each_field(value, [&](auto& member) { take(member); });
        }
        if constexpr (requires { { is_sound(value) } -> std::same_as<bool>; })
            if (!failed_ && !is_sound(value)) fail();
    }

private:
    std::uint64_t number(std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            if (failed_ || left_.empty()) return fail();
            const auto byte = static_cast<std::uint8_t>(left_.front());
            left_.remove_prefix(1);
            const std::uint64_t part = byte & 0x7fU;
            if (shift == 63 && part > 1) return fail();
            value |= part << shift;
            if (byte < 0x80) return value <= most ? value : fail();
        }
        return fail();
    }
    template <std::signed_integral T>
    T signed_number() {
        const std::uint64_t coded = number();
        const auto wide = static_cast<std::int64_t>(coded >> 1U ^ (0 - (coded & 1U)));
        if (wide < std::numeric_limits<T>::min() || wide > std::numeric_limits<T>::max()) return static_cast<T>(fail());
        return static_cast<T>(wide);
    }
    template <class T>
    void enumeration(T& value) {
        static_assert(kEnd<T> != 0, "enumerations.hpp does not have its end");
        std::underlying_type_t<T> number{};
        take(number);
        if constexpr (kEnd<T> != kAnyValue) {
            if (static_cast<std::uint64_t>(number) >= kEnd<T>) number = static_cast<std::underlying_type_t<T>>(fail());
        }
        value = static_cast<T>(number);
    }
    std::string_view text() {
        const std::uint64_t size = number(left_.size());
        if (size > left_.size()) return fail(), std::string_view{};
        const std::string_view found = left_.substr(0, size);
        left_.remove_prefix(size);
        return found;
    }
    void name(std::string_view& value) {
        const std::string_view found = text();
        value = interned(found);
        if (value.size() != found.size()) fail();
    }
    // Every item takes a byte at least.
    template <class Take>
    void each(Take take) {
        const std::uint64_t count = number(left_.size());
        for (std::uint64_t i = 0; i < count && !failed_; ++i) take();
    }
    std::uint64_t fail() {
        failed_ = true;
        left_ = {};
        return 0;
    }

    std::string_view left_;
    bool failed_ = false;
};

// What a type is made of, as a number: archives of different shapes cannot be read by each other's program.
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t seed, std::uint64_t value) { return (seed ^ value) * 0x100000001b3; }  // FNV-1a
template <class T>
[[nodiscard]] constexpr std::uint64_t shape_of() {
    constexpr std::uint64_t kSeed = 0xcbf29ce484222325;
    if constexpr (std::same_as<T, dissect::Psn>) return mixed(kSeed, 1);
    else if constexpr (std::is_enum_v<T>) return mixed(mixed(kSeed, 2), kEnd<T>);
    else if constexpr (std::is_arithmetic_v<T> || std::same_as<T, std::byte>) return mixed(mixed(kSeed, 3 + std::is_signed_v<T>), sizeof(T));
    else if constexpr (std::convertible_to<T, std::string_view>) return mixed(kSeed, 5);
    else if constexpr (Optional<T>) return mixed(mixed(kSeed, 6), shape_of<typename T::value_type>());
    else if constexpr (Rare<T>) return mixed(mixed(kSeed, 12), shape_of<std::remove_cvref_t<decltype(*std::declval<const T&>())>>());
    else if constexpr (FixedList<T>) return mixed(mixed(kSeed, 7 + std::tuple_size_v<T>), shape_of<typename T::value_type>());
    else if constexpr (Map<T>) return mixed(mixed(kSeed, shape_of<typename T::key_type>()), shape_of<typename T::mapped_type>());
    else if constexpr (List<T> || Set<T>) return mixed(mixed(kSeed, 8), shape_of<typename T::value_type>());
    else if constexpr (HasPrivateMembers<T>) {
        return []<class... Member>(std::type_identity<std::tuple<Member...>>) {
            std::uint64_t shape = mixed(kSeed, 9);
            ((shape = mixed(shape, shape_of<std::remove_cvref_t<Member>>())), ...);
            return shape;
        }(std::type_identity<decltype(PrivateMembers::of(std::declval<T&>()))>{});
    } else {
        return []<std::size_t... at>(std::index_sequence<at...>) {
            std::uint64_t shape = mixed(kSeed, 10 + sizeof...(at));
            ((shape = mixed(shape, shape_of<std::remove_cvref_t<boost::pfr::tuple_element_t<at, T>>>())), ...);
            return shape;
        }(std::make_index_sequence<boost::pfr::tuple_size_v<T>>{});
    }
}

}  // namespace qps::transport::parts
