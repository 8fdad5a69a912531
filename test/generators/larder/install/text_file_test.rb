# frozen_string_literal: true

require "test_helper"
require "generators/larder/install/text_file"

class TextFileTest < ActiveSupport::TestCase
  include TemporaryDirectory

  FILE = Larder::Generators::TextFile

  test "a file keeps its line ends and its byte order mark" do
    { "a\r\nb\r\n" => "a\r\nb\r\nc\r\n", "a\nb\n" => "a\nb\nc\n", "\uFEFFa\r\nb\r\n" => "\uFEFFa\r\nb\r\nc\r\n",
      "a\r\nb\n" => "a\r\nb\nc\n" }.each do |before, after|
      File.write(path, before)
      text = FILE.read(path)
      FILE.write(path, text)
      assert_equal before, File.read(path)
      FILE.write(path, "#{text}c\n")
      assert_equal after, File.read(path)
    end
  end

  test "a file that does not exist yet gets the text as it is" do
    FILE.write(path, "a\n")
    assert_equal "a\n", File.binread(path)
  end

  private

  def path
    path_of("file")
  end
end
