# Installs the packages that bin/lab needs and the servers that it measures, or says what is left out without these.
# Sourced by bin/lab after apt.sh; the caller defines say and die.

# Prints the packages that are missing of those that Larder and the gems of the lab are compiled with.
missing_lab_packages() {
    needed_packages
    have_header openssl/ssl.h || echo libssl-dev # the gems hiredis-client and trilogy
}

# The lines of apt.sh's table for the servers that bin/lab installs, and that are not here.
missing_lab_servers() {
    local package rest
    while read -r package rest; do
        case "$package" in redis-server | valkey-server | memcached) echo "$package $rest" ;; esac
    done < <(missing_servers)
}

# may_install yes|no|ask REFUSED PACKAGE...: whether they are to be installed. REFUSED is a file that remembers a "no".
may_install() {
    local how=$1 refused=$2 answer
    shift 2
    [ "$how" != no ] || return 1
    if ! can_install; then
        [ "$how" != yes ] || die "--install needs root and apt-get: install $* by other means"
        return 1
    fi
    { [ "$how" = ask ] && at_terminal; } || return 0
    [ ! -e "$refused" ] || return 1
    read -r -p "bin/lab: install $* with apt-get? No service is started. [Y/n] " answer
    case "$answer" in
        n* | N*)
            mkdir -p "$(dirname "$refused")" && : >"$refused"
            return 1
            ;;
    esac
}

at_terminal() { [ -t 0 ] && [ -t 2 ]; }

# settle_packages yes|no|ask REFUSED SERVERS: installs what is missing where it may, servers if SERVERS is yes, and says
# once what is left out
settle_packages() {
    local wanted=() left=() package program reason
    mapfile -t wanted < <(missing_lab_packages)
    [ "$3" = no ] || while read -r package program reason; do wanted+=("$package"); done < <(missing_lab_servers)
    [ ${#wanted[@]} -gt 0 ] || return 0
    ! may_install "$1" "$2" "${wanted[@]}" || install_all "${wanted[@]}" || true
    [ "$3" = no ] || while read -r package program reason; do left+=("$reason ($program is missing)"); done < <(missing_lab_servers)
    [ ${#left[@]} -gt 0 ] || return 0
    local list
    list=$(printf '%s, ' "${left[@]}")
    say "leaves out ${list%, }; sudo bin/servers installs them on Debian"
}
