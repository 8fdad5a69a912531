# frozen_string_literal: true

require "json"

# A copy of the Rails application in test/rails/app, which is booted in a Ruby of its own, with what a test configures.
module RailsShop
  APP = File.expand_path("../rails/app", __dir__)
  LIB = File.expand_path("../../lib", __dir__)

  def setup
    super
    FileUtils.cp_r(APP, root)
  end

  # @return [String] Rails.root
  def root
    path_of("shop")
  end

  # Boots the application and runs the script in it.
  #
  # @param cache_store [String] what the application's configuration says
  # @param lines [String] that it says besides
  # @param as [Array<String>] a command that runs another one
  # @return [Array(String, Process::Status)] what it printed, and how it ended
  def boot(script, cache_store: ":larder_store, { size: 8.megabytes }", lines: "", env: "production", from: "/", as: [])
    File.write(File.join(root, "config/cache.rb"), "Shop.config.cache_store = #{cache_store}\n#{lines}\n")
    Open3.capture2e({ "RAILS_ENV" => env }, *as, RbConfig.ruby, "-I#{LIB}",
                    File.join(root, "config/boot_and_run.rb"), script, chdir: from)
  end

  # @return [Object] what the script returns in the booted application, through JSON
  def in_rails(script, **options)
    output, status = boot(script, **options)
    assert_predicate status, :success?, output
    JSON.parse(output.lines.last)
  end
end
