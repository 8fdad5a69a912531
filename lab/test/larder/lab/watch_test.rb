# frozen_string_literal: true

require "test_helper"
require "larder/lab/watch"

module Larder
  module Lab
    class WatchTest < ActiveSupport::TestCase
      test "a quiet machine causes no warning" do
        machine { |root| assert_empty Watch.new(root).warnings }
      end

      test "stolen time, a throttled processor, a control group's limit and swapping are told" do
        machine do |root|
          watch = Watch.new(root)
          write(root, stolen: 50, throttled: 3, held: 7, swapped: 20)
          text = watch.warnings.join("\n")
          assert_match(/took 50 % of the processors' time \(steal\)/, text)
          assert_match(/throttled for its heat 3 times/, text)
          assert_match(/swapped 20 pages/, text)
          watch = Watch.new(root)
          write(root, stolen: 50, throttled: 3, held: 17, swapped: 20)
          assert_match(/limit stopped this run 10 times/, watch.warnings.join)
        end
      end

      test "what a system does not report causes no warning" do
        with_directory { |empty| assert_empty Watch.new(empty).warnings }
      end

      private

      def machine
        with_directory do |root|
          FileUtils.mkdir_p(["proc", "sys/fs/cgroup", "sys/devices/system/cpu/cpu0/thermal_throttle"]
                              .map { |path| File.join(root, path) })
          write(root, stolen: 0, throttled: 0, held: 0, swapped: 0)
          yield root
        end
      end

      def write(root, stolen:, throttled:, held:, swapped:)
        { "proc/stat" => "cpu  #{stolen} 0 0 0 0 0 0 #{stolen} 0 0\n",
          "proc/vmstat" => "pswpin #{swapped / 2}\npswpout #{swapped / 2}\n",
          "sys/fs/cgroup/cpu.stat" => "usage_usec 5\nnr_throttled #{held}\n",
          "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count" => "#{throttled}\n" }
          .each { |path, text| File.write(File.join(root, path), text) }
      end
    end
  end
end
