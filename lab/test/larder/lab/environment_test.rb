# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    class EnvironmentTest < ActiveSupport::TestCase
      test "the file system of a directory is found by a relative path and through a link" do
        skip "needs tmpfs" unless Environment.file_system("/dev/shm") == "tmpfs"
        with_directory do |dir|
          File.symlink("/dev/shm", "#{dir}/link")
          assert_equal "tmpfs", Environment.file_system("#{dir}/link")
          assert_equal "tmpfs", Dir.chdir("/dev") { Environment.file_system("shm") }
          assert_nil Environment.file_system("#{dir}/missing")
        end
      end
    end
  end
end
