import CaromGroup
import CaromNearby
import CaromTransport
import Foundation

/// The stream object with which an application reads what a peer writes to a byte stream.
final class PeerInputStream: InputStream {
  private let buffer = StreamBuffer()
  private let status = Locked(Stream.Status.notOpen)
  private let errorReported = OneAnswer()
  private let endReported = OneAnswer()
  private let reference = StreamReference()
  private let events: StreamEvents

  /// Creates the object, and begins to read the peer's stream into its buffer.
  init(reading stream: PeerStream, on loop: NetworkLoop) {
    events = StreamEvents(of: reference)
    super.init(data: Data())
    reference.stream = self
    buffer.onChange { [reference] in (reference.stream as? PeerInputStream)?.bufferDidChange() }
    Task(executorPreference: loop) { [buffer] in
      do throws(StreamFailure) {
        while let bytes = try await stream.read() {
          guard await buffer.waitAndAdd(bytes) else { return stream.reset() }
        }
        buffer.finish()
      } catch { buffer.fail(error) }
    }
  }

  deinit {
    buffer.close()
    events.end()
  }

  override func open() {
    let isFirst = status.withLock { status in
      guard status == .notOpen else { return false }
      status = .open
      return true
    }
    guard isFirst else { return }
    events.add(.openCompleted)
    bufferDidChange()
  }

  override func close() {
    status.withLock { $0 = .closed }
    buffer.close()
    events.end()
  }

  override var streamStatus: Status {
    let status = status.withLock { $0 }
    guard status == .open else { return status }
    if buffer.count > 0 { return .open }
    return buffer.failure != nil ? .error : buffer.isAtEnd ? .atEnd : .open
  }

  override var streamError: (any Error)? { buffer.failure.map { MCError(stream: $0) } }

  override var hasBytesAvailable: Bool { isOpen && buffer.count > 0 }

  private var isOpen: Bool { status.withLock { $0 == .open } }

  /// Reads at most `length` bytes, after waiting for the first. Returns 0 at the end of the stream,
  /// and -1 if it is not open or has failed.
  override func read(_ pointer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
    guard isOpen, length > 0 else { return -1 }
    buffer.block { buffer.count > 0 || buffer.isAtEnd }
    events.withdraw(.hasBytesAvailable)
    let bytes = buffer.remove(length)
    for (index, byte) in bytes.enumerated() { unsafe pointer[index] = byte }
    bufferDidChange()
    if bytes.isEmpty { return buffer.isAtEnd ? 0 : -1 }
    return bytes.count
  }

  override func getBuffer(
    _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>,
    length len: UnsafeMutablePointer<Int>
  ) -> Bool { false }

  private func bufferDidChange() {
    guard isOpen else { return }
    if buffer.count > 0 { return events.add(.hasBytesAvailable) }
    if buffer.failure != nil, errorReported.take() { events.add(.errorOccurred) }
    if buffer.isAtEnd, endReported.take() { events.add(.endEncountered) }
  }

  override func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {
    events.schedule(in: aRunLoop, mode)
  }

  override func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {
    events.remove(from: aRunLoop, mode)
  }

  override func property(forKey key: PropertyKey) -> AnyObject? { nil }

  override func setProperty(_ property: AnyObject?, forKey key: PropertyKey) -> Bool { false }
}

extension MCError {
  /// The error of a byte stream.
  init(stream failure: any Error) {
    guard let failure = failure as? StreamFailure else {
      self.init(.unknown, reason: "\(failure)")
      return
    }
    let code: Code =
      switch failure {
      case .disconnected: .notConnected
      case .reset, .cancelled: .cancelled
      case .tooManyStreams: .unavailable
      case .finished, .nameTooLong: .invalidParameter
      }
    self.init(code, reason: "\(failure)")
  }
}
