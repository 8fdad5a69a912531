# frozen_string_literal: true

# Answers the requests of those who may see a dashboard: finds the page, and shows it or why it cannot be shown.

require_relative "assets"
require_relative "html"
require_relative "layout"
require_relative "pages"
require_relative "readings"
require_relative "response"
require_relative "source"
require_relative "visit"

module Larder
  class Dashboard
    # A Rack application without access control.
    # @api private
    class Application
      METHODS = %w[GET HEAD POST].freeze
      private_constant :METHODS

      # @param settings [Settings]
      def initialize(settings)
        @settings = settings
        @source = Source.new(settings.cache)
        @readings = Readings.new
      end

      # @param env [Hash] of Rack
      # @return [Array(Integer, Hash, Array<String>)]
      def call(env)
        visit = Visit.new(Rack::Request.new(env), @settings, @source, @readings)
        status, headers, body = answer(visit)
        cookie = visit.token.cookie
        headers = { **headers, "set-cookie" => cookie } if cookie
        [status, headers, visit.request.head? ? [] : body]
      end

      private

      def answer(visit)
        name = visit.page
        return Assets.answer(name.delete_prefix(Assets::PREFIX)) || absent if name.start_with?(Assets::PREFIX)

        row = Pages.at(name)
        row ? shown(row, visit) : absent
      end

      def shown(row, visit)
        return absent if row.page.changes? && visit.settings.read_only?
        return refused(405) unless METHODS.include?(visit.request.request_method)
        return posted(row, visit) if visit.request.post?

        rendered(row.page.new(visit), visit)
      rescue Problem => error
        problem(error, visit)
      rescue Inspection::Invalid, Inspection::Failure, InvalidArgument => error
        problem(Problem.new("That is not possible", error.message, status: 422), visit)
      rescue Larder::Error, SystemCallError => error # the file may go away at any moment
        problem(Problem.new("The cache cannot be used", error.message, visit.source.command("doctor"), status: 503),
                visit)
      end

      def posted(row, visit)
        return refused(405) unless row.page.changes?

        objection = visit.token.objection(visit.param(FormToken::FIELD))
        if objection
          raise Problem.new("The form was not accepted", "#{objection} Nothing was changed.",
                            "Go back, load the page again, and send the form once more.", status: 403)
        end

        page = row.page.new(visit)
        page.submit
        rendered(page, visit)
      end

      def rendered(page, visit)
        Response.page(Layout.new(visit, page).to_s, status: page.status)
      end

      def problem(error, visit)
        Response.page(Layout.new(visit, ProblemPage.new(error)).to_s, status: error.status)
      end

      def absent
        Response.plain("There is no such page", status: 404)
      end

      def refused(status)
        Response.plain("This method is not known", status: status, "allow" => METHODS.join(", "))
      end
    end
  end
end
