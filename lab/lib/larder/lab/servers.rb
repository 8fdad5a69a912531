# frozen_string_literal: true

require "larder/cli/registry"

module Larder
  module Lab
    # The servers that the lab can start for contenders, by name. A new one is a class in servers/.
    # @api private
    module Servers
      extend CLI::Registry
      holds "server"
    end
  end
end

require_relative "server"
%w[redis memcached postgresql mariadb].each { |name| require_relative "servers/#{name}" }
