#include <dissect/packet/json_writer.hpp>
#include <transport-replay/evidence/pseudonym_map.hpp>

#include <fmt/format.h>

namespace qps::transport {

using dissect::JsonLayout;
using dissect::JsonWriter;

namespace {

std::string hex_of(const Pseudonyms::Key& key) {
    std::string text;
    for (const std::byte byte : key) text += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
    return text;
}

}  // namespace

void write_map(const Pseudonyms::Key& key, const Pseudonyms& pseudonyms,
               const std::function<void(std::string_view)>& write) {
    std::string text;
    JsonWriter json(text, JsonLayout::lines);
    json.open();
    json.add("schema", std::uint64_t{1});
    json.add("key", hex_of(key));
    json.add_json("complete", pseudonyms.complete() ? "true" : "false");
    json.open_list("pseudonyms");
    pseudonyms.for_each([&](std::string_view kind, const std::string& original, const std::string& pseudonym) {
        json.open();
        json.add("kind", kind);
        json.add("original", original);
        json.add("pseudonym", pseudonym);
        json.close();
        write(text);
        text.clear();
    });
    json.close_list();
    json.close();
    write(text + '\n');
}

Address pseudonym_of(const Address& address, Pseudonyms& pseudonyms) {
    switch (address.space) {
        case AddressSpace::none: return address;
        case AddressSpace::ethernet: return {{0, pseudonyms.mac(address.bits[1])}, address.space};
        case AddressSpace::infiniband_lid:
            return {{0, pseudonyms.lid(static_cast<std::uint32_t>(address.bits[1]))}, address.space};
        case AddressSpace::roce_v2:
        case AddressSpace::roce_v1:
        case AddressSpace::infiniband_gid: break;
    }
    const Ipv6Bits made = pseudonyms.ipv6({address.bits[0], address.bits[1]});
    return {{made.high, made.low}, address.space};
}

}  // namespace qps::transport
