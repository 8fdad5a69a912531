# frozen_string_literal: true

# Owns what is asked of the place that a cache is in: whether something copies it. A copy that is put back is taken for
# one, but where it is written over a file whose processes were killed since.

require "open3"

module Larder
  class Doctor
    # Checks of {Doctor}.
    module PlaceChecks
      # Bytes that tell one file of Larder's from another, and never change: the first page of a cache, and what a lock
      # file begins with, before the number of the use.
      IDENTITY = 4096
      LOCK_IDENTITY = 32
      private_constant :IDENTITY, :LOCK_IDENTITY

      private

      def copies
        found = Dir.children(File.dirname(@path)).sort.map { |name| File.join(File.dirname(@path), name) }
                   .reject { |file| files.include?(file) }.select { |file| copy?(file) }
        return :sound if found.empty?

        ["#{found.map { |file| File.basename(file) }.join(", ")} #{found.one? ? "is a copy" : "are copies"} of this " \
         "cache or its lock file: put back, one is replaced by an empty cache. Leave caches out of backups",
         "rm #{found.map { |file| quoted(file) }.join(" ")}"]
      end

      def copy?(file)
        return false unless File.file?(file) && !File.symlink?(file) && File.readable?(file)

        head = File.binread(file, IDENTITY)
        files.any? do |own|
          bytes = own == "#{@path}.lock" ? LOCK_IDENTITY : IDENTITY
          head && head.bytesize >= LOCK_IDENTITY && head.byteslice(0, bytes) == File.binread(own, bytes)
        end
      end

      # What git has is in every clone, every image that is built of one, and every deployment.
      def git
        root, inside = ask_git("rev-parse", "--show-toplevel")
        return unless inside && !root.empty?

        tracked = files.select { |file| ask_git("ls-files", "--error-unmatch", file).last }
        unless tracked.empty?
          return ["git tracks #{tracked.map { |file| File.basename(file) }.join(" and ")}: each clone and image has it",
                  "git rm --cached #{tracked.map { |file| quoted(file) }.join(" ")}"]
        end
        return :sound if ask_git("check-ignore", "--quiet", @path).last

        ["git does not ignore it: the next `git add .` takes it along",
         "echo /#{quoted(File.dirname(File.realpath(@path)).delete_prefix("#{root}/"))}/ >> #{quoted(root)}/.gitignore"]
      end

      # @return [Array(String, Boolean)] what git said, and whether it was content
      def ask_git(*words)
        out, _, status = Open3.capture3("git", "-C", File.dirname(@path), *words)
        [out.chomp, status.success?]
      rescue SystemCallError # no git
        ["", false]
      end
    end
  end
end
