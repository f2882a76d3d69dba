import CaromCodec
import CaromCore
import CaromProtocol
import FuzzSupport

/// Checks that encoding a decoded control packet yields its bytes.
@c(LLVMFuzzerTestOneInput)
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = fuzzInput(data, count)
  var reader = PacketReader(bytes.span)
  guard let packet = try? Packet(decoding: &reader), packet.type == SessionWire.controlType else {
    return 0
  }
  if let control = try? ControlPacket(packet) {
    precondition(control.packet == packet, "encoding must undo decoding")
  }
  return 0
}
