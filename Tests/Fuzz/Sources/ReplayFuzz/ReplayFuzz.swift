import AirHockey
import CaromCore
import CaromSimulation
import FuzzSupport

/// Reads random bytes as a replay, and a recorded replay with random changes. Checks that reading,
/// stepping and seeking either succeed or throw.
@c(LLVMFuzzerTestOneInput)
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = fuzzInput(data, count)
  play(bytes)
  // Each four bytes of input change one byte of the recording: two bytes of offset, one of value,
  // one unused.
  var file = recorded
  var place = 0
  while place + 4 <= bytes.count {
    let offset = Int(bytes[place]) | Int(bytes[place + 1]) << 8
    file[offset % file.count] ^= bytes[place + 2]
    place += 4
  }
  play(file)
  return 0
}

private func play(_ bytes: [UInt8]) {
  guard var reader = try? ReplayReader<Rink>(bytes) else { return }
  for _ in 0..<200 { guard (try? reader.step()) == true else { break } }
  for tick in [90, 10, 1_000_000] as [UInt64] {
    guard reader.end.rawValue - reader.header.start.rawValue < 10_000 else { return }
    try? reader.seek(to: Tick(tick))
  }
}

private let recorded: [UInt8] = {
  var rink = Rink()
  var writer = ReplayWriter(
    rink, players: 2, title: "match", keyframeInterval: 60, hashInterval: 20)
  var events: [RinkEvent] = []
  for tick in 0..<120 as Range<Int16> {
    let inputs = [
      RinkInput(MalletInput(x: -7_000 + 20 * tick, y: 30 * tick)),
      RinkInput(MalletInput(x: 6_000, y: -25 * tick)),
    ]
    rink.step(inputs.span, events: &events)
    writer.append({ inputs[$0] }, leadingTo: rink)
  }
  writer.finish(rink)
  return writer.takeBytes()
}()
