// Management datagrams (MADs) as the court reads them: the header of 13.4.3, and of communication management the
// messages of 12.6.
#pragma once

#include <tests/court/hearing.hpp>

namespace qps::court {

struct Datagram {
    const Wire* wire = nullptr;
    const Octets* bytes = nullptr;
    std::size_t place = 0;  // of the MAD
    std::uint32_t management_class = 0, method = 0, status = 0, attribute = 0;
    std::uint64_t transaction = 0;

    [[nodiscard]] std::uint32_t number(std::size_t at, std::size_t octets) const {
        return number_at(*bytes, place + at, octets);
    }
    [[nodiscard]] bool answers() const { return (method & 0x80U) != 0; }
};
// All that are whole, in order.
[[nodiscard]] std::vector<Datagram> datagrams(const Hearing& hearing);

// A message of communication management. Fields by their place in it.
struct Message {
    Datagram mad;

    static constexpr std::uint32_t req = 0x10, mra = 0x11, rej = 0x12, rep = 0x13, rtu = 0x14, dreq = 0x15, drep = 0x16,
                                   sidr_req = 0x17, sidr_rep = 0x18;
    static constexpr std::size_t kPlace = 24;  // behind the MAD header
    [[nodiscard]] const std::string& from() const { return mad.wire->from; }
    [[nodiscard]] const std::string& to() const { return mad.wire->to; }
    [[nodiscard]] std::uint32_t is() const { return mad.attribute; }
    [[nodiscard]] std::uint32_t number(std::size_t at, std::size_t octets) const {
        return mad.number(kPlace + at, octets);
    }
    [[nodiscard]] std::uint32_t local() const { return number(0, 4); }
    [[nodiscard]] std::uint32_t remote() const { return is() == req || is() >= sidr_req ? 0 : number(4, 4); }
    [[nodiscard]] std::uint32_t port() const { return number(14, 2); }    // of a REQ: the end of the service ID
    [[nodiscard]] std::uint32_t reason() const { return number(10, 2); }  // of a REJ
    // The same message, said before: nothing but time tells them apart.
    [[nodiscard]] bool repeats(const Message& earlier) const {
        return is() == earlier.is() && from() == earlier.from() && to() == earlier.to() && local() == earlier.local() &&
               remote() == earlier.remote() && mad.transaction == earlier.mad.transaction;
    }
    // Whether it belongs to what that REQ began.
    [[nodiscard]] bool of(const Message& request) const {
        const bool same_side = from() == request.from();
        return (same_side && to() == request.to() && local() == request.local()) ||
               (!same_side && from() == request.to() && to() == request.from() && remote() == request.local());
    }
};
[[nodiscard]] std::vector<Message> messages(const Hearing& hearing);

}  // namespace qps::court
