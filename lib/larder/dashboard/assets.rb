# frozen_string_literal: true

# The stylesheet, the script and the icon of the pages. Their names change with their content, so browsers keep them.

require "digest"
require_relative "response"

module Larder
  class Dashboard
    # @api private
    module Assets
      DIRECTORY = File.join(__dir__, "assets")
      TYPES = { ".css" => "text/css; charset=utf-8", ".js" => "text/javascript; charset=utf-8",
                ".svg" => "image/svg+xml" }.freeze
      # Where they are below the dashboard.
      PREFIX = "assets/"
      # `name` as in {path}, `served` as in a browser.
      Asset = Struct.new(:served, :type, :content)
      ALL = %w[dashboard.css dashboard.js icon.svg].to_h do |name|
        content = File.binread(File.join(DIRECTORY, name)).freeze
        type = File.extname(name)
        digest = Digest::SHA256.hexdigest(content).slice(0, 16)
        [name, Asset.new("#{File.basename(name, type)}-#{digest}#{type}".freeze, TYPES.fetch(type), content)]
      end.freeze
      SERVED = ALL.each_value.to_h { |asset| [asset.served, asset] }.freeze
      private_constant :DIRECTORY, :TYPES, :Asset, :ALL, :SERVED

      module_function

      # @param name [String] as "dashboard.css"
      # @return [String] below the dashboard
      def path(name)
        "#{PREFIX}#{ALL.fetch(name).served}"
      end

      # @param name [String] of a request
      # @return [Array, nil] the answer; nil: there is none of this name
      def answer(name)
        asset = SERVED[name]
        Response.asset(asset.type, asset.content) if asset
      end
    end
  end
end
