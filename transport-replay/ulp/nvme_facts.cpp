#include <dissect/ulp/nvme.hpp>
#include <transport-replay/ulp/nvme_facts.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace qps::transport::nvme {

using namespace dissect;

namespace {

// The characters of a text field, without what pads them; empty where the data ends before.
std::string_view text(Bytes data, const Field& field) {
    const Bytes bytes = slice(data, field.bit / 8U, field.width / 8U);
    if (bytes.size() < field.width / 8U) return {};
    const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const std::string_view some = all.substr(0, all.find('\0'));
    return some.substr(0, some.find_last_not_of(' ') + 1);
}

bool has(Bytes data, const Field& field) { return data.size() * 8 >= std::size_t{field.bit} + field.width; }

void note_controller(UlpConversation& conversation, Bytes data) {
    constexpr Field kType = named(kNvmeControllerFields, "nvme.cmd.identify.ctrl.cntrltype");
    conversation.note("model", text(data, named(kNvmeControllerFields, "nvme.cmd.identify.ctrl.mn")));
    conversation.note("serial number", text(data, named(kNvmeControllerFields, "nvme.cmd.identify.ctrl.sn")));
    conversation.note("firmware", text(data, named(kNvmeControllerFields, "nvme.cmd.identify.ctrl.fr")));
    conversation.note("subsystem", text(data, named(kNvmeControllerFields, "nvme.cmd.identify.ctrl.subnqn")));
    if (has(data, kType)) conversation.note("controller type", nvme_word(kNvmeControllerTypes, read(data, kType)));
}

void note_namespace(UlpConversation& conversation, Bytes data, std::uint32_t space) {
    constexpr Field kSize = named(kNvmeNamespaceFields, "nvme.cmd.identify.ns.nsze");
    constexpr Field kFormat = named(kNvmeNamespaceFields, "nvme.cmd.identify.ns.flbas");
    constexpr Field kFormats = named(kNvmeNamespaceFields, "rdma.nvme.identify.ns.lbafs");
    constexpr std::size_t kFormatSize = 4;
    constexpr std::size_t kBlockSize = 2;  // of a format: as a power of two
    constexpr unsigned kMostPower = 31;
    if (!has(data, kFormats)) return;
    const std::size_t format = read(data, kFormat) & 0xfU;
    const unsigned power = read_le<std::uint8_t>(data, kFormats.bit / 8U + format * kFormatSize + kBlockSize);
    if (power == 0 || power > kMostPower) return;
    conversation.note("namespace", fmt::format("{}: {} blocks of {} bytes", space, read(data, kSize), 1U << power));
}

void note_discovery(UlpConversation& conversation, Bytes data) {
    // Facts are named by what never goes away; a longer log is counted by the first of them.
    static constexpr std::array<std::string_view, 8> kNames{"discovered 1", "discovered 2", "discovered 3",
                                                            "discovered 4", "discovered 5", "discovered 6",
                                                            "discovered 7", "discovered 8"};
    constexpr Field kEntries = named(kNvmeDiscoveryFields, "nvme.cmd.get_logpage.identify.numrec");
    constexpr Field kTransport = named(kNvmeDiscoveryEntryFields, "nvme.cmd.get_logpage.identify.rcrd.trtype");
    // Hosts ask for the head first, and for all of it when they know its length.
    if (data.size() <= kNvmeDiscoveryPart && read(data, kEntries) != 0) return;
    if (!has(data, kEntries)) return;
    conversation.note("discovery entries", std::to_string(read(data, kEntries)));
    const std::size_t entries = std::min<std::uint64_t>(read(data, kEntries), kNames.size());
    for (std::size_t i = 0; i < entries; ++i) {
        const Bytes entry = slice(data, (i + 1) * kNvmeDiscoveryPart, kNvmeDiscoveryPart);
        if (entry.size() < kNvmeDiscoveryPart) return;
        const std::string_view transport = nvme_word(kNvmeTransports, read(entry, kTransport));
        conversation.note(
            kNames[i],
            fmt::format("{} at {} {} port {}",
                        text(entry, named(kNvmeDiscoveryEntryFields, "nvme.cmd.get_logpage.identify.rcrd.subnqn")),
                        transport.empty() ? "unknown transport" : transport,
                        text(entry, named(kNvmeDiscoveryEntryFields, "nvme.cmd.get_logpage.identify.rcrd.traddr")),
                        text(entry, named(kNvmeDiscoveryEntryFields, "nvme.cmd.get_logpage.identify.rcrd.trsvcid"))));
    }
}

void note_health(UlpConversation& conversation, Bytes data) {
    constexpr Field kUsed = named(kNvmeSmartFields, "nvme.cmd.get_logpage.smart.lae");
    if (!has(data, kUsed)) return;
    const std::uint64_t warnings = read(data, named(kNvmeSmartFields, "nvme.cmd.get_logpage.smart.cw"));
    conversation.note(
        "health",
        fmt::format("{}, {} K, {} % spare, {} % used",
                    warnings == 0 ? std::string("no warning") : fmt::format("warnings 0x{:02x}", warnings),
                    read(data, named(kNvmeSmartFields, "nvme.cmd.get_logpage.smart.ct")),
                    read(data, named(kNvmeSmartFields, "nvme.cmd.get_logpage.smart.asc")), read(data, kUsed)));
}

}  // namespace

void note_queue(UlpConversation& conversation, std::uint16_t queue) {
    conversation.note("queue", queue == 0 ? std::string("admin") : fmt::format("I/O {}", queue));
}

void note_connect(UlpConversation& conversation, Bytes arguments) {
    const std::uint64_t timeout = read(arguments, named(kNvmeConnectFields, "nvme.fabrics.cmd.connect.kato"));
    note_queue(conversation,
               static_cast<std::uint16_t>(read(arguments, named(kNvmeConnectFields, "nvme.fabrics.cmd.connect.qid"))));
    conversation.note(
        "queue size",
        std::to_string(read(arguments, named(kNvmeConnectFields, "nvme.fabrics.cmd.connect.sqsize")) + 1));
    if (timeout != 0) conversation.note("keep-alive timeout", fmt::format("{} ms", timeout));
}

void note_connect_data(UlpConversation& conversation, Bytes data) {
    if (data.size() < kNvmeConnectData) return;
    conversation.note("host", text(data, named(kNvmeConnectDataFields, "nvme.fabrics.cmd.connect.data.hostnqn")));
    conversation.note("subsystem", text(data, named(kNvmeConnectDataFields, "nvme.fabrics.cmd.connect.data.subnqn")));
}

void note_authentication(UlpConversation& conversation, std::uint16_t required) {
    conversation.note("authentication", required == 0 ? "not required" : "required");
}

void note_authentication_in_band(UlpConversation& conversation) {
    conversation.note("authenticated by", "commands of fabrics");
}

void note_controller_id(UlpConversation& conversation, std::uint16_t id) {
    conversation.note("controller ID", std::to_string(id));
}

void note_version(UlpConversation& conversation, std::uint32_t version) {
    conversation.note("version", fmt::format("{}.{}.{}", version >> 16U, version >> 8U & 0xffU, version & 0xffU));
}

void note_data(UlpConversation& conversation, NvmeData holds, Bytes data, std::uint32_t space) {
    switch (holds) {
        case NvmeData::controller: return note_controller(conversation, data);
        case NvmeData::name_space: return note_namespace(conversation, data, space);
        case NvmeData::discovery: return note_discovery(conversation, data);
        case NvmeData::smart: return note_health(conversation, data);
        case NvmeData::connect:
        case NvmeData::ranges:
        case NvmeData::unknown: return;
    }
}

std::string status_words(std::uint32_t status, bool of_fabrics) {
    const std::string_view known = nvme_status(status, of_fabrics);
    const std::uint32_t type = (status & kNvmeStatusBits) >> 8U;
    std::string words =
        known.empty() ? fmt::format("status type {}, code 0x{:02x}", type, status & 0xffU) : std::string(known);
    if ((status & kNvmeDoNotRetry) != 0) words += ", do not retry";
    return words;
}

std::string connect_failure(std::uint32_t status, std::uint32_t result) {
    constexpr std::uint32_t kInvalidParameters = 0x182;
    constexpr std::uint32_t kInData = 0x10000;  // the offset counts in the data, else in the entry
    static constexpr std::array kParameters{
        ValueName{40, "record format"},
        ValueName{42, "queue ID"},
        ValueName{44, "queue size"},
        ValueName{46, "attributes"},
        ValueName{48, "keep alive timeout"},
        ValueName{kInData + 0, "host identifier"},
        ValueName{kInData + 16, "controller ID"},
        ValueName{kInData + 256, "subsystem NQN"},
        ValueName{kInData + 512, "host NQN"},
    };
    std::string words = status_words(status, true);
    if ((status & kNvmeStatusBits) != kInvalidParameters) return words;
    const std::string_view parameter = nvme_word(kParameters, result & 0x1ffffU);
    return parameter.empty() ? words : fmt::format("{}: {}", words, parameter);
}

}  // namespace qps::transport::nvme
