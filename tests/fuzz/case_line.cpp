// One reader of a case at a time: the first byte chooses it, lines follow. What it keeps stays within bounds, and it
// takes no line for a kind without a name.
#include <transport-replay/casework/readers.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace qps::casework;
    if (size == 0) return 0;
    const auto all = readers();
    const Reader& reader = all[data[0] % all.size()];
    Case found;
    found.memory = CaseMemory(std::uint64_t{1} << 20U);
    found.files.emplace_back();
    found.quotes.emplace_back();
    found.hosts_said.emplace_back();
    LineState state;
    state.name = "nccl_trace_rank_3";
    std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        ++state.line;
        (void)reader.take(text.substr(0, end), state, found);
        if (end == std::string_view::npos) break;
        text.remove_prefix(end + 1);
    }
    const CaseMemory& memory = found.memory;
    const bool bounded = found.events.size() <= memory.items(CaseShare::events) &&
                         found.settings.size() <= memory.items(CaseShare::settings) &&
                         found.ranks.size() <= memory.items(CaseShare::states);
    return bounded ? 0 : (std::abort(), 1);
}
