# frozen_string_literal: true

require "test_helper"
require "open3"
require_relative "../../../rakelib/house/environment"

module Foreign
  class CommandTest < ActiveSupport::TestCase
    NOWHERE = { "LARDER_FOREIGN_REDMINE" => nil, "LARDER_FOREIGN_LOBSTERS" => nil }.freeze

    test "wrong usage names the offender and the known names" do
      { []                                            => /needs the name of an application: redmine, lobsters/,
        ["mastodon"]                                  => /unknown application mastodon; known: redmine, lobsters/,
        ["redmine", "lobsters"]                       => /one application at a time: lobsters/,
        ["redmine"]                                   => /where is redmine\? .*--source or LARDER_FOREIGN_REDMINE/,
        %w[redmine --source x --groups unit,units]    => /unknown group units; known: integration, functional, unit/,
        %w[redmine --source x --minutes 0]            => /must be more than 0/,
        %w[redmine --source x --pause -1]             => /--pause -1.*must be from 0 to 600/,
        %w[redmine --source x --pause 601]            => /must be from 0 to 600/,
        %w[redmine --source x --pause soon]           => /--pause soon/,
        %w[redmine --source x --record y]             => /--record needs --calm/,
        %w[redmine --source x --calm --record /none/trace] => %r{/none is not a directory that can be written},
        %w[redmine --source x --calm --record /dev/null] => %r{/dev/null exists: name a new file},
        %w[redmine --source x --record y --only tests] => /--record needs the life: leave out --only tests/,
        %w[redmine --source x --only pages] => /pages/ }.each do |arguments, message|
        output, status = Open3.capture2e(NOWHERE, File.join(House::ROOT, "bin/foreign"), *arguments)
        assert_equal 2, status.exitstatus, output
        assert_match message, output
      end
    end

    test "the proof says why it is not run" do
      output, status = Open3.capture2e(NOWHERE, RbConfig.ruby, File.join(House::ROOT, "bin/proof"), "--names")
      assert status.success?, output
      assert_match(/^foreign\tset LARDER_FOREIGN_REDMINE or LARDER_FOREIGN_LOBSTERS$/, output)
    end
  end
end
