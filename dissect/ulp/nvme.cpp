// The walks over NVMe capsules, private data and the data of commands.
//
// Capsules name no type: 16 bytes are a completion, from 64 on it is a command with data behind it. What an attacker
// could feed: lengths in between, lists of thousands of ranges or entries; they stay data, or end where layers end.
#include <dissect/ulp/nvme.hpp>
#include <dissect/ulp/walks.hpp>

#include <algorithm>

namespace qps::dissect::ulp {

namespace {

// Data may come in pieces: a layer of as much of `length` as there is. False where nothing follows.
bool add_some(Walk& walk, LayerKind kind, std::size_t length) {
    const std::size_t some = std::min(length, walk.left());
    if (some == 0) return false;
    if (!add_layer(walk.packet, kind, walk.offset, some, walk.end)) return false;
    walk.offset += some;
    return some == length;
}

void walk_repeated(Walk& walk, LayerKind kind, std::size_t length) {
    while (walk.left() > 0 && add_some(walk, kind, length) && walk.packet.layer_count < kMaxLayers) {
    }
}

void walk_content(Walk& walk, NvmeData data) {
    switch (data) {
        case NvmeData::connect: add_some(walk, kind::nvme_connect_data, kNvmeConnectData); break;
        case NvmeData::controller: add_some(walk, kind::nvme_controller, kNvmeStructure); break;
        case NvmeData::name_space: add_some(walk, kind::nvme_namespace, kNvmeStructure); break;
        case NvmeData::smart: add_some(walk, kind::nvme_smart, kNvmeSmart); break;
        case NvmeData::ranges: walk_repeated(walk, kind::nvme_dataset_range, kNvmeRange); break;
        case NvmeData::discovery:
            if (add_some(walk, kind::nvme_discovery, kNvmeDiscoveryPart))
                walk_repeated(walk, kind::nvme_discovery_entry, kNvmeDiscoveryPart);
            break;
        case NvmeData::unknown: break;
    }
}

// What the last 24 bytes of an entry are.
struct Arguments {
    NvmeQueue queue{};
    std::uint8_t opcode = 0;
    LayerKind kind{};
};
constexpr std::array kArguments{
    Arguments{NvmeQueue::io, 0x01, kind::nvme_blocks},
    Arguments{NvmeQueue::io, 0x02, kind::nvme_blocks},
    Arguments{NvmeQueue::io, 0x04, kind::nvme_blocks},
    Arguments{NvmeQueue::io, 0x05, kind::nvme_blocks},
    Arguments{NvmeQueue::io, 0x08, kind::nvme_blocks},
    Arguments{NvmeQueue::io, 0x0c, kind::nvme_blocks},
    Arguments{NvmeQueue::io, 0x7d, kind::nvme_blocks},
    Arguments{NvmeQueue::io, 0x09, kind::nvme_dataset},
    Arguments{NvmeQueue::admin, 0x02, kind::nvme_get_log},
    Arguments{NvmeQueue::admin, 0x06, kind::nvme_identify},
    Arguments{NvmeQueue::admin, 0x09, kind::nvme_set_features},
    Arguments{NvmeQueue::admin, 0x0a, kind::nvme_get_features},
};

LayerKind arguments_of(NvmeQueue queue, std::uint8_t opcode) {
    for (const Arguments& row : kArguments)
        if (row.queue == queue && row.opcode == opcode) return row.kind;
    return kind::nvme_arguments;
}

LayerKind head_of(NvmeQueue queue) {
    switch (queue) {
        case NvmeQueue::admin: return kind::nvme_admin_command;
        case NvmeQueue::io: return kind::nvme_io_command;
        case NvmeQueue::unknown: break;
    }
    return kind::nvme_command;
}

void walk_fabrics(Walk& walk) {
    constexpr std::uint8_t kConnect = 0x01;
    constexpr std::uint8_t kPropertySet = 0x00;
    constexpr std::uint8_t kPropertyGet = 0x04;
    const Bytes head = enter(walk, kind::nvme_fabrics, kNvmeCommandHead);
    if (head.empty()) return;
    const auto type = static_cast<std::uint8_t>(read(head, named(kNvmeFabricsFields, "nvme.fabrics.cmd.fctype")));
    if (type == kPropertySet || type == kPropertyGet) {
        if (!enter(walk, kind::nvme_property, kNvmeProperty).empty()) add_data(walk);
        return;
    }
    if (enter(walk, kind::nvme_sgl, kNvmeSgl).empty()) return;
    if (enter(walk, type == kConnect ? kind::nvme_connect : kind::nvme_arguments, kNvmeArguments).empty()) return;
    if (type == kConnect) walk_content(walk, NvmeData::connect);
    add_data(walk);
}

void walk_command(Walk& walk, const UlpHint& hint) {
    const auto opcode = read_le<std::uint8_t>(walk.header(), 0);
    if (opcode == kNvmeFabrics) return walk_fabrics(walk);
    const NvmeQueue queue = nvme_queue(hint.detail);
    if (enter(walk, head_of(queue), kNvmeCommandHead).empty()) return;
    if (enter(walk, kind::nvme_sgl, kNvmeSgl).empty()) return;
    const LayerKind arguments = arguments_of(queue, opcode);
    if (enter(walk, arguments, kNvmeArguments).empty()) return;
    if (arguments == kind::nvme_dataset) walk_content(walk, NvmeData::ranges);
    add_data(walk);
}

LayerKind result_of(NvmeAnswered answered) {
    switch (answered) {
        case NvmeAnswered::unknown: return kind::nvme_result;
        case NvmeAnswered::connect: return kind::nvme_connect_result;
        case NvmeAnswered::property:
        case NvmeAnswered::capabilities:
        case NvmeAnswered::version:
        case NvmeAnswered::configuration:
        case NvmeAnswered::status:
        case NvmeAnswered::fabrics: return kind::nvme_property_result;
    }
    return kind::nvme_result;  // a detail that is nobody's
}

}  // namespace

void walk_nvme(Walk& walk, const UlpHint& hint) {
    if (walk.left() == kNvmeCompletion) {
        if (enter(walk, result_of(nvme_answered(hint.detail)), kNvmeResult).empty()) return;
        add_layer(walk.packet, kind::nvme_completion, walk.offset, kNvmeCompletion - kNvmeResult, walk.end);
    } else if (walk.left() >= kNvmeCommand) {
        walk_command(walk, hint);
    }
}

void walk_nvme_data(Walk& walk, const UlpHint& hint) {
    const std::size_t before = walk.offset;
    walk_content(walk, nvme_data(hint.detail));
    if (walk.offset != before) add_data(walk);
}

void walk_nvme_private(Walk& walk, const UlpHint& hint, LayerKind cm_message) {
    switch (cm_message) {
        case LayerKind::cm_req: add_layer(walk.packet, kind::nvme_request, walk.offset, kNvmePrivate, walk.end); break;
        case LayerKind::cm_rep: add_layer(walk.packet, kind::nvme_reply, walk.offset, kNvmePrivate, walk.end); break;
        case LayerKind::cm_rej:  // the host has nothing to say of NVMe
            if (!hint.from_active && read_le<std::uint32_t>(walk.header(), 0) != 0)
                add_layer(walk.packet, kind::nvme_rejection, walk.offset, kNvmeRejection, walk.end);
            break;
        default: break;
    }
}

}  // namespace qps::dissect::ulp
