# frozen_string_literal: true

require "test_helper"
require "larder/bytes/absence"

module Larder
  class AbsenceTest < ActiveSupport::TestCase
    include TemporaryDirectory

    def large
      @large ||= Cache.open(path_of("large.larder"), size: 900 << 30, lazy: true)
    end

    test "a file that no process has made yet is made by the first use" do
      error = Absence.of(path_of("none.larder"))
      assert_instance_of Absence::NotUsed, error
      assert_equal "there is no file at #{path_of("none.larder")}: the application creates it at its first use",
                   error.message
    end

    test "the cause is named where the file cannot be made" do
      error = Absence.of(path_of("large.larder"), large)
      assert_instance_of OpenError, error
      assert_match(/\Athere is no file at #{path_of("large.larder")}\. .* takes 921600\.0 MiB, and .* are free\z/,
                   error.message)
    end

    test "a cache that has tried to make its file knows why it has none" do
      assert_raises(OpenError) { large.delete("a") }
      assert_equal large.refusal.message, Absence.of(path_of("large.larder"), large).message
    ensure
      large.close
    end

    test "a path of any bytes can be shown" do
      assert_predicate Absence.of(path_of("\xFF.larder")).message, :valid_encoding?
    end
  end
end
