# frozen_string_literal: true

# The reasons why C must not answer for a store: a Rails that was not tested, a patched method, a method that keys have
# got. The decision is whether there is a reason, so the reported reason is always the true one.

module Larder
  module Store
    module FastPath
      # Extends FastPath. An objection is a sentence for people; nil: there is none.
      module Objections
        NAME = Module.instance_method(:name) # as some modules have another method of that name
        private_constant :NAME

        private

        # For any store.
        def objection
          return "Rails #{rails_version} is none of those it was tested on: #{TESTED_RAILS.join(", ")}" unless tested?

          patch = surroundings.filter_map { |method| patch_in(method) }.first
          return patched(patch) if patch

          changed = KEY_CLASSES.filter_map { |klass| key_patch_of(klass) }.first
          "#{described(changed)} changes the keys that Rails makes" if changed
        end

        # A method with which Rails would make another key of such a name than C does.
        def key_patch_of(klass)
          asked = (KEY_METHODS - (klass == Array ? [:to_a] : [])).find { |name| klass.method_defined?(name) }
          return klass.instance_method(asked) if asked

          question = QUESTIONS.map { |name| klass.instance_method(name) }.find { |method| method.owner != Kernel }
          return question if question

          param, text = klass.instance_method(:to_param), klass.instance_method(:to_s)
          return param unless param.source_location&.first&.start_with?("#{rails_root}/core_ext/")

          text unless builtin?(text)
        end

        # For stores of a class and some of its methods.
        def objection_to(store, names)
          patch = names.filter_map { |name| patch_in(method_of(store, name)) }.first
          patched(patch) if patch
        end

        def rails_version
          ActiveSupport.gem_version.segments.first(2).join(".")
        end

        def tested?
          TESTED_RAILS.include?(rails_version)
        end

        # Methods of Rails outside the store that C replaces.
        def surroundings
          entry = ActiveSupport::Cache::Entry
          options = ActiveSupport::Cache::WriteOptions
          [*ENTRY_METHODS.map { |name| entry.instance_method(name) },
           *OPTION_METHODS.map { |name| options.instance_method(name) }, entry.method(:new), options.method(:new),
           ActiveSupport::Notifications.method(:instrument)]
        end

        def method_of(store, name)
          store.instance_method(name) if store.method_defined?(name) || store.private_method_defined?(name)
        end

        # The method itself, or one that it could call by super, if it is neither ours nor Rails'. A module of Rails
        # that was added to a class is a patch: LocalCache, deprecations. One that all objects have, as a script's
        # `def now` at its top level, is none: Rails and we call no such super.
        #
        # @return [Method, UnboundMethod, nil]
        def patch_in(method)
          until method.nil?
            file = method.source_location&.first
            return method unless file ? own_files?(file) : NATIVE_OWNERS.include?(method.owner)
            return method unless method.owner.is_a?(Class) || NAME.bind_call(method.owner).to_s.start_with?(OWN_MODULES)

            method = method.super_method
            break if method && method.owner >= Object
          end
        end

        # Not all files of Rails: deprecated methods are redefined by one of them.
        def own_files?(file)
          file.start_with?(ROOT, *RAILS_FILES.map { |name| "#{rails_root}/#{name}" })
        end

        def patched(method)
          "#{described(method)} is a patch, or not Rails' own"
        end

        def described(method)
          place = method.source_location&.join(":") || "in C"
          "#{method.owner.inspect}##{method.name} (#{place})"
        end
      end
    end
  end
end
