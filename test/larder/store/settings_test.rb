# frozen_string_literal: true

require "support/environment"
require "support/store_case"

module Larder
  module Store
    # What the constructor's arguments become.
    class SettingsTest < StoreCase
      include Environment

      def settings(path = path_of("s.larder"), options = nil, **keywords)
        Settings.new(path, options, keywords)
      end

      test "what is Larder's own is taken out of Active Support's options" do
        made = settings(size: 8 << 20, lock_timeout: 0.5, error_handler: nil, raise_errors: true, max_key_size: 99,
                        expires_in: 60, namespace: "n", custom: 1)
        assert_equal({ expires_in: 60, namespace: "n", custom: 1, compress: false },
                     made.store_options.except(:coder))
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
        assert_equal File.expand_path("storage/larder/#{Application.environment}/cache.larder"), alone.path
      end

      test "a deployment says path and size where the configuration does not" do
        given = { "LARDER_PATH" => path_of("d.larder"), "LARDER_SIZE" => "2MB" }
        with_environment(given) do
          assert_equal [path_of("d.larder"), 2 << 20], place_of(settings(nil))
          assert_equal [path_of("s.larder"), 2 << 20], place_of(settings)
          assert_equal [path_of("d.larder"), 4 << 20], place_of(settings(nil, size: 4 << 20))
        end
        ["", " ", "\t\n"].each do |blank|
          with_environment("LARDER_PATH" => blank, "LARDER_SIZE" => blank) do
            assert_equal [File.expand_path("storage/larder/#{Application.environment}/cache.larder"), nil],
                         place_of(settings(nil))
          end
        end
      end

      test "a relative LARDER_PATH is taken from the application's root" do
        path = with_environment("LARDER_PATH" => "tmp/d.larder") { Dir.chdir(directory) { settings(nil).path } }
        assert_equal path_of("tmp/d.larder"), path
      end

      test "with persistent: false the file is in memory, of one user, application and environment" do
        skip "the system has no /dev/shm" unless File.directory?("/dev/shm")
        other = path_of("other").tap { |root| Dir.mkdir(root) }
        mine, again, others = with_environment("LARDER_PATH" => path_of("d.larder")) do
          [directory, directory, other].map { |root| Dir.chdir(root) { settings(nil, persistent: false).path } }
        end
        assert_match %r{\A/dev/shm/larder-#{Process.euid}/\h{12}/#{Application.environment}/cache\.larder\z}, mine
        assert_equal mine, again
        assert_not_equal mine, others
        assert_equal path_of("s.larder"), settings(persistent: true).path
        assert_not_includes settings(nil, persistent: false).store_options, :persistent
      end

      test "a path and persistent: false exclude each other" do
        error = assert_raises(ArgumentError) { settings(persistent: false) }
        assert_equal ":persistent false chooses the path; leave out #{path_of("s.larder").inspect}, or :persistent",
                     error.message
      end

      test "a variable that cannot be used is named, and so is what it takes" do
        skip "Rails names the environment" if defined?(Rails) && Rails.respond_to?(:env)
        {
          { "LARDER_SIZE" => "lots" }    => /\ALARDER_SIZE "lots" is no size; give .*"256MB"/,
          { "LARDER_SIZE" => "1KB" }     => /\ALARDER_SIZE is "1KB"; it takes 1048576 to 1099511627776 bytes/,
          { "LARDER_SIZE" => "2TB" }     => /\ALARDER_SIZE is "2TB"; it takes/,
          { "RAILS_ENV" => "../../etc" } => %r{\Athe environment "../../etc" .* is no name of a directory}
        }.each do |variables, message|
          error = with_environment(variables) { assert_raises(::ArgumentError, variables.inspect) { settings(nil) } }
          assert_match message, error.message
        end
      end

      test "a size is a number, or words, and max_size is another word for it" do
        [8.megabytes, 8e6 * 1.048576, "8MB", "8388608", "8 MiB"].each do |size|
          sizes = [settings(size: size), settings(max_size: size)].map { |made| made.open.size }
          assert_equal [8 << 20] * 2, sizes, size
        end
        error = assert_raises(::ArgumentError) { settings(size: 1.gigabyte, max_size: 2.gigabytes) }
        assert_match(/:size and :max_size of LarderStore mean the same/, error.message)
        error = assert_raises(::ArgumentError) { settings(max_size: "lots") }
        assert_match(/\A:max_size of LarderStore "lots" is no size/, error.message)
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
        cache = settings(path_of("a/b/c/s.larder"), size: 8 << 20).open.tap(&:size)
        assert_equal path_of("a/b/c/s.larder"), cache.path
        assert_equal 0o700, File.stat(path_of("a/b/c")).mode & 0o777
        assert_equal (0o755 & ~File.umask) | 0o700, File.stat(path_of("a/b")).mode & 0o777
      end

      test "durations are taken for times" do
        made = settings(expires_in: 1.hour, lock_timeout: 1.second)
        assert_equal 1.hour, made.store_options[:expires_in]
        assert made.open
      end

      test "anything else than a Hash of options is an error" do
        assert_raises(::ArgumentError) { settings(path_of("s.larder"), [1]) }
      end

      private

      # @return [Array(String, Integer)] the path, and the size it would be made with
      def place_of(settings)
        [settings.path, settings.size]
      end
    end
  end
end
