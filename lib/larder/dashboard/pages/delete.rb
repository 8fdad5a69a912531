# frozen_string_literal: true

# Deletes a key, after a question.

require_relative "../deletion"

module Larder
  class Dashboard
    module Pages
      # GET asks, POST deletes.
      class Delete < Page
        # @return [String]
        def title
          return "Delete this key?" if @deleted.nil?

          @deleted ? "The key was deleted" : "The key was not there"
        end

        # @return [void]
        def submit
          @deleted = Deletion.new(visit).key(key)
        end

        # @param html [Html]
        # @return [void]
        def body(html)
          html.section(class: ["card", *("notice" if @deleted)]) do
            html.p { html.code(KeyText.shown(key), class: "key") }
            @deleted.nil? ? question(html) : done(html)
          end
        end

        private

        def key
          @key ||= KeyAddress.key(visit)
        end

        def question(html)
          remote = Deletion.new(visit).remote?
          html.p("It is deleted for all processes#{" and machines" if remote} at once, and computed again when it is " \
                 "needed.")
          posting(html, "delete") do
            KeyAddress.params(key).each { |name, value| html.input(type: "hidden", name: name, value: value) }
            html.p(class: "actions") do
              html.button("Delete", class: "button danger", type: "submit")
              html.a("Keep it", class: "button quiet", href: path("entry", **KeyAddress.params(key)))
            end
          end
        end

        def done(html)
          html.p("It has expired since then, or another process deleted it.", class: "small") unless @deleted
          html.p(class: "actions") { html.a("Back to the keys", class: "button quiet", href: path("keys")) }
        end
      end
    end
  end
end
