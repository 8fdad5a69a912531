# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    module Commands
      # The executable, which is stopped and continued.
      class SuiteTest < ActiveSupport::TestCase
        RUN = %w[--only memory --sessions 4 --passes 1 --turn-ms 1 --seed 8 --blocks].freeze
        BLOCKS = { "stores" => "hit", "overview" => "hit,json" }.freeze

        test "a run that is stopped in its third session is continued, and its report has each session once" do
          with_directory do |dir|
            file = stopped(dir, "overview", 3)
            kept = File.readlines(file).drop(1).flat_map { |line| JSON.parse(line)["turns"] }
            report = File.join(dir, "run.json")
            outcome = lab("overview", "--continue", file, "--json", report, env: { "TMPDIR" => dir })
            assert_equal 0, outcome.status, outcome.err
            read = JSON.parse(File.read(report))
            assert_equal "larder-lab overview #{RUN.join(" ")} hit,json", read["command_line"]
            chapters = read["chapters"].to_h { |chapter| [chapter["key"], chapter] }
            { "applications" => "json", "published-a" => "hit" }.each do |suite, block|
              turns = chapters[suite].dig("details", "samples").map { |turn| turn.values_at("row", "copy", "session") }
              assert_equal %w[memory reference].product([0, 1], [0, 1, 2, 3]).sort, turns.sort, block
            end
            assert_equal kept, chapters["applications"].dig("details", "samples").first(kept.size)
            assert_equal 8, chapters["applications"].dig("details", "settings", "seed")
            assert_equal ["run.json"], Dir.children(dir)
          end
        end

        test "options of another run are refused by name, as another Ruby is; another command continues its own" do
          with_directory do |dir|
            file = stopped(dir, "stores", 1)
            refused = ->(*arguments) { lab(*arguments, "--continue", file).err }
            assert_match(/--seed: the run to continue has its own options; leave it out/, refused["stores", "--seed=9"])
            kept = File.read(file)
            File.write(file, kept.sub(/"ruby":"[^"]*"/, '"ruby":"ruby 1.8"'))
            assert_match(/the ruby of its run: ruby 1.8; here: ruby .*; start a new run/, refused["stores"])
            File.write(file, kept)
            outcome = lab("overview", "--continue", file)
            assert_equal 0, outcome.status, outcome.err
            assert_match(/larder-lab stores --only memory/, outcome.words)
            assert_not File.exist?(file)
          end
        end

        test "a run that is stopped in its first session says that nothing was written" do
          with_directory do |dir|
            status, said = stop(dir, "stores") { |log| File.read(log).include?("session 1 of") }
            assert_equal 143, status
            assert_match(/stopped by SIGTERM; no report was written$/, said)
            assert_empty Dir.children(dir).grep(/jsonl/)
          end
        end

        test "a run whose report cannot be written is not lost" do
          with_directory do |dir|
            report = File.join(dir, "reports", "run.json")
            Dir.mkdir(File.dirname(report))
            pid, log = start(dir, "stores", "--sessions", "1", "--json", report)
            eventually { File.read(log).include?("session 1 of") }
            Dir.rmdir(File.dirname(report))
            assert_equal 2, Process.wait2(pid).last.exitstatus
            assert_match(/--json #{report}: No such file/, File.read(log))
            Dir.mkdir(File.dirname(report))
            outcome = lab("stores", "--continue", File.read(log)[/--continue (\S+)/, 1])
            assert_equal 0, outcome.status, outcome.err
            assert_equal "wrote #{report}\n", outcome.err
          end
        end

        private

        # Stops a run after that number of sessions.
        # @return [String] the file that it names
        def stopped(dir, command, sessions)
          status, said = stop(dir, command) do
            Dir.glob(File.join(dir, "*.jsonl")).any? { |file| File.foreach(file).count > sessions }
          end
          assert_equal 143, status, said
          said[/no report was written; continue by: larder-lab #{command} --continue (\S+)/, 1]
        end

        def stop(dir, command)
          pid, log = start(dir, command)
          eventually { yield log }
          Process.kill(:TERM, pid)
          [Process.wait2(pid).last.exitstatus, File.read(log)]
        ensure
          FileUtils.rm_f(log)
        end

        def start(dir, command, *arguments)
          log = File.join(dir, "log")
          pid = Process.spawn({ "TMPDIR" => dir }, RbConfig.ruby, EXECUTABLE, command, *RUN, BLOCKS.fetch(command),
                              *arguments, out: File::NULL, err: log)
          [pid, log]
        end
      end
    end
  end
end
