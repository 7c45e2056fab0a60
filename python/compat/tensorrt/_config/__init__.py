"""The settings of a build: IBuilderConfig with flags, profiles, calibrators, algorithm selectors and timing caches."""
