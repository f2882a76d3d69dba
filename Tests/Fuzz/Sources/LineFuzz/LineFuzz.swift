import CaromCodec
import CaromCore
import FuzzSupport

/// Splits a stream at a position and with a delimiter that the first byte selects. Checks that the
/// decoder yields the same lines and the same error as for the whole stream.
@c(LLVMFuzzerTestOneInput)
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = fuzzInput(data, count)
  guard let first = input.first else { return 0 }
  let stream = Array(input.dropFirst())
  let cut = min(stream.count, Int(first) / 4)
  let delimiter: [UInt8] = [[13, 10], [10], [97, 97, 98], [97, 97]][Int(first) % 4]
  let parts = lines(of: stream, delimiter, cuts: [0..<cut, cut..<stream.count])
  let whole = lines(of: stream, delimiter, cuts: [0..<stream.count])
  precondition(parts.lines == whole.lines && parts.error == whole.error)
  for line in whole.lines { precondition(line.count <= 32) }
  return 0
}

private func lines(
  of stream: [UInt8], _ delimiter: [UInt8], cuts: [Range<Int>]
) -> (lines: [[UInt8]], error: DelimiterError?) {
  var decoder = DelimiterDecoder(delimiter: delimiter, limit: 32)
  var lines: [[UInt8]] = []
  do throws(DelimiterError) {
    for cut in cuts {
      decoder.receive(stream.span.extracting(cut))
      while let line = try decoder.next() { lines.append(line) }
    }
    try decoder.finish()
    return (lines, nil)
  } catch {
    return (lines, error)
  }
}
