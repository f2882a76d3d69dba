import CaromCore

/// The buffers that a connection needs while it reads or writes one packet.
///
/// A `Host` has one set and passes it to the connection that it calls, so that the buffers stay in
/// the processor's cache and connections need no memory of their own for them.
struct Scratch: Sendable {
  var outcome = DatagramPath.Outcome()
  var writer = FrameWriter()
  var records: [FrameRecord] = []
  var ranges = AcknowledgedRanges()
  /// The decrypted packets of a batch of datagrams, one after another.
  var opened: [UInt8] = []
  /// The decrypted body of a stream frame.
  var body: [UInt8] = []
}
