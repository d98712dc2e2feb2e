// Fuzzer of RPC over RDMA: see message_dialogue.hpp.
#include <tests/fuzz/message_dialogue.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    qps::fuzz::exchange_over(qps::dissect::UlpProtocol::rpc_rdma, std::span(data, size));
    return 0;
}
