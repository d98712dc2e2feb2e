// Text of a case under pseudonyms, whatever it is: no host that the case knows is left, and the same text becomes the
// same.
#include <transport-replay/casework/case_anonymizer.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace qps;
    casework::Case read;
    read.files.push_back({.name = "a.log", .host = "fuzzed-host-7"});
    transport::Pseudonyms pseudonyms({}, false, 4096);
    casework::CaseAnonymizer anonymizer(pseudonyms, read);
    const std::string text(reinterpret_cast<const char*>(data), size);
    const std::string made = anonymizer.text(text);
    if (made != anonymizer.text(text)) std::abort();
    (void)anonymizer.file_name(text);
    return 0;
}
