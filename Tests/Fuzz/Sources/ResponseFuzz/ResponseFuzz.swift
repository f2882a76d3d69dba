import CaromCore
import CaromTransport
import FuzzSupport

/// Reads the input as what an HTTP server sends before it closes the connection. The first byte
/// says where it is cut in two and, with its lowest bit, whether the status line of the response is
/// given. Checks that the response is the same, or the error, as that of the whole.
@c(LLVMFuzzerTestOneInput)
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = fuzzInput(data, count)
  guard let first = input.first else { return 0 }
  // Most inputs would otherwise fail at their beginning.
  let start = first & 1 == 0 ? [] : Array("HTTP/1.1 200 OK\r\n".utf8)
  let bytes = start + input.dropFirst()
  let cut = min(bytes.count, Int(first))
  let parts = read(bytes, cuts: [0..<cut, cut..<bytes.count])
  let whole = read(bytes, cuts: [0..<bytes.count])
  precondition(parts == whole)
  if case .success(let response) = whole {
    precondition(response.content.count <= min(bytes.count, contentLimit))
    precondition(200...599 ~= response.status)
  }
  return 0
}

private let contentLimit = 1_000

private func read(
  _ bytes: [UInt8], cuts: [Range<Int>]
) -> Result<HTTPResponseDecoder.Response, HTTPResponseDecoder.Failure> {
  var decoder = HTTPResponseDecoder(contentLimit: contentLimit)
  do throws(HTTPResponseDecoder.Failure) {
    for cut in cuts {
      if let response = try decoder.append(bytes.span.extracting(cut)) { return .success(response) }
    }
    return .success(try decoder.end())
  } catch {
    return .failure(error)
  }
}
