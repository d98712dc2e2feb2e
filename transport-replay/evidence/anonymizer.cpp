#include <dissect/ulp/fpdu.hpp>
#include <dissect/ulp/iwarp.hpp>
#include <dissect/ulp/ucx.hpp>
#include <dissect/ulp/ucx_address.hpp>
#include <dissect/ulp/ulp.hpp>
#include <dissect/ultra_ethernet/ses.hpp>
#include <transport-replay/evidence/anonymizer.hpp>
#include <transport-replay/set_up/exchange_text.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::uint32_t kMostOfXdr = 0xffffff;  // characters and addresses have a first byte that is not 0

bool is_payload(LayerKind kind) {
    return kind == LayerKind::payload || kind == LayerKind::data || kind == LayerKind::mad_data ||
           kind == kind::uet_payload || kind == kind::uet_undecoded || kind == kind::uet_encrypted;
}

std::uint64_t number_at(Bytes bytes, std::size_t offset, std::size_t length) {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < length; ++i) number = number << 8 | std::to_integer<std::uint64_t>(bytes[offset + i]);
    return number;
}

void put_number(MutableBytes bytes, std::size_t offset, std::size_t length, std::uint64_t number) {
    for (std::size_t i = length; i-- > 0; number >>= 8) bytes[offset + i] = static_cast<std::byte>(number);
}

bool is_number(Secret secret) {
    switch (secret) {
        case Secret::mac:
        case Secret::ipv4:
        case Secret::gid_prefix:
        case Secret::guid:
        case Secret::lid:
        case Secret::pkey:
        case Secret::partition:
        case Secret::qkey:
        case Secret::key:
        case Secret::digest:
        case Secret::address: return true;
        default: return false;
    }
}

// A CRC where the right one is known: of what was wrong nothing is left but that it was, and whether it was 0.
std::uint64_t other_crc(bool was_right, std::uint64_t found, std::uint64_t right, const CrcDifference& difference) {
    return was_right ? right : found == 0 ? 0 : difference.wrong(right);
}

CrcStatus status_of_crc(const Packet& packet, const Layer& layer) {
    const auto status = iwarp::crc_status(packet, layer);
    return status ? static_cast<CrcStatus>(status->number) : CrcStatus::not_checkable;
}

void set_crc(MutableBytes frame, const Layer& layer, std::uint64_t width, const CrcVerdict& before,
             const CrcVerdict& after, const CrcDifference& difference) {
    const bool known = before.status == CrcStatus::good || before.status == CrcStatus::bad;
    if (known)
        write_bits(frame, std::size_t{layer.offset} * 8, width,
                   other_crc(before.status == CrcStatus::good, before.found, after.expected, difference));
}

}  // namespace

Anonymizer::Anonymizer(Pseudonyms& pseudonyms, PayloadMode payload)
    : pseudonyms_(pseudonyms),
      payload_(payload),
      difference_16_(pseudonyms.difference(16)),
      difference_32_(pseudonyms.difference(32)),
      crcs_(difference_32_) {
    plans_.reserve(kLayerKinds);
    for (std::size_t kind = 0; kind < kLayerKinds; ++kind) plans_.push_back(plan_for(static_cast<LayerKind>(kind)));
}

Anonymizer::Plan Anonymizer::plan_for(LayerKind kind) {
    const Header& row = header(kind);
    Plan plan;
    plan.is_payload = is_payload(kind);
    plan.mask.resize(row.length);
    for (const Field& field : row.fields) {
        const Secret secret = secret_of(field);
        const bool conditional = field.when.width != 0;
        // Numbers that are concluded have no bytes of their own; texts and addresses may, somewhere in the layer.
        if (field.computed() && (value_type(field.format) == ValueType::unsigned_integer ||
                                 value_type(field.format) == ValueType::boolean ||
                                 value_type(field.format) == ValueType::fixed_point || secret == Secret::none))
            continue;
        if (secret == Secret::erased) continue;
        const bool whole_bytes = field.bit % 8 == 0 && field.width % 8 == 0 && field.width <= 64 && !field.little;
        if (secret == Secret::none && !conditional && !field.computed() && field.width != kToEnd && !field.is_part) {
            for (std::size_t bit = field.bit; bit < std::size_t{field.bit} + field.width; ++bit)
                if (field.little) write_bits_le(plan.mask, bit, 1, 1);
                else write_bits(plan.mask, bit, 1, 1);
            continue;
        }
        plan.steps.push_back({&field, secret, !field.computed() && !conditional && whole_bytes && is_number(secret)});
    }
    // A part that stays inside of a whole that does not would bring it back.
    const auto inside_of_secret = [&](const Step& step) {
        if (step.secret != Secret::none || !step.field->is_part) return false;
        return std::ranges::any_of(row.fields, [&](const Field& whole) {
            return !whole.is_part && !whole.computed() && whole.width != kToEnd && whole.bit <= step.field->bit &&
                   step.field->bit + step.field->width <= whole.bit + whole.width &&
                   secret_of(whole) != Secret::erased && secret_of(whole) != Secret::none;
        });
    };
    // One of what is taken over is taken over already.
    const auto inside_of_mask = [&](const Step& step) {
        const Field& field = *step.field;
        if (step.secret != Secret::none || field.computed() || field.width == kToEnd) return false;
        for (std::size_t bit = field.bit; bit < std::size_t{field.bit} + field.width; ++bit)
            if ((field.little ? read_bits_le(plan.mask, bit, 1) : read_bits(plan.mask, bit, 1)) == 0) return false;
        return true;
    };
    std::erase_if(plan.steps, [&](const Step& step) { return inside_of_secret(step) || inside_of_mask(step); });
    return plan;
}

std::uint64_t Anonymizer::other(Secret secret, std::uint64_t value, unsigned width) {
    switch (secret) {
        case Secret::mac: return pseudonyms_.mac(value);
        case Secret::ipv4: return pseudonyms_.ipv4(static_cast<std::uint32_t>(value));
        case Secret::gid_prefix: return pseudonyms_.gid_prefix(value);
        case Secret::guid: return pseudonyms_.guid(value);
        case Secret::lid: return pseudonyms_.lid(static_cast<std::uint32_t>(value));
        case Secret::pkey: return pseudonyms_.pkey(static_cast<std::uint16_t>(value));
        case Secret::partition: return pseudonyms_.pkey(static_cast<std::uint16_t>(value));
        case Secret::qkey: return pseudonyms_.qkey(static_cast<std::uint32_t>(value));
        case Secret::key: return pseudonyms_.key(value, width);
        case Secret::address: return pseudonyms_.memory(value);
        case Secret::digest: return value == 0 ? 0 : width == 16 ? difference_16_.bits : difference_32_.bits;
        default: return value;
    }
}

void Anonymizer::write_number(const Layer& layer, const Step& step) {
    const std::size_t from = step.field->bit / 8U, length = step.field->width / 8U;
    if (from + length > layer.length) return;
    const std::size_t offset = layer.offset + from;
    put_number(out_, offset, length,
               other(step.secret, number_at(packet_.frame.bytes, offset, length), step.field->width));
}

// Values that are bytes, at that place of the frame.
void Anonymizer::write_bytes(Secret secret, std::size_t offset, Bytes bytes) {
    const MutableBytes out = MutableBytes(out_).subspan(offset, bytes.size());
    switch (secret) {
        case Secret::ipv6:
            for (std::size_t i = 0; i + 16 <= bytes.size(); i += 16) {
                const Ipv6Bits made =
                    pseudonyms_.ipv6({read_be<std::uint64_t>(bytes, i), read_be<std::uint64_t>(bytes, i + 8)});
                put_number(out, i, 8, made.high);
                put_number(out, i + 8, 8, made.low);
            }
            break;
        case Secret::guids:
            for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8)
                put_number(out, i, 8, pseudonyms_.guid(read_be<std::uint64_t>(bytes, i)));
            break;
        case Secret::xdr:
            for (std::size_t i = 0; i + 4 <= bytes.size(); i += 4)
                if (const auto word = read_be<std::uint32_t>(bytes, i); word <= kMostOfXdr) put_number(out, i, 4, word);
            break;
        case Secret::name:
            std::ranges::copy(bytes, out.begin());
            pseudonyms_.name(out);
            break;
        case Secret::key_value:
            std::ranges::copy(bytes, out.begin());
            pseudonyms_.key_value(out);
            break;
        case Secret::opaque:
            std::ranges::copy(bytes, out.begin());
            pseudonyms_.opaque(out);
            break;
        case Secret::none: std::ranges::copy(bytes, out.begin()); break;
        case Secret::erased: break;
        default:
            if (bytes.size() <= 8)
                put_number(out, 0, bytes.size(),
                           other(secret, number_at(bytes, 0, bytes.size()), static_cast<unsigned>(bytes.size() * 8)));
    }
}

void Anonymizer::take_step(const Layer& layer, const Step& step) {
    if (step.fixed) return write_number(layer, step);
    const Field& field = *step.field;
    const auto value = value_of(packet_, layer, field);
    if (!value) return;
    if (!value->bytes.empty()) {
        // Where its bytes are: a value that was put together elsewhere has none here.
        const std::byte* begin = packet_.frame.bytes.data();
        const bool here = value->bytes.data() >= begin &&
                          value->bytes.data() + value->bytes.size() <= begin + packet_.frame.bytes.size();
        if (here) write_bytes(step.secret, static_cast<std::size_t>(value->bytes.data() - begin), value->bytes);
        return;
    }
    if (field.computed() || field.width == kToEnd || field.width > 64) return;
    const std::size_t last = (std::size_t{field.bit} + field.width + 7) / 8;
    if (last > layer.length) return;
    const MutableBytes out = MutableBytes(out_).subspan(layer.offset, layer.length);
    const Bytes in = packet_.bytes_of(layer);
    const std::uint64_t bits =
        field.little ? read_bits_le(in, field.bit, field.width) : read_bits(in, field.bit, field.width);
    const std::uint64_t made = other(step.secret, bits, field.width);
    if (field.little) write_bits_le(out, field.bit, field.width, made);
    else write_bits(out, field.bit, field.width, made);
}

// What programs tell each other of their queue pairs: the numbers are those of packets.
void Anonymizer::rewrite_exchanges(Bytes in, MutableBytes out) {
    for (auto text = read_exchange(in); text; text = read_exchange(in)) {
        const auto& [high, low] = text->end.address.bits;
        const Ipv6Bits gid = pseudonyms_.ipv6({high, low});
        rewrite_exchange(in, {gid.high, gid.low}, out.first(text->size));
        in = in.subspan(text->size);
        out = out.subspan(text->size);
    }
}

void Anonymizer::rewrite_wireup(Bytes in, MutableBytes out) {
    const auto other_gid = [this](const std::array<std::uint64_t, 2>& gid) -> std::array<std::uint64_t, 2> {
        const Ipv6Bits made = pseudonyms_.ipv6({gid[0], gid[1]});
        return {made.high, made.low};
    };
    ucx::rewrite_wireup(in, other_gid, out);
}

void Anonymizer::rewrite(const Layer& layer) {
    const Plan& plan = plans_[static_cast<std::size_t>(layer.kind)];
    const Bytes in = packet_.bytes_of(layer);
    const MutableBytes out = MutableBytes(out_).subspan(layer.offset, in.size());
    if (plan.is_payload) {
        if (payload_ == PayloadMode::keep) std::ranges::copy(in, out.begin());
        else if (find(packet_, LayerKind::tcp) != nullptr) rewrite_exchanges(in, out);
        return;
    }
    const std::size_t fixed = std::min(plan.mask.size(), in.size());
    for (std::size_t i = 0; i < fixed; ++i) out[i] |= in[i] & plan.mask[i];
    for (const Step& step : plan.steps) take_step(layer, step);
    if (layer.kind == kind::ucx_wireup) rewrite_wireup(in, out);
}

std::size_t Anonymizer::end_of_headers() const {
    std::size_t end = out_.size();
    for (const Layer& layer : packet_.layers())
        if (plans_[static_cast<std::size_t>(layer.kind)].is_payload && layer.length != 0)
            end = std::min<std::size_t>(end, layer.offset);
    return end;
}

// Of FPDUs that lie in this packet whole: of others nobody knows the CRC.
void Anonymizer::restore_mpa_crcs(const UlpHint& hint) {
    if (hint.iwarp.what != IwarpPlace::What::fpdus) return;
    decode_again();
    add_ulp_layers(rewritten_, hint);
    for (std::size_t i = 0; i < std::min(packet_.layer_count, rewritten_.layer_count); ++i) {
        const Layer& layer = packet_.layer_storage[i];
        if (layer.kind != kind::mpa_crc || rewritten_.layer_storage[i].kind != kind::mpa_crc ||
            layer.length < mpa::kCrcLength)
            continue;
        const auto found = read_be<std::uint32_t>(packet_.bytes_of(layer), 0);
        const Layer& made = rewritten_.layer_storage[i];
        const auto was = status_of_crc(packet_, layer);
        if (was == CrcStatus::not_checkable || status_of_crc(rewritten_, made) == CrcStatus::not_checkable) continue;
        const auto is = iwarp::crc_expected(rewritten_, made);  // nothing: by chance it is right
        const std::uint64_t right = is ? is->number : read_be<std::uint32_t>(rewritten_.bytes_of(made), 0);
        put_number(out_, layer.offset, mpa::kCrcLength,
                   other_crc(was == CrcStatus::good, found, right, difference_32_));
    }
}

void Anonymizer::decode_again() {
    Frame frame = packet_.frame;
    frame.bytes = out_;
    decode(frame, rewritten_);
}

// From the innermost out: what is inside another's bytes is right by then. The checksums of IP over InfiniBand are
// inside of the ICRC; those before a BTH are no part of it (A17.3), but that of UDP sums it up.
void Anonymizer::restore_sums_and_crcs(const FrameSums& sums) {
    const Layer* bth = find(packet_, LayerKind::bth);
    const std::size_t inside = bth == nullptr ? out_.size() : bth->offset;
    const auto sum_difference = static_cast<std::uint16_t>(difference_16_.bits);
    reseal(sums, out_, {.from = inside, .to = out_.size()}, sum_difference);
    const Layer* icrc = find(packet_, LayerKind::icrc);
    const Layer* vcrc = find(packet_, LayerKind::vcrc);
    if (icrc != nullptr) {
        decode_again();
        set_crc(out_, *icrc, 32, packet_.icrc, rewritten_.icrc, difference_32_);
    }
    if (vcrc != nullptr) {
        decode_again();
        set_crc(out_, *vcrc, 16, packet_.vcrc, rewritten_.vcrc, difference_16_);
    }
    reseal(sums, out_, {.from = 0, .to = inside}, sum_difference);
}

Frame Anonymizer::anonymize(const Frame& frame, const FlowKey& way, const UlpHint& hint) {
    decode(frame, packet_);
    const CrcVerdict icrc = packet_.icrc, vcrc = packet_.vcrc;
    add_ulp_layers(packet_, hint);
    packet_.icrc = icrc;
    packet_.vcrc = vcrc;
    out_.assign(frame.bytes.size(), std::byte{0});
    const FrameSums sums = sums_of(packet_);
    for (const Layer& layer : packet_.layers())
        if (layer.length != 0) rewrite(layer);
    Frame made = frame;
    made.options = {};  // comments and whatever else somebody wrote there
    restore_mpa_crcs(hint);
    crcs_.pass(way, packet_, hint, out_);
    restore_sums_and_crcs(sums);
    // Last: of a packet without payload nothing is cut, and the headers that are left of another have checksums of
    // their own.
    if (payload_ == PayloadMode::cut) out_.resize(end_of_headers());
    made.bytes = out_;
    return made;
}

}  // namespace qps::transport
