# frozen_string_literal: true

require "test_helper"

# bin/lab as far as it goes without installing anything; what it installs is in the way of every other test.
class BinLabTest < ActiveSupport::TestCase
  PROGRAM = File.expand_path("../../bin/lab", __dir__)

  setup { skip "needs the checkout" unless File.exist?(PROGRAM) }

  test "help tells what it needs and every option of larder-lab stores" do
    out, _, status = Open3.capture3(PROGRAM, "--help")
    assert_predicate status, :success?
    assert_match(/Needed: Ruby 3\.1 or newer/, out)
    assert_match(/--published/, out)
    assert_empty(out.lines.map(&:chomp).select { |line| line.size > 80 })
  end

  test "what is missing is named, with the package to install" do
    with_directory do |dir|
      ["bash", "dirname"].each do |name|
        path = ["/bin", "/usr/bin"].map { |bin| File.join(bin, name) }.find { |file| File.exist?(file) }
        File.symlink(path, File.join(dir, name))
      end
      _, err, status = Open3.capture3({ "PATH" => dir }, "bash", PROGRAM)
      assert_equal 1, status.exitstatus
      assert_match(/Ruby is missing: install Ruby 3\.1 or newer \(Debian: apt-get install/, err)
    end
  end
end
