# `report --pdf`: by a browser that does what is asked, by those that do not, and by Chromium itself where it is installed.
capture=$SOURCE/captures/loss_write/capture.pcap
mkdir -p browser; rm -f ./*.pdf ./*.html ./*.png
# ends_with CODE SENTENCE ARGUMENT...: with the browser of this folder alone.
ends_with() {
    local expected=$1 sentence=$2 code=0; shift 2
    PATH="$PWD/browser:/bin:/usr/sbin" "$QPSCOPE" "$@" >out.txt 2>err.txt || code=$?
    [[ $code == "$expected" ]] || { echo "exit code $code: $*"; cat err.txt; exit 1; }
    [[ -z $sentence ]] || grep -qF -- "$sentence" err.txt || { echo "missing: $sentence"; cat err.txt; exit 1; }
}
browser() { printf '#!/bin/bash\n%s\n' "$1" >browser/chromium; chmod +x browser/chromium; }

# It gets the whole page, no network, and its PDF is what is written: in place of an older file too.
browser 'for word; do case $word in --print-to-pdf=*) pdf=${word#*=};; esac; done
[[ " $* " == *" --host-resolver-rules=MAP * ~NOTFOUND "* ]] || exit 9
printf "%%PDF-1.4 " >"$pdf"; cat "${!#}" >>"$pdf"'
head -c 100000 /dev/zero >a.pdf
ends_with 0 "" report --pdf a.pdf "$capture"
[[ ! -s out.txt ]]
ends_with 0 "" report --pdf b.pdf -o b.html "$capture"
same() { diff <(grep -avE "<dt>(made|command line|command)<" "$1") <(grep -avE "<dt>(made|command line|command)<" "$2"); }  # but for when and how it was made
same a.pdf b.pdf
[[ $(head -c 9 a.pdf) == "%PDF-1.4 " ]] && tail -c +10 b.pdf | cmp - b.html
ends_with 0 "" report --pdf c.pdf - <"$capture"
[[ -s c.pdf ]]

# One that fails leaves no file, but keeps the one that was there; nothing of a temporary kind stays.
export TMPDIR=$PWD/temporary; mkdir -p "$TMPDIR"
browser 'exit 3'
ends_with 5 "failed with exit status 3" report --pdf d.pdf "$capture"
ends_with 5 "failed with exit status 3" report --pdf a.pdf "$capture"
[[ ! -e d.pdf ]]; same a.pdf b.pdf
browser 'kill -9 $$'
ends_with 5 "was ended by signal 9" report --pdf d.pdf "$capture"
browser 'true'
ends_with 5 "made no PDF" report --pdf d.pdf "$capture"
browser 'kill -9 $PPID'
ends_with 5 "the printing process ended early" report --pdf e.pdf "$capture"
rm -r "$TMPDIR"/*  # of the killed one
ends_with 2 "-o and --pdf both name d.pdf" report --pdf d.pdf -o d.pdf "$capture"
ends_with 3 "" report --pdf d.pdf missing.pcap
[[ ! -e d.pdf && -z $(ls "$TMPDIR") ]]
rm browser/chromium
if [[ ! -x /bin/chromium ]]; then ends_with 2 "needs Chromium" report --pdf d.pdf "$capture"; fi
cp "$capture" own.pcap
browser 'true'
ends_with 2 "is also an input" report --pdf own.pcap own.pcap
cmp own.pcap "$capture"
ends_with 5 "cannot write nowhere/e.pdf: No such file or directory" report --pdf nowhere/e.pdf "$capture"

sandbox=(); [[ $EUID != 0 ]] || sandbox=(--no-sandbox)
look() { timeout 100 chromium --headless --disable-gpu "${sandbox[@]}" --user-data-dir="$PWD/profile" "$@" >chromium.log 2>&1; }
if ! command -v chromium >/dev/null || ! look --screenshot="$PWD/blank.png" about:blank || [[ ! -s blank.png ]]; then
    echo "SKIPPED: chromium is not here, or does not run here; no PDF and no picture of the page were made"
    exit 0
fi
"$QPSCOPE" report --pdf real.pdf -o real.html "$capture"
[[ $(head -c 5 real.pdf) == "%PDF-" ]]
if command -v pdftotext >/dev/null; then
    pdftotext real.pdf real.txt
    grep -q 'go-back-n-loss' real.txt
else
    echo "SKIPPED: no pdftotext here; the text of the PDF was not read"
fi
# On a screen, in both themes: two pictures that differ, neither of them of one colour (a PNG of that is a tenth as large).
for theme in light dark; do
    blink=$([[ $theme == dark ]] && echo 0 || echo 1)  # of preferredColorScheme
    look --blink-settings=preferredColorScheme="$blink" --hide-scrollbars --window-size=1000,1400 --screenshot="$PWD/$theme.png" "$PWD/real.html"
    (($(stat -c %s $theme.png) > 40000))
done
! cmp -s light.png dark.png

# Its own script runs under its policy (tables can be sorted), and nothing else that stands in it.
sed 's|<h1>|<script>document.title = "ran"</script><img src="x" onerror="document.title = 1"><p style="color: red">&</p>|' real.html >hostile.html
for page in real hostile; do
    look --dump-dom "$PWD/$page.html"
    grep -q '<html lang="en" class="js">' chromium.log
    grep -q '<title>qpscope: capture.pcap</title>' chromium.log
done
