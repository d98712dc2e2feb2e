# The table of cases as `of WORD` for the case $name. Sourced by interop and play.

names=()
declare -A line_of
read_table() {  # FILE
    local word rest
    while read -r word rest; do
        case $word in
            '' | '#'*) ;;
            case)
                read -r word rest <<<"$rest"
                names+=("$word")
                line_of[$word/flags]=$rest
                ;;
            server | client | before | record | after | ready | kernels | timeout | exit | says | counts | finds | may | sees | never)
                line_of[${names[-1]}/$word]+=$rest$'\n'
                ;;
            *) echo "interop: the table has no word '$word'" >&2; exit 2 ;;
        esac
    done <"$1"
}

# What the table says under a word, a line each; nothing where it says nothing.
of() { printf '%s' "${line_of[$name/$1]:-}"; }
