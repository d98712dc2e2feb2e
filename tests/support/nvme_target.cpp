#include <dissect/ulp/nvme.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/nvme_target.hpp>

#include <algorithm>
#include <array>

namespace qps::tests {

using namespace dissect;
using namespace transport;
using namespace transport::live;

namespace {

constexpr std::uint32_t kEntries = 32, kData = 1024, kStructure = 4096, kWriteAt = 4096, kBlock = 8192;
constexpr std::uint32_t kInvalidOpcode = 0x001, kInvalidField = 0x002, kInternal = 0x006, kSequence = 0x00c,
                        kLengthInvalid = 0x00f, kTypeInvalid = 0x011, kOffsetInvalid = 0x016, kIncompatible = 0x180,
                        kInvalidParameters = 0x182;
constexpr std::uint64_t kCapabilitiesValue = 0x0000'0020'0100'001f;  // 500 ms to get ready, queues of 32
constexpr std::string_view kDiscoveryName = "nqn.2014-08.org.nvmexpress.discovery";
constexpr Duration kMinute{60'000'000'000};
enum Tag : std::uint32_t { kSent, kRead, kWritten };

template <class T> T le(Bytes bytes, std::size_t at) { return read_le<T>(bytes, at); }

}  // namespace

struct NvmeTarget::Queue {
    CmId id{};
    peers::Queues queues;
    peers::Block block;
    std::uint16_t asked = 0;  // of the REQ
    bool served = true;
    bool connecting = false;
    bool connected = false;
    bool enabled = false;
    bool gone = false;
    std::uint16_t head = 0;
    Answer connect;                // what waits for its data
    std::uint16_t said = 0;        // Connects' queue
    std::uint32_t length = kData;  // of their data
    std::size_t reading = 0;       // READs that are under way
    std::size_t answered = 0;
    std::optional<Instant> leaves_at{};
};

NvmeTarget::NvmeTarget(NvmeNeglect neglect) : neglect_(neglect) {}
NvmeTarget::~NvmeTarget() = default;

void NvmeTarget::begin(live::Endpoint& endpoint) {
    pd_ = endpoint.adapter().alloc_pd().value();
    cq_ = endpoint.adapter().create_cq(1U << 14).value();
    REQUIRE(endpoint.connections().listen(PortSpace::tcp, IpPort{4420}));
}

NvmeTarget::Context NvmeTarget::at(live::Endpoint& endpoint, Instant now) {
    return {.endpoint = endpoint, .now = now, .pd = pd_, .counts = counts_, .lines = lines_, .held = held_};
}

std::optional<Instant> NvmeTarget::poll_at() const {
    std::optional<Instant> first;
    for (const auto& [qpn, queue] : queues_)
        if (queue->leaves_at && (!first || *queue->leaves_at < *first)) first = queue->leaves_at;
    return first;
}

void NvmeTarget::poll(live::Endpoint& endpoint, Instant now) {
    const Context context = at(endpoint, now);
    const auto events = endpoint.connections().take_events();
    for (const ConnectionEvent& event : events)
        if (event.kind == ConnectionEventKind::request) request(context, event);
    std::array<verbs::Wc, 16> done;
    while (const std::size_t count = endpoint.adapter().poll_cq(cq_, done))
        for (const verbs::Wc& wc : std::span(done).first(count)) complete(context, wc);
    for (const ConnectionEvent& event : events) {
        const auto found = queues_.find(static_cast<std::uint32_t>(event.local_qpn));
        if (found == queues_.end() || event.kind == ConnectionEventKind::request ||
            event.kind == ConnectionEventKind::established)
            continue;
        found->second->gone = true;
        if (!event.last && event.kind != ConnectionEventKind::released) continue;
        found->second->queues.close(context);
        found->second->block.close(context);
        queues_.erase(found);
    }
    for (auto& [qpn, queue] : queues_)
        if (queue->leaves_at && now >= *queue->leaves_at) {
            queue->leaves_at.reset();
            (void)endpoint.connections().disconnect(queue->id, now);
        }
}

void NvmeTarget::close(live::Endpoint& endpoint, Instant now) {
    const Context context = at(endpoint, now);
    for (auto& [qpn, queue] : queues_) {
        queue->queues.close(context);
        queue->block.close(context);
    }
    queues_.clear();
}

// --- Set-up.

void NvmeTarget::request(const Context& context, const ConnectionEvent& event) {
    constexpr std::uint16_t kMostEntries = 1024;
    const Bytes said = peers::asked(event);
    REQUIRE(said.size() >= kNvmePrivate);
    const auto format = le<std::uint16_t>(said, 0), queue = le<std::uint16_t>(said, 2),
               receives = le<std::uint16_t>(said, 4), sends = le<std::uint16_t>(said, 6);
    const auto reject = [&](std::uint16_t status) {
        std::array<std::byte, kNvmeRejection> reason{};
        write_bits_le(reason, 16, 16, status);
        (void)context.endpoint.connections().reject(event.id, reason, context.now);
    };
    const auto unless_neglected = [&](std::string_view check, std::uint16_t status, bool served) {
        switch (lapse(check)) {
            case NvmeLapse::none: return reject(status);
            case NvmeLapse::goes_on: return accept(context, event, queue, served);
            case NvmeLapse::lies: return reject(static_cast<std::uint16_t>(check == "NVME-09" ? 3 : 8));
            default: return;
        }
    };
    if (format != 0) return unless_neglected("NVME-09", 2, true);
    if (receives == 0) return unless_neglected(sends == 0 ? "NVME-59" : "NVME-58", 5, false);
    if (sends >= kMostEntries) return unless_neglected("NVME-57", 4, true);
    const NvmeLapse of_admin = queue == 0 ? lapse("NVME-51") : NvmeLapse::none;
    if (of_admin == NvmeLapse::hangs) return;
    if (of_admin == NvmeLapse::lies) return reject(6);
    accept(context, event, queue, true);
}

void NvmeTarget::accept(const Context& context, const ConnectionEvent& event, std::uint16_t number, bool served) {
    const std::uint32_t room = neglect_.check == "NVME-73" ? kBlock : static_cast<std::uint32_t>(kNvmeCommand);
    auto queues = peers::Queues::open(
        context, cq_, {.sends = 64, .receives = kEntries, .receive_bytes = room, .access = verbs::kLocalWrite},
        Pkey{0xffff});
    auto block = peers::Block::open(context, kBlock, verbs::kLocalWrite);
    REQUIRE((queues && block));
    auto queue = std::make_unique<Queue>();
    queue->id = event.id;
    queue->queues = std::move(*queues);
    queue->block = std::move(*block);
    queue->asked = number;
    queue->served = served;
    std::array<std::byte, kNvmePrivate> said{};
    write_bits_le(said, 16, 16, kEntries);
    REQUIRE(context.endpoint.connections().accept(event.id, queue->queues.qpn(),
                                                  {.responder_resources = 0, .private_data = said}, context.now));
    queues_[static_cast<std::uint32_t>(queue->queues.qpn())] = std::move(queue);
}

void NvmeTarget::leave(const Context& context, Queue& queue) {
    if (!queue.gone) (void)context.endpoint.connections().disconnect(queue.id, context.now);
    queue.gone = true;
}

// --- Completions.

void NvmeTarget::complete(const Context& context, const verbs::Wc& wc) {
    const auto found = queues_.find(static_cast<std::uint32_t>(wc.qp_num));
    if (found == queues_.end()) return;
    Queue& queue = *found->second;
    const peers::Done done = peers::done_of(wc);
    queue.queues.note(done);
    if (queue.gone) return;
    if (wc.status != verbs::WcStatus::success) return fail_queue(context, queue, !done.receive && done.tag == kRead);
    if (done.receive) {
        const MutableBytes message = queue.queues.message(done);
        const std::vector<std::byte> capsule(message.begin(), message.end());
        (void)queue.queues.post_receive(context, done.tag);
        return take(context, queue, capsule);
    }
    if (done.tag == kRead && queue.connecting && --queue.reading == 0) finish_connect(context, queue);
}

void NvmeTarget::fail_queue(const Context& context, Queue& queue, bool read) {
    const NvmeLapse how = lapse(read ? "NVME-77" : "NVME-83");
    if (how == NvmeLapse::none) return leave(context, queue);
    queue.gone = true;
    if (how == NvmeLapse::lies) queue.leaves_at = context.now + kMinute;
}

void NvmeTarget::answer(const Context& context, Queue& queue, const Answer& said) {
    std::array<std::byte, kNvmeCompletion> capsule{};
    write_bits_le(capsule, 0, 64, said.result);
    write_bits_le(capsule, 64, 16, queue.head);
    write_bits_le(capsule, 80, 16, queue.asked);
    write_bits_le(capsule, 96, 16, said.cid);
    write_bits_le(capsule, 113, 15, said.status);
    std::ranges::copy(capsule, queue.block.bytes().begin());
    const verbs::Sge piece = queue.block.piece(0, capsule.size());
    verbs::SendWr wr{.sg_list = {&piece, 1}, .send_flags = {.inline_data = true}};
    if (said.invalidate) {
        wr.opcode = verbs::WrOpcode::send_with_inv;
        wr.invalidate_rkey = Rkey{*said.invalidate};
    }
    (void)queue.queues.post(context, wr, kSent);
}

template <class GoOn>
void NvmeTarget::refuse(const Context& context, Queue& queue, std::string_view check, Answer failure, GoOn right) {
    switch (lapse(check)) {
        case NvmeLapse::none: return answer(context, queue, failure);
        case NvmeLapse::goes_on: return right();
        case NvmeLapse::lies: failure.status = kInternal; return answer(context, queue, failure);
        default: return;
    }
}

void NvmeTarget::answer_right(const Context& context, Queue& queue, std::string_view check, const Answer& right) {
    Answer said = right;
    switch (lapse(check)) {
        case NvmeLapse::hangs: return;
        case NvmeLapse::lies: said.status = kInternal; break;
        case NvmeLapse::twice: said.cid = static_cast<std::uint16_t>(said.cid + 1); break;  // as if it were another's
        default: break;
    }
    answer(context, queue, said);
}

// --- Capsules.

void NvmeTarget::take(const Context& context, Queue& queue, Bytes capsule) {
    constexpr std::size_t kFabricsType = 4;
    constexpr std::uint8_t kSet = 0, kConnect = 1, kGet = 4;
    if (!queue.served) return;
    queue.head = static_cast<std::uint16_t>((queue.head + 1) % kEntries);
    std::vector<std::byte> padded(capsule.begin(), capsule.end());
    if (padded.size() < kNvmeCommand) {
        if (lapse("NVME-75") == NvmeLapse::none) return leave(context, queue);
        if (lapse("NVME-75") == NvmeLapse::hangs) return;
        padded.resize(kNvmeCommand);
    }
    const Bytes entry = padded;
    const auto opcode = std::to_integer<std::uint8_t>(entry[0]),
               type = std::to_integer<std::uint8_t>(entry[kFabricsType]);
    if (opcode != kNvmeFabrics) return take_admin(context, queue, entry);
    if (type == kConnect) return take_connect(context, queue, entry);
    if (type == kGet || type == kSet) return take_property(context, queue, entry);
    const Answer failure{.cid = le<std::uint16_t>(entry, 2), .status = kInvalidField};
    refuse(context, queue, "NVME-78", failure, [&] { answer(context, queue, {.cid = failure.cid}); });
}

void NvmeTarget::take_connect(const Context& context, Queue& queue, Bytes entry) {
    constexpr std::size_t kAddressAt = 24, kLengthAt = 32, kKeyAt = 35, kTypeAt = 39, kFormatAt = 40, kQueueAt = 42,
                          kSizeAt = 44;
    constexpr std::uint8_t kFuse = 3, kByAddress = 0x00, kByOffset = 0x01, kOfTcp = 0x5a, kInvalidating = 0x4f;
    const auto type = std::to_integer<std::uint8_t>(entry[kTypeAt]);
    const auto length = static_cast<std::uint32_t>(
        read_bits_le(entry, kLengthAt * 8, std::uint64_t{type} >> 4U == kNvmeKeyed ? 24 : 32));
    Answer success{.cid = le<std::uint16_t>(entry, 2), .result = 1};
    const auto succeed = [&] { answer(context, queue, success); };
    const auto failure = [&](std::uint32_t status) { return Answer{.cid = success.cid, .status = status}; };
    const auto read = [&] {
        queue.connecting = true;
        queue.connect = success;
        queue.length = std::min(length, kData);
        queue.said = le<std::uint16_t>(entry, kQueueAt);
        const std::uint32_t all = lapse("NVME-52") == NvmeLapse::half ? queue.length / 2 : queue.length;
        // The last piece first: any order is right.
        for (std::uint32_t begin = (all - 1) / neglect_.piece * neglect_.piece, end = all;;
             end = begin, begin -= neglect_.piece) {
            const verbs::Sge piece = queue.block.piece(kData + begin, end - begin);
            const verbs::Remote remote{le<std::uint64_t>(entry, kAddressAt) + begin,
                                       Rkey{le<std::uint32_t>(entry, kKeyAt)}};
            const verbs::SendWr wr{.sg_list = {&piece, 1}, .opcode = verbs::WrOpcode::rdma_read, .remote = remote};
            (void)queue.queues.post(context, wr, kRead);
            ++queue.reading;
            if (begin == 0) return;
        }
    };
    if (queue.connected) return refuse(context, queue, "NVME-66", failure(kSequence), succeed);
    if ((std::to_integer<std::uint8_t>(entry[1]) & kFuse) != 0)
        return refuse(context, queue, "NVME-68", failure(kInvalidField), read);
    if (type == kByAddress) return refuse(context, queue, "NVME-69", failure(kTypeInvalid), succeed);
    if (type == kOfTcp) return refuse(context, queue, "NVME-70", failure(kTypeInvalid), succeed);
    if (type == kByOffset) {
        const bool there = le<std::uint64_t>(entry, kAddressAt) == 0;
        return refuse(context, queue, there ? "NVME-73" : "NVME-74", failure(kOffsetInvalid), succeed);
    }
    if (length == 0) return refuse(context, queue, "NVME-72", failure(kLengthInvalid), succeed);
    if (length < kData) return refuse(context, queue, "NVME-71", failure(kLengthInvalid), read);
    if (le<std::uint16_t>(entry, kFormatAt) != 0)
        return refuse(context, queue, "NVME-61", failure(kIncompatible), read);
    if (le<std::uint16_t>(entry, kSizeAt) == 0)
        return refuse(context, queue, "NVME-62", failure(kInvalidParameters), read);
    if (type == kInvalidating) success.invalidate = le<std::uint32_t>(entry, kKeyAt);
    read();
}

void NvmeTarget::finish_connect(const Context& context, Queue& queue) {
    constexpr std::size_t kControllerAt = 16, kSubsystemAt = 256;
    constexpr std::uint16_t kAny = 0xffff;
    queue.connecting = false;
    const Bytes data = queue.block.bytes().subspan(kData, kData);
    Answer said = queue.connect;
    const auto succeed = [&] {
        queue.connected = true;
        answer(context, queue, said);
    };
    const Answer wrong{.cid = said.cid, .status = kInvalidParameters};
    if (queue.said != queue.asked) return refuse(context, queue, "NVME-63", wrong, succeed);
    if (queue.asked != 0) return refuse(context, queue, "NVME-67", wrong, succeed);
    const std::string_view name(reinterpret_cast<const char*>(data.data()) + kSubsystemAt, kDiscoveryName.size());
    if (queue.length == kData && name != kDiscoveryName) return refuse(context, queue, "NVME-64", wrong, succeed);
    if (le<std::uint16_t>(data, kControllerAt) != kAny) return refuse(context, queue, "NVME-65", wrong, succeed);
    if (said.invalidate) {
        if (lapse("NVME-76") == NvmeLapse::twice) said.invalidate = *said.invalidate + 1;
        queue.connected = true;
        if (lapse("NVME-76") == NvmeLapse::twice) return answer(context, queue, said);
        return answer_right(context, queue, "NVME-76", said);
    }
    queue.connected = true;
    if (lapse("NVME-52") == NvmeLapse::goes_on) said.result = kAny;
    answer_right(context, queue, "NVME-52", said);
}

// --- Properties.

void NvmeTarget::take_property(const Context& context, Queue& queue, Bytes entry) {
    constexpr std::size_t kAttributesAt = 40, kOffsetAt = 44, kValueAt = 48, kTypeAt = 39;
    const Answer said{.cid = le<std::uint16_t>(entry, 2)};
    const auto wide = (std::to_integer<std::uint8_t>(entry[kAttributesAt]) & 7U) == 1;
    const auto offset = le<std::uint32_t>(entry, kOffsetAt);
    const bool gets = std::to_integer<std::uint8_t>(entry[4]) == 4;
    if (!queue.connected)
        return refuse(context, queue, "NVME-60", {.cid = said.cid, .status = kSequence},
                      [&] { get_property(context, queue, said, offset, wide); });
    if (gets && entry[kTypeAt] == std::byte{} && neglect_.check == "NVME-54")
        return answer_right(context, queue, "NVME-54", said);
    if (gets) return get_property(context, queue, said, offset, wide);
    set_property(context, queue, said, offset, le<std::uint64_t>(entry, kValueAt));
}

void NvmeTarget::get_property(const Context& context, Queue& queue, Answer said, std::uint32_t offset, bool wide) {
    constexpr std::uint32_t kCap = 0x00, kVs = 0x08, kCc = 0x14, kCsts = 0x1c;
    constexpr std::uint64_t kEnabled = 0x460001;
    constexpr std::size_t kFew = 8;
    if (offset != kCap && offset != kVs && offset != kCc && offset != kCsts)
        return refuse(context, queue, "NVME-55", {.cid = said.cid, .status = kInvalidField},
                      [&] { answer(context, queue, said); });
    said.result = offset == kCap   ? kCapabilitiesValue
                  : offset == kVs  ? version_
                  : !queue.enabled ? 0
                  : offset == kCc  ? kEnabled
                                   : 1;
    if (offset == kCsts && queue.enabled && lapse("NVME-80") == NvmeLapse::goes_on) said.result = 0;
    if (wide != (offset == kCap)) {
        // Half of a neglect: of one property alone.
        if (lapse("NVME-56") == NvmeLapse::twice && offset == kVs) return answer(context, queue, said);
        if (lapse("NVME-56") == NvmeLapse::twice)
            return answer(context, queue, {.cid = said.cid, .status = kInvalidField});
        return refuse(context, queue, "NVME-56", {.cid = said.cid, .status = kInvalidField},
                      [&] { answer(context, queue, said); });
    }
    ++queue.answered;
    if (offset == kCsts && (said.cid & (said.cid - 1U)) == 0 && said.cid >= 0x100) {  // of many at once
        if (lapse("NVME-84") == NvmeLapse::hangs && queue.answered > kFew) return;
        if (lapse("NVME-84") == NvmeLapse::twice) said.cid = 1;
        if (lapse("NVME-84") == NvmeLapse::goes_on && said.cid == 0x8000) answer(context, queue, said);
    }
    if (offset == kCc) return answer_right(context, queue, "NVME-53", said);
    answer(context, queue, said);
}

void NvmeTarget::set_property(const Context& context, Queue& queue, Answer said, std::uint32_t offset,
                              std::uint64_t value) {
    constexpr std::uint32_t kVs = 0x08, kCc = 0x14;
    if (offset == kCc) {
        queue.enabled = (value & 1U) != 0;
        return answer_right(context, queue, "NVME-80", said);
    }
    if (offset == kVs && lapse("NVME-86") == NvmeLapse::goes_on) version_ = value;
    if (offset == kVs && lapse("NVME-86") == NvmeLapse::lies) version_ = 0;
    said.status = kInvalidField;
    answer(context, queue, said);
}

// --- Admin commands.

void NvmeTarget::take_admin(const Context& context, Queue& queue, Bytes entry) {
    constexpr std::size_t kAddressAt = 24, kKeyAt = 35;
    constexpr std::uint8_t kIdentify = 0x06;
    const Answer said{.cid = le<std::uint16_t>(entry, 2)};
    const auto identify = [&] {
        const verbs::Sge piece = queue.block.piece(kWriteAt, kStructure);
        const verbs::Remote remote{le<std::uint64_t>(entry, kAddressAt), Rkey{le<std::uint32_t>(entry, kKeyAt)}};
        const verbs::SendWr wr{.sg_list = {&piece, 1}, .opcode = verbs::WrOpcode::rdma_write, .remote = remote};
        (void)queue.queues.post(context, wr, kWritten);
        answer_right(context, queue, "NVME-81", said);  // in order, behind it
    };
    if (!queue.enabled)
        return refuse(context, queue, "NVME-79", {.cid = said.cid, .status = kSequence},
                      [&] { answer(context, queue, said); });
    if (std::to_integer<std::uint8_t>(entry[0]) == kIdentify) return identify();
    refuse(context, queue, "NVME-82", {.cid = said.cid, .status = kInvalidOpcode},
           [&] { answer(context, queue, said); });
}

}  // namespace qps::tests
