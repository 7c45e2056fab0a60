"""What a build is told: IBuilderConfig with its flags, profiles, calibrators, algorithm selectors and timing caches."""
