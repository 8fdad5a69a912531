# frozen_string_literal: true

require "test_helper"
require "json"
require "psych"
require "redis"
require "support/command"
require "support/container"
require "support/kubelet"
require "support/servers"
require "support/session_guide"
require "larder/sessions"

module House
  # The guide to deployment: each example is taken apart, and what one machine can run is run. The unit of systemd has a
  # test of its own. Docker, Kamal, Capistrano, Kubernetes and platforms do not run here.
  class DeploymentGuideTest < ActiveSupport::TestCase
    include TemporaryDirectory
    include Processes
    include Command

    ROOT = File.expand_path("../..", __dir__)
    TEXT = File.read(File.join(ROOT, "docs/guides/deployment.md"), encoding: "UTF-8")
    # Code blocks, grouped by chapter and by language.
    CHAPTERS = TEXT.split(/^## /).drop(1).to_h do |text|
      [text.lines.first.chomp, text.scan(/^```(\w+)\n(.*?)^```/m).group_by(&:first)
                                   .transform_values { |found| found.map(&:last) }]
    end

    # ---- examples ----

    test "YAML can be read, and names volumes that are mounted and files in them" do
      compose, kamal, pod, node, render = CHAPTERS.values.flat_map { |blocks| blocks.fetch("yaml", []) }
                                                  .map { |block| Psych.safe_load(block) }
      assert_equal [["cache:/cache"]], compose["services"].each_value.map { |one| one["volumes"] }.uniq
      assert_equal ["cache"], compose["volumes"].keys
      assert_equal [["shop_storage:/rails/storage"], "app exec --reuse \"bundle exec larder stat\""],
                   [kamal["volumes"], kamal["aliases"]["cache"]]
      assert_equal [{ "path" => "/var/lib/shop-cache", "type" => "Directory" }],
                   node.fetch("volumes").map { |one| one["hostPath"] }
      spec = pod.dig("spec", "template", "spec")
      container = spec["containers"].first
      assert_equal spec["volumes"].map { |one| one["name"] }, container["volumeMounts"].map { |one| one["name"] }
      assert_equal pod.dig("spec", "selector", "matchLabels"), pod.dig("spec", "template", "metadata", "labels")
      assert_path_below "/cache", container["env"].to_h { |one| one.values_at("name", "value") }
      service = render["services"].first
      assert_path_below service["disk"]["mountPath"], service["envVars"].to_h { |one| one.values_at("key", "value") }
    end

    test "sizes of files fit into volumes and memory limits" do
      pod = Psych.safe_load(blocks("Kubernetes", "yaml").first).dig("spec", "template", "spec")
      container = pod["containers"].first
      size = Larder::Size.parse(container["env"].last["value"], "LARDER_SIZE")
      limits = [pod["volumes"].first["emptyDir"]["sizeLimit"], container["resources"]["limits"]["memory"]]
      volume, limit = limits.map { |text| Larder::Size.parse("#{text}B", "a limit") }
      assert_operator size * 2, :<, volume
      assert_operator size * 2, :<=, limit
    end

    test "the Dockerfile makes the directory of the file for the user who runs the application" do
      lines = blocks("Docker", "dockerfile").first.lines(chomp: true).map { |line| line.split(" ", 2) }
      assert_empty lines.map(&:first) - %w[FROM RUN WORKDIR COPY USER ENV CMD]
      given = lines.group_by(&:first).transform_values { |found| found.map(&:last) }
      uid = given["RUN"].first[/useradd --uid (\d+)/, 1]
      assert_equal "#{uid}:#{uid}", given["USER"].first
      assert_equal %w[bundle exec puma], JSON.parse(given["CMD"].first)
      assert_path_below given["RUN"].first[/install -d -m 700 -o rails -g rails (\S+)/, 1],
                        [given["ENV"].first.split("=")].to_h
    end

    test "fly.toml has keys and values, and the file is on its volume" do
      section = nil
      lines = blocks("Heroku, Render and Fly.io", "toml").first.lines(chomp: true)
      values = lines.each_with_object({}) do |line, found|
        next if line.strip.empty? || line.start_with?("#")
        next section = $1 if line =~ /\A\[+(\w+)\]+\z/

        assert_match(/\A\s*\w+ = "[^"]*"\z/, line)
        (found[section] ||= {}).store(*line.strip.delete('"').split(" = "))
      end
      assert_equal [nil, "env", "mounts"], values.keys
      assert_path_below values["mounts"]["destination"], values["env"]
    end

    test "Ruby can be read, and configurations of stores and sessions make one" do
      ruby = CHAPTERS.values.flat_map { |blocks| blocks.fetch("ruby", []) }
      ruby.each { |block| RubyVM::InstructionSequence.compile(block) }
      stores = ruby.grep(/config\.cache_store/)
      assert_equal 2, stores.size
      stores.each do |block|
        config = Struct.new(:cache_store, :session_store_name) { def session_store(*) = nil }.new
        with_redis { eval(block) } # rubocop:disable Security/Eval -- it is an example of this repository's
        assert_equal [:larder_store, %i[remote backplane]], [config.cache_store[0], config.cache_store[1].keys]
      end
    end

    test "the commands that it names are Larder's" do
      names = TEXT.scan(/(?:exec |`)larder ([a-z]+)/).flatten.uniq
      assert_equal %w[doctor resize stat], names.sort
      names.each { |name| assert_match(/^Usage: larder #{name}/, done(name, "--help")) }
    end

    # ---- containers ----

    test "two containers on one volume share the cache, without capabilities and on a read-only root" do
      containers!
      blue, green = Array.new(2) { Container.new(volume) }
      blue.start(SERVER, file) do |old|
        assert_equal '"blue"', old.tell("write k blue")
        green.start(SERVER, file) do |new|
          assert_equal ['"blue"', "nil"], [new.tell("read k"), new.tell("delete k")]
          assert_equal "nil", old.tell("read k"), "a delete by one is a delete for both"
          assert_equal '"green"', new.tell("write k green")
          new.kill
        end
        assert_equal ['"green"', '"again"'], [old.tell("read k"), old.tell("write other again")]
        old.kill
      end
      rollback, status = blue.run(SERVER, file, "read k", "read other", "doctor")
      assert_predicate status, :success?, rollback
      assert_equal ['"green"', '"again"', "[]"], rollback.lines(chomp: true)
    end

    test "a volume of root is refused until the command of the guide gives it to the user" do
      containers!
      File.chown(0, 0, volume)
      refused, = Container.new(volume).run(SERVER, file, "read k")
      assert_match(/volume belongs to root, and \w+, who runs this process, may not write to it/, refused)
      owner = TEXT[/--user 0 .* chown (\S+) \/cache`/, 1]
      assert system("chown", owner, volume)
      assert_equal "\"1\"\n", Container.new(volume).run(SERVER, file, "write k 1").first
    end

    test "a container of another user is refused, and a root that is read-only without a volume serves misses" do
      containers!
      Container.new(volume).run(SERVER, file, "write k 1")
      File.chown(1001, nil, volume, File.dirname(file), file, "#{file}.lock")
      other, = Container.new(volume).run(SERVER, file, "read k")
      assert_match(/belongs to 1001, and \w+, who runs this process, may not look into it/, other)
      none, = Container.new(volume).run(SERVER, "/rails/storage/larder/production/cache.larder", "read k")
      assert_match(/is on a read-only file system: name a file on a volume/, none)
      assert_equal "nil", none.lines(chomp: true).last
    end

    test "fsGroup: a second pod is refused with Always, and finds the cache with OnRootMismatch" do
      containers!
      pods = [true, false].map do |on_root_mismatch|
        FileUtils.rm_rf(File.dirname(file))
        File.chmod(0o755, volume)
        Array.new(2) do
          Kubelet.start_pod(volume, Container::USER, on_root_mismatch: on_root_mismatch)
          Container.new(volume).run(SERVER, file, "read k", "write k 1").first
        end
      end
      assert_equal [["nil\n\"1\"\n", "\"1\"\n\"1\"\n"], "nil\n\"1\"\n"], [pods[0], pods[1][0]]
      assert_match(/mode 660.*fsGroup of Kubernetes.*: set fsGroupChangePolicy: OnRootMismatch/, pods[1][1])
    end

    # ---- releases ----

    test "releases share the file, also after the former one was removed, and a worker that is forked then" do
      deploy("1")
      worker = File.join(directory, "fork")
      reader, writer = IO.pipe
      old = child_with do
        store = store_of("1")
        store.write("k", "by the first release")
        File.write(worker, "")
        reader.read(1)
        in_child { [store.read("k"), store.delete("k"), store.write("other", 1)] }
      end
      assert(eventually { File.exist?(worker) })
      deploy("2")
      found = in_child { store_of("2").read("k") }
      FileUtils.rm_rf(path_of("releases/1"))
      writer.write("x")
      assert_equal ["by the first release", ["by the first release", true, true]], [found, old.call]
      assert_equal([nil, 1], in_child { store_of("2").then { |store| [store.read("k"), store.read("other")] } })
      assert_equal ["2"], Dir.children(path_of("releases"))
      assert_includes done("stat", env: { "RAILS_ENV" => "production" }, chdir: path_of("current")), "items"
    end

    # ---- disks that are thrown away ----

    test "sessions with cache: and backed_by: outlive the disk, and ephemeral ones do not" do
      shared = blocks("Heroku, Render and Fly.io", "ruby").grep(/session_store/).first
      backed = shared.sub(/cache: (.*), backplane:.*/, 'backed_by: \1')
      assert_includes backed, "backed_by: [:redis_cache_store"
      found = [shared, backed, "config.session_store :larder_store, ephemeral: true"].map do |lines|
        with_redis { restarted(lines) }
      end
      assert_equal [Examples::SIGNED_IN.to_json, Examples::SIGNED_IN.to_json, "{}"], found
    end

    test "a cache with remote: finds its values after the disk was lost, and one without starts empty" do
      lines = blocks("Heroku, Render and Fly.io", "ruby").grep(/cache_store = /).first
      found = [lines, "config.cache_store = :larder_store"].map do |block|
        with_redis do
          FileUtils.rm_rf(path_of("storage"))
          dyno(block) { |store| store.write("k", "v") }
          FileUtils.rm_rf(path_of("storage"))
          dyno(block) { |store| store.read("k") }
        end
      end
      assert_equal ["v", nil], found
    end

    private

    # In a container: answers commands of its arguments, then of lines of standard input.
    SERVER = <<~RUBY
      require "active_support"
      require "active_support/cache/larder_store"
      $stdout.sync = true
      ActiveSupport::Cache.format_version = 7.1
      handler = ->(exception:, **) { $stderr.puts exception.message }
      store = ActiveSupport::Cache.lookup_store(:larder_store, ARGV.shift, size: 8 << 20, error_handler: handler)
      each = ARGV.empty? ? $stdin.each_line(chomp: true) : ARGV
      each.each do |line|
        call, key, value = line.split
        case call
        when "read" then p store.read(key)
        when "write" then store.write(key, value) && p(store.read(key))
        when "delete" then store.delete(key) && p(store.read(key))
        when "doctor" then p Larder::Doctor.run(store).findings.map(&:check)
        end
      end
    RUBY
    private_constant :SERVER

    def blocks(chapter, language)
      CHAPTERS.fetch(chapter).fetch(language)
    end

    def assert_path_below(directory, variables)
      assert_equal "#{directory}/larder/cache.larder", variables["LARDER_PATH"]
    end

    def containers!
      missing = Container.missing and skip(missing)
      File.chmod(0o755, directory)
    end

    # With the owner that the Dockerfile gives it.
    def volume
      @volume ||= path_of("volume").tap do |path|
        Dir.mkdir(path)
        File.chown(Container::USER, Container::USER, path)
      end
    end

    def file
      File.join(volume, "larder/cache.larder")
    end

    # As Capistrano does, with the line of the guide.
    def deploy(name)
      linked = blocks("Capistrano", "ruby").first[/append :linked_dirs, "(\w+)"/, 1]
      FileUtils.mkdir_p([path_of("releases/#{name}"), path_of("shared/#{linked}")])
      File.symlink(path_of("shared/#{linked}"), path_of("releases/#{name}/#{linked}"))
      FileUtils.rm_f(path_of("current"))
      File.symlink(path_of("releases/#{name}"), path_of("current"))
    end

    # In a process of this release.
    def store_of(release)
      work_in(path_of("releases/#{release}"))
      ActiveSupport::Cache.lookup_store(:larder_store, Larder::Application.file("cache.larder"), size: 8 << 20)
    end

    # As a Rails application of that directory does.
    def work_in(root)
      Dir.chdir(root)
      Guide.config.root = root
      Rails.env = "production"
    end

    # @return [String] the session that a user finds whose dyno was restarted
    def restarted(lines)
      FileUtils.rm_rf(path_of("storage"))
      cookies, = visit(lines, {}, "/sign_in")
      FileUtils.rm_rf(path_of("storage"))
      visit(lines, cookies, "/show").last
    end

    def visit(lines, cookies, path)
      in_child do
        Dir.chdir(directory)
        Examples.machine(lines, cookies) { |browser| browser.visit("GET", path).body }
      end
    end

    def dyno(lines)
      in_child do
        work_in(directory)
        config = Struct.new(:cache_store).new
        eval(lines) # rubocop:disable Security/Eval -- it is an example of this repository's
        yield ActiveSupport::Cache.lookup_store(*config.cache_store)
      end
    end

    # With an empty server.
    def with_redis
      url = TestServers.endpoint("redis")&.fetch("url") || skip("redis is not installed")
      Redis.new(url: url).tap(&:flushall).close
      before = ENV.fetch("REDIS_URL", nil)
      ENV["REDIS_URL"] = url
      yield
    ensure
      ENV["REDIS_URL"] = before
    end
  end
end
