// LLVMFuzzerMutate where libFuzzer is not linked: one byte is another, there is one more, or one less. For tests of the
// mutators.
#include <tests/fuzz/mutators/sealed.hpp>

#include <algorithm>
#include <random>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most) {
    static std::minstd_rand chance;  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same in every run
    if (size == 0) {
        if (most == 0) return 0;
        data[0] = static_cast<std::uint8_t>(chance());
        return 1;
    }
    const std::size_t at = chance() % size;
    switch (chance() % 4) {
        case 0:
            if (size == most) break;
            std::copy_backward(data + at, data + size, data + size + 1);
            return size + 1;
        case 1: std::copy(data + at + 1, data + size, data + at); return size - 1;
        default: break;
    }
    data[at] = static_cast<std::uint8_t>(data[at] ^ 1U << chance() % 8);
    return size;
}
