#include <transport-replay/live/device/xdp_program.hpp>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <fmt/format.h>
#include <linux/bpf.h>
#include <linux/if_link.h>

namespace qps::transport::live {

using namespace dissect;

namespace {

constexpr std::string_view kRights = "AF_XDP needs CAP_NET_RAW, CAP_NET_ADMIN and CAP_BPF";

std::unexpected<std::string> refused(std::string_view what, int error) {
    if (error == EPERM || error == EACCES) return std::unexpected(std::string(kRights));
    return std::unexpected(fmt::format("{}: {}", what, std::generic_category().message(error)));
}

// Registers by what they hold; of the instruction set of BPF (RFC 9669) r1 to r5 are arguments and lost with a call.
enum class Register : std::uint8_t { result = 0, context = 1, frame = 2, end = 3, limit = 4, value = 5, words = 6 };

constexpr std::int16_t kVlanTag = 4;
constexpr std::int16_t kEtherType = 12;
constexpr std::int16_t kNetworkHeader = 14;

// What is needed of each network: how many bytes, and where the destination is.
constexpr std::int32_t kIpv4Bytes = kNetworkHeader + 20 + 8;
constexpr std::int32_t kIpv6Bytes = kNetworkHeader + 40 + 8;
constexpr std::int16_t kIpv4Fragment = kNetworkHeader + 6, kIpv4Protocol = kNetworkHeader + 9,
                       kIpv4Destination = kNetworkHeader + 16;
constexpr std::int16_t kIpv6NextHeader = kNetworkHeader + 6,
                       kIpv6Destination = kNetworkHeader + 24;  // of a GRH too (A16, A17)
constexpr std::int16_t kUdpDestination = 2;                     // from the beginning of UDP

constexpr std::int32_t kIpv4WithoutOptions = 0x45, kFragmentMask = 0x3fff;  // more fragments, offset
constexpr std::int32_t kUdp = 17, kBthFollows = 0x1b, kRocePort = 4791;
constexpr std::int32_t kVlan = 0x8100, kServiceVlan = 0x88a8, kIpv4 = 0x0800, kIpv6 = 0x86dd, kRoceV1 = 0x8915;

std::int32_t in_frame16(std::int32_t value) { return htons(static_cast<std::uint16_t>(value)); }
std::int32_t in_frame32(std::uint32_t value) { return static_cast<std::int32_t>(htonl(value)); }

// Instructions with jumps to places that come later. BPF_ADD, BPF_K and BPF_IMM are 0.
class Assembler {
public:
    enum class Label : std::size_t {};

    [[nodiscard]] Label label() {
        places_.push_back(0);
        return Label{places_.size() - 1};
    }
    void place(Label label) { places_[std::to_underlying(label)] = code_.size(); }
    void add(unsigned code, Register to, Register from, std::int16_t offset, std::int32_t value) {
        bpf_insn made{};
        made.code = static_cast<std::uint8_t>(code);
        made.dst_reg = std::to_underlying(to) & 0xfU;
        made.src_reg = std::to_underlying(from) & 0xfU;
        made.off = offset;
        made.imm = value;
        code_.push_back(made);
    }
    void load(unsigned size, Register to, Register from, std::int16_t offset) {
        add(BPF_LDX | BPF_MEM | size, to, from, offset, 0);
    }
    void copy(Register to, Register from) { add(BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0); }
    void set(Register to, std::int32_t value) { add(BPF_ALU64 | BPF_MOV | BPF_K, to, {}, 0, value); }
    void increase(Register which, std::int32_t by) { add(BPF_ALU64 | BPF_ADD, which, {}, 0, by); }
    void jump(Label to) { jump_by(BPF_JMP | BPF_JA, {}, {}, 0, to); }
    void jump_if_beyond(Register which, Register end, Label to) {
        jump_by(BPF_JMP | BPF_JGT | BPF_X, which, end, 0, to);
    }
    void jump_if(Register which, std::int32_t value, Label to) {
        jump_by(BPF_JMP32 | BPF_JEQ | BPF_K, which, {}, value, to);
    }
    void jump_unless(Register which, std::int32_t value, Label to) {
        jump_by(BPF_JMP32 | BPF_JNE | BPF_K, which, {}, value, to);
    }
    void jump_if_bits(Register which, std::int32_t mask, Label to) {
        jump_by(BPF_JMP32 | BPF_JSET | BPF_K, which, {}, mask, to);
    }

    [[nodiscard]] std::vector<bpf_insn> finish() {
        for (const auto& [at, label] : jumps_)
            code_[at].off = static_cast<std::int16_t>(places_[std::to_underlying(label)] - at - 1);
        return std::move(code_);
    }

private:
    void jump_by(unsigned code, Register which, Register other, std::int32_t value, Label to) {
        jumps_.emplace_back(code_.size(), to);
        add(code, which, other, 0, value);
    }

    std::vector<bpf_insn> code_;
    std::vector<std::size_t> places_;
    std::vector<std::pair<std::size_t, Label>> jumps_;
};

struct Labels {
    Assembler::Label take;
    Assembler::Label pass;
};

// Falls through where the frame has that many bytes.
void need(Assembler& code, std::int32_t bytes, const Labels& labels) {
    code.copy(Register::limit, Register::frame);
    code.increase(Register::limit, bytes);
    code.jump_if_beyond(Register::limit, Register::end, labels.pass);
}

// Each compares the value that it loads; a frame that has another one is passed on.
void require(Assembler& code, unsigned size, std::int16_t offset, std::int32_t value, const Labels& labels) {
    code.load(size, Register::value, Register::frame, offset);
    code.jump_unless(Register::value, value, labels.pass);
}

void judge_ipv4(Assembler& code, std::span<const Address> addresses, const Labels& labels) {
    need(code, kIpv4Bytes, labels);
    require(code, BPF_B, kNetworkHeader, kIpv4WithoutOptions, labels);
    require(code, BPF_B, kIpv4Protocol, kUdp, labels);
    require(code, BPF_H, kNetworkHeader + 20 + kUdpDestination, in_frame16(kRocePort), labels);
    code.load(BPF_H, Register::value, Register::frame, kIpv4Fragment);
    code.jump_if_bits(Register::value, in_frame16(kFragmentMask), labels.pass);
    code.load(BPF_W, Register::value, Register::frame, kIpv4Destination);
    for (const Address& each : addresses)
        if (each.bits[0] == 0 && each.bits[1] >> 32 == 0xffff)
            code.jump_if(Register::value, in_frame32(static_cast<std::uint32_t>(each.bits[1])), labels.take);
    code.jump(labels.pass);
}

// An IPv6 address or a GID, a word at a time, so that it may lie anywhere.
void judge_wide(Assembler& code, std::span<const Address> addresses, const Labels& labels) {
    const auto word = [](std::size_t i) { return static_cast<Register>(std::to_underlying(Register::words) + i); };
    for (std::size_t i = 0; i < 4; ++i)
        code.load(BPF_W, word(i), Register::frame,
                  static_cast<std::int16_t>(kIpv6Destination + static_cast<std::int16_t>(4 * i)));
    for (const Address& each : addresses) {
        const auto next = code.label();
        for (std::size_t i = 0; i < 4; ++i)
            code.jump_unless(word(i), in_frame32(static_cast<std::uint32_t>(each.bits[i / 2] >> (i % 2 == 0 ? 32 : 0))),
                             next);
        code.jump(labels.take);
        code.place(next);
    }
    code.jump(labels.pass);
}

void judge(Assembler& code, std::span<const Address> addresses, const Labels& labels) {
    const auto untagged = code.label(), ipv4 = code.label(), ipv6 = code.label(), roce_v1 = code.label();
    code.load(BPF_W, Register::frame, Register::context, offsetof(xdp_md, data));
    code.load(BPF_W, Register::end, Register::context, offsetof(xdp_md, data_end));
    need(code, kNetworkHeader, labels);
    code.load(BPF_H, Register::value, Register::frame, kEtherType);
    for (int tags = 0; tags < 2; ++tags) {
        const auto tagged = code.label();
        code.jump_if(Register::value, in_frame16(kVlan), tagged);
        code.jump_unless(Register::value, in_frame16(kServiceVlan), untagged);
        code.place(tagged);
        code.increase(Register::frame, kVlanTag);
        need(code, kNetworkHeader, labels);
        code.load(BPF_H, Register::value, Register::frame, kEtherType);
    }
    code.place(untagged);
    code.jump_if(Register::value, in_frame16(kIpv4), ipv4);
    code.jump_if(Register::value, in_frame16(kIpv6), ipv6);
    code.jump_if(Register::value, in_frame16(kRoceV1), roce_v1);
    code.jump(labels.pass);

    code.place(ipv4);
    judge_ipv4(code, addresses, labels);
    code.place(ipv6);
    need(code, kIpv6Bytes, labels);
    require(code, BPF_B, kIpv6NextHeader, kUdp, labels);
    require(code, BPF_H, kNetworkHeader + 40 + kUdpDestination, in_frame16(kRocePort), labels);
    judge_wide(code, addresses, labels);
    code.place(roce_v1);
    need(code, kIpv6Bytes, labels);
    require(code, BPF_B, kIpv6NextHeader, kBthFollows, labels);
    judge_wide(code, addresses, labels);
}

// To the socket of the queue that the frame came by; where it has none, as if there were no program.
std::vector<bpf_insn> assemble(std::span<const Address> addresses, int sockets) {
    Assembler code;
    const Labels labels{.take = code.label(), .pass = code.label()};
    if (!addresses.empty()) {
        judge(code, addresses.first(std::min(addresses.size(), kMaxXdpAddresses)), labels);
        code.place(labels.pass);
        code.set(Register::result, XDP_PASS);
        code.add(BPF_JMP | BPF_EXIT, {}, {}, 0, 0);
    }
    code.place(labels.take);
    code.load(BPF_W, Register::frame, Register::context, offsetof(xdp_md, rx_queue_index));  // the second argument, r2
    code.add(BPF_LD | BPF_DW, Register::context, Register{BPF_PSEUDO_MAP_FD}, 0, sockets);
    code.add(0, {}, {}, 0, 0);  // the upper half of the immediate
    code.set(Register::end, XDP_PASS);
    code.add(BPF_JMP | BPF_CALL, {}, {}, 0, BPF_FUNC_redirect_map);
    code.add(BPF_JMP | BPF_EXIT, {}, {}, 0, 0);
    return code.finish();
}

}  // namespace

std::expected<XdpProgram, std::string> XdpProgram::load(std::span<const Address> addresses) {
    XdpProgram made;
    made.sockets_ = Descriptor(
        bpf_map_create(BPF_MAP_TYPE_XSKMAP, "qpscope", sizeof(int), sizeof(int), kMaxXdpQueues, nullptr), true);
    if (made.sockets_.number() < 0) return refused("no map of BPF for AF_XDP", errno);
    const std::vector<bpf_insn> code = assemble(addresses, made.sockets_.number());
    // The helper that it calls is for programs of every licence.
    made.program_ =
        Descriptor(bpf_prog_load(BPF_PROG_TYPE_XDP, "qpscope", "Apache-2.0", code.data(), code.size(), nullptr), true);
    if (made.program_.number() < 0) return refused("the kernel does not accept the XDP program", errno);
    return made;
}

std::expected<void, std::string> XdpProgram::direct(unsigned queue, int socket) {
    if (bpf_map_update_elem(sockets_.number(), &queue, &socket, BPF_ANY) != 0)
        return refused("no AF_XDP socket for a queue", errno);
    return {};
}

// Frames must be in one piece for us. A driver that has longer ones in several, with a large MTU, refuses our program
// (a veth from an MTU of 3507 on); before the network stack the kernel makes them one.
std::expected<void, std::string> XdpProgram::attach(unsigned interface_index) {
    int error = 0;
    for (const unsigned mode : {XDP_FLAGS_DRV_MODE, XDP_FLAGS_SKB_MODE}) {
        bpf_link_create_opts options{};
        options.sz = sizeof(options);
        options.flags = mode;
        link_ =
            Descriptor(bpf_link_create(program_.number(), static_cast<int>(interface_index), BPF_XDP, &options), true);
        in_driver_ = mode == XDP_FLAGS_DRV_MODE;
        if (link_.number() >= 0) return {};
        error = errno;
        if (error == EBUSY || error == EEXIST) return std::unexpected("another XDP program is attached to it");
    }
    return refused("an XDP program cannot be attached to it", error);
}

}  // namespace qps::transport::live
