import CaromCore

/// What every machine over stream links looks like to the shell that drives it: mutate once, then
/// poll each link and the events to dry.
package protocol LinkMachine: Sendable {
  /// The links, in the order of opening.
  var links: [LinkID] { get }
  /// A number for the next link, whoever opens it.
  mutating func makeLink() -> LinkID
  /// Takes a link that somebody else opened; `false` when there are too many.
  mutating func accept(_ link: LinkID, at now: Instant) -> Bool
  mutating func receive(_ bytes: Span<UInt8>, on link: LinkID, at now: Instant)
  mutating func handleLinkEnd(_ end: LinkEnd, of link: LinkID, at now: Instant)
  mutating func handleTimeout(at now: Instant)
  var nextTimeout: Instant? { get }
  /// Says goodbye on a link and ends its connection.
  mutating func close(
    _ link: LinkID, _ goodbye: Goodbye, as reason: DisconnectReason, at now: Instant)
  mutating func send(_ bytes: [UInt8], on channel: UInt16, to link: LinkID) throws(SendError)
  mutating func post(_ bytes: [UInt8], on channel: UInt16, to link: LinkID) throws(SendError)
  /// Bytes for a link whose stream holds `queued` bytes already.
  mutating func pollTransmit(on link: LinkID, queued: Int, at now: Instant) -> [UInt8]?
  /// What to do with a link, told once; the machine has forgotten it then.
  mutating func pollLinkAction(on link: LinkID) -> LinkAction?
}
