import CaromCodec
import CaromCore
import FuzzSupport

/// Splits a stream at the position in the first byte, and checks that the decoder yields the same
/// bodies and the same error as for the whole stream.
@c(LLVMFuzzerTestOneInput)
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = fuzzInput(data, count)
  guard let first = input.first else { return 0 }
  let stream = Array(input.dropFirst())
  let cut = min(stream.count, Int(first))
  let parts = bodies(of: stream, cuts: [0..<cut, cut..<stream.count])
  let whole = bodies(of: stream, cuts: [0..<stream.count])
  precondition(parts.bodies == whole.bodies && parts.error == whole.error)
  let inPlace = bodiesInPlace(of: stream, cuts: [0..<cut, cut..<stream.count])
  precondition(inPlace.bodies == whole.bodies && inPlace.error == whole.error)
  precondition(whole.bodies.reduce(0) { $0 + $1.count + 8 } <= stream.count)
  for body in whole.bodies { precondition(body.count <= 512) }
  return 0
}

private func bodiesInPlace(
  of stream: [UInt8], cuts: [Range<Int>]
) -> (bodies: [[UInt8]], error: FrameError?) {
  var decoder = FrameDecoder(limit: 512)
  var bodies: [[UInt8]] = []
  do throws(FrameError) {
    for cut in cuts {
      let chunk = stream.span.extracting(cut)
      var offset = 0
      while let body = try decoder.next(in: chunk, from: &offset, at: .zero) {
        switch body {
        case .chunk(let range): bodies.append(Array(copying: chunk.extracting(range)))
        case .copy(let body): bodies.append(body)
        }
      }
    }
    try decoder.finish()
    return (bodies, nil)
  } catch {
    return (bodies, error)
  }
}

private func bodies(
  of stream: [UInt8], cuts: [Range<Int>]
) -> (bodies: [[UInt8]], error: FrameError?) {
  var decoder = FrameDecoder(limit: 512)
  var bodies: [[UInt8]] = []
  do throws(FrameError) {
    for cut in cuts {
      decoder.receive(stream.span.extracting(cut), at: .zero)
      while let body = try decoder.next() { bodies.append(body) }
    }
    try decoder.finish()
    return (bodies, nil)
  } catch {
    return (bodies, error)
  }
}
