import CaromCore

@testable import CaromProtocol

// `#expect` cannot contain a mutating call; these functions wrap the ones that tests compare.

func nextAction(_ machine: inout Matchmaker) -> MatchmakerAction? { machine.pollAction() }
func nextEvent(_ machine: inout Connection) -> ConnectionEvent? { machine.pollEvent() }
func nextLinkAction(_ machine: inout Connection) -> LinkAction? { machine.pollLinkAction() }

/// Removes and returns the events that a connection reports now.
func pollEvents(_ connection: inout Connection) -> [ConnectionEvent] {
  var events: [ConnectionEvent] = []
  while let event = connection.pollEvent() { events.append(event) }
  return events
}

/// Removes and returns the data packets that a connection sends now.
func pollDatagrams(_ connection: inout Connection, at now: Instant) -> [DataPacket] {
  var packets: [DataPacket] = []
  var datagram: [UInt8] = []
  while connection.pollDatagram(into: &datagram, at: now) != nil {
    if let packet = DataPacket(datagram) { packets.append(packet) }
    datagram = []
  }
  return packets
}
