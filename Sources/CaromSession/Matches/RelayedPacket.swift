import CaromCore
import CaromProtocol
import CaromSimulation

/// A message between two players of a match without a server, on its way through the host of their
/// session.
///
/// Layout: 1 byte player, then a rollback packet. On the way to the host, the player is the
/// receiver; on the way from the host, it is the sender.
struct RelayedPacket: Hashable, Sendable, PacketCodable {
  var player: Int
  var packet: RollbackPacket

  init(_ player: Int, _ packet: RollbackPacket) {
    self.player = player
    self.packet = packet
  }

  func encode(into writer: inout PacketWriter) {
    writer.append(UInt8(player))
    packet.encode(into: &writer)
  }

  init(decoding reader: inout PacketReader) throws(DecodeError) {
    player = Int(try reader.read(UInt8.self))
    guard player < SimulationLimits.players else { throw .invalid(what: "player") }
    packet = try RollbackPacket(decoding: &reader)
  }
}

/// The channels of a match without a server. Messages to different players share each channel, so a
/// newer message must not replace an older one: neither channel is sequenced.
struct RelayChannels {
  let inputs: MessageChannel<RelayedPacket>
  let control: MessageChannel<RelayedPacket>

  init(_ channels: RollbackChannels) {
    inputs = MessageChannel(channels.inputs.id, .unreliable, priority: 3)
    control = MessageChannel(channels.control.id, .reliableOrdered, priority: 3)
  }

  /// Opens the inboxes of both channels, as `RollbackChannels.open` does, and discards inputs that
  /// are left of an earlier match.
  func begin(over session: Session) {
    _ = session.takeMessages(on: inputs)
    _ = session.inboxes.inbox(for: control)
  }

  func post(_ packet: RelayedPacket, to peer: Peer) {
    if packet.packet.message == .inputs {
      _ = peer.post(packet, on: inputs)
    } else if !peer.post(packet, on: control) {
      peer.disconnect(Goodbye(.tooSlow), as: .tooSlow)
    }
  }
}
