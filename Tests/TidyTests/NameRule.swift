/// No public type has the name of a type in the packages that users import beside Carom.
enum NameRule {
  static let taken: [String: Set<String>] = [
    "NIOCore": [
      "AddressedEnvelope", "ByteBuffer", "ByteBufferAllocator", "Channel", "ChannelHandler",
      "ChannelHandlerContext", "ChannelOption", "ChannelOptions", "ChannelPipeline",
      "CircularBuffer", "ConnectTimeoutOption", "Endianness", "EventLoop", "EventLoopFuture",
      "EventLoopGroup", "EventLoopIterator", "EventLoopPromise", "FileDescriptor", "FileHandle",
      "FileRegion", "IOData", "IOError", "IdleStateHandler", "MarkedCircularBuffer",
      "MulticastChannel", "RepeatedTask", "Scheduled", "SocketAddress", "SocketOption",
      "TimeAmount",
    ],
    "ServiceLifecycle": [
      "CancellationWaiter", "GracefulShutdownManager", "Service", "ServiceGroup",
      "ServiceGroupConfiguration", "ServiceGroupError", "ServiceRunnerError",
    ],
    "Logging": ["LogHandler", "Logger", "LoggingSystem", "MultiplexLogHandler"],
    "CoreMetrics": ["Counter", "FloatingPointCounter", "Gauge", "Meter", "Recorder", "Timer"],
    "Foundation": [
      "Bundle", "Data", "Date", "FileManager", "Host", "IndexPath", "InputStream", "Locale", "Lock",
      "Measurement", "Notification", "Operation", "OutputStream", "Pipe", "Process", "Progress",
      "Scanner", "Stream", "Thread", "TimeZone", "Timer", "URL", "UUID", "Unit",
    ],
  ]

  /// The clashes among the public names of a module.
  static func violations(in module: String, _ names: Set<String>) -> [String] {
    taken.sorted { $0.key < $1.key }.flatMap { package, taken in
      names.intersection(taken).sorted().map { "\(module): \($0) is a type of \(package)" }
    }
  }
}
