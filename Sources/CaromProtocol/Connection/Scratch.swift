import CaromCore

/// What a connection needs while it reads or writes one packet.
///
/// A host has one and lends it to the connection that is touched, so that it stays where the
/// processor has it at hand, and connections have no room of their own for it.
struct Scratch: Sendable {
  var outcome = DatagramPath.Outcome()
  var writer = FrameWriter()
  var records: [FrameRecord] = []
  var ranges = AcknowledgedRanges()
  /// The session's own messages.
  var control = PacketWriter(capacity: 0)
}
