// Lines that ask an agent: questions in the protocol's words, and what is made of the answers.
#include <dissect/packet/render_value.hpp>
#include <transport-replay/conformance/agent/pattern.hpp>
#include <transport-replay/conformance/script/packet_words.hpp>
#include <transport-replay/conformance/stage/run.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace qps::transport::conformance::stage {

using namespace dissect;
using script::Act;
using script::AgentLine;
using script::Content;
using script::Side;

namespace {

constexpr std::uint64_t kSendRegion = 65'536;  // bytes that a queue pair sends from, where a line does not need more
constexpr Duration kAskAgain{5'000'000};       // for a state or a counter that is not there yet

std::string_view word_of(Side side) { return side == Side::device ? "dut" : "us"; }

std::uint64_t milliseconds(Duration time) {
    const auto count = static_cast<std::uint64_t>(std::max(std::to_underlying(time), std::int64_t{0}));
    return std::min((count + 999'999) / 1'000'000, agent::kLongestWait);
}

std::string hex_of(Bytes bytes) {
    std::string text;
    append_hex(text, bytes);
    return text;
}

}  // namespace

Question& Question::put(std::string_view key, std::string_view value) {
    const agent::Use* use = agent::find_use(agent::row_of(request_.verb).asks, key);
    auto field = use == nullptr ? std::nullopt : agent::text_of::field(*use, value);
    if (field) request_.fields.add(std::move(*field));
    else if (problem_.empty())
        problem_ = use == nullptr
                       ? fmt::format("\"{}\" has no key \"{}\"", agent::row_of(request_.verb).name, key)
                       : fmt::format("{}={} is not a value of \"{}\"", key, value, agent::row_of(request_.verb).name);
    return *this;
}

void Run::ask(Side side, const Question& question, Answered then) {
    if (!question.problem().empty()) {
        cannot(question.problem());
        return;
    }
    if (!channel(side).there()) {
        cannot(side == Side::device ? "no agent of the device (--agent)" : "no adapter of our own");
        return;
    }
    const std::uint32_t sequence = channel(side).ask(question.request());
    if (sequence == 0) {
        cannot(fmt::format("cannot ask the agent{}", channel(side).problem ? ": " + channel(side).problem() : ""));
        return;
    }
    std::string words = agent::write_request(sequence, question.request());
    while (words.ends_with('\n')) words.pop_back();
    asked_.push_back({.side = side,
                      .sequence = sequence,
                      .until = now_ + given_.settings.agent_patience,
                      .words = std::move(words),
                      .then = std::move(then)});
}

std::string Run::region_name(Side side, const std::string& name) const {
    return fmt::format("{} {}", word_of(side), name);
}

void Run::make_region(Side side, const std::string& name, const script::Settings& settings, std::uint64_t length,
                      std::function<void(const Region&)> then) {
    const auto domain = number_of(settings, "pd").value_or(0);
    const auto seed = number_of(settings, "fill");
    const auto access = setting(settings, "access");
    const auto make = [this, side, name, length, seed, access, domain, then = std::move(then)] {
        Question question(agent::Verb::mr);
        question.put("len", length).put("access", !access ? "local" : *access == "none" ? "read" : *access);
        if (domain != 0) question.put("pd", domains_[{side, domain}]);
        ask(side, question, [this, side, name, length, seed, domain, then](const agent::ParsedAnswer& answer) {
            Region region{.mr = answer.fields.number_or(agent::Key::mr, 0),
                          .va = answer.fields.number_or(agent::Key::va, 0),
                          .length = length,
                          .seed = seed};
            regions_[region_name(side, name)] = region;
            variables_.set(name + ".va", region.va);
            variables_.set(name + ".rkey", answer.fields.number_or(agent::Key::rkey, 0));
            variables_.set(name + ".lkey", answer.fields.number_or(agent::Key::lkey, 0));
            variables_.set(name + ".len", length);
            variables_.set(name + ".id", region.mr);
            variables_.set(name + ".pd", domain == 0 ? 0 : domains_[{side, domain}]);
            if (seed)
                ask(side, Question(agent::Verb::fill).put("mr", region.mr).put("len", length).put("seed", *seed),
                    nullptr);
            if (then) then(region);
        });
    };
    if (domain == 0 || domains_.contains({side, domain})) return make();
    ask(side, Question(agent::Verb::pd), [this, side, domain, make](const agent::ParsedAnswer& answer) {
        domains_[{side, domain}] = answer.fields.number_or(agent::Key::pd, 0);
        make();
    });
}

std::optional<std::uint64_t> Run::queue_pair_of(const AgentLine& line) {
    const auto qp = queue_pairs_.find(line.qp);
    const auto id = qp == queue_pairs_.end()    ? std::nullopt
                    : line.side == Side::device ? qp->second.agent_qp
                                                : qp->second.our_qp;
    if (!id) cannot(fmt::format("the agent of \"{}\" has no queue pair {}", word_of(line.side), line.qp));
    return id;
}

void Run::receive(const AgentLine& line) {
    const auto id = queue_pair_of(line);
    if (!id) return;
    const std::uint64_t count = number_of(line.settings, "count").value_or(1);
    const std::uint64_t length = number_of(line.settings, "len").value_or(4096);
    const std::uint64_t at = number_of(line.settings, "at").value_or(0);
    const auto receive = [this, side = line.side, name = line.qp, count, length, at](const Region& region) {
        Question question(agent::Verb::recv);
        put_half(question, side, queue_pairs_.at(name), false);
        question.put("mr", region.mr).put("off", at).put("len", length).put("count", count).put("step", length);
        ask(side, question, nullptr);
    };
    const std::string name = line.qp + ".recv";
    const auto region = regions_.find(region_name(line.side, name));
    if (region != regions_.end() && at + count * length <= region->second.length) return receive(region->second);
    make_region(line.side, name, {}, at + count * length, receive);
}

void Run::post(const AgentLine& line) {
    if (const auto named = std::ranges::find(line.settings, "mr", &script::Setting::key);
        named != line.settings.end()) {
        const auto region = named->choices.empty() ? regions_.end()
                                                   : regions_.find(region_name(line.side, named->choices.front().text));
        if (region == regions_.end()) {
            cannot("no such region to post from");
            return;
        }
        return post_from(line, region->second);
    }
    const std::uint64_t length =
        number_of(line.settings, "at").value_or(0) + number_of(line.settings, "len").value_or(8);
    const std::string name = line.qp + ".send";
    const auto region = regions_.find(region_name(line.side, name));
    if (region != regions_.end() && length <= region->second.length) return post_from(line, region->second);
    make_region(line.side, name, {}, std::max(length, kSendRegion),
                [this, &line](const Region& made) { post_from(line, made); });
}

void Run::post_from(const AgentLine& line, const Region& region) {
    const auto id = queue_pair_of(line);
    const auto qp = queue_pairs_.find(line.qp);
    if (!id || qp == queue_pairs_.end()) return;
    const bool atomic = line.object == "fetch_add" || line.object == "cmp_swap" || line.object == "atomic_write";
    const std::uint64_t length = number_of(line.settings, "len").value_or(atomic ? 8 : 0);
    const std::uint64_t at = number_of(line.settings, "at").value_or(0);
    if (const auto seed = number_of(line.settings, "fill"); seed && length > 0)
        ask(line.side,
            Question(agent::Verb::fill).put("mr", region.mr).put("off", at).put("len", length).put("seed", *seed),
            nullptr);
    Question question(agent::Verb::post);
    question.put("qp", *id).put("op", line.object);
    if (line.object != "local_inv") question.put("mr", region.mr).put("off", at).put("len", length);
    const bool remote =
        line.object != "send" && line.object != "send_imm" && line.object != "send_inv" && line.object != "local_inv";
    std::string flags = "signaled";
    for (const script::Setting& each : line.settings) {
        if (each.key == "fence" || each.key == "solicited" || each.key == "inline") flags += "," + each.key;
        if (each.key == "unsignaled") flags.erase(0, std::min<std::size_t>(flags.size(), sizeof "signaled"));
    }
    if (!flags.empty()) question.put("flags", flags);
    if (remote)
        question.put("va", setting(line.settings, "va").value_or("0x10000"))
            .put("rkey", setting(line.settings, "rkey").value_or("0x1234"));
    else if (const auto key =
                 setting(line.settings, line.object == "send" || line.object == "send_imm" ? "rkey" : "inv"))
        question.put("rkey", *key);
    for (const std::string_view key : {"imm", "compare", "swap", "add", "count"})
        if (const auto value = setting(line.settings, key)) question.put(key, *value);
    if (qp->second.service == Service::ud) {
        question.put("to",
                     setting(line.settings, "to").value_or(text(live::in_space(route_.source, AddressSpace::roce_v2))));
        question.put("qpn",
                     setting(line.settings, "qpn").value_or(std::to_string(std::to_underlying(qp->second.ours))));
        question.put("qkey",
                     setting(line.settings, "qkey").value_or(std::to_string(std::to_underlying(qp->second.qkey))));
    }
    if (qp->second.service == Service::xrc)
        question.put(
            "srqn",
            setting(line.settings, "srqn").value_or(std::to_string(std::to_underlying(qp->second.extended.number))));
    ask(line.side, question, nullptr);
}

// A completion that the line describes: the next one.
void Run::poll_completion(const AgentLine& line) {
    const auto id = queue_pair_of(line);
    const auto bounds = id ? bounds_of(line.window) : std::nullopt;
    if (!bounds) return;
    Question question(agent::Verb::poll);
    put_half(question, line.side, queue_pairs_.at(line.qp), true);
    question.put("max", std::uint64_t{1})
        .put("least", std::uint64_t{1})
        .put("wait", milliseconds(bounds->latest - now_));
    ask(line.side, question, [this, &line](const agent::ParsedAnswer& answer) {
        const std::string_view came = answer.fields.text(agent::Key::wc);
        if (!came.empty()) return compare_completion(line, came);
        fail_agent(line.qp + ": a completion", "none", fmt::format("no completion at {}", line.qp));
    });
}

void Run::compare_completion(const AgentLine& line, std::string_view text) {
    const auto done = agent::parse_completion(text);
    if (!done) {
        cannot("invalid completion from the agent");
        return;
    }
    const auto value_of = [&](std::string_view key) -> std::string {
        if (key == "op")
            return std::string(agent::kDoneWords[std::min<std::size_t>(done->done, agent::kDoneWords.size() - 1)]);
        if (key == "status")
            return std::string(
                agent::kStatusWords[std::min<std::size_t>(done->status, agent::kStatusWords.size() - 1)]);
        return std::to_string(key == "len" ? done->length : key == "imm" ? done->imm : done->wr);
    };
    std::string expected, came, differs;
    for (const script::Setting& each : line.settings) {
        const bool unknown =
            done->status != agent::kSuccess && each.key != "status" && each.key != "wr";  // means nothing then
        bool holds = unknown;
        std::string wanted;
        for (const script::SettingChoice& choice : each.choices) {
            const auto value = choice.value ? number(*choice.value) : std::nullopt;
            const std::string one = value ? std::to_string(*value) : choice.text;
            wanted += (wanted.empty() ? "" : "|") + one;
            holds = holds || one == "*" ||
                    (one.starts_with('!') ? one.substr(1) != value_of(each.key) : one == value_of(each.key));
        }
        expected += fmt::format(" {}={}", each.key, wanted);
        if (!holds)
            differs +=
                fmt::format("{}{} is {}, not {}", differs.empty() ? "" : ", ", each.key, value_of(each.key), wanted);
    }
    ++outcome_.examined;
    if (differs.empty()) return;
    came = fmt::format("a completion op={} status={} len={}", value_of("op"), value_of("status"), value_of("len"));
    fail_agent("a completion" + expected, came, fmt::format("completion at {}: {}", line.qp, differs));
}

void Run::poll_no_completion(const AgentLine& line) {
    const auto id = queue_pair_of(line);
    const auto lasting = id && line.window.latest ? duration(*line.window.latest) : std::nullopt;
    if (!lasting) return;
    Question question(agent::Verb::poll);
    put_half(question, line.side, queue_pairs_.at(line.qp), true);
    question.put("max", std::uint64_t{1}).put("least", std::uint64_t{1}).put("wait", milliseconds(*lasting));
    ask(line.side, question, [this, &line](const agent::ParsedAnswer& answer) {
        const std::string_view came = answer.fields.text(agent::Key::wc);
        if (!came.empty()) {
            const auto done = agent::parse_completion(came);
            const std::string_view status =
                done && done->status < agent::kStatusWords.size() ? agent::kStatusWords[done->status] : "?";
            const std::string_view what =
                done && done->done < agent::kDoneWords.size() ? agent::kDoneWords[done->done] : "?";
            return fail_agent("no completion",
                              fmt::format("a completion op={} status={} len={}", what, status, done ? done->length : 0),
                              fmt::format("unexpected completion at {}", line.qp));
        }
        ++outcome_.examined;
    });
}

void Run::ask_state(const AgentLine& line) {
    const auto id = queue_pair_of(line);
    const auto bounds = id ? bounds_of(line.window) : std::nullopt;
    if (!bounds) return;
    if (!waits_.until) waits_.until = bounds->latest;
    ask(line.side, Question(agent::Verb::qp_state).put("qp", *id), [this, &line](const agent::ParsedAnswer& answer) {
        const auto state = answer.fields.number_or(agent::Key::state, 0);
        const std::string_view is = state < agent::kQpStateWords.size() ? agent::kQpStateWords[state] : "?";
        if (is == line.object) {
            ++outcome_.examined;
            waits_.part = 2;
        } else if (now_ >= *waits_.until) {
            fail_agent(fmt::format("{} in state {}", line.qp, line.object), fmt::format("state {}", is),
                       fmt::format("the queue pair of {} is in {}, not in {}", line.qp, is, line.object));
        } else {
            waits_.part = 1;  // again, in a while
            waits_.at = now_ + kAskAgain;
        }
    });
}

// The event that the line wants of that queue pair; what else happened meanwhile is another line's, or nobody's.
void Run::ask_event(const AgentLine& line) {
    const auto id = queue_pair_of(line);
    const auto bounds = id ? bounds_of(line.window) : std::nullopt;
    if (!bounds) return;
    if (!waits_.until) waits_.until = bounds->latest;
    const Duration left = std::max(*waits_.until - now_, Duration{});
    ask(line.side, Question(agent::Verb::event).put("wait", milliseconds(left)),
        [this, &line, id](const agent::ParsedAnswer& answer) {
            const auto event = answer.fields.number_or(agent::Key::event, 0);
            const std::string_view is = event < agent::kAsyncWords.size() ? agent::kAsyncWords[event] : "?";
            const bool of_it = answer.fields.number_or(agent::Key::qp, 0) == *id;
            if (is == line.object && of_it) {
                ++outcome_.examined;
                waits_.part = 2;
                return;
            }
            if (event != 0)
                waits_.others +=
                    fmt::format("{}{}{}", waits_.others.empty() ? "" : ", ", is, of_it ? "" : " of another object");
            if (event == 0 || now_ >= *waits_.until)
                return fail_agent(fmt::format("an asynchronous event {} of {}", line.object, line.qp),
                                  waits_.others.empty() ? "none" : waits_.others,
                                  fmt::format("no asynchronous event {} of {}", line.object, line.qp));
            waits_.part = 1;
            waits_.at = now_;
        });
}

std::optional<Run::Part> Run::part_of(const AgentLine& line, const Region& region) {
    Part part{.offset = 0, .length = region.length};
    if (!line.range || !line.range->first) return part;
    const auto first = number(*line.range->first);
    if (!first) return std::nullopt;
    std::uint64_t last = region.length;
    if (line.range->last) {
        const auto said = number(*line.range->last);
        if (!said) return std::nullopt;
        last = *said;
    } else if (!line.range->to_end) {
        last = *first + 1;
    }
    if (*first > last || last > region.length) {
        cannot(fmt::format("{}..{} is outside of the {} bytes of {}", *first, last, region.length, line.object));
        return std::nullopt;
    }
    return Part{.offset = *first, .length = last - *first};
}

void Run::look_at_memory(const AgentLine& line) {
    const auto found = regions_.find(region_name(line.side, line.object));
    if (found == regions_.end()) {
        cannot(fmt::format("no such region {}", line.object));
        return;
    }
    const Region region = found->second;
    const auto part = part_of(line, region);
    if (!part) return;
    const auto seed = line.number ? number(*line.number) : region.seed;
    const std::uint64_t from =
        number_of(line.settings, "from").value_or(line.content == Content::unchanged ? part->offset : 0);
    std::vector<std::byte> wanted(std::min<std::uint64_t>(part->length, agent::kMostShown));
    if (line.content == Content::bytes) wanted = line.bytes;
    else if (seed) agent::fill_pattern(wanted, *seed, from);
    const bool whole = line.content == Content::bytes || !seed;  // what is read is compared here
    const auto show = [this, &line, region](std::uint64_t offset, std::vector<std::byte> expected,
                                            std::uint64_t wrong) {
        constexpr std::uint64_t kShown = 16;
        expected.resize(std::min<std::size_t>(expected.size(), kShown));
        Question question(agent::Verb::read);
        question.put("mr", region.mr).put("off", offset).put("len", std::uint64_t{expected.size()});
        ask(line.side, question, [this, &line, offset, expected, wrong](const agent::ParsedAnswer& answer) {
            const std::string_view data = answer.fields.text(agent::Key::data);
            fail_agent(fmt::format("{} from byte {}: {}", line.object, offset, hex_of(expected)),
                       fmt::format("{}{}", hex_of(std::as_bytes(std::span(data))),
                                   wrong > 0 ? fmt::format(", {} bytes differ", wrong) : ""),
                       fmt::format("memory {} differs from byte {} on", line.object, offset));
        });
    };
    if (!whole) {
        Question question(agent::Verb::compare);
        question.put("mr", region.mr)
            .put("off", part->offset)
            .put("len", part->length)
            .put("seed", *seed)
            .put("from", from);
        ask(line.side, question, [this, part = *part, seed, from, show](const agent::ParsedAnswer& answer) {
            const std::uint64_t wrong = answer.fields.number_or(agent::Key::wrong, 0);
            ++outcome_.examined;
            if (wrong == 0) return;
            const std::uint64_t first = answer.fields.number_or(agent::Key::first, part.offset);
            const std::uint64_t within = first - std::min(first, part.offset);
            std::vector<std::byte> expected(std::min<std::uint64_t>(part.length - std::min(within, part.length), 16));
            agent::fill_pattern(expected, *seed, from + within);
            show(first, std::move(expected), wrong);
        });
        return;
    }
    Question question(agent::Verb::read);
    question.put("mr", region.mr).put("off", part->offset).put("len", std::uint64_t{wanted.size()});
    ask(line.side, question, [this, part = *part, wanted, show](const agent::ParsedAnswer& answer) {
        const std::string_view data = answer.fields.text(agent::Key::data);
        const Bytes came = std::as_bytes(std::span(data));
        ++outcome_.examined;
        const auto [differs, place] = std::ranges::mismatch(wanted, came);
        if (differs == wanted.end()) return;
        const auto at = static_cast<std::size_t>(differs - wanted.begin());
        show(part.offset + at, {wanted.begin() + static_cast<std::ptrdiff_t>(at), wanted.end()}, 0);
    });
}

void Run::fill(const AgentLine& line) {
    const auto found = regions_.find(region_name(line.side, line.object));
    const auto seed = line.number ? number(*line.number) : std::nullopt;
    const auto part = found == regions_.end() || !seed ? std::nullopt : part_of(line, found->second);
    if (!part) {
        cannot(fmt::format("no such region {}", line.object));
        return;
    }
    Question question(agent::Verb::fill);
    question.put("mr", found->second.mr).put("off", part->offset).put("len", part->length).put("seed", *seed);
    ask(line.side, question, nullptr);
}

void Run::keep_counters(const agent::ParsedAnswer& answer) {
    for (const agent::Field& each : answer.fields.all()) {
        const std::size_t colon = each.text.rfind(':');
        if (each.key != agent::Key::counter || colon == std::string::npos) continue;
        if (const auto value = agent::text_of::number(std::string_view(each.text).substr(colon + 1)))
            counters_[each.text.substr(0, colon)] = *value;
    }
}

void Run::ask_counter(const AgentLine& line) {
    if (!counters_.contains(line.object))
        return end(Verdict::not_applicable, fmt::format("the device has no counter \"{}\"", line.object));
    if (!waits_.until) waits_.until = event_ + given_.settings.patience;
    ask(line.side, Question(agent::Verb::counters), [this, &line](const agent::ParsedAnswer& answer) {
        const auto before = std::exchange(counters_, {});
        keep_counters(answer);
        const std::uint64_t rise = counters_[line.object] - before.at(line.object);
        counters_ = before;
        if (!line.variable.empty()) {
            variables_.set(line.variable, rise);
            waits_.part = 2;
            return;
        }
        const script::Choice& range = *line.range;
        const auto least = number(*range.first);
        const auto most = range.last ? number(*range.last) : range.to_end ? std::optional(~std::uint64_t{0}) : least;
        if (!least || !most) return;
        if (rise >= *least && rise <= *most) {
            ++outcome_.examined;
            waits_.part = 2;
        } else if (now_ >= *waits_.until || rise > *most) {
            fail_agent(fmt::format("{} to rise by {}", line.object,
                                   range.first->text + (range.to_end ? ".."
                                                        : range.last ? ".." + range.last->text
                                                                     : "")),
                       fmt::format("it rose by {}", rise), fmt::format("the counter {} rose by {}", line.object, rise));
        } else {
            waits_.part = 1;
            waits_.at = now_ + kAskAgain;
        }
    });
}

// `us` and `dut` are the addresses of the two ends; any other address is meant as it stands.
std::string Run::end_named(const std::string& words) const {
    const bool ours = words == word_of(Side::us);
    if (!ours && words != word_of(Side::device)) return words;
    return text(live::in_space(ours ? route_.source : route_.destination, AddressSpace::roce_v2));
}

void Run::ask_anything(const AgentLine& line) {
    const agent::VerbRow* row = agent::find_verb(line.object);
    if (row == nullptr) {
        cannot(fmt::format("\"{}\" is not a verb of the agent's protocol", line.object));
        return;
    }
    Question question(row->verb);
    for (const script::Setting& each : line.settings)
        if (const auto value = setting(line.settings, each.key))
            question.put(each.key, each.key == "to" ? end_named(*value) : *value);
    ask(line.side, question, [this, &line](const agent::ParsedAnswer& answer) {
        if (line.variable.empty()) return;
        for (const agent::Field& each : answer.fields.all()) {
            const std::string name = fmt::format("{}.{}", line.variable, agent::row_of(each.key).name);
            if (each.text.empty()) variables_.set(name, each.number);
            else variables_.set_bytes(name, std::as_bytes(std::span(each.text)));
        }
    });
}

void Run::begin_agent_line(const AgentLine& line) {
    switch (line.act) {
        case Act::region:
            return make_region(line.side, line.object, line.settings, number_of(line.settings, "len").value_or(4096),
                               nullptr);
        case Act::fill: return fill(line);
        case Act::receive: return receive(line);
        case Act::post: return post(line);
        case Act::completion: return poll_completion(line);
        case Act::no_completion: return poll_no_completion(line);
        case Act::state: return ask_state(line);
        case Act::event: return ask_event(line);
        case Act::memory: return look_at_memory(line);
        case Act::counter: return ask_counter(line);
        case Act::ask: return ask_anything(line);
    }
}

// part: 0 to begin, 1 to ask once more when the time is there, 2 it is answered, 3 it waits for answers.
Step Run::play(const AgentLine& line) {
    if (!asked_.empty()) return Step::wait;
    if (waits_.part == 1) {
        const Instant again = waits_.until ? std::min(*waits_.until, event_ + kAskAgain) : now_;
        if (wait_until(again)) return Step::wait;
        waits_.part = 0;
    }
    if (waits_.part >= 2) return Step::next;
    waits_.part = 3;
    begin_agent_line(line);
    if (phase_ != Phase::playing) return Step::ended;
    return asked_.empty() ? Step::next : Step::wait;
}

}  // namespace qps::transport::conformance::stage
