// Where one end of a recorded connection told the other of its memory: the places in SENDs and private data that hold
// the R_Key, and near it the address, that the other end used afterwards (rping does so, and storage protocols). Short
// WRITEs with immediate tell too (rsockets); there a key counts only with its address, for what they carry may be
// anything.
//
// A live peer has other keys and addresses in the same places: read there, they are what to use; and where we told of
// ours, our live ones go there. A key is looked for in both byte orders at every offset; one that has its address
// within kNearKey bytes, in the same byte order, is preferred to one that stands alone.
//
// What an attacker could feed: payloads full of keys. Of a message kSearched bytes are looked at, of all kMaxPlaces are
// kept.
#pragma once

#include <transport-replay/live/replay/recorded_conversation.hpp>

#include <boost/unordered/unordered_flat_map.hpp>

namespace qps::transport::live {

inline constexpr std::size_t kSearched = 8192;       // of a SEND: messages that tell of memory are short
inline constexpr std::size_t kTellingWrite = 256;    // bytes of a WRITE: more is data, not a descriptor
inline constexpr std::size_t kMaxPlaces = 1U << 19;  // 12 MiB
inline constexpr std::size_t kNearKey = 64;          // descriptors of upper protocols have 16 to 32 bytes
inline constexpr std::size_t kPlacesTried = 64;      // of one key, latest first
inline constexpr std::uint64_t kReachOfAddress = std::uint64_t{1} << 30;  // an address tells of what lies behind it
inline constexpr std::uint64_t kSmallAddress = 4096;         // below: zero-based, too common a number to be found by
inline constexpr std::uint32_t kSmallKey = 256;              // likewise, where no address is beside it
inline constexpr std::uint32_t kInPrivateData = UINT32_MAX;  // of the REQ or REP, instead of a message

struct Advertisement {
    std::uint32_t message = kInPrivateData;  // in RecordedConversation::messages
    std::uint32_t key_offset = 0;
    std::optional<std::uint32_t> address_offset{};
    bool big_endian = true;
    dissect::Rkey key{};        // as recorded there
    std::uint64_t address = 0;  // as recorded there; 0 where there is none
    [[nodiscard]] bool operator==(const Advertisement&) const = default;
};

class AdvertisedMemory {
public:
    // What `advertiser` told of the memory that the other end asks for. Borrows the conversation.
    AdvertisedMemory(const RecordedConversation& conversation, End advertiser);
    // The latest place before that frame which told of that memory; without an address: of the key alone.
    [[nodiscard]] std::optional<Advertisement> find(dissect::Rkey key, std::optional<std::uint64_t> address,
                                                    dissect::FrameIndex before) const;
    // Every place in a message that tells of memory by a key that was asked for, with its address: also those that
    // nobody used before the recording ended. By key and message.
    [[nodiscard]] std::vector<Advertisement> mentions() const;

private:
    struct Mention {
        std::uint32_t message = 0;
        std::uint32_t offset = 0;
        bool big_endian = false;
    };
    struct Mentions {
        std::optional<std::uint64_t> asked{};  // an address that was asked for by that key
        std::vector<Mention> all;              // in the order of the messages
    };
    enum class Reach : std::uint8_t {
        behind,
        around
    };  // what was asked for lies behind the address that is looked for, or on either side
    void search(dissect::Bytes bytes, std::uint32_t message);
    [[nodiscard]] dissect::Bytes bytes_of(std::uint32_t message) const;
    [[nodiscard]] bool precedes(const Mention& place, dissect::FrameIndex frame) const;
    [[nodiscard]] bool may_stand_alone(const Mention& place) const;
    [[nodiscard]] std::optional<Advertisement> beside_address(const Mention& place, dissect::Rkey key,
                                                              std::uint64_t address, Reach reach) const;

    const RecordedConversation* conversation_;
    End teller_;
    boost::unordered_flat_map<std::uint32_t, Mentions> places_;  // by key
    std::size_t kept_ = 0;
};

// The values of a live message in that place; nothing where it is too short for them.
struct LiveMemory {
    dissect::Rkey key{};
    std::optional<std::uint64_t> address{};
};
[[nodiscard]] std::optional<LiveMemory> read_place(dissect::Bytes bytes, const Advertisement& place);
// Puts values there; what does not fit is left as it is.
void write_place(dissect::MutableBytes bytes, const Advertisement& place, const LiveMemory& memory);
// What of a message differs between any two runs: the bytes of key and address.
void add_ranges(std::vector<ByteRange>& ranges, const Advertisement& place);

}  // namespace qps::transport::live
