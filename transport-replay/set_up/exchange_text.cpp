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
};
constexpr std::size_t kDigits = 6;  // of a queue pair or a PSN
constexpr std::size_t kGidBytes = 16;
constexpr std::array kForms{
    Form{"xxxx:xxxxxx:xxxxxx:xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx0", 5, 12, 19},
    Form{"xxxx:xxxx:xxxxxx:xxxxxx:xxxxxxxx:xxxxxxxxxxxxxxxx:xx:xx:xx:xx:xx:xx:xx:xx:xx:xx:xx:xx:xx:xx:xx:xx:xxxxxxxx:0", 10, 17, 50},
};
static_assert(std::ranges::min(kForms, {}, [](const Form& form) { return form.shape.size(); }).shape.size() == kShortestExchange);

constexpr int digit(std::byte byte) {
    const int c = std::to_integer<int>(byte);
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool has_shape(Bytes bytes, std::string_view shape) {
    if (bytes.size() < shape.size()) return false;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        const bool fits = shape[i] == 'x' ? digit(bytes[i]) >= 0 : bytes[i] == static_cast<std::byte>(shape[i] == '0' ? '\0' : shape[i]);
        if (!fits) return false;
    }
    return true;
}

std::uint64_t number(Bytes digits) {
    std::uint64_t value = 0;
    for (const std::byte byte : digits) value = value << 4U | static_cast<std::uint64_t>(digit(byte));
    return value;
}

// Bytes of two digits each, one behind the other or with a colon between.
Address address_of(Bytes text, const Form& form) {
    const std::size_t step = form.shape[form.gid + 2] == ':' ? 3 : 2;
    Address address{.bits = {}, .space = AddressSpace::roce_v2};
    for (std::size_t i = 0; i < kGidBytes; ++i) {
        std::uint64_t& half = address.bits[i / 8];
        half = half << 8U | number(text.subspan(form.gid + i * step, 2));
    }
    return address;
}

}  // namespace

std::optional<ExchangeText> read_exchange(Bytes bytes) {
    const auto form = std::ranges::find_if(kForms, [&](const Form& one) { return has_shape(bytes, one.shape); });
    if (form == kForms.end()) return {};
    const auto qpn = static_cast<Qpn>(number(bytes.subspan(form->qpn, kDigits)));
    const Psn psn(static_cast<std::uint32_t>(number(bytes.subspan(form->psn, kDigits))));
    return ExchangeText{{address_of(bytes, *form), qpn, psn}, form->shape.size()};
}

}  // namespace qps::transport
