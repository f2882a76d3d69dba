import CaromCore

/// A simulated system that drives a loop in place of the operating system: its clock, its random
/// numbers and the sockets of one host.
///
/// All loops of one simulation share one thread. Except for `now`, `thread` and `enqueue`, all
/// members are used only on that thread.
package protocol VirtualSystem: AnyObject, Sendable {
  /// The loop whose thread runs the simulation.
  var thread: NetworkLoop { get }
  /// The current time of the simulation.
  var now: Instant { get }

  /// Runs `work` on the thread of the simulation, after the work that was enqueued before it.
  func enqueue(_ work: @escaping @Sendable () -> Void)

  /// Returns the next number of the simulation's random number generator.
  func random() -> UInt64

  /// Binds a datagram socket, which passes received datagrams to `receive`.
  func bind(
    _ local: Endpoint, _ receive: @escaping (Datagram) -> Void
  ) throws(TransportError) -> any VirtualDatagramPort

  /// Listens for streams, and passes each stream that a peer opens to `accept`.
  func listen(
    on local: Endpoint, _ accept: @escaping (any VirtualStreamEnd) -> Void
  ) throws(TransportError) -> any VirtualPort

  /// Opens a stream. Passes the stream, or the reason why it could not be opened, to `finish`.
  /// Closing the returned port abandons the attempt.
  func connect(
    to peer: Endpoint, _ finish: @escaping (Result<any VirtualStreamEnd, TransportError>) -> Void
  ) throws(TransportError) -> any VirtualPort
}

/// A socket of a simulated host.
package protocol VirtualPort: AnyObject {
  /// The address and port that the socket is bound to.
  var local: Endpoint { get }

  /// Closes the socket. The closure that was passed to `bind`, `listen` or `connect` is not called
  /// again.
  func close()
}

/// A datagram socket of a simulated host.
package protocol VirtualDatagramPort: VirtualPort {
  /// Sends a datagram.
  func send(_ payload: [UInt8], to peer: Endpoint)
}

/// An event of one end of a simulated stream.
package enum VirtualStreamEvent {
  /// Bytes have arrived, at least one.
  case bytes([UInt8])
  /// The peer has finished sending.
  case end
  /// Queued bytes have been sent.
  case sent
  /// The peer has reset the stream.
  case reset
}

/// One end of a simulated stream.
package protocol VirtualStreamEnd: AnyObject {
  /// The address and port of this end.
  var local: Endpoint { get }
  /// The peer's address and port.
  var peer: Endpoint { get }
  /// The number of written bytes that have not been sent yet.
  var queuedBytes: Int { get }

  /// Sets the handler for the events of this end.
  func setHandler(_ handler: @escaping (VirtualStreamEvent) -> Void)

  /// Sets whether received bytes and the end of the stream are reported. While reading is off, they
  /// are kept, to be reported later.
  func setReading(_ isOn: Bool)

  /// Queues bytes. Returns false if the stream is broken.
  func write(_ bytes: [UInt8]) -> Bool

  /// Closes the sending direction after the queued bytes have been sent.
  func finish()

  /// Releases this end, and resets the stream if `reset` is true. The handler is not called again.
  func destroy(reset: Bool)
}
