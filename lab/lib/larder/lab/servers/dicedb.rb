# frozen_string_literal: true

require_relative "redis"

module Larder
  module Lab
    module Servers
      # DiceDB, configured as Redis is: since its second version it is a fork of Valkey.
      class Dicedb < Redis
        named "dicedb", "DiceDB", binary: "dicedb", port: 6379,
                        remedy: "put its program there (https://github.com/DiceDB/dicedb) or pass --dicedb-url"
      end
    end
  end
end
