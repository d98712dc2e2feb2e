// Fuzzer of iser: its layers from any bytes, its machine with any messages of either side and transfers between them.
#include <tests/fuzz/storage.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    qps::fuzz::decode_and_follow({data, size}, qps::dissect::UlpProtocol::iser);
    return 0;
}
