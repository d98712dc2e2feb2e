// Words of NVMe: what its numbers are called, for fields and for operations. NVM Express base specification 2.0, NVM
// command set 1.0, transport for RDMA 1.0.
#pragma once

#include <dissect/base/field.hpp>

namespace qps::dissect {

// The opcode that says "fabrics": which command it is stands in the fabrics command type.
inline constexpr std::uint8_t kNvmeFabrics = 0x7f;

inline constexpr std::array kNvmeFabricsCommands{
    ValueName{0x00, "Property Set"},           ValueName{0x01, "Connect"},
    ValueName{0x04, "Property Get"},           ValueName{0x05, "Authentication Send"},
    ValueName{0x06, "Authentication Receive"}, ValueName{0x08, "Disconnect"},
};

inline constexpr std::array kNvmeAdminCommands{
    ValueName{0x00, "Delete I/O Submission Queue"},
    ValueName{0x01, "Create I/O Submission Queue"},
    ValueName{0x02, "Get Log Page"},
    ValueName{0x04, "Delete I/O Completion Queue"},
    ValueName{0x05, "Create I/O Completion Queue"},
    ValueName{0x06, "Identify"},
    ValueName{0x08, "Abort"},
    ValueName{0x09, "Set Features"},
    ValueName{0x0a, "Get Features"},
    ValueName{0x0c, "Asynchronous Event Request"},
    ValueName{0x0d, "Namespace Management"},
    ValueName{0x10, "Firmware Commit"},
    ValueName{0x11, "Firmware Image Download"},
    ValueName{0x14, "Device Self-test"},
    ValueName{0x15, "Namespace Attachment"},
    ValueName{0x18, "Keep Alive"},
    ValueName{0x19, "Directive Send"},
    ValueName{0x1a, "Directive Receive"},
    ValueName{0x1c, "Virtualization Management"},
    ValueName{0x1d, "NVMe-MI Send"},
    ValueName{0x1e, "NVMe-MI Receive"},
    ValueName{0x20, "Capacity Management"},
    ValueName{0x24, "Lockdown"},
    ValueName{0x7c, "Doorbell Buffer Config"},
    ValueName{0x7f, "Fabrics"},
    ValueName{0x80, "Format NVM"},
    ValueName{0x81, "Security Send"},
    ValueName{0x82, "Security Receive"},
    ValueName{0x84, "Sanitize"},
    ValueName{0x86, "Get LBA Status"},
};

inline constexpr std::array kNvmeIoCommands{
    ValueName{0x00, "Flush"},
    ValueName{0x01, "Write"},
    ValueName{0x02, "Read"},
    ValueName{0x04, "Write Uncorrectable"},
    ValueName{0x05, "Compare"},
    ValueName{0x08, "Write Zeroes"},
    ValueName{0x09, "Dataset Management"},
    ValueName{0x0c, "Verify"},
    ValueName{0x0d, "Reservation Register"},
    ValueName{0x0e, "Reservation Report"},
    ValueName{0x11, "Reservation Acquire"},
    ValueName{0x12, "I/O Management Receive"},
    ValueName{0x15, "Reservation Release"},
    ValueName{0x18, "Cancel"},
    ValueName{0x19, "Copy"},
    ValueName{0x1d, "I/O Management Send"},
    ValueName{0x79, "Zone Management Send"},
    ValueName{0x7a, "Zone Management Receive"},
    ValueName{0x7d, "Zone Append"},
    ValueName{0x7f, "Fabrics"},
};

inline constexpr std::array kNvmeFuses{ValueName{0, "normal"}, ValueName{1, "first of a fused pair"},
                                       ValueName{2, "second of a fused pair"}};
inline constexpr std::array kNvmeDataPointers{ValueName{0, "PRP"}, ValueName{1, "SGL"},
                                              ValueName{2, "SGL, metadata in one too"}};

inline constexpr std::array kNvmeSglTypes{
    ValueName{0, "data block"},   ValueName{1, "bit bucket"},       ValueName{2, "segment"},
    ValueName{3, "last segment"}, ValueName{4, "keyed data block"}, ValueName{5, "transport data block"},
    ValueName{15, "vendor's"},
};
// Of type 4, 15 asks to invalidate the key with the response.
inline constexpr std::array kNvmeSglSubtypes{ValueName{0, "address"}, ValueName{1, "offset"},
                                             ValueName{10, "transport's"}, ValueName{15, "invalidate key"}};

inline constexpr std::array kNvmeProperties{
    ValueName{0x00, "Controller Capabilities"},  ValueName{0x08, "Version"},
    ValueName{0x14, "Controller Configuration"}, ValueName{0x1c, "Controller Status"},
    ValueName{0x20, "NVM Subsystem Reset"},      ValueName{0x68, "Controller Ready Timeouts"},
};

inline constexpr std::array kNvmeIdentifies{
    ValueName{0x00, "Namespace"},
    ValueName{0x01, "Controller"},
    ValueName{0x02, "Active Namespaces"},
    ValueName{0x03, "Namespace Identification Descriptors"},
    ValueName{0x04, "NVM Sets"},
    ValueName{0x05, "Namespace, of a command set"},
    ValueName{0x06, "Controller, of a command set"},
    ValueName{0x07, "Active Namespaces, of a command set"},
    ValueName{0x08, "Namespace, of any command set"},
    ValueName{0x10, "Allocated Namespaces"},
    ValueName{0x11, "Allocated Namespace"},
    ValueName{0x12, "Controllers of a Namespace"},
    ValueName{0x13, "Controllers"},
    ValueName{0x14, "Primary Controller Capabilities"},
    ValueName{0x15, "Secondary Controllers"},
    ValueName{0x16, "Namespace Granularities"},
    ValueName{0x17, "UUIDs"},
    ValueName{0x18, "Domains"},
    ValueName{0x19, "Endurance Groups"},
    ValueName{0x1c, "Command Sets"},
};

inline constexpr std::array kNvmeLogPages{
    ValueName{0x00, "Supported Log Pages"},
    ValueName{0x01, "Error Information"},
    ValueName{0x02, "SMART"},
    ValueName{0x03, "Firmware Slots"},
    ValueName{0x04, "Changed Namespaces"},
    ValueName{0x05, "Commands Supported and Effects"},
    ValueName{0x06, "Device Self-test"},
    ValueName{0x07, "Telemetry, Host"},
    ValueName{0x08, "Telemetry, Controller"},
    ValueName{0x09, "Endurance Group"},
    ValueName{0x0a, "Predictable Latency of an NVM Set"},
    ValueName{0x0b, "Predictable Latency Events"},
    ValueName{0x0c, "Asymmetric Namespace Access"},
    ValueName{0x0d, "Persistent Events"},
    ValueName{0x0e, "LBA Status"},
    ValueName{0x0f, "Endurance Group Events"},
    ValueName{0x10, "Media Units"},
    ValueName{0x12, "Features Supported and Effects"},
    ValueName{0x70, "Discovery"},
    ValueName{0x80, "Reservation Notifications"},
    ValueName{0x81, "Sanitize"},
    ValueName{0xbf, "Changed Zones"},
};

inline constexpr std::array kNvmeFeatures{
    ValueName{0x01, "Arbitration"},
    ValueName{0x02, "Power Management"},
    ValueName{0x03, "LBA Ranges"},
    ValueName{0x04, "Temperature Threshold"},
    ValueName{0x05, "Error Recovery"},
    ValueName{0x06, "Volatile Write Cache"},
    ValueName{0x07, "Number of Queues"},
    ValueName{0x08, "Interrupt Coalescing"},
    ValueName{0x09, "Interrupt Vector"},
    ValueName{0x0a, "Write Atomicity"},
    ValueName{0x0b, "Asynchronous Events"},
    ValueName{0x0c, "Autonomous Power States"},
    ValueName{0x0d, "Host Memory Buffer"},
    ValueName{0x0e, "Timestamp"},
    ValueName{0x0f, "Keep Alive Timer"},
    ValueName{0x10, "Thermal Management"},
    ValueName{0x11, "Non-Operational Power States"},
    ValueName{0x12, "Read Recovery Level"},
    ValueName{0x13, "Predictable Latency"},
    ValueName{0x14, "Predictable Latency Window"},
    ValueName{0x15, "LBA Status Interval"},
    ValueName{0x16, "Host Behavior"},
    ValueName{0x17, "Sanitize"},
    ValueName{0x18, "Endurance Group Events"},
    ValueName{0x19, "Command Set Profile"},
    ValueName{0x80, "Software Progress"},
    ValueName{0x81, "Host Identifier"},
    ValueName{0x82, "Reservation Notifications"},
    ValueName{0x83, "Reservation Persistence"},
    ValueName{0x84, "Namespace Write Protection"},
};

inline constexpr std::array kNvmeStatusTypes{
    ValueName{0, "generic"}, ValueName{1, "command specific"}, ValueName{2, "media and data integrity"},
    ValueName{3, "path"},    ValueName{7, "vendor specific"},
};

// Why a connection is rejected (RDMA transport, status values of private data).
inline constexpr std::array kNvmeRejections{
    ValueName{1, "invalid private data length"},
    ValueName{2, "invalid record format"},
    ValueName{3, "invalid queue ID"},
    ValueName{4, "invalid host send queue size"},
    ValueName{5, "invalid host receive queue size"},
    ValueName{6, "no resources"},
    ValueName{7, "invalid IRD"},
    ValueName{8, "invalid ORD"},
    ValueName{9, "invalid controller ID"},
};

inline constexpr std::array kNvmeTransports{ValueName{1, "RDMA"}, ValueName{2, "Fibre Channel"}, ValueName{3, "TCP"},
                                            ValueName{254, "intra-host"}};
inline constexpr std::array kNvmeAddressFamilies{
    ValueName{1, "IPv4"},          ValueName{2, "IPv6"},         ValueName{3, "InfiniBand"},
    ValueName{4, "Fibre Channel"}, ValueName{254, "intra-host"},
};
inline constexpr std::array kNvmeSubsystemTypes{ValueName{1, "discovery, of others"}, ValueName{2, "NVM subsystem"},
                                                ValueName{3, "discovery, this one"}};
inline constexpr std::array kNvmeRdmaServices{ValueName{1, "RC"}, ValueName{2, "RD"}};
inline constexpr std::array kNvmeRdmaProviders{ValueName{1, "none"}, ValueName{2, "InfiniBand"}, ValueName{3, "RoCE"},
                                               ValueName{4, "RoCEv2"}, ValueName{5, "iWARP"}};
inline constexpr std::array kNvmeRdmaCms{ValueName{1, "RDMA_IP_CM"}};
inline constexpr std::array kNvmeControllerTypes{ValueName{1, "I/O"}, ValueName{2, "discovery"},
                                                 ValueName{3, "administrative"}};

// Asynchronous events: type and information of DWORD 0 as type << 8 | information.
inline constexpr std::array kNvmeEvents{
    ValueName{0x000, "write to invalid doorbell"},
    ValueName{0x001, "invalid doorbell value"},
    ValueName{0x002, "diagnostic failure"},
    ValueName{0x003, "persistent internal error"},
    ValueName{0x004, "transient internal error"},
    ValueName{0x005, "firmware image load error"},
    ValueName{0x100, "subsystem reliability degraded"},
    ValueName{0x101, "temperature threshold crossed"},
    ValueName{0x102, "spare below threshold"},
    ValueName{0x200, "namespace attributes changed"},
    ValueName{0x201, "firmware activation starting"},
    ValueName{0x202, "telemetry log changed"},
    ValueName{0x203, "asymmetric namespace access changed"},
    ValueName{0x204, "predictable latency events changed"},
    ValueName{0x205, "LBA status information"},
    ValueName{0x206, "endurance group events changed"},
    ValueName{0x2ef, "zone descriptors changed"},
    ValueName{0x2f0, "discovery log changed"},
    ValueName{0x600, "reservation log available"},
    ValueName{0x601, "sanitize completed"},
    ValueName{0x602, "sanitize completed, deallocation unexpected"},
};

[[nodiscard]] constexpr std::string_view nvme_word(std::span<const ValueName> names, std::uint64_t value) {
    for (const ValueName& row : names)
        if (row.value == value) return row.name;
    return {};
}

}  // namespace qps::dissect
