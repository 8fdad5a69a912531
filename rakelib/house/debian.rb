# frozen_string_literal: true

# Installs Debian packages, where this is Debian and we are root, and downloads source packages of Debian.

require "fileutils"
require "open3"
require_relative "environment"

module House
  # apt-get, for packages that start no service.
  module Debian
    APT = ["apt-get", "-qq", "-o", "Acquire::Retries=3", "-o", "DPkg::Lock::Timeout=300"].freeze
    DEFAULT_MIRROR = "http://deb.debian.org/debian"
    KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
    # Decompresses an archive of any format that apt knows.
    HELPER = "/usr/lib/apt/apt-helper"
    private_constant :APT, :DEFAULT_MIRROR, :KEYRING, :HELPER

    module_function

    # @return [Boolean] whether #install can work here
    def packages?
      Environment.root? && Environment.program?("apt-get")
    end

    # @param names [Array<String>]
    # @return [Boolean] whether all are there now
    def install(names)
      run("update") && run("install", "--yes", "--no-install-recommends", *names)
    end

    # The mirror this machine's own apt uses.
    #
    # @return [String] URL
    def mirror
      lists = Dir["/etc/apt/sources.list", "/etc/apt/sources.list.d/*.{list,sources}"]
      urls = lists.flat_map { |path| File.readlines(path, encoding: "UTF-8") }.reject { |line| line.start_with?("#") }
                  .flat_map { |line| line.scan(%r{https?://\S+/debian/?(?=\s|\z)}) }
      urls.first || DEFAULT_MIRROR
    end

    # @return [String, nil] why no sources can be fetched on this machine (nil: they can)
    def no_sources
      return "needs apt-get" unless Environment.program?("apt-get") && File.executable?(HELPER)

      "needs #{KEYRING}, by which apt knows Debian's archive" unless File.exist?(KEYRING)
    end

    # Downloads a source package's archive, whose signature apt checks, and unpacks files of it. Needs no root: apt
    # works in the directory, with lists of its own.
    #
    # @param release [String] a name of a Debian release
    # @param package [String]
    # @param into [String] a directory
    # @param patterns [Array<String>] which files, as tar's wildcards; without the archive's first directory
    # @return [Boolean] whether they are there now
    def fetch_source(release, package, into:, patterns:)
      lists = File.join(into, "lists/partial")
      FileUtils.mkdir_p([lists, File.join(into, "archives/partial")])
      entry = File.join(into, "sources.list")
      File.write(entry, "deb-src [signed-by=#{KEYRING}] #{mirror} #{release} main\n")
      options = { "Dir::Etc::SourceList" => entry, "Dir::Etc::SourceParts" => "/dev/null", "Dir::Cache" => into,
                  "Dir::State::Lists" => File.dirname(lists), "Dir::State::status" => "/dev/null",
                  "APT::Sandbox::User" => "root" }.flat_map { |name, value| ["-o", "#{name}=#{value}"] }
      run(*options, "update") && versions(package, options).any? do |version|
        run(*options, "source", "--download-only", "--tar-only", "#{package}=#{version}", chdir: into) &&
          unpack(Dir[File.join(into, "*.orig.tar.*")].first, into, patterns)
      end
    end

    # A mirror may list versions whose files it does not have any more.
    # @return [Array<String>] the newest first
    def versions(package, options)
      said, = Open3.capture2("apt-cache", *options, "showsrc", package)
      said.scan(/^Version: (\S+)/).flatten.uniq.sort_by { |version| Gem::Version.new(version[/\d[\d.]*\d/]) }.reverse
    end
    private_class_method :versions

    def unpack(archive, into, patterns)
      tar = ["tar", "-x", "-C", into, "--strip-components=1", "--wildcards", *patterns.map { |name| "*/#{name}" }]
      Open3.pipeline([HELPER, "cat-file", archive], tar).all?(&:success?)
    end
    private_class_method :unpack

    def run(*words, **options)
      system({ "DEBIAN_FRONTEND" => "noninteractive" }, *APT, *words, in: File::NULL, out: File::NULL, **options)
    end
    private_class_method :run
  end
end
