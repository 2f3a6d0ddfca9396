# shellcheck shell=bash
# Sourced by the scripts of this tree: runs a long command with its output in a log file, shows that it is
# alive, and shows the end of the log when it fails. A command that is over within moments prints nothing.

# Prints a line of a log so that it fits: ninja's "[n/m]" in words with the end of the path, which says more than
# its beginning; of anything else the first words.
progress_text() {
    local line=$1 path
    if [[ $line =~ ^\[([0-9]+)/([0-9]+)\]\ (.*)$ ]]; then
        path=${BASH_REMATCH[3]##* }
        if [[ $path != */* ]]; then path=${BASH_REMATCH[3]}; fi
        if ((${#path} > 60)); then path=...${path: -57}; fi
        printf '%s of %s done: %s' "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" "$path"
    elif ((${#line} > 70)); then
        line=${line:0:67}
        printf '%s ...' "${line% *}"
    else
        printf '%s' "$line"
    fi
}

# Prints the last line of a log, rewritten in place on a terminal and as a line of its own now and then elsewhere.
progress_ticker() {
    local log=$1 label=$2 owner=$3 started=$SECONDS interval=20 next=4 line
    if [ -t 1 ]; then interval=1 next=1; fi
    while kill -0 "$owner" 2>/dev/null; do
        # The sleeper must not keep our output open: who reads it would wait for the sleeper.
        sleep 0.5 >/dev/null 2>&1
        if ((SECONDS - started < next)); then continue; fi
        next=$((SECONDS - started + interval))
        line=$(tail -c 400 "$log" 2>/dev/null | tr '\r' '\n' | grep -v '^[[:space:]]*$' | tail -n 1)
        line=$(progress_text "$line")
        if [ -t 1 ]; then
            printf '\r\033[K%s (%d s) %s' "$label" $((SECONDS - started)) "$line"
        else
            printf '%s (%d s) %s\n' "$label" $((SECONDS - started)) "$line"
        fi
    done
}

progress_label='' progress_ticker_id=''

# tell_interruptions: from now on Ctrl-C ends the script with a word on what it was doing. For the innermost script
# only; those that call it end with its exit code.
tell_interruptions() {
    trap 'if [ -n "$progress_ticker_id" ]; then kill "$progress_ticker_id" 2>/dev/null || true; fi
        printf "\n%sinterrupted\n" "${progress_label:+$progress_label: }"
        exit 130' INT
}

# progress_step <log> <label> <command> [args]: runs the command; returns its status.
progress_step() {
    local log=$1 label=$2 started=$SECONDS status=0
    shift 2
    progress_label=$label
    mkdir -p "$(dirname "$log")"
    : >"$log"
    # Neither the ticker nor what the command may leave behind must keep our lock (see lock_or_wait).
    progress_ticker "$log" "$label" "$BASHPID" 9>&- &
    progress_ticker_id=$!
    "$@" >>"$log" 2>&1 </dev/null 9>&- || status=$?
    kill "$progress_ticker_id" 2>/dev/null || true
    wait "$progress_ticker_id" 2>/dev/null || true
    progress_label='' progress_ticker_id=''
    if [ -t 1 ]; then printf '\r\033[K'; fi
    if ((status != 0)); then
        printf '%s: FAILED (exit code %d). The end of %s:\n' "$label" "$status" "$log" >&2
        tail -n 40 "$log" | sed 's/^/    /' >&2
    elif ((SECONDS - started >= 4)); then
        printf '%s: done in %d s\n' "$label" $((SECONDS - started))
    fi
    return "$status"
}

# require_writable <root>: ends the script with advice when the folder that everything goes to cannot be written.
require_writable() {
    local folder
    for folder in "$1/build" "$1/build/locks" "$1/build/logs"; do
        if ! mkdir -p "$folder" 2>/dev/null || [ ! -w "$folder" ]; then
            printf 'cannot write to %s: clone into a folder of your own, everything goes to build/ (%s)\n' "$folder" \
                "if another user or sudo made it, delete build/ as that user" >&2
            exit 1
        fi
    done
}

# lock_or_wait <file> <what>: holds the lock on descriptor 9 until the script ends.
lock_or_wait() {
    local started=$SECONDS status
    mkdir -p "$(dirname "$1")"
    exec 9>"$1"
    if flock --nonblock 9; then return; fi
    printf '%s is under way in another process; waiting for it (Ctrl-C is safe: nothing has begun here)\n' "$2"
    while true; do
        status=0
        flock --timeout 20 9 || status=$?
        if ((status == 0)); then return; fi
        if ((status != 1)); then
            printf 'cannot lock %s (flock ended with code %d)\n' "$1" "$status" >&2
            exit 1
        fi
        printf '%s is still under way in another process; waited %d s (Ctrl-C is safe)\n' "$2" $((SECONDS - started))
    done
}
