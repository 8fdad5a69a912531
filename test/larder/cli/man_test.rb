# frozen_string_literal: true

require "test_helper"
require "larder/cli"
require "support/command"

module Larder
  module CLI
    # `larder man`; the page itself is tried in test/house/man_page_test.rb.
    class ManTest < ActiveSupport::TestCase
      include TemporaryDirectory
      include ::Command

      test "it prints the path of the page, and nothing else" do
        assert_match(/^\.TH LARDER 1 /, File.read(done("man").chomp))
      end

      test "a page that is missing is an error with what to do" do
        stub_const(Man, :PAGE, path_of("larder.1")) do
          error = assert_raises(Failure) { Man.new.run([]) }
          assert_equal "there is no manual page #{path_of("larder.1")}: install the gem again", error.message
        end
      end
    end
  end
end
