// A case of one or two files of any bytes, which may be archives: it is read and judged, and its report is a document
// of bounded length.
#include <transport-replay/casework/case_reader.hpp>
#include <transport-replay/casework/case_report.hpp>
#include <transport-replay/casework/rules.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

// The first byte says where the second file begins.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace qps;
    if (size == 0) return 0;
    const std::string text(data + 1, data + size);
    const std::size_t end = text.size() * data[0] / 255;
    casework::CaseReader reader(casework::CaseMemory(std::uint64_t{4} << 20U));  // inputs stay fast
    reader.read("host-a.counters.before", std::string_view(text).substr(0, end));
    reader.read("host-b.counters.after", std::string_view(text).substr(end));
    const casework::Case read = reader.end();
    std::string out;
    casework::append_document(out, transport::OutputFormat::json, read, casework::judge(read));
    return out.empty() ? std::abort(), 1 : 0;
}
