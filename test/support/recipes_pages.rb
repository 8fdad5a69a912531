# frozen_string_literal: true

# Tests of the recipes application's pages: boots it in this process, as it is run in production.

require "support/recipes"

directory = Dir.mktmpdir("larder-recipes-")
Minitest.after_run { FileUtils.rm_rf(directory) }
ENV.update(RecipesFiles.storage_in(directory)).update("RAILS_ENV" => "production", "RECIPES_RELEASE" => "of the tests")

require_relative "../../examples/recipes/config/environment"
require "action_dispatch/testing/integration"

# Passwords are kept as ever, but made in less time: these tests sign in often.
Recipes::USERS.each do |name, password|
  digest = Recipes::Password.digest(password, cost: { N: 2, r: 8, p: 1 })
  User.find_by!(name: name).update!(password_digest: digest)
end

# Readers with a browser each. What they send is what the forms of the pages say, tokens included.
class RecipesPages < ActionDispatch::IntegrationTest
  self.app = Rails.application

  setup do
    sleep(0.01) until Rails.cache.cache.size.positive? # which opens a file
    Rails.cache.clear
  end

  # @return [Nokogiri::HTML::Document] of the last page
  def page(browser = self)
    Nokogiri::HTML(browser.response.body)
  end

  # Sends the form of the last page that has this button.
  #
  # @param button [String] its text, or a part of it
  # @param fields [Hash] what is typed in
  # @return [void]
  def press(button, fields = {}, browser: self)
    form = page(browser).css("form").find { |each| each.css("button, [type=submit]").to_s.include?(button) }
    assert form, "no form with #{button} on #{browser.path}"
    filled = form.css("input[name], textarea[name]").to_h { |input| [input["name"], input["value"].to_s] }
    browser.post form["action"], params: filled.merge(fields.transform_keys(&:to_s))
  end

  def sign_in(name = "demo", password = Recipes::USERS.fetch(name), browser: self)
    browser.get "/session/new"
    press("Sign in", { name: name, password: password }, browser: browser)
  end

  # @return [String, nil] the id in the browser's cookie
  def id(browser = self)
    browser.cookies["_recipes"]
  end

  # @return [Array<String>] templates that were rendered, and queries
  def made
    templates = []
    listen = lambda do |_name, _start, _finish, _id, payload|
      templates << (payload[:identifier] ? payload[:identifier][%r{views/(.*?)\.html}, 1] : payload[:sql])
    end
    ActiveSupport::Notifications.subscribed(listen, /\A(?:render_.*\.action_view|sql\.active_record)\z/) { yield }
    templates
  end
end
