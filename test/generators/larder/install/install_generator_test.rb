# frozen_string_literal: true

require "test_helper"
require "rails"
require "rails/generators"
require "rails/generators/test_case"
require "generators/larder/install/install_generator"

# The generator, on files of configuration. test/rails/install_test.rb runs it in applications.
class InstallGeneratorTest < Rails::Generators::TestCase
  include TemporaryDirectory

  tests Larder::Generators::InstallGenerator

  PRODUCTION = "config/environments/production.rb"
  ROUTES = "config/routes.rb"
  SESSIONS = "config/initializers/session_store.rb"
  NEW = "  config.cache_store = :larder_store\n"

  setup do
    self.destination_root = directory
    write(PRODUCTION, "Rails.application.configure do\n  # Durable.\n  config.cache_store = :solid_cache_store\nend\n")
    write(ROUTES, "Rails.application.routes.draw do\nend\n")
    write(".gitignore", "/log/*\n")
    write(".dockerignore", "/log/*\n")
  end

  test "the former store stays as a comment, and the new one follows" do
    install
    mark = "  # Before larder:install, and after bin/rails destroy larder:install:\n"
    assert_equal "Rails.application.configure do\n  # Durable.\n#{mark}  # config.cache_store = :solid_cache_store\n" \
                 "#{NEW}end\n", read(PRODUCTION)
    assert_equal "/log/*\n\n# Caches and sessions of Larder\n*.larder*\n", read(".gitignore")
    assert_equal "/log/*\n\n# Caches and sessions of Larder\n**/*.larder*\n", read(".dockerignore")
    assert_equal "Rails.application.routes.draw do\nend\n", read(ROUTES)
    assert_no_file SESSIONS
  end

  ALL = %w[--sessions --dashboard --metrics].freeze
  [[], ALL].each do |options|
    test "run twice it changes nothing, and destroy brings every file back (#{options.join(" ")})" do
      before = files
      install(*options)
      after = files
      assert_not_equal before, after
      output = install(*options)
      assert_equal after, files
      assert_match(/ identical +config\/environments\/production\.rb/, output)
      2.times { run_generator([], behavior: :revoke) }
      assert_equal before, files
    end
  end

  test "--pretend says what would change, and changes nothing" do
    before = files
    output = install(*ALL, "--pretend")
    assert_equal before, files
    [/update +config\/environments\/production\.rb/, /create +config\/initializers\/session_store\.rb/,
     /update +config\/routes\.rb/, /update +\.gitignore/].each { |line| assert_match line, output }
    install(*ALL)
    after = files
    run_generator(["--pretend"], behavior: :revoke)
    assert_equal after, files
  end

  test "the dashboard and the metrics are mounted with the secrets of the environment" do
    install("--dashboard", "--metrics")
    assert_equal <<~RUBY, read(ROUTES)
      require "larder/metrics"
      require "larder/dashboard"

      Rails.application.routes.draw do
        mount Larder::Metrics.new(token: ENV["LARDER_METRICS_TOKEN"]) => "/metrics"
        mount Larder::Dashboard.new(password: ENV["LARDER_PASSWORD"]) => "/larder"
      end
    RUBY
  end

  test "a store that is set in a condition is left, with the line to put there" do
    text = <<~RUBY
      Rails.application.configure do
        if ENV["A"]
          config.cache_store = :a
        else
          config.cache_store = :b
        end
      end
    RUBY
    write(PRODUCTION, text)
    output = install
    assert_equal text, read(PRODUCTION)
    assert_match(/skip +cache_store is set in a condition or in several places \(#{PRODUCTION}:3, #{PRODUCTION}:5\); /o,
                 output)
    assert_match(/put into #{PRODUCTION}: config\.cache_store = :larder_store$/o, output)
  end

  test "a Larder store with options stays as it is" do
    text = "Rails.application.configure do\n  config.cache_store = :larder_store, {\n    size: \"1GB\"\n  }\nend\n"
    write(PRODUCTION, text)
    install
    run_generator([], behavior: :revoke)
    assert_equal text, read(PRODUCTION)
  end

  test "the configuration is found in a directory whatever its name" do
    self.destination_root = place("[shop] {a,b} *")
    text = "module Shop\n  class Application\n    config.session_store :cookie_store, key: \"_s\"\n  end\nend\n"
    write("[shop] {a,b} */config/application.rb", text)
    install("--sessions")
    assert_match(/^    config\.session_store :larder_store, key: "_s"/, read("[shop] {a,b} */config/application.rb"))
    assert_no_file SESSIONS
  end

  test "files that are missing or cannot be read are named, and stop nothing" do
    FileUtils.rm(place(PRODUCTION))
    FileUtils.rm(place(ROUTES))
    output = install("--dashboard")
    assert_match(/skip +there is no config\/environments\/production\.rb; put into/, output)
    assert_match(/skip +there is no config\/routes\.rb; put into #{ROUTES}: require "larder\/dashboard"$/o, output)
    write(PRODUCTION, "Rails.application.configure do\n")
    assert_match(/skip +config\/environments\/production\.rb: it has a syntax error; put into/, install)
    write(PRODUCTION, "# nothing\n")
    assert_match(/skip +config\/environments\/production\.rb has no block that ends; put into/, install)
  end

  test "ignore files are made only where git or Docker is used" do
    %w[.gitignore .dockerignore].each { |file| FileUtils.rm(place(file)) }
    install
    assert_no_file ".gitignore"
    assert_no_file ".dockerignore"
    FileUtils.mkdir(place(".git"))
    write("Dockerfile", "FROM scratch\n")
    install
    assert_equal "# Caches and sessions of Larder\n*.larder*\n", read(".gitignore")
    assert_equal "# Caches and sessions of Larder\n**/*.larder*\n", read(".dockerignore")
  end

  test "the ignore file of Podman gets the line where it is there" do
    write("Containerfile", "FROM scratch\n")
    install
    assert_no_file ".containerignore"
    write(".containerignore", "/log/*\n")
    install
    assert_equal "/log/*\n\n# Caches and sessions of Larder\n**/*.larder*\n", read(".containerignore")
    run_generator([], behavior: :revoke)
    assert_equal "/log/*\n", read(".containerignore")
  end

  # Docker matches a pattern with the whole path below the root.
  test "files in all directories are kept out of images" do
    install
    pattern = read(".dockerignore").lines.last.chomp
    %w[cache.larder storage/larder/production/cache.larder storage/sessions.larder.lock].each do |file|
      assert File.fnmatch?(pattern, file, File::FNM_PATHNAME | File::FNM_DOTMATCH), file
    end
  end

  test "options that mean the same for Larder are carried over as they are written" do
    { ":file_store, \"tmp/cache\", { expires_in: 1.day }"          => "expires_in: 1.day",
      "[:file_store, \"tmp/cache\", expires_in: 1.day]"            => "expires_in: 1.day",
      ":redis_cache_store, { url: URL, :namespace => \"a, b\", error_handler: ->(a, b) { p a, b } }" =>
        "namespace: \"a, b\", error_handler: ->(a, b) { p a, b }",
      ":mem_cache_store, \"one\", {\n    compress: false, # none\n    race_condition_ttl: 5\n  }" =>
        "compress: false, race_condition_ttl: 5" }.each do |former, kept|
      before = former_cache(former)
      install
      assert_equal "  config.cache_store = :larder_store, { #{kept} }\n", read(PRODUCTION).lines[-2], former
      run_generator([], behavior: :revoke)
      assert_equal before, read(PRODUCTION)
    end
  end

  test "other options of the former cache are named with their place" do
    { ":file_store, \"tmp/cache\", { expires_in: 1.day }"   => "\"tmp/cache\"",
      ":redis_cache_store, { url: URL, pool: { size: 5 } }" => "url:, pool:",
      ":memory_store, { size: 64.megabytes, coder: nil }"   => "size:, coder:",
      "Store.new(URL,\n    a: \"b, c\")" => "Store.new(URL, a: \"b, c\")",
      ":mem_cache_store, \"one\", OPTIONS" => "\"one\", OPTIONS" }.each do |former, left|
      former_cache(former)
      assert_includes install, "skip  options of the former cache left out: #{left} (#{PRODUCTION}:2); " \
                               "see docs/guides/change-over.md\n", former
      assert_no_match(/left out/, install)
    end
    former_cache(":null_store")
    assert_no_match(/left out/, install)
  end

  test "options of a cache in a condition are in the line to put there, without the condition" do
    former_cache(":redis_cache_store, { url: URL, expires_in: 1.day } if ENV[\"A\"]")
    output = install
    assert_match(/put into #{PRODUCTION}: config\.cache_store = :larder_store, { expires_in: 1\.day }$/o, output)
    assert_includes output, "left out: url: (#{PRODUCTION}:2); see"
    assert_no_match(/larder:doctor/, output)
  end

  test "of several caches, all options are named" do
    write("config/cache.yml", "production:\n  store_options:\n    expires_in: 5\n")
    write(PRODUCTION, <<~RUBY)
      Rails.application.configure do
        if ENV["A"]
          config.cache_store = :redis_cache_store, { url: URL, namespace: "shop" }
        else
          config.cache_store = :solid_cache_store, { compress: true }
        end
      end
    RUBY
    assert_includes install, "left out: url:, namespace: (#{PRODUCTION}:3), compress: (#{PRODUCTION}:5), " \
                             "expires_in: (config/cache.yml); see"
  end

  test "options of Solid Cache are taken from its file" do
    write("config/cache.yml", <<~YAML)
      default: &default
        store_options:
          max_age: <%= 60.days.to_i %>
          namespace: <%= Rails.env %>
      production:
        database: cache
        <<: *default
    YAML
    output = install
    assert_equal "  config.cache_store = :larder_store, { namespace: Rails.env }\n", read(PRODUCTION).lines[-2]
    assert_includes output, "options of the former cache left out: database:, max_age: (config/cache.yml); see"
    write(PRODUCTION, "Rails.application.configure do\n  config.cache_store = :file_store, \"a\"\nend\n")
    assert_no_match(/cache\.yml/, install)
  end

  test "a cache that config/application.rb configures has its options carried over, and stays if it is Larder's" do
    write(PRODUCTION, "Rails.application.configure do\nend\n")
    write("config/application.rb", "class A < B\n  config.cache_store = :file_store, \"a\", { expires_in: 5 }\nend\n")
    assert_includes install, "left out: \"a\" (config/application.rb:2); see"
    assert_match(/^  config\.cache_store = :larder_store, { expires_in: 5 }$/, read(PRODUCTION))
    run_generator([], behavior: :revoke)
    write("config/application.rb", "class A < B\n  config.cache_store = :larder_store, { size: \"1GB\" }\nend\n")
    assert_match(/ identical +config\/application\.rb$/, install)
    assert_equal "Rails.application.configure do\nend\n", read(PRODUCTION)
  end

  test "files keep their line ends and their byte order mark" do
    kept = ["\uFEFFRails.application.configure do\r\n  config.cache_store = :null_store\r\nend\r\n",
            "\uFEFFRails.application.routes.draw do\r\nend\r\n", "/log/*\r\n"]
    names = [PRODUCTION, ROUTES, ".gitignore"]
    names.zip(kept) { |file, text| write(file, text) }
    2.times { install("--dashboard") }
    names.first(2).each { |file| assert_match(/\A\uFEFF/, read(file)) }
    names.each { |file| assert_no_match(/(?<!\r)\n/, read(file), file) }
    assert_match(/^  config\.cache_store = :larder_store\r$/, read(PRODUCTION))
    assert_match(/\A\uFEFFrequire "larder\/dashboard"\r\n\r\nRails.*\r\n  mount Larder::Dashboard.*\r\n/, read(ROUTES))
    assert_match(/^\*\.larder\*\r$/, read(".gitignore"))
    run_generator([], behavior: :revoke)
    assert_equal(kept, names.map { |file| read(file) })
  end

  test "destroy with options removes these parts alone, and says that the others stay" do
    install
    cache = files
    install(*ALL)
    output = run_generator(%w[--dashboard --metrics], behavior: :revoke)
    assert_match(/^Only these parts were removed\. .* without options removes everything\.$/, output)
    assert_equal cache, files.except(SESSIONS)
    assert_match(/larder_store/, read(SESSIONS))
    run_generator(%w[--sessions], behavior: :revoke)
    assert_equal cache, files
    assert_no_match(/Only these/, run_generator([], behavior: :revoke))
  end

  test "sessions get an initializer" do
    install("--sessions")
    assert_equal "# Added by larder:install, removed by bin/rails destroy larder:install:\n" \
                 "Rails.application.config.session_store :larder_store, ephemeral: true\n", read(SESSIONS)
  end

  test "the cookie of the former sessions keeps its name" do
    write(SESSIONS, "# Be sure to restart.\nRails.application.config.session_store :cookie_store,\n  key: \"_shop\"\n")
    install("--sessions")
    assert_equal <<~RUBY, read(SESSIONS)
      # Be sure to restart.
      # Before larder:install, and after bin/rails destroy larder:install:
      # Rails.application.config.session_store :cookie_store,
      #   key: "_shop"
      Rails.application.config.session_store :larder_store, key: "_shop", ephemeral: true
    RUBY
  end

  test "sessions that config/application.rb configures are replaced there" do
    write("config/application.rb", <<~RUBY)
      module Shop
        class Application < Rails::Application
          config.session_store :cache_store, key: '_shop'
          config.x.other = { key: "other" }
        end
      end
    RUBY
    install("--sessions")
    assert_match(/^    config\.session_store :larder_store, key: '_shop', ephemeral: true$/,
                 read("config/application.rb"))
    assert_no_file SESSIONS
  end

  test "options of the former cookie stay, and the others are named" do
    write(SESSIONS, <<~RUBY)
      Rails.application.config.session_store :redis_store,
        servers: [{ host: "a", port: 1 }, "b"], # two, in order
        key: "_shop", :secure => Rails.env.production?, expiry: 5,
        expire_after: 14.days, same_site: :strict,
        domain: [".a.example", ".b.example"], httponly: true, **MORE
    RUBY
    output = install("--sessions")
    assert_equal 'Rails.application.config.session_store :larder_store, key: "_shop", ' \
                 "secure: Rails.env.production?, expire_after: 14.days, same_site: :strict, " \
                 "domain: [\".a.example\", \".b.example\"], httponly: true, ephemeral: true\n",
                 read(SESSIONS).lines.last
    assert_includes output, "of the former sessions left out: servers:, expiry:, **MORE (#{SESSIONS}:1); see docs"
    assert_no_match(/left out/, install("--sessions"))
  end

  test "options of sessions in several files are named" do
    write(SESSIONS, "Rails.application.config.session_store :cookie_store, key: \"_shop\", secure: true\n")
    write("config/application.rb", "class A < B\n  config.session_store(:cookie_store, { same_site: :lax })\nend\n")
    output = install("--sessions")
    assert_match(/put into #{SESSIONS}: .* :larder_store, key: "_shop", ephemeral: true$/o, output)
    assert_includes output, "left out: same_site: (config/application.rb:2), secure: (#{SESSIONS}:1); see"
  end

  test "of several statements, the one that is loaded last names the cookie" do
    write("config/initializers/aaa.rb", "Rails.application.config.session_store :active_record_store, key: \"_a\"\n")
    write("config/initializers/zzz.rb", "Rails.application.config.session_store :cookie_store, key: \"_b\"\n")
    write("config/environments/test.rb", "Rails.application.configure do\n  config.session_store :a, key: \"_\"\nend\n")
    output = install("--sessions")
    assert_match(/put into config\/initializers\/zzz\.rb: .* :larder_store, key: "_b", ephemeral: true$/, output)
    assert_includes output, "the name of the cookie is that of config/initializers/zzz.rb:1, which is loaded last"
    write("config/initializers/zzz.rb", "Rails.application.config.session_store :cookie_store\n")
    assert_match(/ :larder_store, ephemeral: true$/, install("--sessions"))
  end

  test "sessions of Larder that a later statement replaces are not in force" do
    write("config/initializers/aaa.rb", "Rails.application.config.session_store :larder_store, key: \"_a\"\n")
    write("config/initializers/zzz.rb", "Rails.application.config.session_store :cookie_store, key: \"_b\"\n")
    assert_match(/put into config\/initializers\/zzz\.rb: .* :larder_store, key: "_b", ephemeral: true$/,
                 install("--sessions"))
    write("config/initializers/zzz.rb", "Rails.application.config.session_store :cookie_store if ENV[\"A\"]\n")
    assert_no_match(/put into/, install("--sessions"))
  end

  test "a block in an option does not become that of the new statement" do
    write(SESSIONS, "Rails.application.config.session_store(:a, domain: lambda do |one|\n  one.host\n" \
                    "end, path: \"/\")\n")
    install("--sessions")
    statement = "Rails.application.config.session_store :larder_store, domain: (lambda do |one|\n  one.host\nend), " \
                "path: \"/\", ephemeral: true\n"
    assert_equal statement, read(SESSIONS).lines.last(3).join
    assert RubyVM::InstructionSequence.compile(statement)
  end

  test "a condition is not a part of the option before it" do
    write(SESSIONS, "Rails.application.config.session_store :cookie_store, key: \"_a\", " \
                    "expire_after: 3.days if Rails.env.production?\n")
    assert_match(/ :larder_store, key: "_a", expire_after: 3\.days, ephemeral: true$/, install("--sessions"))
  end

  test "sessions that the application turns off stay so, with the line to put there" do
    write("config/application.rb", "class A < B\n  config.session_store :disabled\nend\n")
    before = read("config/application.rb")
    output = install("--sessions")
    assert_equal before, read("config/application.rb")
    assert_includes output, "skip  the application turns sessions off (config/application.rb:2); put into config/app"
    assert_no_file SESSIONS
  end

  test "an application without the middleware of sessions is given its lines, until it has them" do
    write("config/application.rb", "class A < B\n  config.api_only = true\nend\n")
    output = install("--sessions")
    assert_match(/config\.api_only leaves out .* put into #{SESSIONS}, after config\.session_store:$/o, output)
    lines = output.lines.map(&:lstrip).grep(/middleware\.use/)
    assert_equal ["Rails.application.config.middleware.use ActionDispatch::Cookies\n",
                  "Rails.application.config.middleware.use Rails.application.config.session_store, " \
                  "Rails.application.config.session_options\n"], lines
    assert_no_match(/api_only/, install)
    write(SESSIONS, read(SESSIONS) + lines.join)
    assert_no_match(/api_only/, install("--sessions"))
    write("config/initializers/other.rb", "Rails.application.config.middleware.use ActionDispatch::Session::A\n")
    FileUtils.rm(place(SESSIONS))
    assert_match(/api_only .*, in place of config\/initializers\/other\.rb:1:$/, install("--sessions"))
    write("config/application.rb", "class A < B\n  config.api_only = false\nend\n")
    FileUtils.rm(place(SESSIONS))
    assert_no_match(/api_only/, install("--sessions"))
  end

  test "the lines of the middleware fit config/application.rb" do
    write("config/application.rb", "class A < B\n  config.api_only = true\n  config.session_store :cookie_store\nend\n")
    assert_match(/into config\/application\.rb, .*:\n +config\.middleware\.use A.*\n +config\.middleware\.use config/,
                 install("--sessions"))
  end

  test "another key of the file does not name the cookie" do
    write("config/application.rb", <<~RUBY)
      class Application < Rails::Application
        config.session_store :cache_store
        config.x.other = { key: "other" }
      end
    RUBY
    install("--sessions")
    assert_match(/^  config\.session_store :larder_store, ephemeral: true$/, read("config/application.rb"))
  end

  test "sessions in several files are left, with the line to put there" do
    write(SESSIONS, "Rails.application.config.session_store :cookie_store, key: \"_shop\"\n")
    write("config/environments/staging.rb",
          "Rails.application.configure do\n  config.session_store :cache_store\nend\n")
    before = read(SESSIONS)
    output = install("--sessions")
    assert_equal before, read(SESSIONS)
    assert_includes output, "in several places (config/environments/staging.rb:2, #{SESSIONS}:1); put into"
  end

  test "an initializer of sessions that configures nothing gets the line at its end" do
    write(SESSIONS, "# Be sure to restart.\n")
    install("--sessions")
    assert_match(/\A# Be sure to restart\.\n# Added by .*\nRails\.application\.config\.session_store :larder/,
                 read(SESSIONS))
    run_generator([], behavior: :revoke)
    assert_equal "# Be sure to restart.\n", read(SESSIONS)
  end

  test "routes of one line are left, with the lines of both mounts to put there" do
    ["{ get \"up\" => \"pages#up\" }", "do get \"up\" => \"pages#up\" end"].each do |block|
      text = "Rails.application.routes.draw #{block}\n"
      write(ROUTES, text)
      output = install("--dashboard", "--metrics")
      assert_equal text, read(ROUTES)
      assert_match(/^ +skip +#{ROUTES} has no routes\.draw on a line of its own; put into #{ROUTES}: require/o, output)
      %w[dashboard metrics].each { |name| assert_match(/require "larder\/#{name}"\n +mount Larder::/, output) }
    end
  end

  test "a mount that routes of one line have is not asked for" do
    write(ROUTES, "Rails.application.routes.draw {\n  mount Larder::Dashboard => \"/cache\"\n}\n")
    output = install("--dashboard", "--metrics")
    assert_match(/^ +mount Larder::Metrics/, output)
    assert_no_match(/mount Larder::Dashboard/, output)
  end

  test "the next steps check the cache in production, where it was configured" do
    assert_match(/^  RAILS_ENV=production bin\/rails larder:doctor +# checks it$/, install)
    assert_match(/larder:doctor/, install, "configured before")
    write(PRODUCTION, "# nothing\n")
    assert_no_match(/larder:doctor|runner/, install)
  end

  test "the next steps name the variables of what was mounted" do
    assert_match(/^Next:\n  bin\/rails/, install)
    assert_no_match(/LARDER_PASSWORD|migrate_from/, install)
    assert_match(/Set LARDER_PASSWORD, .* hidden, in development too$/, install("--dashboard"))
    assert_match(/Set LARDER_METRICS_TOKEN, .* hidden, in development too$/, install("--metrics"))
    assert_match(/migrate_from:/, install("--sessions"))
    assert_empty install("--quiet")
  end

  private

  def install(*options)
    run_generator(options)
  end

  # @return [String] the text of the configuration
  def former_cache(store)
    write(PRODUCTION, "Rails.application.configure do\n  config.cache_store = #{store}\nend\n")
    read(PRODUCTION)
  end

  def files
    Dir.glob("**/*", File::FNM_DOTMATCH, base: directory).select { |file| File.file?(place(file)) }
       .sort.to_h { |file| [file, read(file)] }
  end

  def place(file)
    File.join(directory, file)
  end

  def write(file, text)
    FileUtils.mkdir_p(File.dirname(place(file)))
    File.write(place(file), text)
  end

  def read(file)
    File.read(place(file))
  end
end
