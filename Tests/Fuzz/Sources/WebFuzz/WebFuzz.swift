import CaromTransport
import FuzzSupport

/// Reads the input as the head of a request, or as the frames that a browser sends on a WebSocket,
/// as the first byte says. Checks that frames which arrive in two parts are read as the whole is.
@c(LLVMFuzzerTestOneInput)
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = fuzzInput(data, count)
  guard let first = input.first else { return 0 }
  let bytes = Array(input.dropFirst())
  if first & 1 == 0 {
    readHead(bytes)
  } else {
    let cut = min(bytes.count, Int(first) / 2)
    let parts = readFrames(bytes, cuts: [0..<cut, cut..<bytes.count])
    let whole = readFrames(bytes, cuts: [0..<bytes.count])
    precondition(parts == whole)
    precondition(whole.payload.count <= bytes.count)
    // A pong is shorter than its ping, and at most one Close frame of 4 bytes is no answer.
    precondition(whole.replies.count <= bytes.count + 4)
  }
  return 0
}

private func readHead(_ bytes: [UInt8]) {
  // Most inputs would otherwise fail at their end.
  for head in [bytes, bytes + Array("\r\n\r\n".utf8)] {
    guard let request = try? HTTPRequest(head: head) else { continue }
    precondition(request.fields.count <= HTTPRequest.fieldLimit)
    precondition(request.target.utf8.count <= 3 * head.count)
    for field in request.fields { precondition(!field.name.isEmpty) }
    _ = request.list(of: "connection")
    if let key = request.values(of: "sec-websocket-key").first {
      _ = WebSocketKey.makeAnswer(to: key)
    }
  }
}

private struct Reading: Equatable {
  var payload: [UInt8] = []
  var replies: [UInt8] = []
  var isClosed = false
}

private func readFrames(_ bytes: [UInt8], cuts: [Range<Int>]) -> Reading {
  guard let frames = try? WebSocketFrames() else { fatalError("no memory") }
  var reading = Reading()
  for cut in cuts {
    frames.receive(
      bytes.span.extracting(cut), into: &reading.payload, replies: &reading.replies)
  }
  reading.isClosed = frames.isClosed
  return reading
}
