import CaromCore
import CaromPlacement
import FuzzSupport

/// Splits what a Redis server sends at a position that the first byte selects. Checks that the
/// decoder yields the same answers and the same error as for the whole stream, that they are
/// encoded as they were read, and that reading them as answers of a directory does not trap.
@c(LLVMFuzzerTestOneInput)
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = fuzzInput(data, count)
  guard let first = input.first else { return 0 }
  let stream = Array(input.dropFirst())
  let cut = min(stream.count, Int(first))
  let parts = answers(in: stream, cuts: [0..<cut, cut..<stream.count])
  let whole = answers(in: stream, cuts: [0..<stream.count])
  precondition(parts.values == whole.values && parts.error == whole.error)
  for value in whole.values {
    let again = answers(in: value.encoded, cuts: [0..<value.encoded.count])
    precondition(again.values == [value] && again.error == nil)
    for command in commands { _ = try? RedisAnswer.decode(value, to: command) }
  }
  return 0
}

private let commands: [DirectoryCommand] = {
  let sender = CommandSender(PeerID(high: 1, low: 2), run: 1, connection: 1)
  return [.status, .host(.renew(HostLoad()), from: sender)]
}()

private func answers(
  in stream: [UInt8], cuts: [Range<Int>]
) -> (values: [RESPValue], error: DecodeError?) {
  var decoder = RESPDecoder()
  var values: [RESPValue] = []
  do throws(DecodeError) {
    for cut in cuts {
      decoder.append(stream.span.extracting(cut))
      while let value = try decoder.next() { values.append(value) }
    }
    return (values, nil)
  } catch {
    return (values, error)
  }
}
