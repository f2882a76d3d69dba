import CaromTransport
import Foundation

/// The stream object with which an application writes to a byte stream to a peer.
final class PeerOutputStream: OutputStream {
  private let buffer: StreamBuffer
  private let status = Locked(Stream.Status.notOpen)
  private let errorReported = OneAnswer()
  private let reference = StreamReference()
  private let events: StreamEvents

  /// Creates the object, whose bytes the network side removes from `buffer`.
  init(writing buffer: StreamBuffer) {
    self.buffer = buffer
    events = StreamEvents(of: reference)
    super.init(toMemory: ())
    reference.stream = self
    buffer.onChange { [reference] in (reference.stream as? PeerOutputStream)?.bufferDidChange() }
  }

  /// Streams in memory, which this class does not make.
  required init(toMemory: ()) {
    buffer = StreamBuffer()
    events = StreamEvents(of: reference)
    super.init(toMemory: ())
    buffer.finish()
  }

  deinit {
    buffer.finish()
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

  /// Ends the stream. What was written before still arrives.
  override func close() {
    status.withLock { $0 = .closed }
    buffer.finish()
    events.end()
  }

  override var streamStatus: Status {
    let status = status.withLock { $0 }
    return status == .open && buffer.failure != nil ? .error : status
  }

  override var streamError: (any Error)? { buffer.failure.map { MCError(stream: $0) } }

  override var hasSpaceAvailable: Bool { isOpen && buffer.failure == nil && buffer.room > 0 }

  private var isOpen: Bool { status.withLock { $0 == .open } }

  /// Writes at most `length` bytes, after waiting for room. Returns their number, or -1 if the
  /// stream is not open or has failed.
  override func write(_ pointer: UnsafePointer<UInt8>, maxLength length: Int) -> Int {
    guard isOpen, length > 0 else { return isOpen ? 0 : -1 }
    buffer.block { buffer.room > 0 || !isOpen }
    guard isOpen, buffer.failure == nil else { return -1 }
    events.withdraw(.hasSpaceAvailable)
    let count = buffer.add((0..<min(length, buffer.room)).map { unsafe pointer[$0] })
    bufferDidChange()
    return count
  }

  private func bufferDidChange() {
    guard isOpen else { return }
    if buffer.failure != nil {
      if errorReported.take() { events.add(.errorOccurred) }
    } else if buffer.room > 0 {
      events.add(.hasSpaceAvailable)
    }
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
