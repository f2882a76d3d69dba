import MultipeerConnectivity

/// Reads a stream with a delegate on the run loop of a thread of its own, as streaming applications
/// do, and collects the bytes until the end.
public class StreamCollector: NSObject, StreamDelegate {
  private let input: InputStream
  private let completion: (Data) -> Void
  private var data = Data()
  private var thread: Thread?

  /// Begins to read. `completion` is called on the thread.
  public init(stream: InputStream, completion: @escaping (Data) -> Void) {
    input = stream
    self.completion = completion
    super.init()
    thread = Thread {
      self.input.delegate = self
      self.input.schedule(in: RunLoop.current, forMode: .default)
      self.input.open()
      while self.input.streamStatus != .closed,
        RunLoop.current.run(mode: .default, before: .distantFuture)
      {}
    }
    thread?.start()
  }

  /// Handles an event of the stream.
  public func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
    guard let stream = aStream as? InputStream else { return }
    switch eventCode {
    case .hasBytesAvailable:
      var buffer = [UInt8](repeating: 0, count: 4096)
      while stream.hasBytesAvailable {
        let count = stream.read(&buffer, maxLength: buffer.count)
        if count > 0 { data.append(buffer, count: count) }
      }
    case .endEncountered, .errorOccurred:
      stream.remove(from: RunLoop.current, forMode: .default)
      stream.close()
      completion(data)
    default: break
    }
  }
}

/// Writes data to a stream with a delegate on the run loop of a thread of its own.
public class StreamFeeder: NSObject, StreamDelegate {
  private let output: OutputStream
  private let data: Data
  private var offset = 0
  private var thread: Thread?

  /// Begins to write, and closes the stream after the last byte.
  public init(stream: OutputStream, data: Data) {
    output = stream
    self.data = data
    super.init()
    thread = Thread {
      self.output.delegate = self
      self.output.schedule(in: RunLoop.current, forMode: .default)
      self.output.open()
      while self.output.streamStatus != .closed,
        RunLoop.current.run(mode: .default, before: .distantFuture)
      {}
    }
    thread?.start()
  }

  /// Handles an event of the stream.
  public func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
    guard let stream = aStream as? OutputStream, eventCode == .hasSpaceAvailable else { return }
    let rest = [UInt8](data[offset...].prefix(16384))
    if rest.isEmpty {
      stream.close()
      stream.remove(from: RunLoop.current, forMode: .default)
      return
    }
    let count = stream.write(rest, maxLength: rest.count)
    if count > 0 { offset += count }
  }
}

extension InputStream {
  /// Reads at most `count` bytes in one call; nil if it fails.
  public func readOnce(_ count: Int) -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: count)
    let read = self.read(&buffer, maxLength: count)
    return read < 0 ? nil : Array(buffer.prefix(read))
  }
}

extension OutputStream {
  /// Writes bytes in one call, and returns how many were written; nil if it fails.
  public func writeOnce(_ bytes: [UInt8]) -> Int? {
    let written = write(bytes, maxLength: bytes.count)
    return written < 0 ? nil : written
  }
}
