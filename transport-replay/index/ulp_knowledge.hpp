// UlpKnowledge: what upper protocol each connection of an open capture speaks, as far as it is known: one thread says
// so, any number read, without locks. A byte a connection, which is touched only where there is one to tell of.
#pragma once

#include <dissect/base/ulp_hint.hpp>
#include <transport-replay/index/packet_row.hpp>
#include <transport-replay/model/connection.hpp>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>

namespace qps::transport {

class UlpKnowledge {
public:
    // From now on packets that `from` sends on that connection are such.
    void learn(ConnectionId connection, End from, const dissect::UlpHint& hint) {
        const std::uint8_t word = word_of(hint, from);
        std::atomic<std::uint8_t>* place = place_of(connection);
        if (place != nullptr && place->load(std::memory_order_relaxed) != word)
            place->store(word, std::memory_order_relaxed);
    }
    [[nodiscard]] dissect::UlpHint hint(ConnectionId connection, End from) const {
        const std::atomic<std::uint8_t>* place = place_of(connection);
        const std::uint8_t word = place == nullptr ? std::uint8_t{0} : place->load(std::memory_order_relaxed);
        if (word == 0) return {};
        return {static_cast<dissect::UlpProtocol>(word >> 1U), static_cast<End>(word & 1U) == from};
    }

private:
    // The protocol and its active end; 0: nothing known.
    static std::uint8_t word_of(const dissect::UlpHint& hint, End from) {
        if (hint.protocol == dissect::UlpProtocol::none) return 0;
        const End active = hint.from_active ? from : other(from);
        return static_cast<std::uint8_t>(std::to_underlying(hint.protocol) << 1U | std::to_underlying(active));
    }
    [[nodiscard]] std::atomic<std::uint8_t>* place_of(ConnectionId connection) const {
        const auto at = std::to_underlying(connection);
        return at <= PacketRow::kMaxConnection ? &words_[at] : nullptr;
    }

    // By uid. From the system as zeros, so that of a megabyte only what is used takes memory.
    struct Free {
        void operator()(std::atomic<std::uint8_t>* words) const {
            std::free(words);
        }  // NOLINT(cppcoreguidelines-no-malloc)
    };
    static std::atomic<std::uint8_t>* zeros() {
        void* words = std::calloc(PacketRow::kMaxConnection + 1,
                                  sizeof(std::atomic<std::uint8_t>));  // NOLINT(cppcoreguidelines-no-malloc)
        if (words == nullptr) throw std::bad_alloc{};
        return static_cast<std::atomic<std::uint8_t>*>(words);
    }
    std::unique_ptr<std::atomic<std::uint8_t>[], Free> words_ { zeros() };
};

}  // namespace qps::transport
