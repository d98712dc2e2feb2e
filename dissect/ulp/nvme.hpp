// The header rows of NVMe over RDMA: every layer of nvme_kinds.hpp with its table.
#pragma once

#include <dissect/ulp/nvme_command.hpp>
#include <dissect/ulp/nvme_data.hpp>

namespace qps::dissect {

inline constexpr std::array kNvmeHeaders{
    Header{kind::nvme_request, "nvme-rdma.cm.req", "NVMe over RDMA, Connection Request", kNvmePrivate,
           kNvmeRequestFields},
    Header{kind::nvme_reply, "nvme-rdma.cm.rsp", "NVMe over RDMA, Connection Accepted", kNvmePrivate, kNvmeReplyFields},
    Header{kind::nvme_rejection, "nvme-rdma.cm.rej", "NVMe over RDMA, Connection Rejected", kNvmeRejection,
           kNvmeRejectionFields},
    Header{kind::nvme_command, "nvme.cmd", "NVMe Command", kNvmeCommandHead, kNvmeCommandFields},
    Header{kind::nvme_admin_command, "nvme.cmd", "NVMe Admin Command", kNvmeCommandHead, kNvmeAdminCommandFields},
    Header{kind::nvme_io_command, "nvme.cmd", "NVMe I/O Command", kNvmeCommandHead, kNvmeIoCommandFields},
    Header{kind::nvme_sgl, "nvme.cmd.sgl", "NVMe SGL Descriptor", kNvmeSgl, kNvmeSglFields},
    Header{kind::nvme_blocks, "rdma.nvme.blocks", "NVMe Logical Blocks", kNvmeArguments, kNvmeBlocksFields},
    Header{kind::nvme_dataset, "rdma.nvme.dsm", "NVMe Dataset Management", kNvmeArguments, kNvmeDatasetFields},
    Header{kind::nvme_identify, "rdma.nvme.identify", "NVMe Identify", kNvmeArguments, kNvmeIdentifyFields},
    Header{kind::nvme_get_log, "rdma.nvme.get_logpage", "NVMe Get Log Page", kNvmeArguments, kNvmeGetLogFields},
    Header{kind::nvme_set_features, "rdma.nvme.set_features", "NVMe Set Features", kNvmeArguments,
           kNvmeSetFeaturesFields},
    Header{kind::nvme_get_features, "rdma.nvme.get_features", "NVMe Get Features", kNvmeArguments,
           kNvmeGetFeaturesFields},
    Header{kind::nvme_arguments, "rdma.nvme.arguments", "NVMe Command Dwords", kNvmeArguments, kNvmeArgumentsFields},
    Header{kind::nvme_fabrics, "nvme.fabrics.cmd", "NVMe Fabrics Command", kNvmeCommandHead, kNvmeFabricsFields},
    Header{kind::nvme_connect, "nvme.fabrics.cmd.connect", "NVMe Connect", kNvmeArguments, kNvmeConnectFields},
    Header{kind::nvme_property, "nvme.fabrics.cmd.prop_get_set", "NVMe Property", kNvmeProperty, kNvmePropertyFields},
    Header{kind::nvme_smart, "nvme.cmd.get_logpage.smart", "NVMe SMART Log", kNvmeSmart, kNvmeSmartFields},
    Header{kind::nvme_connect_data, "nvme.fabrics.cmd.connect.data", "NVMe Connect Data", kNvmeConnectData,
           kNvmeConnectDataFields},
    Header{kind::nvme_dataset_range, "rdma.nvme.dsm.range", "NVMe Dataset Range", kNvmeRange, kNvmeDatasetRangeFields},
    Header{kind::nvme_result, "rdma.nvme.result", "NVMe Result", kNvmeResult, kNvmeResultFields},
    Header{kind::nvme_connect_result, "nvme.fabrics.cqe.connect", "NVMe Connect Result", kNvmeResult,
           kNvmeConnectResultFields},
    Header{kind::nvme_property_result, "nvme.fabrics.cqe", "NVMe Property Result", kNvmeResult,
           kNvmePropertyResultFields},
    Header{kind::nvme_completion, "nvme.cqe", "NVMe Completion", kNvmeCompletion - kNvmeResult, kNvmeCompletionFields},
    Header{kind::nvme_controller, "nvme.cmd.identify.ctrl", "NVMe Controller", kNvmeStructure, kNvmeControllerFields},
    Header{kind::nvme_namespace, "nvme.cmd.identify.ns", "NVMe Namespace", kNvmeStructure, kNvmeNamespaceFields},
    Header{kind::nvme_discovery, "nvme.cmd.get_logpage.identify", "NVMe Discovery Log", kNvmeDiscoveryPart,
           kNvmeDiscoveryFields},
    Header{kind::nvme_discovery_entry, "nvme.cmd.get_logpage.identify.rcrd", "NVMe Discovery Log Entry",
           kNvmeDiscoveryPart, kNvmeDiscoveryEntryFields},
};

}  // namespace qps::dissect
