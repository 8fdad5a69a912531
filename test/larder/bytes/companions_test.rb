# frozen_string_literal: true

require "test_helper"
require "larder/bytes/companions"

module Larder
  class CompanionsTest < ActiveSupport::TestCase
    include TemporaryDirectory

    test "a file is created empty, for its user alone, and one that is there is kept" do
      2.times { Companions.create(path_of("mark")) }
      assert_equal [0, 0o100600], File.stat(path_of("mark")).then { |stat| [stat.size, stat.mode] }
      File.write(path_of("mark"), "1")
      Companions.create(path_of("mark"))
      assert_equal "1", File.read(path_of("mark"))
    end

    test "a disk that cannot be synced is an error, and no descriptor stays open" do
      file = File.open(path_of("mark"), "w")
      file.define_singleton_method(:fsync) { raise Errno::EIO }
      Companions.stub(:open, file) { assert_raises(Errno::EIO) { Companions.create(path_of("mark")) } }
      assert_predicate file, :closed?
    end
  end
end
