// Field tables of what NVMe commands move: the data of Connect, structures of Identify, log pages, ranges of Dataset
// Management.
//
// It comes in capsules, by WRITE or in READ responses, often in pieces: a layer is as long as what there is of it, and
// fields behind that have no value.
#pragma once

#include <dissect/ulp/nvme_kinds.hpp>
#include <dissect/ulp/nvme_names.hpp>

namespace qps::dissect {

inline constexpr std::size_t kNvmeConnectData = 1024;
inline constexpr std::size_t kNvmeStructure = 4096;      // of Identify
inline constexpr std::size_t kNvmeDiscoveryPart = 1024;  // the head of the log, and each of its entries
inline constexpr std::size_t kNvmeSmart = 512;
inline constexpr std::size_t kNvmeRange = 16;
inline constexpr std::uint16_t kNqnBits = 256 * 8;

inline constexpr std::array kNvmeConnectDataFields{
    row::bytes("nvme.fabrics.cmd.connect.data.hostid", "Host identifier", at(0), 128),
    row::hex("nvme.fabrics.cmd.connect.data.cntrlid", "Controller ID, 0xffff: any", at(16), 16).le(),
    row::bytes("", "Reserved", at(18), 238 * 8),
    row::text("nvme.fabrics.cmd.connect.data.subnqn", "Subsystem NQN", at(256), kNqnBits),
    row::text("nvme.fabrics.cmd.connect.data.hostnqn", "Host NQN", at(512), kNqnBits),
    row::bytes("", "Reserved", at(768), 256 * 8),
};
static_assert(tiles(kNvmeConnectDataFields, kNvmeConnectData));

inline constexpr std::array kNvmeDatasetRangeFields{
    row::hex("rdma.nvme.dsm.range.attributes", "Context attributes", at(0), 32).le(),
    row::decimal("rdma.nvme.dsm.range.nlb", "Blocks", at(4), 32).le(),
    row::decimal("rdma.nvme.dsm.range.slba", "First LBA", at(8), 64).le(),
};
static_assert(tiles(kNvmeDatasetRangeFields, kNvmeRange));

inline constexpr std::array kNvmeControllerFields{
    row::hex("nvme.cmd.identify.ctrl.vid", "PCI vendor ID", at(0), 16).le(),
    row::hex("nvme.cmd.identify.ctrl.ssvid", "PCI subsystem vendor ID", at(2), 16).le(),
    row::text("nvme.cmd.identify.ctrl.sn", "Serial number", at(4), 160),
    row::text("nvme.cmd.identify.ctrl.mn", "Model number", at(24), 320),
    row::text("nvme.cmd.identify.ctrl.fr", "Firmware revision", at(64), 64),
    row::decimal("nvme.cmd.identify.ctrl.rab", "Arbitration burst as power of two", at(72), 8).le(),
    row::hex("nvme.cmd.identify.ctrl.ieee", "IEEE OUI", at(73), 24).le(),
    row::hex("nvme.cmd.identify.ctrl.cmic", "Multi-path capabilities", at(76), 8).le(),
    row::flag("nvme.cmd.identify.ctrl.cmic.mp", "Several ports", at(76)).le().part(),
    row::flag("nvme.cmd.identify.ctrl.cmic.mc", "Several controllers", at(76, 1)).le().part(),
    row::flag("nvme.cmd.identify.ctrl.cmic.sriov", "Of an SR-IOV virtual function", at(76, 2)).le().part(),
    row::flag("nvme.cmd.identify.ctrl.cmic.ana", "Reports asymmetric access", at(76, 3)).le().part(),
    row::decimal("nvme.cmd.identify.ctrl.mdts", "Most data of a command as power of two pages", at(77), 8).le(),
    row::hex("nvme.cmd.identify.ctrl.cntlid", "Controller ID", at(78), 16).le(),
    row::hex("nvme.cmd.identify.ctrl.ver", "Version", at(80), 32).le(),
    row::decimal("nvme.cmd.identify.ctrl.rtd3r", "RTD3 resume latency", at(84), 32).le().in("us"),
    row::decimal("nvme.cmd.identify.ctrl.rtd3e", "RTD3 entry latency", at(88), 32).le().in("us"),
    row::hex("nvme.cmd.identify.ctrl.oaes", "Asynchronous events", at(92), 32).le(),
    row::hex("nvme.cmd.identify.ctrl.ctratt", "Attributes", at(96), 32).le(),
    row::flag("nvme.cmd.identify.ctrl.ctratt.hi_128", "Host identifiers of 128 bits", at(96)).le().part(),
    row::flag("nvme.cmd.identify.ctrl.ctratt.tbkas", "Any command keeps alive", at(96, 6)).le().part(),
    row::hex("rdma.nvme.identify.ctrl.rrls", "Read recovery levels", at(100), 16).le(),
    row::bytes("", "Reserved", at(102), 9 * 8),
    row::decimal("nvme.cmd.identify.ctrl.cntrltype", "Controller type", at(111), 8).le().named(kNvmeControllerTypes),
    row::bytes("nvme.cmd.identify.ctrl.fguid", "FRU identifier", at(112), 128),
    row::decimal("nvme.cmd.identify.ctrl.crdt1", "Command retry delay 1", at(128), 16).le(),
    row::decimal("nvme.cmd.identify.ctrl.crdt2", "Command retry delay 2", at(130), 16).le(),
    row::decimal("nvme.cmd.identify.ctrl.crdt3", "Command retry delay 3", at(132), 16).le(),
    row::bytes("", "Reserved", at(134), 122 * 8),
    row::hex("nvme.cmd.identify.ctrl.oacs", "Optional admin commands", at(256), 16).le(),
    row::decimal("nvme.cmd.identify.ctrl.acl", "Aborts at a time less one", at(258), 8).le(),
    row::decimal("nvme.cmd.identify.ctrl.aerl", "Asynchronous event requests at a time less one", at(259), 8).le(),
    row::hex("nvme.cmd.identify.ctrl.frmw", "Firmware updates", at(260), 8).le(),
    row::hex("nvme.cmd.identify.ctrl.lpa", "Log page attributes", at(261), 8).le(),
    row::decimal("nvme.cmd.identify.ctrl.elpe", "Error log entries less one", at(262), 8).le(),
    row::decimal("nvme.cmd.identify.ctrl.npss", "Power states less one", at(263), 8).le(),
    row::hex("nvme.cmd.identify.ctrl.avscc", "Vendor specific admin commands", at(264), 8).le(),
    row::hex("nvme.cmd.identify.ctrl.apsta", "Autonomous power states", at(265), 8).le(),
    row::decimal("nvme.cmd.identify.ctrl.wctemp", "Warning temperature", at(266), 16).le().in("K"),
    row::decimal("nvme.cmd.identify.ctrl.cctemp", "Critical temperature", at(268), 16).le().in("K"),
    row::decimal("nvme.cmd.identify.ctrl.mtfa", "Firmware activation time", at(270), 16).le(),
    row::decimal("nvme.cmd.identify.ctrl.hmpre", "Host memory buffer, preferred", at(272), 32).le(),
    row::decimal("nvme.cmd.identify.ctrl.hmmin", "Host memory buffer, minimum", at(276), 32).le(),
    row::bytes("nvme.cmd.identify.ctrl.tnvmcap", "Capacity", at(280), 128),
    row::bytes("nvme.cmd.identify.ctrl.unvmcap", "Capacity not allocated", at(296), 128),
    row::hex("nvme.cmd.identify.ctrl.rpmbs", "Replay protected memory", at(312), 32).le(),
    row::decimal("nvme.cmd.identify.ctrl.edstt", "Extended self-test time", at(316), 16).le().in("min"),
    row::hex("nvme.cmd.identify.ctrl.dsto", "Self-test options", at(318), 8).le(),
    row::decimal("nvme.cmd.identify.ctrl.fwug", "Firmware update granularity", at(319), 8).le(),
    row::decimal("nvme.cmd.identify.ctrl.kas", "Keep alive granularity in 100 ms", at(320), 16).le(),
    row::hex("nvme.cmd.identify.ctrl.hctma", "Thermal management", at(322), 16).le(),
    row::decimal("nvme.cmd.identify.ctrl.mntmt", "Thermal management, lowest", at(324), 16).le().in("K"),
    row::decimal("nvme.cmd.identify.ctrl.mxtmt", "Thermal management, highest", at(326), 16).le().in("K"),
    row::hex("nvme.cmd.identify.ctrl.sanicap", "Sanitize", at(328), 32).le(),
    row::decimal("nvme.cmd.identify.ctrl.hmmminds", "Host memory buffer, smallest piece", at(332), 32).le(),
    row::decimal("nvme.cmd.identify.ctrl.hmmaxd", "Host memory buffer, most pieces", at(336), 16).le(),
    row::decimal("nvme.cmd.identify.ctrl.nsetidmax", "NVM set IDs", at(338), 16).le(),
    row::decimal("nvme.cmd.identify.ctrl.endgidmax", "Endurance group IDs", at(340), 16).le(),
    row::decimal("nvme.cmd.identify.ctrl.anatt", "ANA transition time", at(342), 8).le().in("s"),
    row::hex("nvme.cmd.identify.ctrl.anacap", "ANA capabilities", at(343), 8).le(),
    row::decimal("nvme.cmd.identify.ctrl.anagrpmax", "ANA group IDs", at(344), 32).le(),
    row::decimal("nvme.cmd.identify.ctrl.nanagrpid", "ANA groups", at(348), 32).le(),
    row::decimal("nvme.cmd.identify.ctrl.pels", "Persistent event log in 64 KiB", at(352), 32).le(),
    row::bytes("", "Reserved", at(356), 156 * 8),
    row::hex("nvme.cmd.identify.ctrl.sqes", "Submission queue entry sizes", at(512), 8).le(),
    row::hex("nvme.cmd.identify.ctrl.cqes", "Completion queue entry sizes", at(513), 8).le(),
    row::decimal("nvme.cmd.identify.ctrl.maxcmd", "Most commands outstanding", at(514), 16).le(),
    row::decimal("nvme.cmd.identify.ctrl.nn", "Namespaces", at(516), 32).le(),
    row::hex("nvme.cmd.identify.ctrl.oncs", "Optional NVM commands", at(520), 16).le(),
    row::flag("nvme.cmd.identify.ctrl.oncs.ccs", "Compare", at(520)).le().part(),
    row::flag("nvme.cmd.identify.ctrl.oncs.wus", "Write Uncorrectable", at(520, 1)).le().part(),
    row::flag("nvme.cmd.identify.ctrl.oncs.dsms", "Dataset Management", at(520, 2)).le().part(),
    row::flag("nvme.cmd.identify.ctrl.oncs.wzs", "Write Zeroes", at(520, 3)).le().part(),
    row::flag("nvme.cmd.identify.ctrl.oncs.ress", "Reservations", at(520, 5)).le().part(),
    row::hex("nvme.cmd.identify.ctrl.fuses", "Fused operations", at(522), 16).le(),
    row::hex("nvme.cmd.identify.ctrl.fna", "Format attributes", at(524), 8).le(),
    row::hex("nvme.cmd.identify.ctrl.vwc", "Volatile write cache", at(525), 8).le(),
    row::flag("nvme.cmd.identify.ctrl.vwc.cp", "Volatile write cache present", at(525)).le().part(),
    row::decimal("nvme.cmd.identify.ctrl.awun", "Atomic write less one", at(526), 16).le(),
    row::decimal("nvme.cmd.identify.ctrl.awupf", "Atomic write at power failure less one", at(528), 16).le(),
    row::hex("nvme.cmd.identify.ctrl.nvscc", "Vendor specific I/O commands", at(530), 8).le(),
    row::hex("nvme.cmd.identify.ctrl.nwpc", "Namespace write protection", at(531), 8).le(),
    row::decimal("nvme.cmd.identify.ctrl.acwu", "Atomic compare and write less one", at(532), 16).le(),
    row::bytes("", "Copy formats", at(534), 16),
    row::hex("nvme.cmd.identify.ctrl.sgls", "SGL support", at(536), 32).le(),
    row::flag("nvme.cmd.identify.ctrl.sgls.kdbs", "Keyed data blocks", at(536, 2)).le().part(),
    row::flag("nvme.cmd.identify.ctrl.sgls.offs", "Offsets into the capsule", at(536, 20)).le().part(),
    row::decimal("nvme.cmd.identify.ctrl.mnan", "Most namespaces", at(540), 32).le(),
    row::bytes("", "Reserved", at(544), 224 * 8),
    row::text("nvme.cmd.identify.ctrl.subnqn", "Subsystem NQN", at(768), kNqnBits),
    row::bytes("", "Reserved", at(1024), 768 * 8),
    row::decimal("nvme.cmd.identify.ctrl.nvmeof.ioccsz", "Command capsule of I/O queues in 16 bytes", at(1792), 32)
        .le(),
    row::decimal("nvme.cmd.identify.ctrl.nvmeof.iorcsz", "Response capsule of I/O queues in 16 bytes", at(1796), 32)
        .le(),
    row::decimal("nvme.cmd.identify.ctrl.nvmeof.icdoff", "In-capsule data offset in 16 bytes", at(1800), 16).le(),
    row::hex("nvme.cmd.identify.ctrl.nvmeof.fcatt", "Fabrics attributes", at(1802), 8).le(),
    row::flag("nvme.cmd.identify.ctrl.nvmeof.fcatt.dcm", "Static controller", at(1802)).le().part(),
    row::decimal("nvme.cmd.identify.ctrl.nvmeof.msdbd", "Most SGL data blocks", at(1803), 8).le(),
    row::hex("nvme.cmd.identify.ctrl.nvmeof.ofcs", "Optional fabrics commands", at(1804), 16).le(),
    row::flag("nvme.cmd.identify.ctrl.nvmeof.ofcs.dcs", "Disconnect", at(1804)).le().part(),
    row::bytes("", "Reserved", at(1806), 242 * 8),
    row::bytes("", "Power states", at(2048), 1024 * 8),
    row::bytes("nvme.cmd.identify.ctrl.vs", "Vendor specific", at(3072), 1024 * 8),
};
static_assert(tiles(kNvmeControllerFields, kNvmeStructure));

inline constexpr std::array kNvmeNamespaceFields{
    row::decimal("nvme.cmd.identify.ns.nsze", "Size", at(0), 64).le().in("blocks"),
    row::decimal("nvme.cmd.identify.ns.ncap", "Capacity", at(8), 64).le().in("blocks"),
    row::decimal("nvme.cmd.identify.ns.nuse", "Utilization", at(16), 64).le().in("blocks"),
    row::hex("nvme.cmd.identify.ns.nsfeat", "Features", at(24), 8).le(),
    row::decimal("nvme.cmd.identify.ns.nlbaf", "Formats less one", at(25), 8).le(),
    row::hex("nvme.cmd.identify.ns.flbas", "Format in use", at(26), 8).le(),
    row::hex("nvme.cmd.identify.ns.mc", "Metadata capabilities", at(27), 8).le(),
    row::hex("nvme.cmd.identify.ns.dpc", "Protection capabilities", at(28), 8).le(),
    row::hex("nvme.cmd.identify.ns.dps", "Protection settings", at(29), 8).le(),
    row::hex("nvme.cmd.identify.ns.nmic", "Sharing", at(30), 8).le(),
    row::hex("rdma.nvme.identify.ns.rescap", "Reservations", at(31), 8).le(),
    row::hex("rdma.nvme.identify.ns.fpi", "Format progress", at(32), 8).le(),
    row::hex("rdma.nvme.identify.ns.dlfeat", "Deallocation", at(33), 8).le(),
    row::bytes("", "Atomic writes and boundaries", at(34), 14 * 8),
    row::bytes("rdma.nvme.identify.ns.nvmcap", "Capacity in bytes", at(48), 128),
    row::bytes("", "Preferred granularities", at(64), 28 * 8),
    row::decimal("rdma.nvme.identify.ns.anagrpid", "ANA group", at(92), 32).le(),
    row::bytes("", "Reserved", at(96), 3 * 8),
    row::hex("rdma.nvme.identify.ns.nsattr", "Attributes", at(99), 8).le(),
    row::decimal("rdma.nvme.identify.ns.nvmsetid", "NVM set", at(100), 16).le(),
    row::decimal("rdma.nvme.identify.ns.endgid", "Endurance group", at(102), 16).le(),
    row::bytes("nvme.cmd.identify.ns.nguid", "NGUID", at(104), 128),
    row::bytes("nvme.cmd.identify.ns.eui64", "EUI-64", at(120), 64),
    row::bytes("rdma.nvme.identify.ns.lbafs", "Formats, metadata and size of blocks", at(128), 256 * 8),
    row::bytes("nvme.cmd.identify.ns.vs", "Vendor specific", at(384), 3712 * 8),
};
static_assert(tiles(kNvmeNamespaceFields, kNvmeStructure));

inline constexpr std::array kNvmeDiscoveryFields{
    row::decimal("nvme.cmd.get_logpage.identify.genctr", "Generation", at(0), 64).le(),
    row::decimal("nvme.cmd.get_logpage.identify.numrec", "Entries", at(8), 64).le(),
    row::decimal("nvme.cmd.get_logpage.identify.recfmt", "Record format", at(16), 16).le(),
    row::bytes("", "Reserved", at(18), 1006 * 8),
};
static_assert(tiles(kNvmeDiscoveryFields, kNvmeDiscoveryPart));

inline constexpr std::uint64_t kNvmeOverRdma = 1;  // transport type

inline constexpr std::array kNvmeDiscoveryEntryFields{
    row::decimal("nvme.cmd.get_logpage.identify.rcrd.trtype", "Transport", at(0), 8).le().named(kNvmeTransports),
    row::decimal("nvme.cmd.get_logpage.identify.rcrd.adrfam", "Address family", at(1), 8)
        .le()
        .named(kNvmeAddressFamilies),
    row::decimal("nvme.cmd.get_logpage.identify.rcrd.subtype", "Subsystem type", at(2), 8)
        .le()
        .named(kNvmeSubsystemTypes),
    row::hex("nvme.cmd.get_logpage.identify.rcrd.treq", "Transport requirements", at(3), 8).le(),
    row::decimal("nvme.cmd.get_logpage.identify.rcrd.portid", "Port ID", at(4), 16).le(),
    row::hex("nvme.cmd.get_logpage.identify.rcrd.cntlid", "Controller ID, 0xffff: any", at(6), 16).le(),
    row::decimal("nvme.cmd.get_logpage.identify.rcrd.asqsz", "Admin submission queue size", at(8), 16).le(),
    row::hex("rdma.nvme.discovery.eflags", "Entry flags", at(10), 16).le(),
    row::bytes("", "Reserved", at(12), 20 * 8),
    row::text("nvme.cmd.get_logpage.identify.rcrd.trsvcid", "Transport service", at(32), 32 * 8),
    row::bytes("", "Reserved", at(64), 192 * 8),
    row::text("nvme.cmd.get_logpage.identify.rcrd.subnqn", "Subsystem NQN", at(256), kNqnBits),
    row::text("nvme.cmd.get_logpage.identify.rcrd.traddr", "Transport address", at(512), kNqnBits),
    row::bytes("", "Transport specific", at(768), 256 * 8),
    row::decimal("nvme.cmd.get_logpage.identify.rcrd.tsas.rdma_qptype", "Queue pair type", at(768), 8)
        .le()
        .part()
        .only_if(at(0), 8, kNvmeOverRdma)
        .named(kNvmeRdmaServices),
    row::decimal("nvme.cmd.get_logpage.identify.rcrd.tsas.rdma_prtype", "Provider", at(769), 8)
        .le()
        .part()
        .only_if(at(0), 8, kNvmeOverRdma)
        .named(kNvmeRdmaProviders),
    row::decimal("nvme.cmd.get_logpage.identify.rcrd.tsas.rdma_cms", "Connection management", at(770), 8)
        .le()
        .part()
        .only_if(at(0), 8, kNvmeOverRdma)
        .named(kNvmeRdmaCms),
    row::hex("nvme.cmd.get_logpage.identify.rcrd.tsas.rdma_pkey", "Partition key", at(776), 16)
        .le()
        .part()
        .only_if(at(0), 8, kNvmeOverRdma),
};
static_assert(tiles(kNvmeDiscoveryEntryFields, kNvmeDiscoveryPart));

inline constexpr std::array kNvmeSmartFields{
    row::hex("nvme.cmd.get_logpage.smart.cw", "Critical warning", at(0), 8).le(),
    row::flag("nvme.cmd.get_logpage.smart.cw.sc", "Spare below threshold", at(0)).le().part(),
    row::flag("nvme.cmd.get_logpage.smart.cw.temp", "Temperature beyond threshold", at(0, 1)).le().part(),
    row::flag("nvme.cmd.get_logpage.smart.cw.sme", "Reliability degraded", at(0, 2)).le().part(),
    row::flag("nvme.cmd.get_logpage.smart.cw.ro", "Read only", at(0, 3)).le().part(),
    row::flag("nvme.cmd.get_logpage.smart.cw.bdf", "Backup of volatile memory failed", at(0, 4)).le().part(),
    row::decimal("nvme.cmd.get_logpage.smart.ct", "Temperature", at(1), 16).le().in("K"),
    row::decimal("nvme.cmd.get_logpage.smart.asc", "Available spare", at(3), 8).le().in("%"),
    row::decimal("nvme.cmd.get_logpage.smart.ast", "Available spare, threshold", at(4), 8).le().in("%"),
    row::decimal("nvme.cmd.get_logpage.smart.lae", "Percentage used", at(5), 8).le().in("%"),
    row::hex("nvme.cmd.get_logpage.smart.egcws", "Endurance group warnings", at(6), 8).le(),
    row::bytes("", "Reserved", at(7), 25 * 8),
    row::bytes("nvme.cmd.get_logpage.smart.dur", "Data units read", at(32), 128),
    row::bytes("nvme.cmd.get_logpage.smart.duw", "Data units written", at(48), 128),
    row::bytes("nvme.cmd.get_logpage.smart.hrc", "Read commands", at(64), 128),
    row::bytes("nvme.cmd.get_logpage.smart.hwc", "Write commands", at(80), 128),
    row::bytes("nvme.cmd.get_logpage.smart.cbt", "Busy minutes", at(96), 128),
    row::bytes("nvme.cmd.get_logpage.smart.pc", "Power cycles", at(112), 128),
    row::bytes("nvme.cmd.get_logpage.smart.poh", "Hours powered on", at(128), 128),
    row::bytes("nvme.cmd.get_logpage.smart.us", "Unsafe shutdowns", at(144), 128),
    row::bytes("nvme.cmd.get_logpage.smart.mie", "Media errors", at(160), 128),
    row::bytes("nvme.cmd.get_logpage.smart.ele", "Error log entries", at(176), 128),
    row::decimal("nvme.cmd.get_logpage.smart.wctt", "Time above the warning temperature", at(192), 32).le().in("min"),
    row::decimal("nvme.cmd.get_logpage.smart.cctt", "Time above the critical temperature", at(196), 32).le().in("min"),
    row::bytes("nvme.cmd.get_logpage.smart.ts", "Temperature sensors", at(200), 128),
    row::decimal("nvme.cmd.get_logpage.smart.tmt1c", "Thermal management 1, transitions", at(216), 32).le(),
    row::decimal("nvme.cmd.get_logpage.smart.tmt2c", "Thermal management 2, transitions", at(220), 32).le(),
    row::decimal("nvme.cmd.get_logpage.smart.tmt1t", "Thermal management 1, time", at(224), 32).le().in("s"),
    row::decimal("nvme.cmd.get_logpage.smart.tmt2t", "Thermal management 2, time", at(228), 32).le().in("s"),
    row::bytes("", "Reserved", at(232), 280 * 8),
};
static_assert(tiles(kNvmeSmartFields, kNvmeSmart));

}  // namespace qps::dissect
