import CaromCore
import CaromProtocol

/// What the exported functions that every game has call: the engine of one game, as closures. Until
/// they are set, they do nothing.
///
/// A generic engine cannot be the value of a protocol type in Embedded Swift, so the module that
/// knows the game makes closures of it.
package struct PageEngine {
  /// Begins a link that the page has opened. Returns whether the engine uses it.
  package var openLink: (Instant) -> Bool = { _ in false }
  /// Receives bytes from the link.
  package var receive: ([UInt8], Instant) -> Void = { _, _ in }
  /// Handles the end of the link, or the failure to open it.
  package var closeLink: (LinkEnd, Instant) -> Void = { _, _ in }
  /// Begins to use a datagram link that the page has opened. Returns whether the engine uses it.
  package var openDatagrams: (Instant) -> Bool = { _ in false }
  /// Receives a datagram.
  package var receiveDatagram: ([UInt8], Instant) -> Void = { _, _ in }
  /// Removes and returns the next datagram to send, or no bytes if there is none.
  package var takeDatagram: (Instant) -> [UInt8] = { _ in [] }
  /// Handles the end of the datagram link.
  package var closeDatagrams: (Instant) -> Void = { _ in }
  /// Returns the kind of the link that carries messages now, or nil if no link can.
  package var messageLink: () -> LinkKind? = { nil }
  /// Says goodbye to the host.
  package var leave: (Goodbye, Instant) -> Void = { _, _ in }
  /// Removes and returns up to the first number of the bytes to send on the link, on which the
  /// second number of bytes waits.
  package var takeOutput: (Int, Int, Instant) -> [UInt8] = { _, _, _ in [] }
  /// Removes and returns what to do with the link once the output has been taken, or nil.
  package var takeLinkAction: () -> LinkAction? = { nil }
  /// The time at which `step` has to be called at the latest, or nil.
  package var nextTimeout: () -> Instant? = { nil }
  /// Handles the timeouts that are due, and plays the ticks that are. Returns their number.
  package var step: (Instant) -> Int = { _ in 0 }
  /// Removes and returns the oldest event, in the form of `LinkEvent.bytes`, or nil.
  package var pollEvent: () -> (code: UInt8, first: UInt8, second: UInt8)? = { nil }
  /// The name of the host, or an empty string while it is not known.
  package var hostName: () -> String = { "" }
  /// The host's explanation for the end of the connection; empty if it gave none.
  package var endText: () -> String = { "" }
  /// The number of ticks after which the state is certain, and the hash of that state; nil without
  /// a match.
  package var confirmed: () -> (tick: UInt64, hash: UInt64)? = { nil }

  /// Creates an engine that does nothing.
  package init() {}
}
