// SocketRow: what of a row over TCP or UDP is under way on a client's socket: which message is sent how far, which
// comes back.
//
// A stream has no messages: it is cut by their size, and they come back in their order. Datagrams carry their number in
// as many of their first bytes as they have, up to 8; what comes twice, late, or with a number that is not under way,
// is nothing. One that does not come back within kDatagramPatience is lost, and kMostLost end the row.
//
// What a server could feed: more bytes than were sent, others, none. Nothing grows.
#pragma once

#include <transport-replay/live/pingpong/kernel_sockets.hpp>

#include <functional>
#include <string>
#include <vector>

namespace qps::transport::live::pingpong {

inline constexpr dissect::Duration kDatagramPatience{200'000'000};  // far more than a round trip takes
inline constexpr std::uint64_t kMostLost = 50;                      // with the patience: ten seconds of a row

// Messages in slots of a block.
struct Pieces {
    dissect::MutableBytes bytes{};
    std::size_t stride = 0;
    std::uint32_t slots = 1;
    std::uint32_t size = 0;
    [[nodiscard]] dissect::MutableBytes of(std::uint64_t number) const {
        return bytes.subspan(number % slots * stride, size);
    }
};

// In as many bytes as there are of 8, the lowest last.
void write_number(dissect::MutableBytes message, std::uint64_t number);
// The number from `first` on that a message carries, as far as it tells.
[[nodiscard]] std::uint64_t number_of(dissect::Bytes message, std::uint64_t first);

class SocketRow {
public:
    using Take = std::function<void(std::uint64_t number, dissect::Bytes message)>;

    void begin(std::uint32_t slots);
    // What went wrong; empty: nothing.
    [[nodiscard]] const std::string& why() const { return why_; }
    [[nodiscard]] std::uint64_t lost() const { return lost_; }
    // Of a stream; datagrams wait for nothing.
    [[nodiscard]] bool wants_to_write(std::uint64_t posted) const { return !ended_ && sent_ < posted; }

    // A stream: messages before `posted`, as far as there is room. False: it is of no use any more.
    [[nodiscard]] bool send(KernelSocket& socket, std::uint64_t posted, const Pieces& out);
    void receive(KernelSocket& socket, std::uint64_t posted, std::uint64_t& returned, const Pieces& back,
                 const Take& take);
    // As much as goes, then the end; how many messages went whole. poured(): the server has them all.
    [[nodiscard]] std::uint64_t pour(KernelSocket& socket, std::uint64_t wanted, bool enough, const Pieces& out);
    [[nodiscard]] bool poured() const { return poured_; }

    // False: not now, or it failed.
    [[nodiscard]] bool send_datagram(KernelSocket& socket, std::uint32_t slot, dissect::Bytes message);
    void receive_datagrams(KernelSocket& socket, std::uint64_t posted, std::uint64_t& returned, const Pieces& back,
                           const Take& take);
    // The first under way is lost.
    void give_up(std::uint64_t posted, std::uint64_t& returned);

private:
    void fail(const Moved& moved);
    void advance(std::uint64_t posted, std::uint64_t& returned);

    std::uint64_t sent_ = 0;   // messages that went whole
    std::size_t sent_of_ = 0;  // bytes of the next
    std::size_t came_of_ = 0;  // bytes of the next that comes back
    std::uint64_t lost_ = 0;
    bool ended_ = false;  // nothing more is sent
    bool poured_ = false;
    std::vector<bool> awaited_{};    // by slot, datagrams
    std::vector<std::byte> room_{};  // of a datagram, and one byte more
    std::string why_{};
};

}  // namespace qps::transport::live::pingpong
