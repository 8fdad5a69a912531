# frozen_string_literal: true

require "test_helper"
require "json"
require "tmpdir"
require_relative "../../../proof/foreign/catalogue"
require_relative "../../../proof/foreign/life"

module Foreign
  class ApplicationTest < ActiveSupport::TestCase
    setup do
      @directory = Dir.mktmpdir("larder-foreign")
      @application = Redmine.new("nowhere", directory: @directory)
      environments = File.join(@application.origin, "config/environments")
      FileUtils.mkdir_p(environments)
      ["test", "production"].each { |name| File.write(File.join(environments, "#{name}.rb"), "# #{name}\n") }
    end

    teardown { FileUtils.rm_rf(@directory) }

    test "copies differ in their side and options alone, and share the files that they are given" do
      settings = [["default", {}], ["larder", { size: 1 << 20 }]].map do |side, cache|
        copy = @application.copy("copy-#{side}", side: side, files: File.join(@directory, "files"), cache: cache)
        assert_path_exists File.join(copy, "config/foreign_settings.rb")
        assert_equal "zz_foreign_sessions.rb", Dir.children(File.join(copy, "config/initializers")).max
        JSON.parse(File.read(File.join(copy, "config/foreign.json")))
      end
      assert_equal ["default", "larder"], settings.map { |one| one.delete("side") }
      assert_equal [{}, { "size" => 1 << 20 }], settings.map { |one| one.delete("cache") }
      assert_equal(*settings)
    end

    test "an environment loads the settings once, also in a copy of a copy" do
      2.times { @application.copy("copy", side: "larder", files: @directory) }
      text = File.read(File.join(@directory, "copy/config/environments/production.rb"))
      assert_equal 1, text.scan("foreign_settings").size
      assert_equal "# production\n", text.lines.first
    end

    test "lines of an application's own come to its settings, which are Ruby" do
      APPLICATIONS.each_value do |type|
        application = type.new("nowhere", directory: @directory)
        copy = application.copy("copy", side: "larder", files: @directory)
        text = File.read(File.join(copy, "config/foreign_settings.rb"))
        assert RubyVM::InstructionSequence.compile(text)
        assert_includes text, type::SETTINGS_TOO.lines.first.to_s.strip
      end
    end

    test "users of all applications have steps that they can do" do
      APPLICATIONS.each_value do |type|
        type::VISITS::STEPS.each do |step, weight|
          assert_operator weight, :>, 0
          assert_includes type::VISITS.public_instance_methods, step
        end
        assert_includes type::VISITS.public_instance_methods, :sign_in
      end
    end

    test "all events have a title and a method" do
      assert_equal Events::TITLES.keys.sort, Events.public_instance_methods(false).sort
    end
  end
end
