#include <gui/base/theme.hpp>
#include <gui/launch/options.hpp>
#include <transport-replay/model/memory_amount.hpp>

#include <array>
#include <string_view>
#include <utility>

namespace qps::gui {

namespace {

using Taken = std::expected<void, QString>;

QString text(std::string_view latin) { return QString::fromLatin1(latin.data(), static_cast<qsizetype>(latin.size())); }

QString invalid(const char* what, const QString& value, const QString& expected) {
    return QStringLiteral("invalid %1 '%2': expected %3").arg(QLatin1String(what), value, expected);
}
QString invalid(const char* what, const QString& value, const char* expected) {
    return invalid(what, value, QString::fromLatin1(expected));
}

Taken takePacket(Options& options, const QString& value) {
    bool isNumber = false;
    options.packet = value.toULongLong(&isNumber);
    if (!isNumber || options.packet == 0) return std::unexpected(invalid("packet number", value, "1 or more"));
    return {};
}

Taken takeTheme(Options& options, const QString& value) {
    if (!themeOf(value)) return std::unexpected(invalid("theme", value, "desktop, light or dark"));
    options.theme = value;
    return {};
}

Taken takeJobs(Options& options, const QString& value) {
    bool isNumber = false;
    const auto jobs = value.toULongLong(&isNumber);
    if (!isNumber || jobs < 1 || jobs > kMostJobs)
        return std::unexpected(invalid("number of threads", value, QStringLiteral("1 to %1").arg(kMostJobs)));
    options.jobs = jobs;
    return {};
}

Taken takeMemory(Options& options, const QString& value) {
    const auto memory = transport::read_memory(value.toStdString());
    if (!memory) return std::unexpected(QString::fromStdString(memory.error()));
    options.memory = *memory;
    return {};
}

template <auto kMember> Taken keep(Options& options, const QString& value) {
    options.*kMember = value;
    return {};
}
template <auto kMember> Taken note(Options& options, const QString&) {
    options.*kMember = true;
    return {};
}

Taken takeInterface(Options& options, const QString& value) {
    if (value.isEmpty()) return std::unexpected(invalid("interface", value, "a name"));
    options.capture.interface = value;
    return {};
}

Taken takeCaptureFilter(Options& options, const QString& value) {
    options.capture.filter = value;
    return {};
}

// What each option is called, takes and means. `value` is empty where it takes none.
struct Row {
    std::string_view brief;
    std::string_view name;
    std::string_view value;
    std::string_view meaning;
    Taken (*take)(Options&, const QString&);
};

constexpr std::array kRows{
    Row{"-i", "--interface", "IF", "Capture from interface IF", takeInterface},
    Row{"-f", "--capture-filter", "BPF", "Capture only packets that match this libpcap (BPF) filter",
        takeCaptureFilter},
    Row{"-Y", "--filter", "TEXT", "Show only packets that match this display filter", keep<&Options::filter>},
    Row{"", "--view", "ID", "Start with this view", keep<&Options::view>},
    Row{"-g", "--go-to", "N", "Select packet N and its connection", takePacket},
    Row{"", "--theme", "NAME", "Use colours: desktop, light or dark (default: as last time)", takeTheme},
    Row{"-j", "--jobs", "N", "Use N threads (default: one per processor, at most 8)", takeJobs},
    Row{"", "--memory", "SIZE", "Keep at most this much in memory: 2GiB, 512MiB (default: a quarter of the machine's)",
        takeMemory},
    Row{"", "--tabs", "", "Open each file in a tab of its own, at most 8", note<&Options::tabs>},
    Row{"-h", "--help", "", "Show this help", note<&Options::help>},
    Row{"-V", "--version", "", "Show the version", note<&Options::version>},
};

// A word of the command line that is an option: --name, --name=value, -n, -nvalue.
struct Spelling {
    const Row* row = nullptr;
    QString value;
    bool hasValue = false;
};

Spelling spelled(const QString& word) {
    for (const Row& row : kRows) {
        const QString name = text(row.name);
        if (word == name || (!row.brief.empty() && word == text(row.brief))) return {&row, {}, false};
        if (word.startsWith(name + QLatin1Char('='))) return {&row, word.mid(name.size() + 1), true};
        if (!row.brief.empty() && !row.value.empty() && word.startsWith(text(row.brief)))
            return {&row, word.mid(2), true};
    }
    return {};
}

Taken conclude(const Options& options, const QStringList& views) {
    if (!options.view.isEmpty() && !views.contains(options.view))
        return std::unexpected(
            invalid("view", options.view, QStringLiteral("one of ") + views.join(QStringLiteral(", "))));
    const bool captures = !options.capture.interface.isEmpty();
    if (captures && !options.files.isEmpty())
        return std::unexpected(QStringLiteral("capture files and --interface exclude each other"));
    if (!captures && !options.capture.filter.isEmpty())
        return std::unexpected(QStringLiteral("--capture-filter needs --interface; -Y filters what is shown"));
    return {};
}

}  // namespace

std::expected<Options, QString> parseOptions(const QStringList& words, const QStringList& views) {
    Options options;
    bool onlyFiles = false;
    for (qsizetype i = 0; i < words.size(); ++i) {
        const QString& word = words[i];
        if (onlyFiles || word == QStringLiteral("-") || !word.startsWith(QLatin1Char('-'))) {
            options.files << word;
            continue;
        }
        if (word == QStringLiteral("--")) {
            onlyFiles = true;
            continue;
        }
        Spelling option = spelled(word);
        if (option.row == nullptr) return std::unexpected(QStringLiteral("unknown option '%1' (see --help)").arg(word));
        const bool takes = !option.row->value.empty();
        if (!takes && option.hasValue)
            return std::unexpected(QStringLiteral("option '%1' takes no value").arg(text(option.row->name)));
        if (takes && !option.hasValue) {
            if (++i == words.size())
                return std::unexpected(
                    QStringLiteral("option '%1' requires a value: %2").arg(word, text(option.row->value)));
            option.value = words[i];
        }
        if (auto taken = option.row->take(options, option.value); !taken)
            return std::unexpected(std::move(taken.error()));
        if (options.help || options.version) return options;
    }
    if (auto sound = conclude(options, views); !sound) return std::unexpected(std::move(sound.error()));
    return options;
}

QString helpText(const QStringList& views) {
    QString help = QStringLiteral(
        "qpscope-gui: RDMA packet analyser\n\n"
        "Usage: qpscope-gui [OPTIONS] [FILE...]\n\n"
        "Files are pcap or pcapng, plain, .gz or .zst; - is standard input. Several files are read as one\ncapture, in the order of their first packets. A folder is opened as a case.\n\n");
    constexpr int kWidth = 28;
    for (const Row& row : kRows) {
        QString names = row.brief.empty() ? text(row.name) : text(row.brief) + QStringLiteral(", ") + text(row.name);
        if (!row.value.empty()) names += QLatin1Char(' ') + text(row.value);
        const QString line =
            QStringLiteral("  ") + names.leftJustified(kWidth) + QStringLiteral("  ") + text(row.meaning);
        help += line + QLatin1Char('\n');
    }
    help +=
        QStringLiteral(
            "\nViews: %1\n\n"
            "Examples:\n"
            "    qpscope-gui trace.pcapng\n"
            "    qpscope-gui -Y 'infiniband.aeth.syndrome.opcode == NAK' --view ladder trace.pcap\n"
            "    qpscope-gui -i eth0 -f 'udp port 4791'\n"
            "    ssh host tcpdump -i eth0 -w - udp port 4791 | qpscope-gui -\n\n"
            "qpscope-gui needs no privileges. qpscope-capture captures for it and needs CAP_NET_RAW, granted once:\n"
            "    sudo setcap cap_net_raw+ep PATH/qpscope-capture\n")
            .arg(views.join(QStringLiteral(", "))
                     .replace(QStringLiteral(", ladder"), QStringLiteral(",\n       ladder")));
    return help;
}

}  // namespace qps::gui
