# frozen_string_literal: true

require "test_helper"
require "open3"
require "zlib"
require_relative "../../../proof/foreign/life"

module Foreign
  class RecordTest < ActiveSupport::TestCase
    include TemporaryDirectory

    # A Rails application with the initializer that copies have.
    APPLICATION = <<~RUBY
      require "rails"
      require "larder"

      class Tiny < Rails::Application
        config.root = Dir.pwd
        config.load_defaults Rails::VERSION::STRING.to_f
        config.eager_load = false
        config.logger = ActiveSupport::Logger.new(File::NULL)
        config.secret_key_base = "0" * 64
        config.cache_store = :larder_store, "cache.larder", { size: 2_000_000 }
      end
      Tiny.initialize!
      2.times { Rails.cache.fetch("users/ada") { "a secret" } }
    RUBY

    setup do
      FileUtils.mkdir_p(path_of("config/initializers"))
      FileUtils.cp(File.join(House::ROOT, "proof/foreign/record.rb"), path_of("config/initializers/foreign_record.rb"))
    end

    test "a server with a file for the trace records its calls, without keys and values" do
      run_application("FOREIGN_RECORD" => path_of("trace"), "FOREIGN_RECORDER" => Life::RECORDER)
      text = Zlib::GzipReader.zcat(File.open(path_of("trace"), "rb"))
      assert_equal %w[g r r w], text.lines.map { |line| line[/\A[a-z]\t/]&.strip }.compact.sort - ["z"]
      assert_no_match(/ada|users|secret/, text)
    end

    test "a server without one does not load the recorder" do
      run_application("FOREIGN_RECORDER" => path_of("missing.rb"))
      assert_empty Dir[path_of("*trace*")]
    end

    private

    def run_application(variables)
      none = { "FOREIGN_RECORD" => nil, "FOREIGN_RECORDER" => nil, "RAILS_ENV" => "production" }
      output, status = Open3.capture2e({ **none, **variables }, RbConfig.ruby, "-I#{File.join(House::ROOT, "lib")}",
                                       "-e", APPLICATION, chdir: directory)
      assert_predicate status, :success?, output
    end
  end
end
