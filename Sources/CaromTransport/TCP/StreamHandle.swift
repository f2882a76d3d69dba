import CUVLoop
import CaromCore

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// An open stream, of either the operating system or a simulated host.
@safe enum StreamHandle {
  case system(OpaquePointer)
  case virtual(any VirtualStreamEnd)

  func local() throws(TransportError) -> Endpoint {
    switch self {
    case .system(let stream):
      try Endpoint.reading("name a stream") { unsafe cuv_stream_local(stream, &$0) }
    case .virtual(let end): end.local
    }
  }

  /// The number of bytes in the send queue.
  var queuedBytes: Int {
    switch self {
    case .system(let stream): unsafe cuv_stream_queued(stream)
    case .virtual(let end): end.queuedBytes
    }
  }

  func setReading(_ isOn: Bool) {
    switch self {
    case .system(let stream): _ = unsafe cuv_stream_set_reading(stream, isOn)
    case .virtual(let end): end.setReading(isOn)
    }
  }

  /// Sends or queues bytes. Returns 0 or a negative errno.
  func write(_ bytes: Span<UInt8>) -> Int32 {
    switch self {
    case .system(let stream):
      unsafe bytes.withUnsafeBufferPointer { bytes in
        unsafe cuv_stream_write(stream, bytes.baseAddress, bytes.count)
      }
    case .virtual(let end): end.write(Array(copying: bytes)) ? 0 : -ECONNRESET
    }
  }

  /// Closes the sending direction. Returns 0 or a negative errno.
  func shutdown() -> Int32 {
    switch self {
    case .system(let stream): return unsafe cuv_stream_shutdown(stream)
    case .virtual(let end):
      end.finish()
      return 0
    }
  }

  func destroy(reset: Bool) {
    switch self {
    case .system(let stream): unsafe cuv_stream_destroy(stream, reset)
    case .virtual(let end): end.destroy(reset: reset)
    }
  }

  /// Releases the descriptor and returns it. Returns a negative errno if the stream cannot be
  /// detached.
  func detach() -> Int32 {
    switch self {
    case .system(let stream): unsafe cuv_stream_detach(stream)
    case .virtual: -ENOTSUP
    }
  }

  /// Sets an option of a stream of the operating system. Has no effect on simulated streams.
  func set(_ body: (OpaquePointer) -> Int32) -> Int32 {
    switch self {
    case .system(let stream): unsafe body(stream)
    case .virtual: 0
    }
  }
}
