# frozen_string_literal: true

require "test_helper"
require "open3"

module Larder
  module Lab
    module Suites
      module Shop
        class CatalogTest < ActiveSupport::TestCase
          # The message of Active Record 8 with the sqlite3 of Litecache's bundle.
          REFUSAL = "can't activate sqlite3 (>= 2.1), already activated sqlite3-1.7.3"
          LOAD = <<~RUBY
            require "larder/lab"
            begin
              require "larder/lab/suites/shop/catalog"
            rescue Larder::Lab::Unavailable => error
              puts error.message
            end
          RUBY

          test "an adapter that refuses the bundle's sqlite3 makes the row unavailable, with the reason" do
            Dir.mktmpdir do |dir|
              adapter = File.join(dir, "active_record/connection_adapters/sqlite3_adapter.rb")
              FileUtils.mkdir_p(File.dirname(adapter))
              File.write(adapter, "raise LoadError, #{REFUSAL.dump}\n")
              paths = [dir, *$LOAD_PATH.first(3)].map { |path| "-I#{File.expand_path(path)}" }
              out, status = Open3.capture2e(RbConfig.ruby, *paths, "-e", LOAD)
              assert_match(/\Athe records of this suite are in SQLite: .*#{Regexp.escape(REFUSAL)}$/, out)
              assert_predicate status, :success?
            end
          end
        end
      end
    end
  end
end
