// A pass over the packets of an index by several threads: each piece of packets becomes a part, and the parts are taken
// in the order of the capture, one at a time. The result does not depend on the number of threads.
//
// What an attacker could feed: pieces of very different cost: no thread runs further ahead than kAhead pieces, so that
// parts that wait stay few.
#pragma once

#include <transport-replay/index/row_set.hpp>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

namespace qps::transport {

// Both may be asked from any thread.
struct PassWatch {
    std::function<bool()> stopped{};             // true: the answer is no longer wanted
    std::atomic<std::uint64_t>* done = nullptr;  // pieces that were taken, for a progress bar
    [[nodiscard]] bool stop() const { return stopped && stopped(); }
};

[[nodiscard]] constexpr std::uint64_t pieces_of(std::uint64_t packets) {
    return (packets + RowSet::kPieceRows - 1) / RowSet::kPieceRows;
}

// A worker is begun for each thread: `begin()` gives a function of the number of a piece that returns its part, and
// `take(Part&&)` gets them all. False: stopped. Lack of memory in any thread is that of the caller (std::bad_alloc).
template <class Part, class Begin, class Take>
bool pass_pieces(std::uint64_t pieces, const PassWatch& watch, Begin begin, Take take) {
    constexpr std::uint64_t kAhead = 16;  // for eight threads
    std::atomic<std::uint64_t> next = 0;
    std::atomic<bool> ended = false, exhausted = false;
    std::mutex mutex;  // of what follows
    std::condition_variable moved;
    std::map<std::uint64_t, Part> waiting;
    std::uint64_t taken = 0;

    const auto put = [&](std::uint64_t piece, Part&& part) {
        std::unique_lock lock(mutex);
        moved.wait(lock, [&] { return piece < taken + kAhead || ended; });
        waiting.emplace(piece, std::move(part));
        for (auto first = waiting.begin(); first != waiting.end() && first->first == taken; first = waiting.begin()) {
            take(std::move(first->second));
            waiting.erase(first);
            ++taken;
            if (watch.done != nullptr) watch.done->store(taken, std::memory_order_relaxed);
        }
        moved.notify_all();
    };
    const auto work = [&] {
        try {
            auto make = begin();
            for (std::uint64_t piece = next++; piece < pieces && !ended; piece = next++) {
                if (watch.stop()) break;
                put(piece, make(piece));
            }
        } catch (const std::bad_alloc&) {
            exhausted = true;
        }
        if (exhausted || watch.stop()) {
            const std::lock_guard lock(mutex);
            ended = true;
            moved.notify_all();
        }
    };
    const std::uint64_t threads =
        std::min<std::uint64_t>(std::clamp(std::thread::hardware_concurrency(), 1U, 8U), pieces);
    {
        std::vector<std::jthread> others;
        for (std::uint64_t i = 1; i < threads; ++i) {
            try {
                others.emplace_back(work);
            } catch (const std::system_error&) {
                break;  // no more threads to be had: those there are will do
            }
        }
        work();
    }
    if (exhausted) throw std::bad_alloc();
    return !ended && taken == pieces;
}

}  // namespace qps::transport
