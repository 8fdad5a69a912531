# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    module Commands
      # What goes wrong with codecs ends in a line, and leaves nothing behind.
      class TrialsFailuresTest < ActiveSupport::TestCase
        include LabHelper

        ONCE = ["--rounds", "1", "--seconds", "0.001", "--seed", "1"].freeze

        slow_test "a payload that cannot be serialized, or made, is a line that says so" do
          [%w[serializers --only marshal], %w[compressors --only none],
           %w[matrix --stores memory --serializers marshal --compressors none]].each do |command|
            run = lab(*command, *ONCE, "--payload", "ruby:proc {}", env: { "COLUMNS" => "150" })
            assert_equal 1, run.status
            assert_match(/^  - .*the payload cannot be serialized: TypeError: no _dump_data is defined for class Proc/,
                         run.out)
          end
          run = lab("serializers", *ONCE, "--only", "marshal,json", "--payload", "ruby:[1,")
          assert_equal 1, run.status
          assert_match(/everything: the payload cannot be made: SyntaxError/, run.out)
        end

        slow_test "a server that does not answer is a line that says so" do
          run = lab("strategies", *ONCE, "--only", "binary", "--lengths", "5", "--redis-url", "redis://127.0.0.1:1",
                    env: { "COLUMNS" => "150" })
          assert_equal 1, run.status
          assert_match(/everything: the server does not answer: .*127\.0\.0\.1:1/, run.out)
        end

        slow_test "a full disk is a line that says so, and nothing is left on it" do
          with_small_disk do |dir|
            run = lab("compressors", *ONCE, "--only", "none,zlib", "--payload", "ruby:Random.bytes(4 << 20)",
                      env: { "TMPDIR" => dir, "COLUMNS" => "150" })
            assert_equal 1, run.status, run.err
            assert_match(/everything: no space is left in .*; TMPDIR=DIR takes another directory/, run.out)
            assert_empty Dir.children(dir)
          end
        end

        private

        # A file system of two megabytes, gone afterwards.
        def with_small_disk
          with_directory do |dir|
            skip "file systems cannot be mounted here" unless mount(dir)
            begin
              yield dir
            ensure
              system("umount", "--lazy", dir)
            end
          end
        end

        def mount(dir)
          system("mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", dir, err: File::NULL)
        end
      end
    end
  end
end
