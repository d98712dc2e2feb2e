// What the walks of NVMe call their layers, and what the machine that follows a queue tells them in the detail of a hint.
#pragma once

#include <dissect/layer.hpp>

namespace qps::dissect {

namespace kind {
inline constexpr LayerKind nvme_request{first_kind::nvme + 0};  // private data of a REQ, REP, REJ
inline constexpr LayerKind nvme_reply{first_kind::nvme + 1};
inline constexpr LayerKind nvme_rejection{first_kind::nvme + 2};
inline constexpr LayerKind nvme_command{first_kind::nvme + 3};  // of a queue that is not known; of the admin queue; of others
inline constexpr LayerKind nvme_admin_command{first_kind::nvme + 4};
inline constexpr LayerKind nvme_io_command{first_kind::nvme + 5};
inline constexpr LayerKind nvme_sgl{first_kind::nvme + 6};
inline constexpr LayerKind nvme_blocks{first_kind::nvme + 7};  // read, write and their like
inline constexpr LayerKind nvme_dataset{first_kind::nvme + 8};
inline constexpr LayerKind nvme_identify{first_kind::nvme + 9};
inline constexpr LayerKind nvme_get_log{first_kind::nvme + 10};
inline constexpr LayerKind nvme_set_features{first_kind::nvme + 11};
inline constexpr LayerKind nvme_get_features{first_kind::nvme + 12};
inline constexpr LayerKind nvme_arguments{first_kind::nvme + 13};  // of any other command
inline constexpr LayerKind nvme_fabrics{first_kind::nvme + 14};
inline constexpr LayerKind nvme_connect{first_kind::nvme + 15};
inline constexpr LayerKind nvme_property{first_kind::nvme + 16};
inline constexpr LayerKind nvme_smart{first_kind::nvme + 17};
inline constexpr LayerKind nvme_connect_data{first_kind::nvme + 18};
inline constexpr LayerKind nvme_dataset_range{first_kind::nvme + 19};
inline constexpr LayerKind nvme_result{first_kind::nvme + 20};
inline constexpr LayerKind nvme_connect_result{first_kind::nvme + 21};
inline constexpr LayerKind nvme_property_result{first_kind::nvme + 22};
inline constexpr LayerKind nvme_completion{first_kind::nvme + 23};
inline constexpr LayerKind nvme_controller{first_kind::nvme + 24};
inline constexpr LayerKind nvme_namespace{first_kind::nvme + 25};
inline constexpr LayerKind nvme_discovery{first_kind::nvme + 26};
inline constexpr LayerKind nvme_discovery_entry{first_kind::nvme + 27};
}  // namespace kind
static_assert(first_kind::nvme + 27 < first_kind::iser);

enum class NvmeQueue : std::uint8_t { unknown, admin, io };

// What a response answers, as far as its layers differ.
enum class NvmeAnswered : std::uint8_t { unknown, connect, property, capabilities, version, configuration, status, fabrics };

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
[[nodiscard]] constexpr NvmeQueue nvme_queue(std::uint8_t detail) { return static_cast<NvmeQueue>(detail & ((1U << kNvmeQueueBits) - 1)); }
[[nodiscard]] constexpr NvmeAnswered nvme_answered(std::uint8_t detail) { return static_cast<NvmeAnswered>(detail >> kNvmeQueueBits); }
[[nodiscard]] constexpr NvmeData nvme_data(std::uint8_t detail) { return static_cast<NvmeData>(detail >> kNvmeQueueBits); }

}  // namespace qps::dissect
