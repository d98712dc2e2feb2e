// How endpoints break: the primitives of breaking.hpp.
#include <tests/support/breaking.hpp>
#include <tests/support/forgery.hpp>

#include <algorithm>
#include <utility>

namespace qps::tests {

using namespace dissect;
namespace agent = transport::conformance::agent;

namespace {

struct FoundField {
    const Layer* layer = nullptr;
    const Field* field = nullptr;
};
// The first header that has a field of that name.
FoundField place_of(const Packet& packet, std::string_view name) {
    for (const Layer& layer : packet.layers())
        for (const Field& field : header(layer.kind).fields)
            if (field.name == name && value_of(packet, layer, field)) return {&layer, &field};
    return {};
}
Frames one(FrameBytes frame) {
    Frames frames;
    frames.push_back(std::move(frame));
    return frames;
}
void mend(FrameBytes& frame) {
    if (const Packet packet = decoded(frame); const Layer* ip = find(packet, LayerKind::ipv4))
        transport::seal_ipv4_header(MutableBytes(frame).subspan(ip->offset));
    mend_icrc(frame);
}
bool put(FrameBytes& frame, std::string_view name, const Becomes& becomes) {
    const Packet packet = decoded(frame);
    const auto [layer, field] = place_of(packet, name);
    if (layer == nullptr) return false;
    const std::uint64_t mask = field->width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << field->width) - 1;
    write_bits(frame, layer->offset * 8U + field->bit, field->width,
               becomes(value_of(packet, *layer, *field)->number) & mask);
    mend(frame);
    return true;
}
std::uint64_t syndrome_type(const Packet& packet) {
    const Layer* aeth = packet.has_transport() ? find(packet, LayerKind::aeth) : nullptr;
    return aeth == nullptr ? 4 : read_bits(packet.bytes_of(*aeth), 1, 2);
}
constexpr std::uint64_t kAck = 0, kRnr = 1, kNak = 3;

// Queue pairs of the device as its agent gave them out, and whose they are.
struct Pairs {
    std::map<std::uint64_t, std::uint32_t> numbers{};  // by the agent's id
    std::map<std::uint32_t, std::uint32_t> ours{};     // by the device's number
    std::uint32_t last = 0;

    void note(const agent::Request& request, const agent::ParsedAnswer& answer) {
        const std::uint64_t id = request.fields.number_or(agent::Key::qp, 0);
        if (!answer.ok) return;
        if (request.verb == agent::Verb::qp)
            numbers[answer.fields.number_or(agent::Key::qp, 0)] =
                static_cast<std::uint32_t>(answer.fields.number_or(agent::Key::qpn, 0));
        if (request.verb == agent::Verb::connect && numbers.contains(id)) {
            last = numbers[id];
            ours[last] = static_cast<std::uint32_t>(request.fields.number_or(agent::Key::qpn, 0));
        }
        if (request.verb == agent::Verb::qp_free && numbers.contains(id)) ours.erase(numbers[id]);
    }
};
Lie noting(std::shared_ptr<Pairs> pairs) {
    return {.answered = [pairs](const agent::Request& request, const agent::ParsedAnswer& answer) {
        pairs->note(request, answer);
    }};
}
// On its way back, to that queue pair; of Ethernet and IPv4.
FrameBytes turned(const FrameBytes& frame, std::uint32_t qpn) {
    constexpr std::ptrdiff_t kMac = 6, kAddress = 4, kSource = kIpAt + 12;
    FrameBytes back = frame;
    std::swap_ranges(back.begin(), back.begin() + kMac, back.begin() + kMac);
    std::swap_ranges(back.begin() + kSource, back.begin() + kSource + kAddress, back.begin() + kSource + kAddress);
    put_number(back, kBthAt + 5, 3, qpn);
    return back;
}
// Of every packet that `when` likes, an answer to the half that sent it, or to the one that was made last.
Broken replies(Which when, std::function<FrameBytes(const FrameBytes&, std::uint32_t qpn)> reply) {
    const auto pairs = std::make_shared<Pairs>();
    const auto says = std::make_shared<Frames>();
    const Alter in = [=](FrameBytes frame) {
        const Packet packet = decoded(frame);
        if (packet.has_transport() && when(packet)) {
            const auto known = pairs->ours.find(std::to_underlying(packet.dest_qp));
            says->push_back(reply(frame, known == pairs->ours.end() ? pairs->ours[pairs->last] : known->second));
        }
        return one(std::move(frame));
    };
    return {.damage = {.in = in, .says = says}, .lie = noting(pairs)};
}

}  // namespace

std::optional<std::uint64_t> value_in(const Packet& packet, std::string_view field) {
    const auto [layer, found] = place_of(packet, field);
    return layer == nullptr ? std::nullopt : std::optional(value_of(packet, *layer, *found)->number);
}
Which every() {
    return [](const Packet&) { return true; };
}
Which is(std::string_view opcode) {
    return [=](const Packet& packet) { return packet.has_transport() && info(packet.opcode).name() == opcode; };
}
Which begins(std::string_view opcode) {
    return
        [=](const Packet& packet) { return packet.has_transport() && info(packet.opcode).name().starts_with(opcode); };
}
Which requests() {
    return [](const Packet& packet) {
        return packet.has_transport() && info(packet.opcode).request && packet.dest_qp != kGsiQpn;
    };
}
Which acks() {
    return
        [](const Packet& packet) { return packet.opcode == Opcode::rc_acknowledge && syndrome_type(packet) == kAck; };
}
Which rnr_naks() {
    return [](const Packet& packet) { return syndrome_type(packet) == kRnr; };
}
Which naks() {
    return [](const Packet& packet) { return syndrome_type(packet) == kNak; };
}
Which cnps() { return is("CNP"); }
Which wrong_icrc() {
    return [](const Packet& packet) { return packet.icrc.status == CrcStatus::bad; };
}
Which message(LayerKind kind) {
    return [=](const Packet& packet) { return find(packet, kind) != nullptr; };
}
Which where(std::string_view field, std::uint64_t value) {
    return [=](const Packet& packet) { return value_in(packet, field) == value; };
}
Which without(std::string_view field, std::uint64_t value) {
    return [=](const Packet& packet) {
        const auto is = value_in(packet, field);
        return is && *is != value;
    };
}
Which carries(std::size_t least, std::size_t most) {
    return [=](const Packet& packet) {
        return packet.has_transport() && packet.payload.captured >= least && packet.payload.captured <= most;
    };
}
Which both(Which one, Which other) {
    return [=](const Packet& packet) { return one(packet) && other(packet); };
}
Which nth(std::size_t n, Which which) {
    return [=, seen = std::make_shared<std::size_t>(0)](const Packet& packet) { return which(packet) && ++*seen == n; };
}
Which from(std::size_t n, Which which) {
    return [=, seen = std::make_shared<std::size_t>(0)](const Packet& packet) { return which(packet) && ++*seen >= n; };
}
Which after(std::size_t n, Which which) {
    return [=, seen = std::make_shared<std::size_t>(0)](const Packet& packet) {
        const bool over = *seen >= n;
        if (which(packet)) ++*seen;
        return over;
    };
}
Which again(Which which) {
    return [=, seen = std::make_shared<std::vector<Psn>>()](const Packet& packet) {
        if (!packet.has_transport() || !which(packet)) return false;
        const bool before = std::ranges::find(*seen, packet.psn) != seen->end();
        if (!before) seen->push_back(packet.psn);
        return before;
    };
}

Becomes exactly(std::uint64_t value) {
    return [=](std::uint64_t) { return value; };
}
Becomes plus(std::uint64_t value) {
    return [=](std::uint64_t was) { return was + value; };
}
Becomes minus(std::uint64_t value) {
    return [=](std::uint64_t was) { return was - value; };
}

Alter change(Which which, std::string_view field, Becomes becomes) {
    return [=](FrameBytes frame) {
        if (const Packet packet = decoded(frame); packet.has_transport() && which(packet)) put(frame, field, becomes);
        return one(std::move(frame));
    };
}
Alter drop(Which which) {
    return [=](FrameBytes frame) { return which(decoded(frame)) ? Frames{} : one(std::move(frame)); };
}
Alter twice(Which which) {
    return [=](FrameBytes frame) {
        const bool again = which(decoded(frame));
        Frames frames = one(frame);
        if (again) frames.push_back(std::move(frame));
        return frames;
    };
}
Alter swap_with_next(Which which) {
    return [=, held = std::make_shared<Frames>()](FrameBytes frame) {
        if (held->empty() && which(decoded(frame))) {
            held->push_back(std::move(frame));
            return Frames{};
        }
        Frames frames = one(std::move(frame));
        std::ranges::move(*held, std::back_inserter(frames));
        held->clear();
        return frames;
    };
}
Alter other_bytes(Which which) {
    return [=](FrameBytes frame) {
        if (const Packet packet = decoded(frame);
            packet.has_transport() && packet.payload.captured > 0 && which(packet)) {
            frame[packet.payload.offset + std::min<std::size_t>(5, packet.payload.captured - 1)] ^= std::byte{0xff};
            mend_icrc(frame);
        }
        return one(std::move(frame));
    };
}
Alter right_icrc() {
    return [](FrameBytes frame) {
        mend_icrc(frame);
        return one(std::move(frame));
    };
}
Alter then(Alter first, Alter second) {
    return [=](FrameBytes frame) {
        Frames all;
        for (FrameBytes& each : first(std::move(frame)))
            std::ranges::move(second(std::move(each)), std::back_inserter(all));
        return all;
    };
}
Memory remember(Which remembered, std::string_view field, Which which, std::string_view to) {
    const auto value = std::make_shared<std::uint64_t>(0);
    return {.watch =
                [=](FrameBytes frame) {
                    if (const Packet packet = decoded(frame); packet.has_transport() && remembered(packet))
                        *value = value_in(packet, field).value_or(*value);
                    return one(std::move(frame));
                },
            .use = change(std::move(which), to, [=](std::uint64_t) { return *value; })};
}

Broken inward(Alter alter) { return {.damage = {.in = std::move(alter)}}; }
Broken outward(Alter alter) { return {.damage = {.out = std::move(alter)}}; }
Broken dies_after(std::size_t n, Which which) { return inward(drop(after(n, std::move(which)))); }

Broken says_again(Which when, Which said) {
    const auto last = std::make_shared<Frames>();
    const auto says = std::make_shared<Frames>();
    return {.damage = {.in =
                           [=](FrameBytes frame) {
                               if (when(decoded(frame))) std::ranges::copy(*last, std::back_inserter(*says));
                               return one(std::move(frame));
                           },
                       .out =
                           [=](FrameBytes frame) {
                               if (said(decoded(frame))) *last = one(frame);
                               return one(std::move(frame));
                           },
                       .says = says}};
}
Broken acknowledges(Which when, std::uint8_t syndrome) {
    return replies(std::move(when), [=](const FrameBytes& frame, std::uint32_t qpn) {
        FrameBytes back = turned(frame, qpn);
        back.resize(kBthAt + 20);  // BTH, AETH, ICRC
        put_number(back, kBthAt, 1, std::to_underlying(Opcode::rc_acknowledge));
        put_number(back, kBthAt + 1, 1, 0x40);  // no pad
        put_number(back, kBthAt + 8, 1, 0);
        put_number(back, kBthAt + 12, 4, std::uint64_t{syndrome} << 24);
        seal(back);
        return back;
    });
}
Broken sends_back(Which when) {
    return replies(std::move(when), [](const FrameBytes& frame, std::uint32_t qpn) {
        FrameBytes back = turned(frame, qpn);
        seal(back);
        return back;
    });
}
Broken reaches_all(Which when) {
    const auto pairs = std::make_shared<Pairs>();
    const Alter in = [=](FrameBytes frame) {
        Frames all = one(frame);
        const Packet packet = decoded(frame);
        if (!packet.has_transport() || !when(packet)) return all;
        for (const auto& [number, ours] : pairs->ours) {
            if (number == std::to_underlying(packet.dest_qp)) continue;
            FrameBytes copy = frame;
            put(copy, "infiniband.bth.destqp", exactly(number));
            all.push_back(std::move(copy));
        }
        return all;
    };
    return {.damage = {.in = in}, .lie = noting(pairs)};
}
Broken takes_for_its_own(Which when) {
    const auto pairs = std::make_shared<Pairs>();
    const Alter in = [=](FrameBytes frame) {
        if (const Packet packet = decoded(frame); packet.has_transport() && packet.dest_qp != kGsiQpn && when(packet) &&
                                                  !pairs->ours.contains(std::to_underlying(packet.dest_qp)))
            put(frame, "infiniband.bth.destqp", exactly(pairs->last));
        return one(std::move(frame));
    };
    return {.damage = {.in = in}, .lie = noting(pairs)};
}
Broken takes_any_key() {
    const auto keys = std::make_shared<std::vector<std::uint64_t>>();
    const auto note = [=](const agent::Request& request, const agent::ParsedAnswer& answer) {
        if (request.verb == agent::Verb::mr && answer.ok) keys->push_back(answer.fields.number_or(agent::Key::rkey, 0));
    };
    const Which unknown = [=](const Packet& packet) {
        const auto key = value_in(packet, "infiniband.reth.r_key");
        return key && !keys->empty() && std::ranges::find(*keys, *key) == keys->end();
    };
    return {.damage = {.in = change(unknown, "infiniband.reth.r_key", [=](std::uint64_t) { return keys->front(); })},
            .lie = {.answered = note}};
}
Broken executes_duplicates() {
    const auto last = std::make_shared<std::optional<std::uint32_t>>();
    const auto shift = std::make_shared<std::uint32_t>(0);
    const Alter in = [=](FrameBytes frame) {
        const Packet packet = decoded(frame);
        if (requests()(packet)) {
            if (*last == packet.psn.value()) ++*shift;
            *last = packet.psn.value();
            put(frame, "infiniband.bth.psn", plus(*shift));
        }
        return one(std::move(frame));
    };
    const Alter out = [=](FrameBytes frame) {
        put(frame, "infiniband.bth.psn", minus(*shift));
        return one(std::move(frame));
    };
    return {.damage = {.in = in, .out = out}};
}

namespace {

// Completions whose success is that become ones of the status.
Broken statuses(bool of_success, std::string_view word) {
    const auto lie = [=](const agent::Request& request, agent::ParsedAnswer& answer) {
        if (request.verb != agent::Verb::poll || !answer.ok) return;
        agent::Fields fields;
        for (agent::Field field : answer.fields.all()) {
            auto done = field.key == agent::Key::wc ? agent::parse_completion(field.text) : std::nullopt;
            if (done && (done->status == agent::kSuccess) == of_success) {
                done->status = agent::text_of::word(word, agent::kStatusWords).value_or(agent::kSuccess);
                field.text = agent::text(*done);
            }
            fields.add(std::move(field));
        }
        answer.fields = std::move(fields);
    };
    return {.lie = {.answered = lie}};
}

}  // namespace

Broken every_status(std::string_view word) { return statuses(false, word); }
Broken no_success() { return statuses(true, "general_err"); }
Broken completions_of_nothing() {
    const auto lie = [](const agent::Request& request, agent::ParsedAnswer& answer) {
        if (request.verb != agent::Verb::poll || !answer.ok || answer.fields.has(agent::Key::wc)) return;
        answer.fields.add(agent::Key::wc, agent::text(agent::Completion{}));
    };
    return {.lie = {.answered = lie}};
}
Broken always_in(std::string_view state) {
    const auto lie = [=](const agent::Request& request, agent::ParsedAnswer& answer) {
        if (request.verb != agent::Verb::qp_state || !answer.ok) return;
        answer.fields =
            agent::Fields{}.add(agent::Key::state, agent::text_of::word(state, agent::kQpStateWords).value_or(0));
    };
    return {.lie = {.answered = lie}};
}
Broken asked_with(agent::Verb verb, agent::Key key, std::uint64_t value) {
    return asked(verb, [=](agent::Request& request) {
        agent::Fields fields;
        for (const agent::Field& field : request.fields.all())
            if (field.key != key) fields.add(field);
        request.fields = std::move(fields.add(key, value));
    });
}
Broken memory_differs() {
    const auto lie = [](const agent::Request& request, agent::ParsedAnswer& answer) {
        if (request.verb != agent::Verb::compare || !answer.ok) return;
        answer.fields =
            agent::Fields{}.add(agent::Key::wrong, std::uint64_t{1}).add(agent::Key::first, std::uint64_t{0});
    };
    return {.lie = {.answered = lie}};
}
Broken no_events() { return every_event("none"); }
Broken every_event(std::string_view word) {
    const auto lie = [=](const agent::Request& request, agent::ParsedAnswer& answer) {
        if (request.verb != agent::Verb::event || !answer.ok) return;
        agent::Fields fields;
        for (agent::Field field : answer.fields.all()) {
            if (field.key == agent::Key::event && field.number != 0)
                field.number = agent::text_of::word(word, agent::kAsyncWords).value_or(0);
            fields.add(std::move(field));
        }
        answer.fields = std::move(fields);
    };
    return {.lie = {.answered = lie}};
}
Broken events_of_others() {
    const auto lie = [](const agent::Request& request, agent::ParsedAnswer& answer) {
        if (request.verb != agent::Verb::event || !answer.ok) return;
        agent::Fields fields;
        for (agent::Field field : answer.fields.all()) {
            if (field.key == agent::Key::qp) ++field.number;
            fields.add(std::move(field));
        }
        answer.fields = std::move(fields);
    };
    return {.lie = {.answered = lie}};
}
Broken asked(agent::Verb verb, std::function<void(agent::Request&)> becomes) {
    return {.lie = {.asked = [=](agent::Request& request) {
                if (request.verb == verb) becomes(request);
            }}};
}

}  // namespace qps::tests
