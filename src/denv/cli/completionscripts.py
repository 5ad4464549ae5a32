"""The scripts of ``denv completion``, one a shell.

They ask as click's own do, and are our own for what those leave out: a value that is written as
``--option=value``, descriptions with commas and the order of what is offered in fish, and the
second completion of a session in zsh.
"""

from __future__ import annotations

from collections.abc import Mapping

BASH = """\
_denv_completion() {
    local IFS=$'\\n'
    local response completion type value n
    local -a words=()

    # Bash makes a word of the = between an option and its value.
    for ((n = 0; n <= COMP_CWORD; n++)); do
        if [[ ${COMP_WORDS[n]} != "=" || $n -eq $COMP_CWORD ]]; then
            words+=("${COMP_WORDS[n]}")
        fi
    done
    response=$(env COMP_WORDS="${words[*]}" COMP_CWORD=$((${#words[@]} - 1)) \\
        _DENV_COMPLETE=bash_complete "$1")

    for completion in $response; do
        IFS=',' read -r type value <<< "$completion"
        case $type in
            dir) COMPREPLY=(); compopt -o dirnames ;;
            file) COMPREPLY=(); compopt -o default ;;
            plain) COMPREPLY+=("$value") ;;
        esac
    done
    return 0
}

complete -o nosort -F _denv_completion denv
"""

ZSH = """\
#compdef denv

_denv_completion() {
    local type key descr
    local -a plain described response
    (( ! $+commands[denv] )) && return 1

    response=("${(@f)$(env COMP_WORDS="${words[*]}" COMP_CWORD=$((CURRENT-1)) \\
        _DENV_COMPLETE=zsh_complete denv)}")

    # Of --option=value the value alone is completed.
    [[ $PREFIX == --*=* ]] && compset -P 1 '*='

    for type key descr in ${response}; do
        case $type in
            plain)
                if [[ $descr == _ ]]; then
                    plain+=("$key")
                else
                    described+=("$key:$descr")
                fi
                ;;
            dir) _files -/ ;;
            file) _files ;;
        esac
    done

    (( $#described )) && _describe -V unsorted described
    (( $#plain )) && compadd -V unsorted -a plain
}

if [[ $funcstack[1] == _denv ]]; then
    # A file of a folder in fpath is the function itself, at each call anew.
    _denv_completion "$@"
else
    compdef _denv_completion denv
fi
"""

FISH = """\
function _denv_completion
    set -l token (commandline -ct)
    # Of --option=value the value alone is answered.
    set -l option (string match -r -- '^--[^=]*=' $token)
    set -l response (env _DENV_COMPLETE=fish_complete COMP_WORDS=(commandline -cp) \\
        COMP_CWORD="$token" denv)

    for completion in $response
        set -l parts (string split -m 1 -- , $completion)
        switch $parts[1]
            case dir
                printf '%s\\n' "$option"(__fish_complete_directories $parts[2])
            case file
                printf '%s\\n' "$option"(__fish_complete_path $parts[2])
            case plain
                printf '%s\\n' "$option$parts[2]"
        end
    end
end

complete --keep-order --no-files --command denv --arguments "(_denv_completion)"
"""

SCRIPTS: Mapping[str, str] = {"bash": BASH, "zsh": ZSH, "fish": FISH}
