# frozen_string_literal: true

# Runs the Ruby tests, or any program of this checkout, on another Debian release or with a Ruby that is built from
# Debian's source: makes a root with debootstrap (once, outside the checkout), copies the checkout into it, and runs the
# program there, in namespaces of its own for mounts and processes: these end with it, even when it is killed. What it
# writes to tmp/ is in tmp/stacks/ of this checkout.
#
# Run as a program: ruby rakelib/house/stack.rb trixie
#                   ruby rakelib/house/stack.rb yjit-3.3 --run bin/lab stores --quick

require "etc"
require "fileutils"
require "rbconfig"
require "tmpdir"
require_relative "checkout"
require_relative "debian"
require_relative "environment"

module House
  # One root in a directory of its own.
  class Stack
    RELEASE = "trixie"

    # Where the source of a Ruby with YJIT is found, which Debian's own Rubies do not have: release and package.
    SOURCES = { "yjit-3.3" => ["trixie", "ruby3.3"], "yjit-3.4" => ["experimental", "ruby3.4"] }.freeze
    NAMES = [RELEASE, *SOURCES.keys].freeze

    # Packages in the root. Linters are not: the first stack has them. The codecs' gems compile C++.
    PACKAGES = ["ruby", "ruby-dev", "ruby-bundler", "gcc", "g++", "libc6-dev", "make", "git", "ca-certificates",
                "pkgconf", "procps", "libsnappy-dev", "redis-server", "memcached"].freeze

    # What a Ruby is built with. Rust is YJIT's.
    TO_BUILD = ["rustc", "libssl-dev", "libyaml-dev", "libffi-dev", "zlib1g-dev"].freeze

    # Variables of this machine that say how the network and its certificates are reached.
    NETWORK_VARIABLES = /\A(?:https?_proxy|ftp_proxy|no_proxy|all_proxy|ssl_cert_(?:file|dir)|
                            bundle_(?:mirror|ssl|timeout|retry|redirect|rubygems__org).*|rubygems_.*)\z/xi

    # Files that say the same, for programs that read no variables.
    NETWORK_FILES = ["/etc/resolv.conf", "/etc/hosts", "/etc/gemrc"].freeze
    HOME_FILES = [".gemrc", ".bundle/config"].freeze
    CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"

    CHECKOUT = "/larder/checkout"
    GEMS = "/larder/gems"
    READY = ".larder-ready"

    # @return [String, nil] why no stack can be made on this machine (nil: it can)
    def self.missing
      return "needs Linux" unless RbConfig::CONFIG["host_os"].start_with?("linux")
      return "needs root (debootstrap, chroot)" unless Environment.root?

      lacking = ["unshare", "chroot", "debootstrap"].reject { |name| program?(name) }
      return if lacking.empty? || (lacking == ["debootstrap"] && program?("apt-get"))

      "needs #{lacking.join(", ")}"
    end

    # @return [Boolean]
    def self.program?(name)
      Environment.program?(name) || File.executable?("/usr/sbin/#{name}")
    end

    # @param name [String] of NAMES
    # @param base [String] directory to keep roots in
    def initialize(name, base: Environment.cache_directory)
      @name = name
      @base = base
      @root = File.join(@base, name)
      @source = SOURCES[name]
      @packages = @source ? PACKAGES + TO_BUILD : PACKAGES
    end

    # @param options [Array<String>] for bin/test inside
    # @return [Boolean] whether all passed
    def test(options = [])
      run(["bin/test", "--no-system", "--jobs", Environment.processors.to_s, "--only", "build,stack,rails,newest",
           *options], @source ? { "RUBY_YJIT_ENABLE" => "1" } : {}) # as Rails does in an application
    end

    # @param command [Array<String>] a program of the checkout, and its arguments
    # @param settings [Hash{String => String}] environment variables for it
    # @return [Boolean] whether it ended with success
    def run(command, settings = {})
      abort "stack: #{self.class.missing}" if self.class.missing
      FileUtils.mkdir_p(@base, mode: 0o755)
      File.open("#{@root}.lock", File::RDWR | File::CREAT, 0o600) do |lock|
        lock.flock(File::LOCK_EX) # two runs would overwrite each other's checkout
        bootstrap unless ready?
        copy_network_settings
        Checkout.copy(File.join(@root, CHECKOUT))
        enter(command, settings)
      end
    end

    private

    def say(text)
      puts "stack #{@name}: #{text}"
      $stdout.flush
    end

    # Made of what is asked for today?
    def ready?
      mark = File.join(@root, READY)
      File.exist?(mark) && File.read(mark) == ingredients
    end

    def ingredients
      [*@packages, *@source].join(" ")
    end

    # Made beside its place and renamed, so that an interrupted one is never taken for whole.
    def bootstrap
      install_debootstrap unless self.class.program?("debootstrap")
      partial = "#{@root}.partial"
      FileUtils.rm_rf([partial, @root])
      say "making #{@root} with debootstrap (about 900 MB, once)"
      shell("debootstrap", "--variant=minbase", "--include=#{@packages.join(",")}", RELEASE, partial, Debian.mirror)
      FileUtils.rm_rf(Dir[File.join(partial, "var/cache/apt/archives/*.deb")])
      build_ruby(partial) if @source
      File.write(File.join(partial, READY), ingredients)
      File.rename(partial, @root)
    end

    # Without the gems that are bundled with Ruby, which Debian's source does not have.
    BUILD = <<~SHELL
      set -e
      cd /larder/ruby
      : > gems/bundled_gems
      ./configure --enable-yjit --enable-shared --disable-install-doc
      make -j "$1"
      make install
      ldconfig
    SHELL
    private_constant :BUILD

    def build_ruby(root)
      release, package = @source
      say "building #{package} of #{release} with YJIT (about five minutes, once)"
      source = File.join(root, "larder/ruby")
      Debian.fetch_source(release, package, into: source, patterns: ["*"]) ||
        abort("stack #{@name}: could not fetch the source of #{package}")
      log = "#{@root}.log"
      system("chroot", root, "bash", "-c", BUILD, "bash", Environment.processors.to_s, in: File::NULL,
                                                                                       [:out, :err] => log) ||
        abort("stack #{@name}: #{package} could not be built; see #{log}")
      FileUtils.rm_rf(source)
    end

    def install_debootstrap
      say "installing debootstrap"
      Debian.install(["debootstrap"]) || abort("stack #{@name}: could not install debootstrap")
    end

    def copy_network_settings
      NETWORK_FILES.each { |path| copy(path, path) }
      HOME_FILES.each { |name| copy(File.join(Dir.home, name), File.join("/root", name)) }
      bundle = ENV.fetch("SSL_CERT_FILE", CERTIFICATES)
      copy(bundle, bundle)
      copy(bundle, CERTIFICATES)
    end

    def copy(source, target)
      return unless File.file?(source)

      target = File.join(@root, target)
      FileUtils.mkdir_p(File.dirname(target))
      FileUtils.rm_f(target) if File.symlink?(target)
      FileUtils.cp(source, target)
    end

    ENTER = <<~SHELL.freeze
      set -e
      root=$1 written=$2; shift 2
      mount -t proc proc "$root/proc"
      mount --rbind /dev "$root/dev"
      mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
      mount --bind "$written" "$root#{CHECKOUT}/tmp"
      exec chroot "$root" "$@"
    SHELL
    private_constant :ENTER

    def enter(command, settings)
      say "running #{command.join(" ")}"
      written = File.join(ROOT, "tmp/stacks", @name)
      FileUtils.mkdir_p([written, File.join(@root, CHECKOUT, "tmp")])
      # In the process namespace the shell is process 1 and reaps orphans, as tests of killed writers expect. It must
      # therefore stay, which is why the command is not its last. A Bundler of another version than the lock's would
      # start each program again without Ruby's options, unless its version is named.
      version = %($(ruby -e 'require "bundler"; print Bundler::VERSION'))
      script = %(cd "#{CHECKOUT}" && export BUNDLER_VERSION=#{version} && "$@"; exit $?)
      system("unshare", "--mount", "--propagation", propagation, "--pid", "--fork", "--kill-child", "sh", "-c", ENTER,
             "sh", @root, written, "/usr/bin/env", "-i", *variables(settings), "bash", "-c", script, "bash", *command)
    ensure
      unmount_leaked
    end

    # Where this runs in a chroot, "/" is no mount whose propagation could be made private.
    def propagation
      system("unshare", "--mount", "--propagation", "private", "true", err: File::NULL) ? "private" : "unchanged"
    end

    # With unchanged propagation our mounts may have reached this namespace; the deepest goes first.
    def unmount_leaked
      mounts = File.readlines("/proc/self/mounts").map { |line| line.split[1] }
      mounts.select { |path| path.start_with?("#{@root}/") }.reverse_each do |path|
        system("umount", "--lazy", path)
      end
    end

    def variables(settings)
      all = ENV.to_h.select { |name, _| NETWORK_VARIABLES.match?(name) }
      all.merge!("HOME" => "/root", "LANG" => "C.UTF-8", "PATH" => "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                 "BUNDLE_PATH" => GEMS, "BUNDLE_WITHOUT" => "lint", **settings)
      all["CI"] = ENV["CI"] if ENV["CI"]
      all.map { |name, value| "#{name}=#{value}" }
    end

    def shell(*command)
      system(*command, in: File::NULL) || abort("stack #{@name}: #{command.last(2).join(" ")} failed")
    end
  end
end

if $PROGRAM_NAME == __FILE__
  name, *options = ARGV
  known = House::Stack::NAMES
  abort "unknown stack #{name.inspect}; known: #{known.join(", ")}" unless known.include?(name)
  stack = House::Stack.new(name)
  exit(options.first == "--run" ? stack.run(options.drop(1)) : stack.test(options))
end
