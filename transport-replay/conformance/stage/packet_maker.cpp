#include <dissect/base/packet.hpp>
#include <dissect/headers/infiniband.hpp>
#include <dissect/mad/cm.hpp>
#include <transport-replay/conformance/agent/pattern.hpp>
#include <transport-replay/conformance/script/packet_words.hpp>
#include <transport-replay/conformance/stage/packet_maker.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace qps::transport::conformance::stage {

using namespace dissect;
using script::PacketLine;
using script::PacketWord;
using script::Relative;
using script::Special;

namespace {

constexpr std::size_t kLongestPayload = 9000;  // of a frame that a device carries, headers left out
constexpr std::uint64_t kUnlimited = 31;       // credits
constexpr std::uint64_t kPsnBits = 0xffffff;

using Done = std::expected<void, std::string>;

class Maker {
public:
    Maker(const PacketLine& line, const Making& making) : line_(line), making_(making), row_(info(*line.opcode)) {}

    std::expected<MadePacket, std::string> run() {
        begin();
        if (auto done = set_psn(); !done) return std::unexpected(done.error());
        if (auto done = set_words(); !done) return std::unexpected(done.error());
        if (auto done = set_payload(); !done) return std::unexpected(done.error());
        if (auto done = set_ends(); !done) return std::unexpected(done.error());
        made_.bytes = build(spec_);
        if (auto done = damage(); !done) return std::unexpected(done.error());
        if (made_.bytes.size() < live::kShortestFrame) made_.bytes.resize(live::kShortestFrame);
        return std::move(made_);
    }

private:
    [[nodiscard]] const PacketWord* word(Special special) const {
        const auto found = std::ranges::find(line_.words, special, &PacketWord::special);
        return found == line_.words.end() ? nullptr : &*found;
    }
    [[nodiscard]] std::expected<std::uint64_t, std::string> number(const PacketWord& word) const {
        return making_.variables.value_of(*word.pattern.choices.front().first);
    }
    // Of a special word; the usual one where the line has none.
    [[nodiscard]] std::expected<std::uint64_t, std::string> number(Special special, std::uint64_t usual) const {
        const PacketWord* found = word(special);
        return found == nullptr ? std::expected<std::uint64_t, std::string>(usual) : number(*found);
    }
    [[nodiscard]] Bytes bytes_of(const PacketWord& word) const { return word.pattern.choices.front().bytes; }

    void begin() {
        TransportPacket packet;
        packet.opcode = *line_.opcode;
        spec_ = to_spec(packet, making_.route);
        const ScriptQp& qp = making_.qp;
        set(spec_, "infiniband.bth.destqp", std::to_underlying(qp.theirs));
        set(spec_, "infiniband.xrceth.xrcsrq", std::to_underlying(qp.extended.number));
        set(spec_, "infiniband.deth.srcqp", std::to_underlying(qp.ours));
        set(spec_, "infiniband.deth.q_key", std::to_underlying(qp.qkey));
        if (line_.acknowledges) set(spec_, "infiniband.aeth.syndrome", kUnlimited);
        if (line_.attribute == nullptr) return;
        const PacketSpec mad = mad_packet(ManagementClass::communication, *line_.attribute, making_.route.network);
        const auto at = std::ranges::find(mad.headers, LayerKind::mad, &HeaderSpec::kind);
        spec_.headers.insert(spec_.headers.end(), at, mad.headers.end());
        set_management(spec_, *line_.attribute, making_);
        ip_cm_ = ip_cm_header(making_);
    }

    Done set_psn() {
        made_.psn = row_.request ? making_.qp.next_sent : making_.qp.last_request;
        for (const PacketWord& word : line_.words) {
            if (word.field == nullptr || word.special != Special::none || word.field->name != "infiniband.bth.psn")
                continue;
            const auto value = number(word);
            if (!value) return std::unexpected(value.error());
            const Relative relative = word.pattern.choices.front().relative;
            const Psn base = first_psn(making_.qp, Sender::us, row_.request);
            const auto by = static_cast<std::uint32_t>(*value & kPsnBits);
            made_.psn = relative == Relative::no ? Psn(by) : relative == Relative::plus ? base + by : base + (0 - by);
        }
        set(spec_, "infiniband.bth.psn", made_.psn.value());
        return {};
    }

    // A field that is there only where other bits say so gets them said.
    Done set_condition(HeaderSpec& header_spec, const Field& field) {
        if (field.when.width == 0) return {};
        for (const Field& each : header(header_spec.kind).fields)
            if (!each.computed() && each.bit == field.when.bit && each.width == field.when.width &&
                !each.name.empty()) {
                set(header_spec, each.name, field.when.value);
                return {};
            }
        return {};
    }

    Done set_field(const PacketWord& word) {
        const Field& field = *word.field;
        HeaderSpec* header_spec = word.kind == LayerKind::cm_ip_private && ip_cm_ ? &*ip_cm_ : find(spec_, word.kind);
        if (header_spec == nullptr)
            return std::unexpected(fmt::format("\"{}\": no such header in packets of this network", word.text));
        if (auto done = set_condition(*header_spec, field); !done) return done;
        const script::Choice& choice = word.pattern.choices.front();
        bool fits = false;
        if (!choice.first) {
            const auto named = making_.variables.bytes(choice.bytes_of, field.width / 8);
            if (!choice.bytes_of.empty() && !named)
                return std::unexpected(fmt::format("\"{}\": ${} is not a string of bytes", word.text, choice.bytes_of));
            const Bytes said = named ? Bytes(*named) : Bytes(choice.bytes);
            fits = field.width == kToEnd || set(*header_spec, field.name, said);
            if (field.width == kToEnd) header_spec->tail.assign(said.begin(), said.end());
            private_said_ =
                private_said_ || (field.name.ends_with(".private") && word.kind != LayerKind::cm_ip_private);
        } else {
            auto value = number(word);
            if (!value) return std::unexpected(value.error());
            if (choice.relative == Relative::minus) *value = 0 - *value;
            if (choice.relative != Relative::no) *value &= kPsnBits;
            fits = set(*header_spec, field.name, *value);
            if (!fits)
                return std::unexpected(
                    fmt::format("\"{}\": {} does not fit into {} bits", word.text, *value, field.width));
        }
        if (!fits) return std::unexpected(fmt::format("\"{}\" has no room in its field", word.text));
        return {};
    }

    Done set_words() {
        for (const PacketWord& word : line_.words) {
            if (word.special == Special::none && word.field->name != "infiniband.bth.psn")
                if (auto done = set_field(word); !done) return done;
            if (word.special == Special::ttl || word.special == Special::dscp || word.special == Special::ecn)
                if (auto done = set_network_word(word); !done) return done;
        }
        return ip_cm_ && !private_said_ ? put_ip_cm() : Done{};
    }

    // What IPv4, IPv6 and a GRH call otherwise.
    Done set_network_word(const PacketWord& word) {
        const auto value = number(word);
        if (!value) return std::unexpected(value.error());
        struct Names {
            Special special;
            std::string_view ipv4, ipv6, grh;
            unsigned shift;  // in the traffic class of a GRH
        };
        static constexpr std::array kNames{
            Names{Special::ttl, "ip.ttl", "ipv6.hlim", "infiniband.grh.hoplmt", 0},
            Names{Special::dscp, "ip.dsfield.dscp", "ipv6.tclass.dscp", "infiniband.grh.tclass", 2},
            Names{Special::ecn, "ip.dsfield.ecn", "ipv6.tclass.ecn", "infiniband.grh.tclass", 0},
        };
        const auto row = std::ranges::find(kNames, word.special, &Names::special);
        for (HeaderSpec& each : spec_.headers) {
            const std::string_view name = each.kind == LayerKind::ipv4   ? row->ipv4
                                          : each.kind == LayerKind::ipv6 ? row->ipv6
                                          : each.kind == LayerKind::grh  ? row->grh
                                                                         : std::string_view{};
            if (name.empty()) continue;
            if (!set(each, name, each.kind == LayerKind::grh ? *value << row->shift : *value))
                return std::unexpected(fmt::format("\"{}\" has no room in its field", word.text));
        }
        return {};
    }

    // The header of the IP CM service stands in front of the private data of a REQ or a SIDR_REQ.
    Done put_ip_cm() {
        std::vector<std::byte> bytes(kIpCmHeaderLength);
        for (const FieldSetting& setting : ip_cm_->settings)
            set_value(bytes, *setting.field, {setting.number, setting.bytes});
        bytes.insert(bytes.end(), ip_cm_->tail.begin(), ip_cm_->tail.end());  // what the consumer has to say
        const bool request = line_.attribute->data == LayerKind::cm_req;
        if (request || line_.attribute->data == LayerKind::cm_sidr_req)
            if (!set(spec_, request ? "infiniband.cm.req.private" : "infiniband.cm.sidr_req.private", Bytes(bytes)))
                return std::unexpected(
                    fmt::format("private data of {} bytes has no room", bytes.size() - kIpCmHeaderLength));
        return {};
    }

    Done set_payload() {
        const auto length = number(Special::length, 0);
        const auto seed = number(Special::fill, kUsualFill);
        if (!length || !seed) return std::unexpected(length ? seed.error() : length.error());
        if (*length > kLongestPayload)
            return std::unexpected(fmt::format("a payload of {} bytes does not fit into a frame", *length));
        const Stream& stream = making_.qp.streams[0][row_.request ? 0 : 1];
        const bool first = begins_message(row_.place);
        const auto from = number(Special::from, first ? 0 : stream.offset_at(made_.psn, making_.qp.mtu));
        if (!from) return std::unexpected(from.error());
        made_.pattern_offset = *from;
        if (const PacketWord* data = word(Special::data)) {
            if (auto done = set_data(bytes_of(*data)); !done) return done;
        } else {
            spec_.payload.resize(*length);
            agent::fill_pattern(spec_.payload, *seed, *from);
        }
        const bool said = std::ranges::any_of(line_.words, [](const PacketWord& each) {
            return each.special == Special::none && each.field->name == "infiniband.reth.dmalen";
        });
        if (!said && row_.verb == Verb::write) set(spec_, "infiniband.reth.dmalen", spec_.payload.size());
        return {};
    }

    // All of it, or the piece that `from` and `len` say.
    Done set_data(Bytes said) {
        const auto from = number(Special::from, 0);
        if (!from) return std::unexpected(from.error());
        const std::uint64_t begin = std::min<std::uint64_t>(*from, said.size());
        const auto length = number(Special::length, said.size() - begin);
        if (!length) return std::unexpected(length.error());
        if (*from > said.size() || *length > said.size() - begin)
            return std::unexpected(
                fmt::format("data of {} bytes has no {} bytes from {}", said.size(), *length, *from));
        const Bytes piece = said.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(*length));
        spec_.payload.assign(piece.begin(), piece.end());
        return {};
    }

    Done set_ends() {
        if (const PacketWord* pad = word(Special::pad)) {
            const auto bytes = number(*pad);
            if (!bytes) return std::unexpected(bytes.error());
            spec_.pad_bytes = static_cast<std::uint8_t>(*bytes & 3U);
        }
        if (const PacketWord* icrc = word(Special::icrc)) {
            const auto value = number(*icrc);
            if (!value) return std::unexpected(value.error());
            spec_.icrc = static_cast<std::uint32_t>(*value);
        }
        if (const PacketWord* trailer = word(Special::trailer))
            spec_.trailer.assign(bytes_of(*trailer).begin(), bytes_of(*trailer).end());
        if (const PacketWord* options = word(Special::options))
            if (HeaderSpec* ipv4 = find(spec_, LayerKind::ipv4))
                ipv4->tail.assign(bytes_of(*options).begin(), bytes_of(*options).end());
        return {};
    }

    // What is wrong once everything was right.
    Done damage() {
        const bool bad = word(Special::bad_icrc) != nullptr;
        const PacketWord* flip = word(Special::flip);
        const PacketWord* cut = word(Special::cut);
        if (!bad && flip == nullptr && cut == nullptr) return {};
        Packet packet;
        Frame frame;
        frame.bytes = made_.bytes;
        frame.wire_length = static_cast<std::uint32_t>(made_.bytes.size());
        decode(frame, packet);
        if (bad) turn(packet, LayerKind::icrc, 0);
        if (flip != nullptr) {
            const std::size_t bit =
                flip->field == nullptr ? 0 : std::size_t{flip->field->bit} + flip->field->width - 1U;
            if (!turn(packet, flip->kind, bit))
                return std::unexpected(fmt::format("\"{}\": no such bit in the packet", flip->text));
        }
        if (cut == nullptr) return {};
        const auto left = number(*cut);
        if (!left) return std::unexpected(left.error());
        shorten(packet, *left);
        return {};
    }

    bool turn(const Packet& packet, LayerKind kind, std::size_t bit) {
        const Layer* layer = find(packet, kind);
        if (kind == LayerKind::payload && packet.payload.captured > 0) {
            made_.bytes[packet.payload.offset] ^= std::byte{1};
            return true;
        }
        if (layer == nullptr || layer->offset + bit / 8 >= made_.bytes.size()) return false;
        made_.bytes[layer->offset + bit / 8] ^= static_cast<std::byte>(0x80U >> bit % 8);
        return true;
    }

    // So many bytes are left from the BTH on; the lengths below say so too.
    void shorten(const Packet& packet, std::uint64_t left) {
        if (!packet.has_transport()) return;
        const std::size_t bth = packet.layers()[packet.bth_layer].offset;
        if (bth + left >= made_.bytes.size()) return;
        made_.bytes.resize(bth + static_cast<std::size_t>(left));
        const std::size_t end = made_.bytes.size();
        const auto write = [&](std::size_t at, std::uint64_t value) { write_bits(made_.bytes, at * 8, 16, value); };
        for (const Layer& layer : packet.layers()) {
            if (layer.kind == LayerKind::udp) write(layer.offset + 4U, end - layer.offset);
            if (layer.kind == LayerKind::ipv6) write(layer.offset + 4U, end - layer.offset - layer.length);
            if (layer.kind == LayerKind::grh) write(layer.offset + 4U, end - layer.offset - layer.length);
            if (layer.kind != LayerKind::ipv4) continue;
            write(layer.offset + 2U, end - layer.offset);
            write(layer.offset + 10U, 0);
            std::uint32_t sum = 0;  // RFC 1071
            for (std::size_t at = 0; at + 1 < layer.length; at += 2)
                sum += read_be<std::uint16_t>(made_.bytes, layer.offset + at);
            while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
            write(layer.offset + 10U, ~sum & 0xffffU);
        }
    }

    const PacketLine& line_;
    const Making& making_;
    const OpcodeRow& row_;
    PacketSpec spec_;
    std::optional<HeaderSpec> ip_cm_;
    bool private_said_ = false;
    MadePacket made_;
};

}  // namespace

Psn first_psn(const ScriptQp& qp, Sender sender, bool request) {
    return in_our_space(sender, request) ? qp.our_first : qp.their_first;
}

std::expected<MadePacket, std::string> make_packet(const PacketLine& line, const Making& making) {
    if (!line.opcode) return std::unexpected("a packet to send needs a name");
    return Maker(line, making).run();
}

}  // namespace qps::transport::conformance::stage
