# Finds servers and installs Debian packages, for bin/setup, bin/servers and bin/lab. Sourced by them; a caller defines say.
#
# It never leaves a service running: while packages are installed, policy-rc.d forbids every start.

have() { command -v "$1" >/dev/null 2>&1 || [ -x "/usr/sbin/$1" ]; }

have_header() { echo "#include <$1>" | cc -E -x c - >/dev/null 2>&1; }

have_ruby_headers() {
    have ruby && ruby -e 'exit File.exist?(File.join(RbConfig::CONFIG["rubyhdrdir"], "ruby.h"))'
}

# Prints the packages without which nothing can be compiled and run.
needed_packages() {
    have ruby || echo ruby
    have bundle || echo ruby-bundler
    have_ruby_headers || echo ruby-dev
    { have cc && have make && have_header stdio.h; } || echo build-essential
    [ -e /etc/ssl/certs/ca-certificates.crt ] || [ ! -e /etc/debian_version ] || echo ca-certificates
}

# Debian keeps PostgreSQL's programs off the PATH.
have_postgres() { have postgres || compgen -G "/usr/lib/postgresql/*/bin/postgres" >/dev/null; }

# package, program, what goes unmeasured and untested without it. mariadb-server-core is the server without its service.
servers() {
    cat <<'TABLE'
redis-server redis-server the lab's Redis rows
valkey-server valkey-server the lab's Valkey row
memcached memcached the lab's memcached rows
postgresql postgres the lab's rows of Solid Cache on PostgreSQL
mariadb-server-core mariadbd the lab's row of Solid Cache on MariaDB
mariadb-client-core my_print_defaults the same, which MariaDB makes its directory ready with
TABLE
}

# Prints the lines of the table above whose program is not here.
missing_servers() {
    local package program reason
    while read -r package program reason; do
        if [ "$program" = postgres ]; then have_postgres && continue; fi
        have "$program" || echo "$package $program $reason"
    done < <(servers)
}

can_install() { [ "$EUID" = 0 ] && command -v apt-get >/dev/null 2>&1; }

apt() {
    DEBIAN_FRONTEND=noninteractive apt-get -qq -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 "$@"
}

# quietly COMMAND...: shows the end of what it printed only where it fails
quietly() {
    local log status=0
    log=$(mktemp)
    "$@" >"$log" 2>&1 || status=$?
    [ $status -eq 0 ] || tail -n 20 "$log" >&2
    rm -f "$log"
    return $status
}

# without_services COMMAND...: runs it while no service may be started
without_services() {
    local policy=/usr/sbin/policy-rc.d
    local ours=no status=0
    if [ ! -e "$policy" ] && printf '#!/bin/sh\nexit 101\n' >"$policy"; then
        chmod 755 "$policy"
        ours=yes
        trap 'rm -f /usr/sbin/policy-rc.d' EXIT
    fi
    "$@" || status=$?
    if [ $ours = yes ]; then
        rm -f "$policy"
        trap - EXIT
    fi
    return $status
}

# install_packages PACKAGE...: all, or those that this release has
install_packages() {
    say "installing Debian packages: $*"
    quietly apt update || return 1
    without_services quietly apt install --yes --no-install-recommends "$@" && return 0
    [ $# -gt 1 ] || return 1
    # One name that this release does not have must not keep the others out.
    local package status=0
    for package in "$@"; do
        without_services quietly apt install --yes --no-install-recommends "$package" ||
            { say "could not install $package" && status=1; }
    done
    return $status
}

# Whether a release that apt knows has the package.
has_candidate() { apt-cache policy "$1" 2>/dev/null | grep -q '^  Candidate: [^(]'; }

# install_backport PACKAGE: from the backports of this Debian, on the mirror that apt has already
install_backport() {
    local codename mirror list=/etc/apt/sources.list.d/larder-backports.sources
    codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
    mirror=$(command apt-get indextargets --format '$(CODENAME) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
        awk -v name="$codename" '$1 == name { print $2; exit }')
    [ -n "$codename" ] && [ -n "$mirror" ] || return 1
    say "adding $codename-backports of $mirror to apt, in $list"
    printf 'Types: deb\nURIs: %s\nSuites: %s-backports\nComponents: main\nSigned-By: %s\n' "$mirror" "$codename" \
        /usr/share/keyrings/debian-archive-keyring.gpg >"$list"
    if install_packages "$1"; then return 0; fi
    rm -f "$list"
    say "took $codename-backports out again"
    return 1
}

# install_all PACKAGE...: valkey-server also where only backports have it
install_all() {
    local package other=() status=0
    for package in "$@"; do
        if [ "$package" = valkey-server ] && ! has_candidate valkey-server; then continue; fi
        other+=("$package")
    done
    [ ${#other[@]} -eq 0 ] || install_packages "${other[@]}" || status=1
    for package in "$@"; do
        [ "$package" = valkey-server ] && ! have valkey-server || continue
        install_backport valkey-server || { say "could not install valkey-server" && status=1; }
    done
    return $status
}
