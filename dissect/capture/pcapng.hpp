// The pcapng format: sections of blocks (draft-ietf-opsawg-pcapng). Every section has its own byte order and
// interfaces.
//
// An attacker owns every length, interface number and resolution. A block must be a multiple of four long, hold its own
// fixed part and repeat its length at its end; whatever contradicts itself is damage and ends the reading, since the
// place of the next block is no longer known. Times that do not fit an Instant are held at its ends.
#pragma once

#include <dissect/capture/record_walk.hpp>

#include <optional>
#include <span>
#include <string_view>

namespace qps::dissect {

inline constexpr std::uint32_t kSectionHeaderBlock = 0x0a0d0d0a;  // the same in both byte orders
inline constexpr std::uint32_t kByteOrderMagic = 0x1a2b3c4d;
// As many bytes of a file as tell that it is pcapng, and whole in every valid one: type to section length.
inline constexpr std::size_t kPcapngHeader = 24;

// Interfaces over all sections; a file of nothing but interface blocks would make millions. One for each of 65536
// virtual functions in a few sections is more than any machine has.
inline constexpr std::size_t kMaxInterfaces = 262'144;
// Longest interface name kept, in bytes: Linux has 15, Windows about 60.
inline constexpr std::size_t kMaxInterfaceName = 256;

// How the comment of a section begins whose capture lacks packets that somebody left out on purpose, not the network or
// the recorder.
inline constexpr std::string_view kSliceComment = "a slice of a capture: what it lacks was left out";

struct Interface {
    LinkType link = LinkType::ethernet;
    BitsPerSecond speed{};          // if_speed; 0 where the file does not say
    std::uint32_t snap_length = 0;  // 0: no limit
    std::string name;               // if_name, as the file has it: escape before showing
    std::uint8_t resolution = 6;    // if_tsresol: 10^-n seconds, or 2^-n where the upper bit is set
    std::int64_t time_offset = 0;   // if_tsoffset, seconds
    // The last statistics of the interface, where the file has some.
    bool has_statistics = false;
    std::uint64_t received = 0;           // isb_ifrecv: frames
    std::uint64_t dropped = 0;            // isb_ifdrop: by the interface
    std::uint64_t dropped_by_system = 0;  // isb_osdrop
};

// Blocks that were passed over.
struct SkippedBlocks {
    std::uint64_t names = 0;    // name resolution
    std::uint64_t secrets = 0;  // decryption secrets
    std::uint64_t custom = 0;
    std::uint64_t unknown = 0;
    [[nodiscard]] std::uint64_t total() const { return names + secrets + custom + unknown; }
};

// True where `bytes` (at least kPcapngHeader of them) start a pcapng file.
[[nodiscard]] bool is_pcapng(Bytes bytes);

// What every frame of an interface needs, apart from what only people read.
struct FrameOrigin {
    LinkType link = LinkType::ethernet;
    BitsPerSecond speed{};
    std::uint32_t snap_length = 0;
    std::uint64_t multiply = 1000;  // nanoseconds = ticks * multiply / divide / 2^shift + offset
    std::uint64_t divide = 1;
    std::uint32_t shift = 0;
    std::int64_t offset = 0;  // nanoseconds
};

struct PcapngSection {
    std::uint64_t start = 0;  // of its header in the uncompressed file
    ByteOrder order = ByteOrder::little;
    std::uint32_t first_interface = 0;  // counted over all sections
};

// Sections whose places are kept, for reading frames again. A recorder begins one each time it is started.
inline constexpr std::size_t kMaxSections = 65'536;

// The length of the block that begins with `start` (at least kPcapngBlockStart bytes of it), or nothing where it is
// none that a block can have.
inline constexpr std::size_t kPcapngBlockStart = 8;
[[nodiscard]] std::optional<std::size_t> pcapng_block_length(Bytes start, ByteOrder order);

// The frame of one whole block, as the walk over its section would give it but for index, elapsed time and file offset.
// `origins` are the interfaces of the section. Nothing where the block is no packet or contradicts itself.
[[nodiscard]] std::optional<Frame> pcapng_frame(Bytes block, const PcapngSection& section,
                                                std::span<const FrameOrigin> origins);

class PcapngWalk {
public:
    // Appends the frames of whole blocks to `frames` until one of the ends of WalkEnd. Throws std::bad_alloc.
    [[nodiscard]] WalkResult walk(Window& window, FrameClock& timeline, std::vector<Frame>& frames);

    [[nodiscard]] std::span<const Interface> interfaces() const { return interfaces_; }
    [[nodiscard]] const SkippedBlocks& skipped() const { return skipped_; }

    // Whether a section so far says that it is a slice (kSliceComment).
    [[nodiscard]] bool is_slice() const { return is_slice_; }

    // What pcapng_frame() needs: parallel to interfaces(), and the first kMaxSections sections.
    [[nodiscard]] std::span<const FrameOrigin> origins() const { return origins_; }
    [[nodiscard]] std::span<const PcapngSection> sections() const { return sections_; }
    // The section that is being walked.
    [[nodiscard]] PcapngSection section() const { return {0, order_, static_cast<std::uint32_t>(first_of_section_)}; }
    // Where the first section starts that is not among them, where there is one.
    [[nodiscard]] std::optional<std::uint64_t> first_lost_section() const { return first_lost_section_; }

private:
    template <ByteOrder order>
    WalkResult walk_section(Window& window, FrameClock& timeline, std::vector<Frame>& frames);
    template <ByteOrder order>
    std::string take_block(std::uint32_t type, Bytes block, std::uint64_t offset, FrameClock& timeline,
                           std::vector<Frame>& frames);
    template <ByteOrder order> std::string take_section_header(Bytes block, std::uint64_t offset);
    template <ByteOrder order> std::string take_interface(Bytes block);
    template <ByteOrder order> void take_statistics(Bytes block);
    template <ByteOrder order>
    std::string take_packet(std::uint32_t type, Bytes block, std::uint64_t offset, FrameClock& timeline,
                            std::vector<Frame>& frames);
    void skip(std::uint32_t type);

    ByteOrder order_ = ByteOrder::little;
    std::size_t first_of_section_ = 0;  // index of the section's interface 0
    std::vector<Interface> interfaces_;
    std::vector<FrameOrigin> origins_;  // parallel to interfaces_
    std::vector<PcapngSection> sections_;
    std::optional<std::uint64_t> first_lost_section_;
    SkippedBlocks skipped_;
    bool is_slice_ = false;
};

}  // namespace qps::dissect
