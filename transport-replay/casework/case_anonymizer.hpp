// Texts of a case as they may be given away: addresses, GUIDs, keys, names of hosts and users and paths are others, the
// same one everywhere (transport-replay/evidence/pseudonyms.hpp). Numbers of queue pairs, sizes, counters and times
// stay.
//
// A log has free text: a name that stands nowhere as a host's is not known to be one. What was replaced is counted, so
// that who gives it away can look.
#pragma once

#include <transport-replay/casework/evidence.hpp>
#include <transport-replay/evidence/pseudonyms.hpp>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace qps::casework {

class CaseAnonymizer {
public:
    // Hosts are those that the case knows.
    CaseAnonymizer(transport::Pseudonyms& pseudonyms, const Case& read);

    [[nodiscard]] std::string text(std::string_view text);
    // Of a file: hosts in it are others, the rest stays.
    [[nodiscard]] std::string file_name(std::string_view name);
    [[nodiscard]] std::uint64_t replaced() const { return replaced_; }

private:
    struct Token;
    void append_word(std::string& out, std::string_view word);
    void append_run(std::string& out, std::string_view run);
    void append_path(std::string& out, std::string_view path);
    bool append_address(std::string& out, std::string_view word);
    [[nodiscard]] std::string other_name(std::string_view name);

    transport::Pseudonyms& pseudonyms_;
    std::set<std::string, std::less<>> hosts_;
    std::uint64_t replaced_ = 0;
};

}  // namespace qps::casework
