# frozen_string_literal: true

# Writes the lines that configure a choice in an application.

require_relative "../codecs/lists"
require_relative "choice"

module Larder
  module Lab
    module Advice
      # Lines of config/environments/production.rb, and of the Gemfile.
      class Configuration
        # Gems by codec and by store.
        GEMS = { "message_pack" => "msgpack", "zstd" => "zstd-ruby", "snappy" => "snappy", "lz4" => "extlz4",
                 "lz4_flex" => "lz4_flex", "brotli" => "brotli", "redis" => "redis", "valkey" => "redis",
                 "memcached" => "dalli", "solid_cache" => "solid_cache",
                 "solid_cache-postgresql" => "solid_cache" }.freeze
        # Rails' names of stores that are not called as they are here.
        NAMES = { "redis" => ":redis_cache_store", "valkey" => ":redis_cache_store", "memcached" => ":mem_cache_store",
                  "solid_cache-postgresql" => ":solid_cache_store" }.freeze
        # Variables of the environment that name servers.
        SERVERS = { "redis" => "REDIS_URL", "valkey" => "REDIS_URL", "memcached" => "MEMCACHE_SERVERS" }.freeze
        SECRET = "CACHE_SECRET"
        # Stands for the secret where the lines are tried.
        SOME_SECRET = "only for trying the lines"
        # More room than the values take: keys, index, and what is being written.
        MARGIN = 1.15
        MEGABYTE = 1 << 20

        # @return [Choice]
        attr_reader :choice

        # @param choice [Choice]
        # @param room [Numeric] bytes that all that is cached takes
        # @param trust [Boolean] need Marshal's bytes on a server not be signed?
        def initialize(choice, room:, trust: false)
          @choice = choice
          @room = [(room * MARGIN / MEGABYTE).ceil, 16].max
          @trust = trust
        end

        # @return [String]
        def code
          "config.cache_store = #{[name, *place].join(", ")}#{hash}\n"
        end

        # @return [String] the store as an element of a list, as remote: of LarderStore takes it
        def element
          pairs = options.map { |key, value| "    #{key}: #{value}" }
          "[#{[name, *place, ("{\n#{pairs.join(",\n")}\n  }" if pairs.any?)].compact.join(", ")}]"
        end

        # @return [String, nil] lines for the Gemfile
        def gemfile
          own = "larder" if choice.store == "larder" || larders?
          gems = [own, GEMS[choice.store], driver, GEMS[choice.serializer], GEMS[codec]].compact.uniq
          "#{gems.map { |gem| "gem \"#{gem}\"" }.join("\n")}\n" unless gems.empty?
        end

        # @return [Hash{String=>String, nil}] variables that it reads; nil: the address of the server
        def variables
          { SERVERS[choice.store] => nil, (SECRET if signed?) => SOME_SECRET }.reject { |variable, _| variable.nil? }
        end

        # @return [Boolean] can the lines be tried without an application?
        def tried?
          !choice.store.start_with?("solid_cache")
        end

        private

        def larders?
          options.any? { |_, value| value.include?("Larder::") }
        end

        def driver
          "pg" if choice.store == "solid_cache-postgresql"
        end

        def name
          NAMES.fetch(choice.store) { ":#{choice.store}_store" }
        end

        def place
          case choice.store
          when "file" then ['"tmp/cache"']
          when "memcached" then ['ENV.fetch("MEMCACHE_SERVERS")']
          else []
          end
        end

        # Bytes of a store that is told how many. Of a server its own configuration says.
        def size
          case choice.store
          when "larder", "memory" then { "size" => "#{@room}.megabytes" }
          when "solid_cache", "solid_cache-postgresql" then { "max_size" => "#{@room}.megabytes" }
          when "redis", "valkey" then { "url" => 'ENV.fetch("REDIS_URL")' }
          else {}
          end
        end

        def options
          @options ||= size.merge(choice.store == "larder" ? own : coder)
        end

        def hash
          return if options.empty?

          ", {\n#{options.map { |key, value| "  #{key}: #{value}" }.join(",\n")}\n}"
        end

        # Larder's store takes codecs by name.
        def own
          serializer = choice.serializer == "larder" ? {} : { "serializer" => ":#{choice.serializer}" }
          choice.compressor == "none" ? serializer : { **serializer, "compressor" => compressor, "compress" => "true" }
        end

        # Any other store of Rails is given Larder's codecs as its coder.
        def coder
          return {} if choice.rails_default?

          packs = choice.compressor != "none"
          { "coder" => "Larder::Coder.new(serializer: #{serializer}, compressor: #{packs ? compressor : "nil"})",
            "compress" => packs.to_s }
        end

        def serializer
          return ":#{choice.serializer}" unless marshal

          "Larder::Serializers[:marshal#{marshal}]"
        end

        # Larder's Marshal reads nothing that anybody could have written.
        def marshal
          return unless choice.serializer == "marshal"

          signed? ? ", sign_with: ENV.fetch(\"#{SECRET}\")" : ", trusted: true"
        end

        def signed?
          choice.serializer == "marshal" && choice.profile.remote? && !choice.rails_default? && !@trust
        end

        def compressor
          return "Zlib" if codec == "zlib"

          levels.empty? ? ":#{codec}" : "Larder::Compressors.lookup(:#{codec}#{levels})"
        end

        def contender
          Codecs::Compressors.fetch(choice.compressor)
        end

        def codec
          contender.codec.to_s
        end

        def levels
          contender.options.map { |key, value| ", #{key}: #{value}" }.join
        end
      end
    end
  end
end
