#!/bin/bash
# The examples of README.md, docs/guide/ and the manuals are what the program really prints:
#
#   examples.sh [PAGE...]           compares; prints what differs; exit code 1 if something does
#   examples.sh --write [PAGE...]   writes the real output into the pages
#   examples.sh --self              every kind of wrong page is found
#
#   QPSCOPE   the program (default: that of the release build)
#   SOURCE    the root of the checkout (default: the one with this file)
#
# An example is a block, indented by four or fenced. What a line of it means:
#
#   $ qpscope ARGUMENTS      is run, in a folder that has captures/; the lines below it are its output. `./run.sh` is the same
#                            program, `$ echo $?` shows its exit code. A line `...` stands for lines that were left out.
#   qpscope ARGUMENTS        has no output here. It is run where that needs no wire, on a sample for FILE or trace.pcap,
#                            and must not be refused; else its options must be those of `qpscope COMMAND --help`.
#
# `<!-- not run: REASON -->` before a block: it needs a wire or rights, so only its options are checked.
set -uo pipefail
export LC_ALL=C.UTF-8 NO_COLOR=1
unset COLUMNS
self=$(readlink -f "${BASH_SOURCE[0]}")
SOURCE=$(readlink -f "${SOURCE:-$(dirname "$self")/../..}")
QPSCOPE=$(readlink -m "${QPSCOPE:-$SOURCE/build/release/bin/qpscope}")
[[ -x $QPSCOPE ]] || { echo "$self: no program at $QPSCOPE" >&2; exit 2; }

mode=check
case ${1:-} in
    --write | --self) mode=${1#--}; shift ;;
esac

scratch=$(mktemp -d)
trap 'rm -rf -- "${scratch:?}"' EXIT
mkdir "$scratch/bin" "$scratch/here" "$scratch/out"
ln -s "$QPSCOPE" "$scratch/bin/qpscope"
ln -s "$QPSCOPE" "$scratch/here/run.sh"
ln -s "$SOURCE/captures" "$scratch/here/captures"
ln -s "$SOURCE/tests/case/cases" "$scratch/here/cases"
for name in trace sweep ring_00001 ring_00002 host-a host-b; do ln -s "$SOURCE/captures/nvme_rdma/capture.pcap" "$scratch/here/$name.pcap"; done
ln -s "$SOURCE/captures/nvme_io/capture.pcapng" "$scratch/here/trace.pcapng"
ln -s "$SOURCE/captures/ucmatose_zstd/capture.pcap.zst" "$scratch/here/trace.pcap.zst"
ln -s "$SOURCE/captures/rping_v6_gzip/capture.pcap.gz" "$scratch/here/trace.pcap.gz"
printf 'name a NIC\ndeclares no-apm\n' >"$scratch/here/nic.profile"
export PATH=$scratch/bin:$PATH
(cd "$scratch/here" && qpscope check -q -f json -o old.json trace.pcap)

failures=0
complain() {  # LINE TEXT
    echo "$page:$1: $2"
    failures=$((failures + 1))
}

run() {  # COMMAND LAST-CODE: its output to $scratch/out/real
    (cd "$scratch/here" && eval "(exit $2)" || true; cd "$scratch/here" && { (exit "$2"); eval "$1"; }) >"$scratch/out/real" 2>&1 </dev/null
}

# Whether the lines of `shown` are those of `real`, with any lines where it has `...`; what differs is printed.
same() {
    local at=0 line i=0 j found open=0
    while ((i < ${#shown[@]})); do
        if [[ ${shown[i]} == ... ]]; then open=1; i=$((i + 1)); continue; fi
        j=$i  # a part that has to stand together: shown[i..j)
        while ((j < ${#shown[@]})) && [[ ${shown[j]} != ... ]]; do j=$((j + 1)); done
        ((j < ${#shown[@]} || !open)) || at=$((${#real[@]} - (j - i) > at ? ${#real[@]} - (j - i) : at))
        found=-1
        for ((line = at; line + j - i <= ${#real[@]}; line++)); do
            if [[ "${real[*]:line:j-i}" == "${shown[*]:i:j-i}" ]]; then found=$line; break; fi
            ((open)) || break
        done
        ((found >= 0)) || return 1
        at=$((found + j - i))
        i=$j
        open=0
    done
    ((open || at == ${#real[@]}))
}

# What is to be shown instead: as many lines before, between and behind every `...` as there were.
renewed() {
    local at=0 i=0 j line first=1 result=()
    [[ $'\n'"${shown[*]-}"$'\n' == *$'\n...\n'* ]] || { shown=("${real[@]}"); return; }
    while ((i < ${#shown[@]})); do
        if [[ ${shown[i]} == ... ]]; then result+=(...); first=0; i=$((i + 1)); continue; fi
        j=$i
        while ((j < ${#shown[@]})) && [[ ${shown[j]} != ... ]]; do j=$((j + 1)); done
        if ((!first && j == ${#shown[@]})); then at=$((${#real[@]} - (j - i)))
        elif ((!first)); then
            for ((line = at; line < ${#real[@]}; line++)); do
                [[ ${real[line]:0:16} != "${shown[i]:0:16}" ]] || break
            done
            if ((line < ${#real[@]})); then at=$line; else echo "$page: nothing begins like '${shown[i]}': choose what to show" >&2; fi
        fi
        result+=("${real[@]:at:j-i}")
        at=$((at + j - i))
        i=$j
    done
    shown=("${result[@]}")
}

# The words of the call of qpscope that a line has, up to the next pipe, redirection or comment; nothing where there is none.
words_of() {  # LINE
    local word started=0
    while IFS= read -r word; do
        if ((!started)); then
            [[ $word == qpscope || $word == ./run.sh || $word == */bin/qpscope ]] && started=1
            continue
        fi
        case $word in
            '|' | '||' | '&&' | ';' | '>' | '>>' | '<' | '#' | '2>'*) return ;;
        esac
        printf '%s\n' "$word"
    done < <(xargs -n 1 printf '%s\n' <<<"$1" 2>/dev/null)
}

declare -A helps
help_of() {  # COMMAND
    [[ -n ${helps[$1]-} ]] || helps[$1]=$(qpscope "$1" --help 2>&1)
    printf '%s\n' "${helps[$1]}"
}

check_call() {  # LINE-NUMBER LINE MAY-RUN
    local IFS=' ' words=() word command wire=0 i
    mapfile -t words < <(words_of "$2")
    ((${#words[@]})) || return 0
    [[ ${words[0]} != --gui && "${words[*]}" != *...* ]] || return 0
    command=${words[0]}
    [[ $command =~ ^[a-z]+$ && -n $(grep '^Usage: qpscope [a-z]' <<<"$(help_of "$command")") ]] || command=analyze
    for word in "${words[@]}"; do
        [[ $word == -[a-zA-Z]* || $word == --[a-z]* ]] || continue
        [[ ! $word =~ ^-[a-zA-Z].+ ]] || word=${word:0:2}
        [[ $word == --version || $word == -V ]] || grep -qE -- "(^|[ ,])${word%%=*}([ ,{]|$)" <<<"$(help_of "$command")" ||
            complain "$1" "'qpscope $command' has no option ${word%%=*}"
        [[ $word != -i && $word != --interface ]] || wire=1
    done
    [[ " ${words[*]} " != *' - '* ]] || wire=1  # standard input
    case $command in
        peer | pingpong) wire=1 ;;
        replay) [[ " ${words[*]} " == *' -w '* && " ${words[*]} " != *' --as '* ]] || wire=1 ;;
        conform) [[ " ${words[*]} " =~ ' '(--coverage|--list|--script-of)' ' ]] || wire=1 ;;
    esac
    (($3 && !wire)) && [[ $2 != sudo* ]] || return 0
    for i in "${!words[@]}"; do case ${words[i]} in FILE | FILE...) words[i]=trace.pcap ;; esac; done
    (cd "$scratch/here" && timeout 60 qpscope "${words[@]}") >"$scratch/out/quiet" 2>"$scratch/out/errors" </dev/null
    local code=$?
    ((code <= 1)) || complain "$1" "exit code $code: $(tail -n 1 "$scratch/out/errors")"
}

# Walks one page; `lines` becomes what it should be.
walk() {  # PAGE
    local text result=() line command at=0 indent='' inside=0 marker=0 fresh=1 last=0
    mapfile -t text <"$page"
    while ((at < ${#text[@]})); do
        line=${text[at]}
        at=$((at + 1))
        result+=("$line")
        if [[ $line == '```'* ]]; then
            if ((inside == 2)); then inside=0 marker=0; else inside=2 indent='' last=0; fi
            continue
        fi
        if ((inside != 2)); then
            if [[ $line == '    '* ]]; then ((inside)) || last=0; inside=1 indent='    '
            elif [[ -n $line ]]; then inside=0; [[ $line == '<!-- not run: '* ]] && marker=1 || marker=0; fi
        fi
        ((inside)) && [[ $line == "$indent"* ]] || continue
        line=${line#"$indent"}
        if [[ $line != '$ '* ]]; then
            [[ $line =~ ^' '*(sudo )?(./run.sh|qpscope)' ' || $line =~ [|]' 'qpscope' ' ]] && check_call "$at" "$line" $((!marker))
            continue
        fi
        local number=$at
        command=${line#'$ '}
        while [[ $command == *\\ ]]; do command=${command%\\}${text[at]#"$indent"}; result+=("${text[at]}"); at=$((at + 1)); done
        shown=()
        while ((at < ${#text[@]})); do
            line=${text[at]}
            [[ -z $line || $line == "$indent"* ]] && [[ $line != "$indent\$ "* ]] || break
            [[ $inside == 1 || $line != '```'* ]] || break
            shown+=("${line#"$indent"}")
            at=$((at + 1))
        done
        local blank=0
        while ((${#shown[@]})) && [[ -z ${shown[-1]} ]]; do unset 'shown[-1]'; blank=$((blank + 1)); done
        if ((marker)); then
            check_call "$number" "$command" 0
        elif [[ $command == sudo* ]]; then
            complain "$number" "needs rights: say why with <!-- not run: REASON -->"
        else
            run "$command" "$last"
            last=$?
            mapfile -t real <"$scratch/out/real"
            while ((${#real[@]})) && [[ -z ${real[-1]} ]]; do unset 'real[-1]'; done
            for i in "${!real[@]}"; do [[ ${real[i]} != *' ' ]] || real[i]=$(sed 's/ *$//' <<<"${real[i]}"); done
            ((last <= 1)) || [[ ${text[at]-} == "$indent\$ echo \$?" ]] || complain "$number" "exit code $last: ${real[*]-}"
            if ! same; then
                if [[ $mode == write ]]; then renewed; echo "$page:$number: rewritten" >&2
                else
                    complain "$number" "prints something else: $command"
                    diff <(printf '%s\n' "${shown[@]-}") "$scratch/out/real" | head -n 20
                fi
            fi
            examples=$((examples + 1))
        fi
        for line in "${shown[@]}"; do [[ -n $line ]] && result+=("$indent$line") || result+=(''); done
        for ((; blank > 0; blank--)); do result+=(''); done
    done
    lines=("${result[@]}")
}

IFS_lines=$'\n'
check_pages() {  # PAGE...
    local lines
    for page in "$@"; do
        IFS=$IFS_lines walk "$page"
        [[ $mode != write ]] || cmp -s "$page" <(printf '%s\n' "${lines[@]}") || printf '%s\n' "${lines[@]}" >"$page"
    done
}

# A page as it must not be, and one as it may be.
expect() {  # GOOD|BAD TEXT
    printf '%b' "$2" >"$scratch/page.md"
    local before=$failures
    page=$scratch/page.md
    check_pages "$page" >"$scratch/out/self"
    local found=$((failures - before))
    failures=$before
    if [[ $1 == bad ]] && ((!found)); then echo "not found: $2"; failures=$((failures + 1)); fi
    if [[ $1 == good ]] && ((found)); then echo "found although it is right: $2"; cat "$scratch/out/self"; failures=$((failures + 1)); fi
}

examples=0
if [[ $mode == self ]]; then
    version=$(qpscope --version)
    expect good "a\n\n    \$ qpscope --version\n    $version\n"
    expect good "\`\`\`\n\$ ./run.sh --version\n$version\n\`\`\`\n"
    expect good '    $ qpscope fields psn\n    ...\n'
    expect good '    $ qpscope info nothing.pcap\n    ...\n    $ echo $?\n    3\n'
    expect good '<!-- not run: a wire -->\n\n    $ sudo qpscope peer -i eth1 echo\n        0.1 serves\n'
    expect good '    qpscope packets -Y infiniband.bth trace.pcap | head   # some\n'
    expect bad '    $ qpscope --version\n    qpscope of somebody else\n'
    expect bad '    $ qpscope --version\n'
    expect bad "    \$ qpscope --version\n    $version\n    more\n"
    expect bad '    $ qpscope fields psn\n    ...\n    no such line\n    ...\n'
    expect bad '    $ qpscope info nothing.pcap\n    ...\n'
    expect bad '    $ sudo qpscope peer -i eth1 echo\n'
    expect bad '<!-- not run: a wire -->\n\n    $ sudo qpscope peer -i eth1 --no-such-option echo\n'
    expect bad '    qpscope packets -Y no.such.field trace.pcap\n'
    expect bad '    sudo qpscope pingpong --nothing\n'
    expect bad '    tcpdump -w - | qpscope packets --nothing -\n'
    ((failures == 0))
    exit
fi

cd "$SOURCE" || exit 2
pages=("$@")
((${#pages[@]})) || pages=(README.md docs/guide/*.md docs/{window,window-views,peer,conformance,scripts}.md agent/README.md)
check_pages "${pages[@]}"
echo "$examples examples of ${#pages[@]} pages, $failures wrong"
((failures == 0))
