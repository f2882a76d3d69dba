import AirHockey
import CaromCore
import FuzzSupport

/// A state that was read can be played on, and what is written of it reads the same.
@c(LLVMFuzzerTestOneInput)
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = fuzzInput(data, count)
  var reader = PacketReader(bytes.span)
  guard let state = try? RinkState(decoding: &reader) else { return 0 }
  var writer = PacketWriter()
  state.encode(into: &writer)
  var again = PacketReader(writer.bytes.span)
  precondition((try? RinkState(decoding: &again)) == state, "reading undoes writing")
  var rink = Rink(state)
  for _ in 0..<3 { _ = rink.step(home: MalletInput(x: 0, y: 0), away: MalletInput(x: 0, y: 0)) }
  return 0
}
