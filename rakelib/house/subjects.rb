# frozen_string_literal: true

require "open3"
require_relative "dialect"

module House
  # Checks the subjects of the commits after the one that brought this check.
  class Subjects
    MAX_LENGTH = 72
    FORM = /\A(?:[\w.\/, -]+: \S|Revert ")/
    # The file whose first commit is where the check begins.
    SINCE = "rakelib/house/subjects.rb"

    # @param root [String] a checkout
    def initialize(root = ROOT)
      @root = root
    end

    # @return [Array<String>, nil] "commit subject" of those commits; nil: there is no history to read. In a shallow
    #   clone these are the commits that it has, but for the first.
    def checked
      first = git("log", "--diff-filter=A", "--format=%H", "--", SINCE)&.lines(chomp: true)&.last
      git("log", "--no-merges", "--format=%h %s", "#{first}..HEAD")&.lines(chomp: true) if first
    end

    # @param line [String] of {#checked}
    # @return [Array<String>] what is wrong with it
    def self.problems(line)
      commit, subject = line.split(" ", 2)
      problems = []
      problems << "has #{subject.size} characters; at most #{MAX_LENGTH}" if subject.size > MAX_LENGTH
      problems << "must begin with an area, as in \"store: …\"" unless subject.match?(FORM)
      problems.map! { |problem| "commit #{line}: #{problem}" }
      problems + Dialect.in_subject(subject, "commit #{commit}").map(&:to_s)
    end

    private

    def git(*arguments)
      output, _, status = Open3.capture3("git", "-c", "safe.directory=*", *arguments, chdir: @root)
      output if status.success?
    rescue Errno::ENOENT
      nil
    end
  end
end
