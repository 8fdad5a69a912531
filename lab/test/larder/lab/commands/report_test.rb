# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    module Commands
      class ReportTest < ActiveSupport::TestCase
        test "makes every format again from the JSON of a run" do
          with_run do |dir, file|
            names = %w[html json].to_h { |form| [form, File.join(dir, "again.#{form}")] }
            outcome = lab("report", file, *names.flat_map { |form, path| ["--#{form}", path] })
            assert_equal [0, ""], [outcome.status, outcome.out]
            names.each_value { |path| assert_match(/wrote #{path}/, outcome.err) }
            assert_match(/\A<!DOCTYPE html>.*<h1[^>]*>Stores</m, File.read(names["html"]))
            assert_equal JSON.parse(File.read(file)), JSON.parse(File.read(names["json"]))
          end
        end

        test "a link and a pipe stay what they are, and get the report" do
          with_run do |dir, file|
            target, link, pipe = %w[target.json link.json pipe].map { |name| File.join(dir, name) }
            File.write(target, "")
            File.symlink(target, link)
            File.mkfifo(pipe)
            reader = Thread.new { File.read(pipe) }
            assert_equal 0, lab("report", file, "--json", link, "--html", pipe).status
            assert_predicate File.lstat(link), :symlink?
            assert_equal File.read(file), JSON.generate(JSON.parse(File.read(target)))
            assert_predicate File.lstat(pipe), :pipe?
            assert_match(/\A<!DOCTYPE html>/, reader.value)
          end
        end

        test "without an output option it is printed as text" do
          with_run do |_, file|
            outcome = lab("report", file)
            assert_equal 0, outcome.status
            assert_match(/^Stores\n.*^Findings\n  - Larder’s hit takes 1\.10 µs/m, outcome.out)
          end
        end

        test "several runs become one document, and what was measured elsewhere says so" do
          here = SampleDocument.build
          there = Document.from_h(JSON.parse(JSON.generate(here.to_h.merge(environment: { "cpu" => "Another CPU" }))))
          joined = Document.join([here, here, there])
          assert_equal 3, joined.chapters.size
          assert_equal [1, 1, 2], joined.chapters.map { |chapter| chapter.warnings.size }
          assert_includes joined.chapters.last.facts, "measured on Another CPU"
          assert_in_delta 2262.6, joined.elapsed_seconds
        end

        private

        def with_run
          with_directory do |dir|
            file = File.join(dir, "a.json")
            File.write(file, JSON.generate(SampleDocument.build.to_h))
            yield dir, file
          end
        end
      end
    end
  end
end
