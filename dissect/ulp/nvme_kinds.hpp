// What the walks of NVMe call their layers, and what the machine that follows a queue tells them in the detail of a
// hint.
#pragma once

#include <dissect/base/layer.hpp>

namespace qps::dissect {

namespace kind {
inline constexpr LayerKind nvme_request = kind_in(LayerFamily::nvme, 0);  // private data of a REQ, REP, REJ
inline constexpr LayerKind nvme_reply = kind_in(LayerFamily::nvme, 1);
inline constexpr LayerKind nvme_rejection = kind_in(LayerFamily::nvme, 2);
inline constexpr LayerKind nvme_command =
    kind_in(LayerFamily::nvme, 3);  // of a queue that is not known; of the admin queue; of others
inline constexpr LayerKind nvme_admin_command = kind_in(LayerFamily::nvme, 4);
inline constexpr LayerKind nvme_io_command = kind_in(LayerFamily::nvme, 5);
inline constexpr LayerKind nvme_sgl = kind_in(LayerFamily::nvme, 6);
inline constexpr LayerKind nvme_blocks = kind_in(LayerFamily::nvme, 7);  // read, write and their like
inline constexpr LayerKind nvme_dataset = kind_in(LayerFamily::nvme, 8);
inline constexpr LayerKind nvme_identify = kind_in(LayerFamily::nvme, 9);
inline constexpr LayerKind nvme_get_log = kind_in(LayerFamily::nvme, 10);
inline constexpr LayerKind nvme_set_features = kind_in(LayerFamily::nvme, 11);
inline constexpr LayerKind nvme_get_features = kind_in(LayerFamily::nvme, 12);
inline constexpr LayerKind nvme_arguments = kind_in(LayerFamily::nvme, 13);  // of any other command
inline constexpr LayerKind nvme_fabrics = kind_in(LayerFamily::nvme, 14);
inline constexpr LayerKind nvme_connect = kind_in(LayerFamily::nvme, 15);
inline constexpr LayerKind nvme_property = kind_in(LayerFamily::nvme, 16);
inline constexpr LayerKind nvme_smart = kind_in(LayerFamily::nvme, 17);
inline constexpr LayerKind nvme_connect_data = kind_in(LayerFamily::nvme, 18);
inline constexpr LayerKind nvme_dataset_range = kind_in(LayerFamily::nvme, 19);
inline constexpr LayerKind nvme_result = kind_in(LayerFamily::nvme, 20);
inline constexpr LayerKind nvme_connect_result = kind_in(LayerFamily::nvme, 21);
inline constexpr LayerKind nvme_property_result = kind_in(LayerFamily::nvme, 22);
inline constexpr LayerKind nvme_completion = kind_in(LayerFamily::nvme, 23);
inline constexpr LayerKind nvme_controller = kind_in(LayerFamily::nvme, 24);
inline constexpr LayerKind nvme_namespace = kind_in(LayerFamily::nvme, 25);
inline constexpr LayerKind nvme_discovery = kind_in(LayerFamily::nvme, 26);
inline constexpr LayerKind nvme_discovery_entry = kind_in(LayerFamily::nvme, 27);
}  // namespace kind

enum class NvmeQueue : std::uint8_t { unknown, admin, io };

// What a response answers, as far as its layers differ.
enum class NvmeAnswered : std::uint8_t {
    unknown,
    connect,
    property,
    capabilities,
    version,
    configuration,
    status,
    fabrics
};

// What the memory of a command holds.
enum class NvmeData : std::uint8_t { unknown, connect, controller, name_space, discovery, smart, ranges };

// UlpHint::detail: the queue in its lowest bits, above them what a response answers or what data is.
inline constexpr unsigned kNvmeQueueBits = 2;

[[nodiscard]] constexpr std::uint8_t nvme_detail(NvmeQueue queue, NvmeAnswered answered = NvmeAnswered::unknown) {
    return static_cast<std::uint8_t>(static_cast<unsigned>(queue) | static_cast<unsigned>(answered) << kNvmeQueueBits);
}
[[nodiscard]] constexpr std::uint8_t nvme_detail(NvmeData data) {
    return static_cast<std::uint8_t>(static_cast<unsigned>(data) << kNvmeQueueBits);
}
[[nodiscard]] constexpr NvmeQueue nvme_queue(std::uint8_t detail) {
    return static_cast<NvmeQueue>(detail & ((1U << kNvmeQueueBits) - 1));
}
[[nodiscard]] constexpr NvmeAnswered nvme_answered(std::uint8_t detail) {
    return static_cast<NvmeAnswered>(detail >> kNvmeQueueBits);
}
[[nodiscard]] constexpr NvmeData nvme_data(std::uint8_t detail) {
    return static_cast<NvmeData>(detail >> kNvmeQueueBits);
}

}  // namespace qps::dissect
