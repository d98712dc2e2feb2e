#include <transport-replay/live/exchange/queue_pair_end.hpp>

#include <string>
#include <string_view>

#include <fmt/format.h>

namespace qps::transport::live {

using namespace dissect;

namespace {

constexpr std::size_t kGidBytes = 16;

// Takes a text apart; after the first thing that is not as it should be everything is zero, and ok() says so.
class Reader {
public:
    explicit Reader(Bytes text) : text_(text) {}

    // As many hexadecimal digits, of either case.
    std::uint64_t digits(std::size_t count) {
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < count; ++i) value = value << 4U | digit();
        return ok_ ? value : 0;
    }
    Reader& skip(char wanted) {
        if (take() != wanted) ok_ = false;
        return *this;
    }
    [[nodiscard]] bool at_end() const { return ok_ && at_ == text_.size(); }

private:
    char take() { return at_ < text_.size() ? static_cast<char>(text_[at_++]) : '?'; }
    std::uint64_t digit() {
        const char c = take();
        if (c >= '0' && c <= '9') return static_cast<std::uint64_t>(c - '0');
        if (c >= 'a' && c <= 'f') return static_cast<std::uint64_t>(c - 'a') + 10;
        if (c >= 'A' && c <= 'F') return static_cast<std::uint64_t>(c - 'A') + 10;
        ok_ = false;
        return 0;
    }

    Bytes text_;
    std::size_t at_ = 0;
    bool ok_ = true;
};

template <std::size_t N> std::array<std::byte, N> with_nul(std::string_view text) {
    std::array<std::byte, N> bytes{};
    for (std::size_t i = 0; i < text.size() && i + 1 < N; ++i) bytes[i] = static_cast<std::byte>(text[i]);
    return bytes;
}

std::uint64_t byte_of(const Address& gid, std::size_t i) { return gid.bits[i / 8] >> (56 - i % 8 * 8) & 0xff; }

}  // namespace

std::array<std::byte, kPingPongEndBytes> pingpong_text(const QueuePairEnd& end) {
    return with_nul<kPingPongEndBytes>(fmt::format("{:04x}:{:06x}:{:06x}:{:016x}{:016x}", end.lid,
                                                   std::to_underlying(end.qpn) & Psn::kMask, end.psn.value(),
                                                   end.gid.bits[0], end.gid.bits[1]));
}

std::array<std::byte, kXrcPingPongEndBytes> xrc_pingpong_text(const QueuePairEnd& end) {
    return with_nul<kXrcPingPongEndBytes>(fmt::format("{:04x}:{:06x}:{:06x}:{:06x}:{:06x}:{:016x}{:016x}", end.lid,
                                                      std::to_underlying(end.qpn) & Psn::kMask,
                                                      std::to_underlying(end.initiator) & Psn::kMask, end.psn.value(),
                                                      end.srqn & Psn::kMask, end.gid.bits[0], end.gid.bits[1]));
}

std::array<std::byte, kPerftestEndBytes> perftest_text(const QueuePairEnd& end) {
    std::string text = fmt::format("{:04x}:{:04x}:{:06x}:{:06x}:{:08x}:{:016x}:", end.lid, end.out_reads,
                                   std::to_underlying(end.qpn) & Psn::kMask, end.psn.value(),
                                   std::to_underlying(end.rkey), end.address);
    for (std::size_t i = 0; i < kGidBytes; ++i) text += fmt::format("{:02x}:", byte_of(end.gid, i));
    return with_nul<kPerftestEndBytes>(text + fmt::format("{:08x}:", end.srqn));
}

std::optional<QueuePairEnd> read_pingpong_text(Bytes text) {
    Reader reader(text);
    QueuePairEnd end;
    end.lid = static_cast<std::uint16_t>(reader.digits(4));
    end.qpn = Qpn{static_cast<std::uint32_t>(reader.skip(':').digits(6))};
    end.psn = Psn(static_cast<std::uint32_t>(reader.skip(':').digits(6)));
    end.gid.space = AddressSpace::roce_v2;
    end.gid.bits[0] = reader.skip(':').digits(16);
    end.gid.bits[1] = reader.digits(16);
    return reader.skip('\0').at_end() ? std::optional(end) : std::nullopt;
}

std::optional<QueuePairEnd> read_xrc_pingpong_text(Bytes text) {
    Reader reader(text);
    QueuePairEnd end;
    end.lid = static_cast<std::uint16_t>(reader.digits(4));
    end.qpn = Qpn{static_cast<std::uint32_t>(reader.skip(':').digits(6))};
    end.initiator = Qpn{static_cast<std::uint32_t>(reader.skip(':').digits(6))};
    end.psn = Psn(static_cast<std::uint32_t>(reader.skip(':').digits(6)));
    end.srqn = static_cast<std::uint32_t>(reader.skip(':').digits(6));
    end.gid.space = AddressSpace::roce_v2;
    end.gid.bits[0] = reader.skip(':').digits(16);
    end.gid.bits[1] = reader.digits(16);
    return reader.skip('\0').at_end() ? std::optional(end) : std::nullopt;
}

std::optional<QueuePairEnd> read_perftest_text(Bytes text) {
    Reader reader(text);
    QueuePairEnd end;
    end.lid = static_cast<std::uint16_t>(reader.digits(4));
    end.out_reads = static_cast<std::uint16_t>(reader.skip(':').digits(4));
    end.qpn = Qpn{static_cast<std::uint32_t>(reader.skip(':').digits(6))};
    end.psn = Psn(static_cast<std::uint32_t>(reader.skip(':').digits(6)));
    end.rkey = Rkey{static_cast<std::uint32_t>(reader.skip(':').digits(8))};
    end.address = reader.skip(':').digits(16);
    end.gid.space = AddressSpace::roce_v2;
    for (std::size_t i = 0; i < kGidBytes; ++i)
        end.gid.bits[i / 8] = end.gid.bits[i / 8] << 8U | reader.skip(':').digits(2);
    end.srqn = static_cast<std::uint32_t>(reader.skip(':').digits(8));
    return reader.skip(':').skip('\0').at_end() ? std::optional(end) : std::nullopt;
}

// As perftest 4.5 was heard to send it: LID, outstanding READs, queue pair, PSN, key of 4 bytes each, 4 of padding, the
// address, the GID, the number of the SRQ and the index of the GID; big-endian.
std::array<std::byte, kPerftestWordsBytes> perftest_words(const QueuePairEnd& end) {
    std::array<std::byte, kPerftestWordsBytes> words{};
    const auto put = [&](std::size_t at, std::size_t size, std::uint64_t value) {
        write_bits(words, at * 8, size * 8, value);
    };
    put(0, 4, end.lid);
    put(4, 4, end.out_reads);
    put(8, 4, std::to_underlying(end.qpn));
    put(12, 4, end.psn.value());
    put(16, 4, std::to_underlying(end.rkey));
    put(24, 8, end.address);
    put(32, 8, end.gid.bits[0]);
    put(40, 8, end.gid.bits[1]);
    put(48, 4, end.srqn);
    return words;
}

QueuePairEnd read_perftest_words(Bytes words) {
    QueuePairEnd end;
    end.lid = static_cast<std::uint16_t>(read_be<std::uint32_t>(words, 0));
    end.out_reads = static_cast<std::uint16_t>(read_be<std::uint32_t>(words, 4));
    end.qpn = Qpn{read_be<std::uint32_t>(words, 8) & Psn::kMask};
    end.psn = Psn(read_be<std::uint32_t>(words, 12));
    end.rkey = Rkey{read_be<std::uint32_t>(words, 16)};
    end.address = read_be<std::uint64_t>(words, 24);
    return end;
}

}  // namespace qps::transport::live
