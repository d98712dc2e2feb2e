// A stack of values, as pickle has it; opcodes are those of Python's pickletools.
#include <transport-replay/casework/pickle_reader.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace qps::casework {

namespace {

constexpr std::size_t kDeepest = 32;    // values within values: an entry of a recorder needs five
constexpr std::size_t kNodeBytes = 96;  // of a value
constexpr std::uint32_t kNowhere = UINT32_MAX;

struct Node {
    enum class Kind : std::uint8_t { scalar, list, dictionary } kind = Kind::scalar;
    std::string text{};                  // of a scalar, as JSON has it
    std::vector<std::uint32_t> parts{};  // of a dictionary keys and values in turns
};

std::string quoted(std::string_view text) {
    std::string made = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') made += '\\';
        if (static_cast<unsigned char>(c) < 0x20) made += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
        else made += c;
    }
    return made + '"';
}

class Pickle {
public:
    Pickle(std::string_view bytes, std::size_t most) : left_(bytes), most_(most) {}

    Unpacked read() {
        Unpacked made;
        while (problem_.empty() && !ended_) step();
        made.problem = problem_;
        // Of a pickle that is cut, the value that is begun first has all that was read: it is written as far as it
        // goes.
        if (!stack_.empty() && !nodes_.empty()) write(bottom(), 0, made);
        return made;
    }

private:
    [[nodiscard]] std::uint32_t bottom() const {
        for (const std::uint32_t each : stack_)
            if (each != kNowhere) return each;
        return 0;
    }

    void fail(std::string sentence) {
        if (problem_.empty()) problem_ = std::move(sentence);
    }
    std::string_view take(std::size_t count) {
        if (count > left_.size()) {
            fail("damaged: the pickle ends early");
            return {};
        }
        const std::string_view bytes = left_.substr(0, count);
        left_.remove_prefix(count);
        return bytes;
    }
    // Little-endian.
    std::uint64_t number(std::size_t count) {
        std::uint64_t value = 0;
        const std::string_view bytes = take(count);
        for (std::size_t i = bytes.size(); i > 0; --i) value = value << 8U | static_cast<unsigned char>(bytes[i - 1]);
        return value;
    }
    void push(Node node) {
        if (nodes_.size() >= most_ / kNodeBytes) return fail("the pickle has more values than memory is granted for");
        stack_.push_back(static_cast<std::uint32_t>(nodes_.size()));
        nodes_.push_back(std::move(node));
    }
    void push_text(std::string text) { push({Node::Kind::scalar, std::move(text), {}}); }
    std::uint32_t pop() {
        if (stack_.empty() || stack_.back() == kNowhere) {
            fail("damaged: the pickle takes a value that is not there");
            return kNowhere;
        }
        const std::uint32_t top = stack_.back();
        stack_.pop_back();
        return top;
    }
    // What stands above the last mark, and the mark.
    std::vector<std::uint32_t> pop_marked() {
        const auto mark = std::find(stack_.rbegin(), stack_.rend(), kNowhere);
        if (mark == stack_.rend()) {
            fail("damaged: the pickle lacks a mark");
            return {};
        }
        std::vector<std::uint32_t> parts(mark.base(), stack_.end());
        stack_.erase(mark.base() - 1, stack_.end());
        return parts;
    }
    void add_to_top(Node::Kind kind, const std::vector<std::uint32_t>& parts) {
        if (!problem_.empty()) return;
        if (stack_.empty() || stack_.back() == kNowhere || nodes_[stack_.back()].kind != kind ||
            (kind == Node::Kind::dictionary && parts.size() % 2 != 0))
            return fail("damaged: the pickle adds to what is no such container");
        auto& into = nodes_[stack_.back()].parts;
        held_ += parts.size();
        if (held_ > most_ / sizeof(std::uint32_t)) return fail("the pickle has more values than memory is granted for");
        into.insert(into.end(), parts.begin(), parts.end());
    }
    void push_tuple(std::size_t count) {
        std::vector<std::uint32_t> parts(count);
        for (std::size_t i = count; i > 0; --i) parts[i - 1] = pop();
        if (problem_.empty()) push({Node::Kind::list, {}, std::move(parts)});
    }
    void remember(std::uint64_t place) {
        if (stack_.empty() || stack_.back() == kNowhere) return fail("damaged: the pickle remembers nothing");
        memo_[place] = stack_.back();
    }
    void recall(std::uint64_t place) {
        const auto at = memo_.find(place);
        if (at == memo_.end()) return fail("damaged: the pickle recalls what it did not remember");
        stack_.push_back(at->second);
        if (stack_.size() > most_ / sizeof(std::uint32_t)) fail("the pickle is deeper than memory is granted for");
    }
    void push_long(std::size_t count) {
        if (count > sizeof(std::uint64_t)) return fail("a number of the pickle has more than 64 bits");
        std::uint64_t value = number(count);
        if (count != 0 && count < 8 && (value >> (8 * count - 1) & 1U) != 0) value |= ~std::uint64_t{0} << (8 * count);
        push_text(fmt::format("{}", static_cast<std::int64_t>(value)));
    }
    void push_real() {
        std::uint64_t bits = 0;
        for (const char c : take(sizeof bits)) bits = bits << 8U | static_cast<unsigned char>(c);
        double value = 0;
        std::memcpy(&value, &bits, sizeof value);
        push_text(fmt::format("{:.9g}", value == value && value - value == 0 ? value : 0.0));
    }

    void step() {
        const std::string_view opcode = take(1);
        if (opcode.empty()) return;
        switch (opcode[0]) {
            case '\x80':  // PROTO
                if (number(1) > 5) fail("a pickle of an unknown protocol");
                break;
            case '.': ended_ = true; break;                                     // STOP
            case '}': push({Node::Kind::dictionary, {}, {}}); break;            // EMPTY_DICT
            case ']': push({Node::Kind::list, {}, {}}); break;                  // EMPTY_LIST
            case ')': push({Node::Kind::list, {}, {}}); break;                  // EMPTY_TUPLE
            case '(': stack_.push_back(kNowhere); break;                        // MARK
            case 'u': add_to_top(Node::Kind::dictionary, pop_marked()); break;  // SETITEMS
            case 'e': add_to_top(Node::Kind::list, pop_marked()); break;        // APPENDS
            case 's': {                                                         // SETITEM
                const std::uint32_t value = pop();
                const std::uint32_t key = pop();
                add_to_top(Node::Kind::dictionary, {key, value});
                break;
            }
            case 'a': add_to_top(Node::Kind::list, {pop()}); break;       // APPEND
            case 't': push({Node::Kind::list, {}, pop_marked()}); break;  // TUPLE
            case '\x85': push_tuple(1); break;                            // TUPLE1
            case '\x86': push_tuple(2); break;
            case '\x87': push_tuple(3); break;
            case 'X': push_text(quoted(take(number(4)))); break;                                  // BINUNICODE
            case '\x8c': push_text(quoted(take(number(1)))); break;                               // SHORT_BINUNICODE
            case 'U': push_text(quoted(take(number(1)))); break;                                  // SHORT_BINSTRING
            case 'J': push_text(fmt::format("{}", static_cast<std::int32_t>(number(4)))); break;  // BININT
            case 'K': push_text(fmt::format("{}", number(1))); break;                             // BININT1
            case 'M': push_text(fmt::format("{}", number(2))); break;                             // BININT2
            case '\x8a': push_long(number(1)); break;                                             // LONG1
            case 'G': push_real(); break;                                                         // BINFLOAT
            case '\x88': push_text("true"); break;                                                // NEWTRUE
            case '\x89': push_text("false"); break;                                               // NEWFALSE
            case 'N': push_text("null"); break;                                                   // NONE
            case 'q': remember(number(1)); break;                                                 // BINPUT
            case 'r': remember(number(4)); break;                                                 // LONG_BINPUT
            case '\x94': remember(memo_.size()); break;                                           // MEMOIZE
            case 'h': recall(number(1)); break;                                                   // BINGET
            case 'j': recall(number(4)); break;                                                   // LONG_BINGET
            case '\x95': (void)take(8); break;                                                    // FRAME
            default:
                fail(fmt::format("the pickle asks for what is not plain data (opcode {:#04x}): nothing of it is done, "
                                 "and no more is read",
                                 static_cast<unsigned char>(opcode[0])));
        }
    }

    void write(std::uint32_t index, std::size_t depth, Unpacked& made) {
        if (depth > kDeepest || made.bytes.size() > most_) return void(made.cut = true);
        const Node& node = nodes_[index];
        const bool dictionary = node.kind == Node::Kind::dictionary;
        if (node.kind == Node::Kind::scalar) return void(made.bytes += node.text);
        if (dictionary && depth == 2) made.bytes += '\n';  // a line for each entry: readers see lines
        made.bytes += dictionary ? '{' : '[';
        for (std::size_t i = 0; i < node.parts.size() && !made.cut; ++i) {
            if (i != 0) made.bytes += dictionary && i % 2 != 0 ? ": " : ", ";
            // A number as a key is a text in JSON.
            const Node& part = nodes_[node.parts[i]];
            const bool key = dictionary && i % 2 == 0;
            if (key && part.kind == Node::Kind::scalar && !part.text.starts_with('"')) made.bytes += quoted(part.text);
            else write(node.parts[i], depth + 1, made);
        }
        made.bytes += dictionary ? "}" : "]";
    }

    std::string_view left_;
    std::size_t most_;
    std::vector<Node> nodes_;
    std::vector<std::uint32_t> stack_;  // kNowhere: a mark
    std::map<std::uint64_t, std::uint32_t> memo_;
    std::size_t held_ = 0;  // parts of containers
    bool ended_ = false;
    std::string problem_;
};

}  // namespace

bool is_pickle(std::string_view bytes) {
    constexpr std::size_t kHead = 3;
    if (bytes.size() < kHead || bytes[0] != '\x80' || bytes[1] < 2 || bytes[1] > 5) return false;
    return bytes[2] == '}' || bytes[2] == ']' || bytes[2] == '\x95' || bytes[2] == '(';
}

Unpacked json_of_pickle(std::string_view bytes, std::size_t most) { return Pickle(bytes, most).read(); }

}  // namespace qps::casework
