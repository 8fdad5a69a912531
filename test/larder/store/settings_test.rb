# frozen_string_literal: true

require "support/store_case"

module Larder
  module Store
    # What the constructor's arguments become.
    class SettingsTest < StoreCase
      def settings(path = path_of("s.larder"), options = nil, **keywords)
        Settings.new(path, options, keywords)
      end

      test "what is Larder's own is taken out of Active Support's options" do
        made = settings(size: 8 << 20, lock_timeout: 0.5, error_handler: nil, raise_errors: true, max_key_size: 99,
                        expires_in: 60, namespace: "n", custom: 1)
        assert_equal({ expires_in: 60, namespace: "n", custom: 1, compress: false },
                     made.store_options.except(:serializer, :compressor))
        assert_equal [nil, true, 99], [made.error_handler, made.raise_errors, made.max_key_size]
      end

      test "the caller's Hash is not changed" do
        given = { size: 8 << 20, expires_in: 60 }
        settings(path_of("s.larder"), given)
        assert_equal({ size: 8 << 20, expires_in: 60 }, given)
      end

      test "keywords win over the Hash, and a Hash may stand alone" do
        assert_equal 2, settings(path_of("s.larder"), { expires_in: 1 }, expires_in: 2).store_options[:expires_in]
        alone = settings({ expires_in: 1 })
        assert_equal 1, alone.store_options[:expires_in]
        assert_equal File.expand_path("storage/larder/cache.larder"), alone.path
      end

      test "compression is off unless it or a threshold is given" do
        { {} => false, { compress: true } => true, { compress_threshold: 1 } => true,
          { compress_threshold: 1, compress: false } => false }.each do |given, compress|
          assert_same compress, settings(**given).store_options[:compress], given.inspect
        end
      end

      test "failures are logged and reported by default" do
        assert_same Failsafe::DEFAULT_ERROR_HANDLER, settings.error_handler
        assert_same false, settings.raise_errors
      end

      test "missing directories are made, the last one private" do
        cache = settings(path_of("a/b/c/s.larder"), size: 8 << 20).open
        assert_equal path_of("a/b/c/s.larder"), cache.path
        assert_equal 0o700, File.stat(path_of("a/b/c")).mode & 0o777
        assert_equal 0o777 & ~File.umask, File.stat(path_of("a/b")).mode & 0o777
      end

      test "a misspelt option is warned of, an option of the application's is not" do
        assert_output(nil, /no option :sise; did you mean :size\?/) { settings(sise: 8 << 20) }
        assert_output(nil, "") { settings(custom: 1, namespace: "n", coder: nil) }
      end

      test "durations are taken for times" do
        made = settings(expires_in: 1.hour, lock_timeout: 1.second)
        assert_equal 1.hour, made.store_options[:expires_in]
        assert made.open
      end

      test "anything else than a Hash of options is an error" do
        assert_raises(::ArgumentError) { settings(path_of("s.larder"), [1]) }
      end
    end
  end
end
