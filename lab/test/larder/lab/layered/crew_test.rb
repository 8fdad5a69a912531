# frozen_string_literal: true

require "test_helper"
require "larder/lab/layered/crew"

module Larder
  module Lab
    module Layered
      class CrewTest < ActiveSupport::TestCase
        PROGRAM = <<~RUBY
          require "larder/lab/layered/crew"
          hand = Struct.new(:job, :number) do
            def serve(order)
              raise Larder::Lab::Unavailable, "no such order" if order["do"] == "fail"

              { sum: job["base"] + number + order["more"] }
            end
          end
          crew = Larder::Lab::Layered::Crew.new(3, { "base" => 10 }, hand: hand)
          p crew.ask(2, from: 1, do: "add", more: 100).map { |answer| answer["sum"] }
          begin
            crew.ask(1, do: "fail")
          rescue Larder::Lab::Unavailable => error
            puts error.message
          end
          $stdout.flush
          sleep if ARGV.any?
          crew.dismiss
          puts "dismissed"
        RUBY

        test "its members answer what they are asked, raise what they raise, and end when they are dismissed" do
          with_directory do |dir|
            out, = Open3.capture2(*command, chdir: dir)
            assert_equal ["[111, 112]", "no such order", "dismissed"], out.lines.map(&:chomp)
            assert_empty processes(dir)
          end
        end

        test "they end when the process that made them is killed" do
          with_directory do |dir|
            reader, writer = IO.pipe
            pid = Process.spawn(*command("stay"), out: writer, chdir: dir)
            writer.close
            2.times { reader.gets }
            assert_equal 4, processes(dir).size
            Process.kill(:KILL, pid)
            Process.wait(pid)
            eventually { processes(dir).empty? }
          end
        end

        private

        def command(*arguments)
          [RbConfig.ruby, "-I", WorkerProcess::LIBRARY, "-e", PROGRAM, *arguments]
        end
      end
    end
  end
end
