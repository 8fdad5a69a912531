# frozen_string_literal: true

# `larder resize`: replaces a cache by one of another size, which is empty or has the items of the old one.

require_relative "../sessions/offline"
require_relative "../bytes/size"
require_relative "cache_command"
require_relative "inspection"

module Larder
  module CLI
    # `larder resize`: replaces a cache by an empty one while processes use it, or copies the items while none does.
    class Resize < CacheCommand
      # What users type.
      NAME = "resize"
      # One line for `larder --help`.
      SUMMARY = "replaces a cache by an empty one of another size; --keep: a copy"
      Commands.register(NAME, self)

      BANNER = <<~TEXT
        Usage: larder resize [PATH] SIZE [--keep] [--json]

        Replaces the file of a cache by an empty one of another size. Processes that
        have the old file open use the new one from their next call. With --keep the
        items are copied, as many as fit, and of a file of sessions all of them. Then
        no process may have the file open, because its changes would be lost.
      TEXT
      FOOTER = <<~TEXT.freeze
        SIZE is, for example, 256MB, "1.5 GB" or 268435456; 1 KB is 1024 bytes.

        #{PATH_HELP}
        The disk needs space for both files for a moment. Configure the same size in the
        application (size: or LARDER_SIZE), or a lost file is created again with the old
        size.

        Exit codes: 0 done, 1 failed without a change, 2 wrong usage.
      TEXT
      private_constant :BANNER, :FOOTER

      private

      def parser
        @parser ||= explained(BANNER, FOOTER) do |options|
          options.on("--keep", "copy the items; no process may have it open") { @keep = true }
        end
      end

      def operands(rest)
        raise UsageError, "name a SIZE, such as 256MB" if rest.empty?

        @bytes = ::Larder::Size.parse(rest.last, "SIZE")
        super(rest[0..-2])
      rescue ::ArgumentError => error
        raise UsageError, error.message
      end

      def act
        before, size, items = visit(create: false) { |cache| resize(cache) }
        tell({ file: File.absolute_path(path), size_bytes: size, former_size_bytes: before, items: items },
             "#{path} has #{Words.bytes(size)} now, before #{Words.bytes(before)}#{": #{kept(items)}" if @keep}.")
      end

      def resize(cache)
        sessions = sessions?(cache)
        keeping = "--keep keeps them: larder resize #{Remedy.quoted(path)} SIZE --keep"
        @keep ? alone(cache) : refuse_sessions(cache, keeping)
        before = cache.size
        cache.resize(@bytes, keep: sessions ? :all : !@keep.nil?)
        recount if sessions
        [before, cache.size, cache.stats[:items]]
      rescue ::Larder::FullError
        what, size = sessions ? ["its sessions", sufficient(cache)] : ["what #{path} must keep", "a larger SIZE"]
        raise Failure, "#{Words.bytes(@bytes)} have no room for #{what}, and nothing has changed; name #{size}"
      end

      # The first of sizes, each a quarter larger than the one before, that has room for all items.
      def sufficient(cache)
        megabytes = @bytes.fdiv(1 << 20)
        megabytes = (megabytes * 1.25).ceil until cache.fits_in?((megabytes * (1 << 20)).ceil)
        "#{megabytes}MB"
      end

      # Counts the sessions again: some may have expired since they were counted.
      def recount
        report = ->(error) { @err.puts("larder: #{error.message}") }
        ::Larder::Sessions::Offline.open(path, report: report) { |statistics, _| statistics.recount }
      end

      def kept(items)
        "#{Words.counted(items, "item")} kept"
      end

      def alone(cache)
        others = WatchedFile.others(cache)
        return if others.empty?

        raise Failure, "#{others.size == 1 ? "a process has" : "#{others.size} processes have"} #{path} open: " \
                       "#{others.map { |pid| name_of(pid) }.join(", ")}. Stop the application, or leave out --keep: " \
                       "an empty file then takes its place at once"
      end

      # "812 (puma: cluster worker 1)": what Linux knows of it.
      def name_of(pid)
        return "#{pid} in another container" if pid == Process.pid

        command = Remedy.shown(File.binread("/proc/#{pid}/cmdline").tr("\0", " ").strip)
        command.empty? ? pid.to_s : "#{pid} (#{command[0, 40]})"
      rescue SystemCallError
        pid.to_s
      end
    end
  end
end
