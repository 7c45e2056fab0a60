# High-performance trading configuration
config = builder.create_builder_config()
config.max_workspace_size = 256 * 1024 * 1024  # 256MB
config.set_flag(trt.BuilderFlag.FP16)  # Half precision
config.set_flag(trt.BuilderFlag.STRICT_TYPES)  # Consistent precision
