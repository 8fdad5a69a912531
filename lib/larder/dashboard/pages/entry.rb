# frozen_string_literal: true

# Shows what is under a key.

module Larder
  class Dashboard
    module Pages
      # An item and, where the application allows it, its value. Nothing of it is loaded.
      class Entry < Page
        WIDTH = 100
        LONGEST_TITLE = 200
        private_constant :WIDTH, :LONGEST_TITLE

        # @return [String]
        def title
          "Entry"
        end

        # @return [Integer]
        def status
          found ? 200 : 404
        end

        # @param html [Html]
        # @return [void]
        def body(html)
          html.section(class: "card") do
            html.h2("Key")
            html.p(class: "whole", tabindex: "0") { html.code(KeyText.shown(key), class: "key") }
            found ? facts(html, found_facts) : absent(html)
            actions(html)
          end
          value(html) if found
        end

        private

        def key
          @key ||= KeyAddress.key(visit)
        end

        # @return [Array(Cache::Item, Values::View), false]
        def found
          return @found unless @found.nil?

          item, bytes = cache.item_with_value(key)
          @found = item ? [item, Inspection::Values::Decoder.new(item, bytes).view] : false
        end

        def found_facts
          item, view = found
          Inspection::ItemText.new(item, now_ms).facts(view)
        end

        def absent(html)
          html.p("There is no such key. It may have expired or been evicted. Keys begin with the store's namespace.",
                 class: "empty")
        end

        def actions(html)
          address = KeyAddress.params(key)
          html.p(class: "actions") do
            if found
              html.a("Delete…", class: "button quiet", href: path("delete", **address)) unless read_only?
            elsif address.key?(:key)
              html.a("Keys that contain it", class: "button quiet", href: path("keys", pattern: "*#{address[:key]}*"))
            end
          end
        end

        def value(html)
          html.section(class: "card") do
            html.h2("Value")
            next hidden(html) unless visit.settings.values?

            _, view = found
            html.pre(view.node.to_lines(WIDTH).join("\n"), class: "value", tabindex: "0") if view.node
            html.p("Not all is shown: #{view.note}.", class: "small") if view.note
            html.p("Nothing of the value was loaded. Signatures are not verified.", class: "small")
          end
        end

        def hidden(html)
          html.p("Values are hidden. To show them, give the dashboard an option:", class: "small")
          html.p { html.code("Larder::Dashboard.new(values: true)", class: "command") }
        end
      end
    end
  end
end
