#include <dissect/ulp/nvme.hpp>
#include <transport-replay/ulp/nvme_entry.hpp>
#include <transport-replay/ulp/nvme_facts.hpp>
#include <transport-replay/ulp/nvme_protocol.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace qps::transport {

using namespace dissect;
using namespace nvme;

namespace {

constexpr std::uint64_t kNanosecondsPerMs = 1'000'000;

NvmeSet set_of(NvmeQueue queue) { return static_cast<NvmeSet>(queue); }
static_assert(std::to_underlying(NvmeSet::io) == std::to_underlying(NvmeQueue::io));

// What stands in the upper half of the first subject, and in the second.
std::uint32_t selector_of(OperationCode code, Bytes entry) {
    const std::uint32_t ten = dword(entry, 10);
    switch (nvme_set(code)) {
        case NvmeSet::io: return nvme_opcode(code) == kDatasetManagement ? ten & 0xffU : dword(entry, 12) & 0xffffU;
        case NvmeSet::admin: return ten & 0xffU;
        case NvmeSet::fabrics: return nvme_opcode(code) == kConnect ? ten >> 16U : 0;
        case NvmeSet::unknown: break;
    }
    return 0;
}

std::uint64_t detail_of(OperationCode code, Bytes entry) {
    const bool log = code == nvme_code(NvmeSet::admin, kGetLogPage);
    if (log) return dword(entry, 12) | std::uint64_t{dword(entry, 13)} << 32U;
    if (nvme_set(code) == NvmeSet::io) return dword(entry, 10) | std::uint64_t{dword(entry, 11)} << 32U;
    if (code == nvme_code(NvmeSet::fabrics, kConnect)) return dword(entry, 12);
    return dword(entry, 11);
}

UlpOperation operation_of(const UlpMessage& message, OperationCode code) {
    const Bytes entry = message.bytes;
    UlpOperation operation;
    operation.requester = message.from;
    operation.code = code;
    operation.tag = read_le<std::uint16_t>(entry, 2);
    if (nvme_set(code) == NvmeSet::fabrics && nvme_opcode(code) != kConnect) {
        operation.subject = {dword(entry, 11), dword(entry, 12) | std::uint64_t{dword(entry, 13)} << 32U};
        return operation;
    }
    const std::uint64_t space = nvme_set(code) == NvmeSet::fabrics ? 0 : dword(entry, 1);
    operation.subject = {space | std::uint64_t{selector_of(code, entry)} << 32U, detail_of(code, entry)};
    const Descriptor data = descriptor(entry);
    operation.bytes = data.memory.length;
    if (data.in_capsule())
        operation.in_message = std::min<std::uint64_t>(data.memory.length, message.length - kNvmeCommand);
    return operation;
}

// An opcode of fabrics that somebody tries on a queue for I/O names a command type by its namespace: without the data
// it is no Connect.
bool is_connect(const UlpOperation& operation) {
    return operation.code == nvme_code(NvmeSet::fabrics, kConnect) && operation.bytes == kNvmeConnectData;
}

// How long it took, in the milliseconds that keep-alive timeouts count; clocks that jump back took no time.
std::uint64_t milliseconds_between(Instant from, Instant to) {
    const auto nanoseconds = static_cast<std::int64_t>(std::to_underlying(to - from));
    return nanoseconds < 0 ? 0 : static_cast<std::uint64_t>(nanoseconds) / kNanosecondsPerMs;
}

NvmeAnswered answered_of(const UlpOperation& operation) {
    if (nvme_set(operation.code) != NvmeSet::fabrics) return NvmeAnswered::unknown;
    if (nvme_opcode(operation.code) == kConnect) return NvmeAnswered::connect;
    if (nvme_opcode(operation.code) == kPropertySet) return NvmeAnswered::property;
    if (nvme_opcode(operation.code) != kPropertyGet) return NvmeAnswered::fabrics;
    switch (operation.subject[0]) {
        case 0x00: return NvmeAnswered::capabilities;
        case 0x08: return NvmeAnswered::version;
        case 0x14: return NvmeAnswered::configuration;
        case 0x1c: return NvmeAnswered::status;
        default: return NvmeAnswered::property;
    }
}

}  // namespace

NvmeData nvme_data_of(const UlpOperation& operation) {
    const std::uint32_t selector = nvme_selector_of(operation);
    switch (std::to_underlying(operation.code)) {
        case std::to_underlying(nvme_code(NvmeSet::fabrics, kConnect)): return NvmeData::connect;
        case std::to_underlying(nvme_code(NvmeSet::io, kDatasetManagement)): return NvmeData::ranges;
        case std::to_underlying(nvme_code(NvmeSet::admin, kIdentify)):
            return selector == 0 ? NvmeData::name_space : selector == 1 ? NvmeData::controller : NvmeData::unknown;
        case std::to_underlying(nvme_code(NvmeSet::admin, kGetLogPage)):
            if (operation.subject[1] != 0) return NvmeData::unknown;  // not from its start
            return selector == kDiscoveryLog ? NvmeData::discovery
                   : selector == kSmartLog   ? NvmeData::smart
                                             : NvmeData::unknown;
        default: return NvmeData::unknown;
    }
}

void NvmeMachine::connected(const CmAttempt& attempt, UlpSession& session) {
    const Bytes request = attempt.active.private_data.bytes();
    if (!is_own(attempt)) return;
    from_start_ = true;
    const auto queue = static_cast<std::uint16_t>(read(request, named(kNvmeRequestFields, "nvme-rdma.cm.req.qid")));
    queue_ = queue == 0 ? NvmeQueue::admin : NvmeQueue::io;
    note_queue(session.conversation(), queue);
}

Understood NvmeMachine::message(const UlpMessage& message, UlpSession& session) {
    if (message.length == kNvmeCompletion) return take_completion(message, session);
    if (message.length < kNvmeCommand) return {};
    return take_command(message, session);
}

// Commands that only one kind of queue has, or that only make sense on it.
void NvmeMachine::learn_queue(Bytes entry) {
    const auto opcode = read_le<std::uint8_t>(entry, 0);
    const std::uint32_t space = dword(entry, 1);
    const std::uint32_t length = descriptor(entry).memory.length;
    if (opcode == kIdentify || opcode == kGetFeatures || opcode == kKeepAlive ||
        (opcode == kEventRequest && length == 0 && space == 0)) {
        queue_ = NvmeQueue::admin;
    } else if ((opcode == 1 || opcode == 2) && space != 0 && space != UINT32_MAX) {
        const std::uint32_t blocks = (dword(entry, 12) & 0xffffU) + 1;
        for (const std::uint32_t size : {512U, 1024U, 2048U, 4096U})
            if (length == blocks * size) queue_ = NvmeQueue::io;
    }
}

Understood NvmeMachine::take_command(const UlpMessage& message, UlpSession& session) {
    const Bytes entry = slice(message.bytes, 0, kNvmeCommand);
    if (entry.size() < kNvmeCommand) return {.understood = true};  // the capture lacks its end
    if (!has_shape(entry)) return {};
    const auto opcode = read_le<std::uint8_t>(entry, 0);
    OperationCode code{};
    if (opcode == kNvmeFabrics) {
        code = nvme_code(NvmeSet::fabrics,
                         static_cast<std::uint8_t>(read(entry, named(kNvmeFabricsFields, "nvme.fabrics.cmd.fctype"))));
        if (nvme_word(kNvmeFabricsCommands, nvme_opcode(code)).empty()) return {};
        if (nvme_opcode(code) == kPropertyGet || nvme_opcode(code) == kPropertySet) queue_ = NvmeQueue::admin;
    } else {
        if (queue_ == NvmeQueue::unknown) learn_queue(entry);
        code = nvme_code(set_of(queue_), opcode);
    }
    session.conversation().active = message.from;
    UlpOperation operation = operation_of(message, code);
    const std::uint64_t tag = operation.tag;
    const bool event_request = code == nvme_code(NvmeSet::admin, kEventRequest);
    operation.one_way = event_request;  // it is answered when something happens, which may be never
    if (is_connect(operation)) take_connect(message, session);
    if (code == nvme_code(NvmeSet::fabrics, kAuthenticationSend)) note_authentication_in_band(session.conversation());
    if (code == nvme_code(NvmeSet::admin, kSetFeatures) && nvme_selector_of(operation) == kKeepAliveFeature)
        keep_alive_ms_ = dword(entry, 11);
    watch_keep_alive(message, code == nvme_code(NvmeSet::admin, kKeepAlive), session);
    const NvmeData holds = nvme_data_of(operation);
    session.begin(operation, message);
    if (event_request) {
        if (event_requests_.size() < kMaxEventRequests) event_requests_.push_back(static_cast<std::uint16_t>(tag));
    } else if (const Descriptor data = descriptor(entry); data.keyed()) {
        session.operations().expect(message.from, tag, data.memory, session.shares(),
                                    holds != NvmeData::unknown && holds != NvmeData::ranges);
    }
    return {.understood = true,
            .label = UlpLabel{UlpLabel::Part::request, UlpProtocol::nvme, code, tag},
            .detail = nvme_detail(queue_)};
}

void NvmeMachine::take_connect(const UlpMessage& message, UlpSession& session) {
    const Bytes arguments = slice(message.bytes, kNvmeCommandHead + kNvmeSgl, kNvmeArguments);
    const auto queue =
        static_cast<std::uint16_t>(read(arguments, named(kNvmeConnectFields, "nvme.fabrics.cmd.connect.qid")));
    from_start_ = true;
    queue_ = queue == 0 ? NvmeQueue::admin : NvmeQueue::io;
    keep_alive_ms_ =
        static_cast<std::uint32_t>(read(arguments, named(kNvmeConnectFields, "nvme.fabrics.cmd.connect.kato")));
    note_connect(session.conversation(), arguments);
    note_connect_data(session.conversation(), slice(message.bytes, kNvmeCommand));
}

// Only where keep-alive commands alone keep the controller alive; told once for every gap.
void NvmeMachine::watch_keep_alive(const UlpMessage& message, bool keep_alive, UlpSession& session) {
    if (keep_alive_ms_ == 0 || !alive_ || queue_ != NvmeQueue::admin) return;
    const std::uint64_t gap = milliseconds_between(*alive_, message.time);
    const bool late = !traffic_keeps_alive_ && gap > keep_alive_ms_;
    if (late)
        session.event(UlpEventKind::keep_alive_late, message,
                      fmt::format("no keep-alive for {} ms, the timeout is {} ms", gap, keep_alive_ms_), gap);
    if (late || keep_alive) alive_ = message.time;
}

Understood NvmeMachine::take_completion(const UlpMessage& message, UlpSession& session) {
    if (!message.whole()) return {.understood = true};
    const Bytes completion = slice(message.bytes, kNvmeResult);
    const auto cid = static_cast<std::uint16_t>(read(completion, named(kNvmeCompletionFields, "nvme.cqe.cid")));
    const auto status =
        static_cast<std::uint32_t>(read(completion, named(kNvmeCompletionFields, "nvme.cqe.status"))) >> 1U;
    const End host = other(message.from);
    UlpOperation* operation = session.operations().find(host, cid);
    if (operation == nullptr) {
        if (std::ranges::find(event_requests_, cid) != event_requests_.end()) return take_event(message, cid, session);
        return {.understood = !from_start_ && !nvme_status(status, false).empty() && strangers_++ < kMaxStrangers};
    }
    if (nvme_set(operation->code) == NvmeSet::fabrics && nvme_opcode(operation->code) == kPropertyGet)
        operation->subject[1] = read_le<std::uint64_t>(message.bytes, 0);
    operation->status = status;
    const UlpOperation asked = *operation;  // ended, it is gone
    finish(asked, message, session);
    session.end(host, cid, status == 0 ? OperationOutcome::done : OperationOutcome::failed, status, message);
    return {.understood = true,
            .label = UlpLabel{UlpLabel::Part::answer, UlpProtocol::nvme, asked.code, cid},
            .detail = nvme_detail(queue_, answered_of(asked))};
}

// Errors and health are told as events; what merely changed is a fact.
Understood NvmeMachine::take_event(const UlpMessage& message, std::uint16_t cid, UlpSession& session) {
    constexpr std::uint32_t kErrors = 0;
    constexpr std::uint32_t kHealth = 1;
    std::erase(event_requests_, cid);
    const std::uint32_t status = std::uint32_t{read_le<std::uint16_t>(message.bytes, kNvmeCompletion - 2)} >> 1U;
    const auto result = read_le<std::uint32_t>(message.bytes, 0);
    const std::uint32_t type = result & 7U;
    const std::uint32_t information = result >> 8U & 0xffU;
    if (status == 0) {
        const std::string_view known = nvme_word(kNvmeEvents, type << 8U | information);
        const std::string words =
            known.empty() ? fmt::format("event type {}, information {}", type, information) : std::string(known);
        if (type == kErrors || type == kHealth) session.event(UlpEventKind::error_message, message, words);
        else session.conversation().note("asynchronous event", words);
    }
    return {.understood = true,
            .label = UlpLabel{UlpLabel::Part::answer, UlpProtocol::nvme, nvme_code(NvmeSet::admin, kEventRequest), cid},
            .detail = nvme_detail(queue_)};
}

void NvmeMachine::finish(const UlpOperation& operation, const UlpMessage& message, UlpSession& session) {
    constexpr std::uint64_t kFatal = 2;
    UlpConversation& conversation = session.conversation();
    if (is_connect(operation)) return connect_answered(operation, message, session);
    if (operation.code == nvme_code(NvmeSet::admin, kKeepAlive))
        return keep_alive_answered(operation, message, session);
    if (operation.status != 0) return;
    switch (answered_of(operation)) {
        case NvmeAnswered::version: return note_version(conversation, static_cast<std::uint32_t>(operation.subject[1]));
        case NvmeAnswered::status:
            if ((operation.subject[1] & kFatal) != 0)
                session.event(UlpEventKind::error_message, message, "controller fatal status");
            return;
        default: break;
    }
    const NvmeData holds = nvme_data_of(operation);
    if (holds == NvmeData::unknown) return;
    const Bytes kept = session.operations().kept(operation.requester, operation.tag);
    if (holds == NvmeData::controller && kept.size() > kNvmeControllerAttributes)
        traffic_keeps_alive_ = read(kept, named(kNvmeControllerFields, "nvme.cmd.identify.ctrl.ctratt.tbkas")) != 0;
    note_data(conversation, holds, kept, nvme_namespace_of(operation));
}

// The host has given the controller up by then.
void NvmeMachine::keep_alive_answered(const UlpOperation& operation, const UlpMessage& message,
                                      UlpSession& session) const {
    const std::uint64_t waited = milliseconds_between(operation.asked, message.time);
    if (keep_alive_ms_ == 0 || waited <= keep_alive_ms_) return;
    session.event(UlpEventKind::keep_alive_late, message,
                  fmt::format("a keep-alive was answered after {} ms, the timeout is {} ms", waited, keep_alive_ms_),
                  waited);
}

void NvmeMachine::connect_answered(const UlpOperation& operation, const UlpMessage& message, UlpSession& session) {
    note_connect_data(session.conversation(), session.operations().kept(operation.requester, operation.tag));
    if (operation.status != 0) {
        keep_alive_ms_ = 0;
        session.event(UlpEventKind::login_failed, message,
                      connect_failure(operation.status, read_le<std::uint32_t>(message.bytes, 0)));
        return;
    }
    alive_ = message.time;
    note_controller_id(session.conversation(), read_le<std::uint16_t>(message.bytes, 0));
    note_authentication(session.conversation(), read_le<std::uint16_t>(message.bytes, 2));
}

}  // namespace qps::transport
