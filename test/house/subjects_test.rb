# frozen_string_literal: true

require "test_helper"
require "tmpdir"
require_relative "../../rakelib/house/subjects"

module House
  # Subjects of commits: an area and a change, short, in plain words.
  class SubjectsTest < ActiveSupport::TestCase
    test "the subjects of this checkout's commits are as they should be" do
      checked = Subjects.new.checked
      skip "there is no history to read" unless checked
      assert_empty(checked.flat_map { |line| Subjects.problems(line) })
    end

    test "a plain subject has no problem" do
      ["store: a remote change beats a running computation", "engine, lib: one table of errors",
       "docs/guides: the first hour", "engine tests: fewer forks", "Revert \"store: one table\""].each do |subject|
        assert_empty Subjects.problems("abc123 #{subject}")
      end
    end

    test "a subject that is long, without an area or hard to read has one" do
      { "store: #{"a" * 70}" => /has 77 characters; at most 72/, "a change" => /must begin with an area/,
        "store: what another machine changes wins" => /begin with the noun/,
        "store: a flight that nobody waits for" => /name the actor/ }.each do |subject, problem|
        assert_match problem, Subjects.problems("abc123 #{subject}").join("\n")
      end
    end

    test "only commits after the one that brought the check are looked at" do
      in_repository do |root|
        commit(root, "before the check")
        FileUtils.mkdir_p(File.join(root, File.dirname(Subjects::SINCE)))
        FileUtils.touch(File.join(root, Subjects::SINCE))
        commit(root, "the check")
        assert_empty Subjects.new(root).checked
        commit(root, "after it")
        assert_equal ["after it"], subjects(root)
      end
    end

    test "a shallow clone has the commits after its first" do
      in_repository do |root|
        FileUtils.mkdir_p(File.join(root, File.dirname(Subjects::SINCE)))
        FileUtils.touch(File.join(root, Subjects::SINCE))
        ["one", "two", "three"].each { |subject| commit(root, subject) }
        shallow = "#{root}-shallow"
        git(root, "clone", "--quiet", "--depth", "2", "file://#{root}", shallow)
        assert_equal ["three"], subjects(shallow)
      end
    end

    test "without a history there is nothing to look at" do
      Dir.mktmpdir { |directory| assert_nil Subjects.new(directory).checked }
    end

    private

    def in_repository
      Dir.mktmpdir do |directory|
        root = File.join(directory, "repository")
        git(directory, "init", "--quiet", root)
        yield root
      end
    end

    def commit(root, subject)
      git(root, "add", ".")
      author = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
      git(root, *author, "commit", "--quiet", "--allow-empty", "-m", subject)
    end

    def git(directory, *arguments)
      assert system("git", "-c", "safe.directory=*", *arguments, chdir: directory, out: File::NULL, err: File::NULL)
    end

    def subjects(root)
      Subjects.new(root).checked.map { |line| line.split(" ", 2).last }
    end
  end
end
