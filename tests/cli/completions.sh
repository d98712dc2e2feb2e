# Completions in real shells: commands, options, words, files, fields, connections and findings of the capture on the line.
for tool in python3 zsh fish; do command -v $tool >/dev/null || { echo "$tool is missing"; exit 77; }; done
fail() { echo "FAILED: $*"; exit 1; }
rm -rf out here
python3 "$SOURCE/packaging/completions/make.py" "$QPSCOPE" out
mkdir -p here/bin
ln -sf "$QPSCOPE" here/bin/qpscope
ln -sf "$SOURCE/captures/loss_write/capture.pcap" here/trace.pcap
export PATH=$PWD/here/bin:$PATH HOME=$PWD/here XDG_CONFIG_HOME=$PWD/here XDG_DATA_HOME=$PWD/here
out=$PWD/out
cd here

in_bash() {  # WORDS...: what completes the last one
    bash --norc -c 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _qpscope 2>/dev/null; printf "%s\n" "${COMPREPLY[@]}"' bash "$out/qpscope" "$@"
}
in_fish() {
    fish --no-config -c 'source $argv[1]; complete -C "$argv[2]"' "$out/qpscope.fish" "$*" 2>/dev/null | cut -f 1
}
in_zsh() {  # WANTED WORDS...: a shell on a terminal of its own, where somebody types the words and Tab
    zsh -f -c '
        zmodload zsh/zpty
        zpty shell zsh -f -i
        tell() { zpty -w shell "$1" }
        tell "PROMPT=; fpath=($1 \$fpath); autoload -U compinit; compinit -u -D; stty cols 200"
        tell "zstyle \":completion:*\" list-prompt \"\"; zstyle \":completion:*\" menu no; LISTMAX=0; unsetopt always_last_prompt zle_bracketed_paste; setopt auto_list no_list_beep"
        tell "print READY"
        read_until() { local got= part=; local -i tries=0
            while [[ $got != *$1* ]] && ((tries++ < 300)); do zpty -r -t shell part && got+=$part || sleep 0.05; done; print -r -- "$got" }
        read_until "READY" >/dev/null
        sleep 0.3
        zpty -w -n shell "$2"$'"'\t'"'
        setopt extendedglob
        local all= part= shown=
        local -i tries=0
        while [[ $shown != *$3* ]] && ((tries++ < 200)); do
            sleep 0.05
            while zpty -r -t shell part; do all+=$part; done
            shown=${${all//$'"'\e'"'\[[0-9;?]#[A-Za-z]/}//$'"'\a'"'/}
        done
        print -r -- "$all"
        zpty -d shell' zsh "$out" "${*:2}" "$1" 2>/dev/null | sed 's/\x1b\[[0-9;?]*[A-Za-z]//g; s/.\x08//g' | tr -d '\a' | tr '\r' '\n'
}
expect() {  # SHELL WANTED WORDS...
    local shell=$1 wanted=$2 got
    shift 2
    if [[ $shell == zsh ]]; then got=$(in_zsh "$wanted" "$@"); else got=$("in_$shell" "$@"); fi
    grep -qwF -- "$wanted" <<<"$got" || fail "$shell: '$*' does not offer $wanted but: $got"
}
for shell in bash fish zsh; do
    expect $shell analyze qpscope ana
    expect $shell --fail-on qpscope findings --fail
    expect $shell ndjson qpscope analyze --format nd
    expect $shell warning qpscope findings --fail-on w
    expect $shell trace.pcap qpscope analyze tra
    expect $shell infiniband.bth.psn qpscope packets -e infiniband.bth.ps
    expect $shell go-back-n-loss qpscope extract trace.pcap --finding go
    expect $shell 1 qpscope messages trace.pcap --connection ""
    expect $shell ib_write_bw qpscope peer ib_write_b
    expect $shell RSP-02 qpscope check --only RSP-0
    expect $shell RSP-02 qpscope conform --only RSP-0
    expect $shell timeline qpscope help time
    expect $shell peer qpscope help pe
done
[[ -z $(in_bash qpscope help info "" | tr -d '\n') ]] || fail "a second command of help"
# Nothing that is not there.
[[ $(in_bash qpscope extract trace.pcap --finding "" | grep -c .) == $(qpscope findings -q -f tsv trace.pcap | tail -n +2 | cut -f 2 | sort -u | grep -c .) ]] ||
    fail "findings that the capture does not have"
[[ -z $(in_bash qpscope messages trace.pcap --connection 7 | tr -d '\n') ]] || fail "a connection that is not there"
# Every option of every command that takes words offers those of the help.
for word in auto always never; do expect bash $word qpscope info --color ""; done
for word in zero cut keep; do expect bash $word qpscope anonymize --payload ""; done
