#include <transport-replay/set_up/exchange_text.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace qps::transport {

using namespace dissect;

namespace {

// A form by example: x is a hexadecimal digit, 0 the zero behind the text, anything else is itself.
struct Form {
    std::string_view shape;
    std::size_t qpn = 0, psn = 0, gid = 0;  // where they begin
    std::size_t initiator = 0;              // 0: it has none
};
constexpr std::size_t kDigits = 6;  // of a queue pair or a PSN
constexpr std::size_t kGidBytes = 16;
constexpr std::array kForms{
    Form{"xxxx:xxxxxx:xxxxxx:xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx0", 5, 12, 19},
    Form{"xxxx:xxxxxx:xxxxxx:xxxxxx:xxxxxx:xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx0", 5, 19, 33, 12},
    Form{"xxxx:xxxx:xxxxxx:xxxxxx:xxxxxxxx:xxxxxxxxxxxxxxxx:xx:xx:xx:xx:xx:xx:xx:xx:xx:xx:xx:xx:xx:xx:xx:xx:xxxxxxxx:0",
         10, 17, 50},
};
static_assert(std::ranges::max(kForms, {}, [](const Form& form) { return form.shape.size(); }).shape.size() ==
              kLongestExchange);
static_assert(std::ranges::min(kForms, {}, [](const Form& form) { return form.shape.size(); }).shape.size() ==
              kShortestExchange);

constexpr int digit(std::byte byte) {
    const int c = std::to_integer<int>(byte);
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// As far as there are bytes.
bool fits_shape(Bytes bytes, std::string_view shape) {
    for (std::size_t i = 0; i < std::min(bytes.size(), shape.size()); ++i) {
        const bool fits = shape[i] == 'x' ? digit(bytes[i]) >= 0
                                          : bytes[i] == static_cast<std::byte>(shape[i] == '0' ? '\0' : shape[i]);
        if (!fits) return false;
    }
    return true;
}
bool has_shape(Bytes bytes, std::string_view shape) { return bytes.size() >= shape.size() && fits_shape(bytes, shape); }

std::uint64_t number(Bytes digits) {
    std::uint64_t value = 0;
    for (const std::byte byte : digits) value = value << 4U | static_cast<std::uint64_t>(digit(byte));
    return value;
}

const Form* form_of(Bytes bytes) {
    const auto* const form = std::ranges::find_if(kForms, [&](const Form& one) { return has_shape(bytes, one.shape); });
    return form == kForms.end() ? nullptr : form;
}

// Where the GID has each byte, of two digits: one behind the other or with a colon between.
std::size_t place_of(std::size_t byte, const Form& form) {
    return form.gid + byte * (form.shape[form.gid + 2] == ':' ? 3 : 2);
}

Address address_of(Bytes text, const Form& form) {
    Address address{.bits = {}, .space = AddressSpace::roce_v2};
    for (std::size_t i = 0; i < kGidBytes; ++i) {
        std::uint64_t& half = address.bits[i / 8];
        half = half << 8U | number(text.subspan(place_of(i, form), 2));
    }
    return address;
}

}  // namespace

bool begins_exchange(Bytes bytes) {
    return std::ranges::any_of(
        kForms, [&](const Form& one) { return bytes.size() < one.shape.size() && fits_shape(bytes, one.shape); });
}

std::optional<ExchangeText> read_exchange(Bytes bytes) {
    const Form* const form = form_of(bytes);
    if (form == nullptr) return {};
    const auto qpn = static_cast<Qpn>(number(bytes.subspan(form->qpn, kDigits)));
    const Psn psn(static_cast<std::uint32_t>(number(bytes.subspan(form->psn, kDigits))));
    ExchangeText text{.end = {address_of(bytes, *form), qpn, psn}, .size = form->shape.size()};
    if (form->initiator != 0) text.initiator = static_cast<Qpn>(number(bytes.subspan(form->initiator, kDigits)));
    return text;
}

void rewrite_exchange(Bytes bytes, const std::array<std::uint64_t, 2>& gid, MutableBytes out) {
    const Form* const form = form_of(bytes);
    if (form == nullptr) return;
    constexpr std::string_view kHex = "0123456789abcdef";
    const auto put = [&](std::size_t place, char c) { out[place] = static_cast<std::byte>(c); };
    for (std::size_t i = 0; i < form->shape.size(); ++i)
        put(i, form->shape[i] == 'x' ? '0' : form->shape[i] == '0' ? '\0' : form->shape[i]);
    for (const std::size_t number : {form->qpn, form->psn, form->initiator == 0 ? form->qpn : form->initiator})
        for (std::size_t i = number; i < number + kDigits; ++i) put(i, kHex[static_cast<std::size_t>(digit(bytes[i]))]);
    for (std::size_t i = 0; i < kGidBytes; ++i) {
        const auto byte = static_cast<std::uint8_t>(gid[i / 8] >> (56 - 8 * (i % 8)));
        put(place_of(i, *form), kHex[byte >> 4U]);
        put(place_of(i, *form) + 1, kHex[byte & 0xfU]);
    }
}

}  // namespace qps::transport
