import CaromCodec
import CaromCore
import CaromProtocol
import FuzzSupport

/// Checks that encoding a decoded control packet yields its bytes. Then lets the peer of an open
/// connection, in plaintext or encrypted, send the input in stream bodies or data packets: what
/// lies inside the seal comes from somebody who has the keys.
@c(LLVMFuzzerTestOneInput)
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = fuzzInput(data, count)
  var reader = PacketReader(bytes.span)
  if let packet = try? Packet(decoding: &reader), packet.type == SessionWire.controlType,
    let control = try? ControlPacket(packet)
  {
    precondition(control.packet == packet, "encoding must undo decoding")
  }
  var script = FuzzScript(bytes)
  var session = OpenSession.all[Int(script.next()) % OpenSession.all.count]
  while !script.isAtEnd {
    let count = Int(script.next()) | Int(script.next()) << 8
    session.send(script.read(count))
  }
  return 0
}
