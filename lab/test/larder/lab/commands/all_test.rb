# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    module Commands
      # Several comparisons in one run.
      class AllTest < ActiveSupport::TestCase
        test "its parts are commands, and each understands what all of them are told" do
          assert_operator All.parts.size, :>=, 2
          All.parts.each do |name|
            [["--quick", "--seed", "3"], []].each do |told|
              assert_respond_to options_of(name, *options_of("all", *told).arguments_for(name)), :chapters, name
            end
          end
        end

        test "what takes long by itself is measured in less here, and no quick run in more" do
          arguments = ->(name, *told) { options_of("all", *told).arguments_for(name).each_cons(2).to_a }
          assert_includes arguments["stampede"], ["--sessions", "1"]
          assert_includes arguments["matrix"], ["--only", "larder,redis,memcached"]
          assert_includes arguments["stores"], ["--seconds", "75"]
          more = %w[--rounds --seconds --passes]
          assert_empty All.parts.select { |name| arguments[name, "--quick"].flatten.intersect?(more) }
        end

        slow_test "stopped, it keeps its first chapter and nothing else, and the rest becomes one of the same report" do
          with_directory do |dir|
            file = File.join(dir, "run.json")
            out, err = %w[out err].map { |name| File.join(dir, name) }
            pid = Process.spawn({ "TMPDIR" => dir }, RbConfig.ruby, EXECUTABLE, "all", "--quick", "--only",
                                "serializers,hitratio", "--json", file, out: out, err: err)
            eventually(seconds: 300) { File.exist?(file) }
            Process.kill(:INT, pid)
            assert_equal 130, Process.wait2(pid).last.exitstatus
            assert_match(%r{^1/2 serializers: }, File.read(err))
            advised = File.read(err)[/what was measured is in #{file}; larder-lab (all .+) measures the rest/, 1]
            assert_equal ["published-c"], chapters(file)
            eventually { (Dir.children(dir) - %w[run.json out err]).empty? && processes(dir).empty? }
            assert_equal "all --quick --only serializers,hitratio --continue #{file} --json #{file}", advised
            rest = lab(*advised.split)
            assert_equal 0, rest.status, rest.err
            assert_match(%r{^1/1 hitratio: }, rest.err)
            assert_equal %w[published-c hitratio], chapters(file)
          end
        end

        private

        def chapters(file) = JSON.parse(File.read(file))["chapters"].map { |chapter| chapter["key"] }
      end
    end
  end
end
