# shellcheck shell=bash
# Sourced by the scripts of this tree: runs a long command with its output in a log file, shows that it is
# alive, and shows the end of the log when it fails. A command that is over within moments prints nothing.

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
        if [ -t 1 ]; then
            printf '\r\033[K%s (%d s) %.70s' "$label" $((SECONDS - started)) "$line"
        else
            printf '%s (%d s) %.70s\n' "$label" $((SECONDS - started)) "$line"
        fi
    done
}

# progress_step <log> <label> <command> [args]: runs the command; returns its status.
progress_step() {
    local log=$1 label=$2 started=$SECONDS status=0 ticker
    shift 2
    mkdir -p "$(dirname "$log")"
    : >"$log"
    # Neither the ticker nor what the command may leave behind must keep our lock (see lock_or_wait).
    progress_ticker "$log" "$label" "$BASHPID" 9>&- &
    ticker=$!
    "$@" >>"$log" 2>&1 </dev/null 9>&- || status=$?
    kill "$ticker" 2>/dev/null || true
    wait "$ticker" 2>/dev/null || true
    if [ -t 1 ]; then printf '\r\033[K'; fi
    if ((status != 0)); then
        printf '%s: FAILED (exit code %d). The end of %s:\n' "$label" "$status" "$log" >&2
        tail -n 40 "$log" | sed 's/^/    /' >&2
    elif ((SECONDS - started >= 4)); then
        printf '%s: done in %d s\n' "$label" $((SECONDS - started))
    fi
    return "$status"
}

# lock_or_wait <file> <what>: holds the lock on descriptor 9 until the script ends.
lock_or_wait() {
    mkdir -p "$(dirname "$1")"
    exec 9>"$1"
    if ! flock --nonblock 9; then
        printf '%s is under way in another process; waiting for it\n' "$2"
        flock 9
    fi
}
