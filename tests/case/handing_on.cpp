// What is handed on: pages and tickets escape every text; a case under pseudonyms has none of its names, and the same
// verdict.
#include <tests/case/case_folder.hpp>
#include <tests/support/catch.hpp>
#include <transport-replay/casework/archive_reader.hpp>
#include <transport-replay/casework/archive_writer.hpp>
#include <transport-replay/casework/case_anonymizer.hpp>
#include <transport-replay/casework/case_page.hpp>
#include <transport-replay/casework/case_reader.hpp>
#include <transport-replay/casework/rules.hpp>

#include <regex>

#include <fmt/format.h>

using namespace qps;
using namespace qps::casework;
using namespace qps::testing;

namespace {

const std::pair<std::string, std::string> kHostile{
    "a<b>&\"'.log",
    "evil<script>alert(1)</script>:1:2 [0] x.cc:1 NCCL WARN NET/IB : Got completion with error 12, opcode 1, len 0, vendor err "
    "129 </pre><script>x</script> `rm` | *b* [l](javascript:x)\n"};

std::string page_of(const std::vector<std::pair<std::string, std::string>>& files, bool ticket = false) {
    CaseReader reader;
    for (const auto& [name, bytes] : files) reader.read(name, bytes);
    const Case read = reader.end();
    std::string out;
    if (ticket) append_ticket(out, read, judge(read));
    else append_page(out, read, judge(read), "1.0");
    return out;
}

transport::Pseudonyms::Key key() {
    transport::Pseudonyms::Key made{};
    for (std::size_t i = 0; i < made.size(); ++i) made[i] = static_cast<std::byte>(i * 7 + 1);
    return made;
}

using Files = std::vector<std::pair<std::string, std::string>>;
Files under_pseudonyms(const Files& files) {
    CaseReader reader;
    for (const auto& [name, bytes] : files) reader.read(name, bytes);
    const Case read = reader.end();
    transport::Pseudonyms pseudonyms(key(), false, 1000);
    CaseAnonymizer anonymizer(pseudonyms, read);
    Files made;
    for (const auto& [name, bytes] : files) made.emplace_back(anonymizer.file_name(name), anonymizer.text(bytes));
    return made;
}

}  // namespace

TEST_CASE("a page is closed to what is not its own, and escapes what strangers wrote") {
    const std::string page = page_of({kHostile});
    CHECK(page.contains("Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-"));
    CHECK_FALSE(page.contains("<script"));
    CHECK_FALSE(page.contains("http://"));
    CHECK_FALSE(page.contains("https://"));
    CHECK(page.contains("case-completion-error"));
    CHECK(page.ends_with("</html>\n"));
}

TEST_CASE("a ticket has no mark that strangers wrote") {
    const std::string ticket = page_of({kHostile}, true);
    CHECK(ticket.starts_with("# party "));
    std::size_t at = 0;
    while ((at = ticket.find("<script", at)) != std::string::npos) {
        const std::size_t begin = ticket.rfind('\n', at) + 1;  // only within a block of code
        CHECK(ticket.substr(begin, 8) == "        ");
        ++at;
    }
}

TEST_CASE("a case under pseudonyms has none of its names") {
    const Files files{
        {"node-a.log",
         "node-a:100:200 [0] NCCL INFO Bootstrap : Using eth0:10.1.0.1<0>\n"
         "node-a:100:200 [0] net.cc:9 NCCL WARN NET/IB: Got completion from peer 10.1.0.2<4711> with status=12 opcode=0 len=0 "
         "vendor err 129 (Send) localGid ::ffff:10.2.0.1 remoteGids::ffff:10.2.0.2 hca mlx5_1\n"
         "root@node-a:~# cat /scratch/alice/secret/run.sh; ls /sys/class/infiniband\n"
         "node_guid: 0c42:a103:0065:1234 mac 0c:42:a1:65:12:34 sn 0x0c42a10300651234 nqn.2014-08.org.nvme:uuid:77\n"},
        {"node-b.dmesg",
         "[ 12.000001] mlx5_core 0000:5e:00.0 eth2: Link down\nfe80::e42:a1ff:fe65:1234 node-a.rack4.example\n"}};
    const Files made = under_pseudonyms(files);
    for (const auto& [name, text] : made) {
        INFO(name << '\n' << text);
        for (const char* const secret : {"node-a", "node-b", "10.1.0.1", "10.1.0.2", "10.2.0.", "alice", "secret",
                                         "0c42:a103", "0c:42:a1:65", "0c42a103", "org.nvme", "fe65:1234", "rack4"}) {
            INFO(secret);
            CHECK_FALSE(text.contains(secret));
            CHECK_FALSE(name.contains(secret));
        }
    }
    CHECK(made[0].second.contains("status=12"));
    CHECK(made[0].second.contains("vendor err 129"));
    CHECK(made[0].second.contains("/sys/class/infiniband"));
    CHECK(made[1].second.contains("0000:5e:00.0"));
    CHECK(made[0].second.contains("::ffff:"));
}

TEST_CASE("pseudonyms change no verdict") {
    for (const CaseFolder& folder : case_folders()) {
        const Judged before = judged(folder.files);
        const Judged after = judged(under_pseudonyms(folder.files));
        INFO(folder.name << ": " << after.text);
        CHECK(after.party == before.party);
    }
}

TEST_CASE("an archive that is written is read again") {
    std::string tar;
    const std::string longer(180, 'n');
    append_tar_file(tar, "a.log", "one\n");
    append_tar_file(tar, longer, std::string(1000, 'x'));
    append_tar_end(tar);
    TarReader reader(tar);
    const auto first = reader.next();
    REQUIRE(first);
    CHECK(first->name == "a.log");
    CHECK(first->bytes == "one\n");
    const auto second = reader.next();
    REQUIRE(second);
    CHECK(second->name == longer);
    CHECK(second->bytes.size() == 1000);
    CHECK_FALSE(reader.next());
    CHECK(reader.problem().empty());
}
