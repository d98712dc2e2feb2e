// The parallel way through a capture: batches are read in order, or walked side by side and settled in order, worked on
// side by side, sifted in order by lanes that run side by side, passed through a gate, followed by lanes once more, and
// consumed in order.
//
// The result does not depend on the number of threads. Memory is bounded by the batches under way (slots()).
#pragma once

#include <dissect/capture/capture_file.hpp>

#include <cstddef>
#include <functional>

namespace qps::dissect {

// Worker threads; 1 works in the calling thread.
struct Jobs {
    std::size_t count = 1;
    // Batches under way at most, each with a number below this: what `work` made of a batch waits there for `consume`.
    [[nodiscard]] std::size_t slots() const { return count <= 1 ? 1 : 2 * count + 3; }
};

struct Stages {
    // Fills a batch with the next frames; false at the end. Runs in the calling thread.
    std::function<bool(Batch& batch)> read;
    // Any thread, many batches at once, never two of the same slot.
    std::function<void(std::size_t slot, Batch& batch)> work;
    // The calling thread, in the order of the capture; false stops the whole run.
    std::function<bool(std::size_t slot)> consume;
    // Between the two, where `lanes` is not 0. The calling thread, in the order of the capture.
    std::function<void(std::size_t slot)> gate{};
    // Any thread, each lane in the order of the capture; many lanes and many batches at once, never the same lane
    // twice.
    std::function<void(std::size_t slot, std::size_t lane)> follow{};
    std::size_t lanes = 0;
    // What reads side by side (CaptureFile::reach()), for more than one thread. The calling thread: where the next
    // frames are; false where read() must be called, once all that was reached is settled.
    std::function<bool(Batch& batch)> reach{};
    std::function<void(Batch& batch)> walk{};  // any thread, many batches at once
    std::function<void(Batch& batch)>
        settle{};  // the calling thread, in the order of the capture; it may leave no frames
    // Between work and gate, where `sieves` is not 0, and so `lanes`: as follow(), by lanes of its own.
    std::function<void(std::size_t slot, std::size_t sieve)> sift{};
    std::size_t sieves = 0;
};

// Runs until the input ends or consume() says stop. Every batch read was consumed then, or the run was stopped. Works
// with fewer threads where the system gives no more. What a stage throws (no memory) comes out of here.
void run(const Stages& stages, Jobs jobs);

}  // namespace qps::dissect
