# frozen_string_literal: true

# The values of `backplane:`, with servers that need them.

require "support/backplane_case"
require "openssl"

module LarderStore
  # Larder::Remote::Backplane::Address.
  class BackplaneAddressTest < BackplaneCase
    # A server with TLS and a password, and a certificate of its own.
    class Guarded < Larder::Lab::Servers::RedisLoopback
      class << self
        # As of the server that has this name.
        def path = superclass.path
        def binary = superclass.binary
        def remedy = superclass.remedy
      end

      def tls_port
        @tls_port ||= free_port
      end

      def certificate
        File.join(dir, "certificate.pem")
      end

      def arguments
        make_certificate unless File.exist?(certificate)
        [*super, "--tls-port", tls_port.to_s, "--tls-cert-file", certificate, "--tls-key-file", "#{dir}/key.pem",
         "--tls-ca-cert-file", certificate, "--tls-auth-clients", "no"]
      end

      private

      def make_certificate
        key = OpenSSL::PKey::RSA.new(2048)
        name = OpenSSL::X509::Name.parse("/CN=127.0.0.1")
        made = OpenSSL::X509::Certificate.new
        made.version, made.serial, made.public_key, made.subject, made.issuer = 2, 1, key.public_key, name, name
        made.not_before, made.not_after = Time.now - 60, Time.now + 3600
        factory = OpenSSL::X509::ExtensionFactory.new(made, made)
        made.add_extension(factory.create_extension("basicConstraints", "CA:TRUE", true))
        made.add_extension(factory.create_extension("subjectAltName", "IP:127.0.0.1"))
        File.write(certificate, made.sign(key, "SHA256").to_pem)
        File.write("#{dir}/key.pem", key.to_pem)
      end
    end

    test "a Hash with the parameters of TLS" do
      guarded = start(Guarded)
      url = "rediss://127.0.0.1:#{guarded.tls_port}"
      hear_each_other({ url: url, ssl_params: { ca_file: guarded.certificate } })
      hear_each_other({ "host" => "127.0.0.1", "port" => guarded.tls_port, "ssl" => true,
                        "ssl_params" => { verify_mode: OpenSSL::SSL::VERIFY_NONE } })
      errors = errors_of(backplane: url)
      assert_match(/certificate verify failed/, errors.first.message)
    end

    test "an Array of Hashes and URLs of nodes, protocol 2, and URI objects" do
      port = start("redis-loopback").endpoint.fetch("port")
      hear_each_other([{ host: "127.0.0.1", port: port, timeout: 0.5 }, "redis://127.0.0.1:#{port}"])
      hear_each_other({ url: "redis://127.0.0.1:#{port}", protocol: 2, timeout: 10, id: "larder" })
      hear_each_other(URI("redis://127.0.0.1:#{port}"))
      hear_each_other({ url: URI("unix:#{start("redis").endpoint.fetch("socket")}") })
    end

    test "Sentinels, also after a failover" do
      first, second = Array.new(2) { start("redis-loopback") }
      ports = [first, second].map { |server| server.endpoint.fetch("port") }
      command(ports.last, "REPLICAOF", "127.0.0.1", ports.first)
      sentinel = sentinel_of(ports.first)
      one, two = hear_each_other({ name: "main", sentinels: [{ host: "127.0.0.1", port: sentinel }] })
      assert(eventually { command(sentinel, "SENTINEL", "replicas", "main").any? })
      assert(eventually { replicated?(ports.last) })
      TestServers.kill(first)
      command(sentinel, "SENTINEL", "FAILOVER", "main")
      one.write("k", "after the failover")
      assert(eventually { two.read("k") == "after the failover" && two.cache.trusted? })
      one.write("k", "and again")
      assert(eventually { two.read("k") == "and again" })
    end

    test "a Hash of PostgreSQL" do
      Gem.loaded_specs.key?("pg") || skip("the gem pg is not in the bundle")
      postgresql = start("postgresql")
      place = File.dirname(postgresql.endpoint.fetch("socket"))
      options = { host: place, port: 5432, user: "larder_lab" }
      hear_each_other({ **options, dbname: "postgres", sslmode: "prefer" })
      hear_each_other({ url: postgresql.endpoint.fetch("url"), application_name: "larder" })
    end

    test "anything else is refused by name, without a password" do
      secret = "s3cret"
      { nil.to_s => /backplane: of LarderStore is ""; it takes/, 5 => /is 5; it takes/, [] => /is \[\]; it takes/,
        {} => /is {}; it takes/, [[]] => /it takes/, :redis => /is :redis; it takes/,
        "http://u:#{secret}@host" => %r{is "http://u:\[hidden\]@host"; it takes},
        "redis://u:#{secret}@ho st" => %r{"redis://u:\[hidden\]@ho st"; bad URI},
        "redis://u:#{secret}@x@host" => %r{"redis://u:\[hidden\]@host"; bad URI},
        { host: "h", port: "p", password: secret } => /password(=>|: )"\[hidden\]"}; invalid value for Integer/,
        { url: "redis://h", colour: "red" } => /unknown keyword: :colour/,
        { url: "redis://h", timeout: "x" } => /connect_timeout is "x"; it takes seconds/,
        { url: "redis://h", read_timeout: 0 } => /read_timeout is 0; it takes seconds/,
        "u:#{secret}@host" => /is "u:\[hidden\]@host"; it takes/,
        URI("http://u:#{secret}@host") => %r{is #<URI::HTTP http://u:\[hidden\]@host>; it takes},
        { url: nil, password: secret } => /\[hidden\]"}; it takes the URL/,
        "redis://u:#{secret}@host:65536" => /the port is 65536; it takes a number from 1 to 65535/,
        { host: "h", port: 0, password: secret } => /the port is 0; it takes/,
        "unix://" => %r{unix:// takes the path of a socket},
        { name: "m", sentinels: "redis://u:#{secret}@host" } => /u:\[hidden\]@host"}; sentinels: takes an Array of/,
        { name: "m", sentinels: [], password: secret } => /\[hidden\]"}; sentinels: takes an Array of/,
        { name: "m", sentinels: [{ host: "h", port: 65_536 }] } => /the port is 65536; it takes/,
        { sentinels: [{ host: "h", password: secret }] } => /\[hidden\].*requires either a name or an url/,
        ["redis://h", "postgresql://h/d"] => /it takes/, ["postgresql://h/d", "postgresql://i/d"] => /it takes/ }
        .each { |given, message| assert_refused(given, message, secret) }
    end

    test "options that PostgreSQL does not take are refused by name, without a password" do
      secret = "s3cret"
      { { dbname: "d", colour: "red", password: secret } => /\[hidden\].*PG.connect takes no :colour/,
        "postgresql://u:#{secret}@x@h/d" => /\[hidden\].*write that of a password as %40/,
        "postgresql://u:#{secret}@h:port/d" => /\[hidden\].*the port is "port"; it takes/,
        { host: "h", port: "5432,0", dbname: "d" } => /the port is "0"; it takes/,
        "postgresql://u:#{secret}@h:port/d?x=%" => /\[hidden\]/ }.each do |given, message|
        next assert_refused(given, message, secret) if Gem.loaded_specs.key?("pg")

        assert_refused(given, /needs the gem pg/, secret, Larder::MissingGemError)
      end
    end

    test "no report has the password" do
      givens = ["redis://:s3cret@127.0.0.1:1", { host: "127.0.0.1", port: 1, password: "s3cret" }]
      givens << "postgresql://u:s3cret@127.0.0.1:1/d" if Gem.loaded_specs.key?("pg")
      givens.each do |given|
        errors = errors_of(backplane: given)
        assert(errors.none? { |error| error.message.include?("s3cret") })
      end
    end

    private

    def assert_refused(given, message, secret, type = ArgumentError)
      error = assert_raises(type, given.inspect) { machine("refused", backplane: given) }
      assert_match message, error.message
      assert_not_includes error.full_message, secret
    end

    # @return [Array] two machines
    def hear_each_other(given)
      @number = @number.to_i + 1
      one, two = %w[one two].map { |name| listening("#{name}#{@number}", backplane: given, error_handler: nil) }
      one.write("k", "old")
      assert(eventually { two.read("k") == "old" })
      one.write("k", "new")
      assert(eventually { two.read("k") == "new" })
      [one, two]
    end

    # @return [Array<StandardError>] reports of a machine that cannot reach its backplane
    def errors_of(**options)
      errors = []
      store = machine("errors#{errors.object_id}", **options, error_handler: ->(exception:, **) { errors << exception })
      store.write("k", 1)
      assert(eventually { errors.any? })
      errors
    end

    def command(port, *words)
      client = RedisClient.new(port: port, timeout: 5)
      client.call(*words)
    ensure
      client&.close
    end

    def replicated?(port)
      command(port, "INFO", "replication").include?("master_link_status:up")
    end

    # @return [Integer] the port of a Sentinel, which is a Redis with another configuration
    def sentinel_of(port)
      own = TCPServer.open("127.0.0.1", 0) { |server| server.addr[1] }
      file = path_of("sentinel.conf")
      File.write(file, "port #{own}\nbind 127.0.0.1\nsentinel monitor main 127.0.0.1 #{port} 1\n" \
                       "sentinel down-after-milliseconds main 60000\n")
      @sentinel = spawn("redis-server", file, "--sentinel", out: File::NULL)
      assert(eventually { command(own, "PING") rescue nil }) # rubocop:disable Style/RescueModifier
      own
    end

    teardown do
      if @sentinel
        Process.kill(:KILL, @sentinel)
        Process.wait(@sentinel)
      end
    end
  end
end
