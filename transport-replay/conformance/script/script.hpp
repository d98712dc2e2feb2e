// A script as values: what a conversation with a device shall be, line by line. docs/scripts.md is the language.
//
// What the parser made is right as far as that can be known without a device: every word is a field of the packet it
// stands in, every variable is set by a line before. Values that need variables are expressions. A script may be
// anybody's: the bounds below hold for all that parse_script() returns.
#pragma once

#include <dissect/base/opcode.hpp>
#include <dissect/mad/attributes.hpp>
#include <transport-replay/conformance/script/expression.hpp>

#include <cstddef>
#include <variant>

namespace qps::transport::conformance::script {

inline constexpr std::size_t kMaxScriptBytes = std::size_t{1} << 20;  // of one file
inline constexpr std::size_t kMaxStatements =
    20'000;                                     // of a script with what it includes: above any made of a capture's part
inline constexpr std::size_t kMaxWords = 128;   // of a line
inline constexpr std::size_t kMaxNesting = 16;  // blocks in blocks
inline constexpr std::size_t kMaxIncludeDepth = 8;
inline constexpr std::size_t kMaxIncludes = 64;      // files of one script, each time it is included counted
inline constexpr std::size_t kMaxAlternatives = 64;  // of a value; of branches
inline constexpr std::size_t kMaxNames = 2048;       // variables, halves and memory of a script

struct SourcePosition {
    std::uint32_t file = 0;  // in Script::files
    std::uint32_t line = 0;  // from 1
};

// One alternative of a value: N, +N, -N, a..b, bytes.
enum class Relative : std::uint8_t { no, plus, minus };  // to the first PSN of its direction, to an MSN of 0
struct Choice {
    Relative relative = Relative::no;
    std::optional<Expression> first{};  // none: bytes
    std::optional<Expression> last{};   // of a range
    bool to_end = false;                // "a..": no last
    std::vector<std::byte> bytes{};     // of fields that are longer than 64 bits
    std::string bytes_of{};             // the variable that has them
};
struct Pattern {
    bool any = false;      // *: the field is there, whatever it says
    bool negated = false;  // !: none of the choices
    std::vector<Choice> choices;
};

// Words that are no fields: of what is built or matched as a whole.
enum class Special : std::uint8_t {
    none,
    length,    // of the payload
    fill,      // the payload is the pattern of that seed
    from,      // at that offset of the pattern
    data,      // the payload is these bytes
    pad,       // so many bytes of padding, right or wrong
    icrc,      // as the first byte on the wire were the most significant
    bad_icrc,  // any but the right one
    cut,       // so many bytes are left from the BTH on
    flip,      // one bit of the field is turned once the ICRC is made
    options,   // behind the IPv4 header
    trailer,   // behind everything: Ethernet padding
    ecn,
    ttl,
    dscp,
    number,  // of the payload: PayloadNumber
};

// A number in the payload, least significant byte first; of a message of communication management: in its private data.
struct PayloadNumber {
    std::uint16_t offset = 0;
    std::uint8_t bytes = 0;
};
inline constexpr std::size_t kMaxPayloadOffset = 4096;  // a packet has no more

struct PacketWord {
    std::string text;   // as it was written
    Special special{};  // none: a field
    dissect::LayerKind kind{};
    const dissect::Field* field = nullptr;  // also of flip; of the tables, which outlive everything
    Pattern pattern{};                      // `data`: one choice of bytes
    PayloadNumber number{};                 // of Special::number
};

struct Binding {
    std::string variable;
    dissect::LayerKind kind{};
    const dissect::Field* field = nullptr;  // none: a number of the payload
    PayloadNumber number{};
};

struct PacketLine {
    std::optional<dissect::Opcode> opcode;             // none: any (expected only)
    const dissect::MadAttribute* attribute = nullptr;  // of communication management
    bool acknowledges = false;                         // has an AETH and no word about its syndrome: it is an ACK
    std::vector<PacketWord> words;
    std::vector<Binding> bindings;
    std::string text;  // as it was written, without what stands before and behind it
};

// When something is due, measured from the line before.
struct Window {
    std::optional<Expression> earliest{};
    std::optional<Expression> latest{};  // none: the patience of the run
};

struct Statement;
using Block = std::vector<Statement>;

struct Let {
    std::string name;
    Expression value;
};

// key=value of a line that is no packet. The parts of a value between | ; each is text, or an expression.
struct SettingChoice {
    std::string text;
    std::optional<Expression> value{};
};
struct Setting {
    std::string key;
    std::vector<SettingChoice> choices;  // at least one
};
using Settings = std::vector<Setting>;

// We are packets; a queue pair of our own; packets, connected by the CM; packets, and the device's queue pair is there
// already.
enum class EndKind : std::uint8_t { raw, verbs, managed, known };
struct MakeQp {
    std::string name;
    dissect::Service service{};
    EndKind kind{};
    Settings settings;
    bool serves = false;  // XRC: the device's half is the one that serves, else the one that asks
};
struct Release {  // `free a`
    std::string name;
};

enum class DelayKind : std::uint8_t { none, after_line, after_start };
struct Inject {
    std::string qp;
    PacketLine packet;
};
struct Expect {
    std::string qp;
    PacketLine packet;
    Window window;
};
struct Nothing {
    std::string qp;  // empty: at any
    Expression lasting;
};
struct Allow {
    std::string qp;
    PacketLine packet;
};
struct Either {
    std::vector<Block> branches;  // each begins with an Expect or a Nothing
};
struct Repeat {
    Expression count;
    std::string variable;  // from 0; empty: none
    Block body;
};
struct ForEach {
    std::string variable;
    std::vector<Expression> values;
    Block body;
};
// What belongs to the rule of another check: where the device fails in there, nothing is said of this one.
struct GivenThat {
    std::string check;
    Block body;
};
struct If {
    Expression condition;
    Block then;
    Block otherwise;
};
struct Require {
    Expression condition;
    std::string reason;
};
struct Assert {
    Expression condition;
    std::string reason;
};
struct Trust {
    Expression condition;
    std::string reason;
};
struct Fail {
    std::string reason;
};
struct Wait {
    Expression lasting;
};
struct Mark {
    std::string name;
};
struct Alive {
    std::string qp;  // empty: the device as a whole
};

enum class Side : std::uint8_t { device, us };
enum class Act : std::uint8_t {
    region,   // mr NAME
    fill,     // fill NAME a..b with N
    receive,  // recv
    post,
    completion,     // a completion comes
    no_completion,  // none comes
    state,          // of a queue pair
    event,          // an asynchronous one of a queue pair comes
    memory,         // what a region holds
    counter,        // of the device: what it has counted since the script began
    ask,            // any request of the agent's protocol
};
enum class Content : std::uint8_t { filled, bytes, unchanged };
struct AgentLine {
    Side side{};
    Act act{};
    std::string qp{};      // of receive, post, completion, state, event
    std::string object{};  // a region's name, an operation, a state, an event, a counter, a verb
    Settings settings{};
    std::optional<Choice> range{};  // of a region, of a counter's rise
    Content content{};
    std::optional<Expression> number{};  // a seed
    std::vector<std::byte> bytes{};
    std::string variable{};  // what the answer's values are called, or a counter's rise
    Window window{};         // of completions, states and events
};

using Body = std::variant<Let, MakeQp, Release, Inject, Expect, Nothing, Allow, Either, Repeat, ForEach, GivenThat, If,
                          Require, Assert, Trust, Fail, Wait, Mark, Alive, AgentLine>;

struct Statement {
    SourcePosition place;
    std::string text;  // the line as it was written, without its comment
    DelayKind delay = DelayKind::none;
    std::optional<Expression> delay_by{};
    Body body;
};

struct SourceFile {
    std::string name;
    std::string text;
};

struct Script {
    std::vector<SourceFile> files;  // the script first, then what it includes
    std::vector<std::string> checks;
    std::string title;
    std::vector<std::string> needs;
    bool dangerous = false;
    std::vector<std::string> breaks;  // checks that what it sends fails, on purpose
    Block body;
};

}  // namespace qps::transport::conformance::script
