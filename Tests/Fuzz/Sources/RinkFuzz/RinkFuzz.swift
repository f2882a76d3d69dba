import AirHockey
import CaromCore
import FuzzSupport

/// Checks that a decoded state survives encoding and decoding, and can be simulated further.
@c(LLVMFuzzerTestOneInput)
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = fuzzInput(data, count)
  var reader = PacketReader(bytes.span)
  guard let state = try? RinkState(decoding: &reader) else { return 0 }
  var writer = PacketWriter()
  state.encode(into: &writer)
  var again = PacketReader(writer.bytes.span)
  precondition((try? RinkState(decoding: &again)) == state, "decoding must undo encoding")
  var rink = Rink(state)
  for _ in 0..<3 { _ = rink.step(home: MalletInput(x: 0, y: 0), away: MalletInput(x: 0, y: 0)) }
  return 0
}
