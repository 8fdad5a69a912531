# frozen_string_literal: true

# Checks whether something copies the cache. A copy that is put back is recognized as a copy, unless it is written over
# a file whose processes were killed since.

require "open3"

module Larder
  class Doctor
    # Checks of {Doctor}.
    module PlaceChecks
      # Bytes that identify a file and never change: the first page of a cache, and the start of a lock file before the
      # use number.
      IDENTITY = 4096
      LOCK_IDENTITY = 32
      private_constant :IDENTITY, :LOCK_IDENTITY

      private

      def copies
        names = Dir.children(File.dirname(@path), encoding: @path.encoding).sort
        found = names.map { |name| File.join(File.dirname(@path), name) }
                     .reject { |file| files.include?(file) || locking?(file) }.select { |file| copy?(file) }
        return :sound if found.empty?

        ["#{names(found)} #{found.one? ? "is a copy" : "are copies"} of this cache or its lock file: a copy that is " \
         "put back becomes an empty cache. Exclude caches from backups", "rm #{quoted(*found)}"]
      end

      def copy?(file)
        return false unless File.file?(file) && !File.symlink?(file) && File.readable?(file)

        head = File.binread(file, IDENTITY)
        files.reject { |own| locking?(own) }.any? do |own|
          bytes = own == "#{@path}.lock" ? LOCK_IDENTITY : IDENTITY
          head && head.bytesize >= LOCK_IDENTITY && head.byteslice(0, bytes) == File.binread(own, bytes)
        end
      end

      # A tracked file is in every clone, every image that is built from one, and every deployment.
      def git
        root, inside = ask_git("rev-parse", "--show-toplevel")
        return unless inside && !root.empty?

        tracked = all_files.keys.select { |file| ask_git("ls-files", "--error-unmatch", file).last }
        if tracked.any?
          return ["git tracks #{names(tracked)}: each clone and image has #{tracked.one? ? "it" : "them"}",
                  "git rm --cached #{quoted(*tracked)}"]
        end
        return :sound if ask_git("check-ignore", "--quiet", @path).last

        ["git does not ignore it: the next `git add .` adds it",
         "echo #{quoted(pattern_below(root))} >> #{quoted(root)}/.gitignore"]
      end

      # @return [String] for .gitignore: its directory; its files if that is the root, which has others
      def pattern_below(root)
        directory, root = [File.dirname(File.realpath(@path)), root].map(&:b) # the latter has the locale's encoding
        directory == root ? "/#{File.basename(@path)}*" : "/#{directory.delete_prefix("#{root}/")}/"
      end

      # @return [Array(String, Boolean)] git's output, and whether it succeeded
      def ask_git(*words)
        out, _, status = Open3.capture3("git", "-C", File.dirname(@path), *words)
        [out.chomp, status.success?]
      rescue SystemCallError # no git
        ["", false]
      end
    end
  end
end
