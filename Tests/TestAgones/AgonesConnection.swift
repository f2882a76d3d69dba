import CaromCore
import CaromTransport

/// A connection to the stand-in for Agones, with one request.
final class AgonesConnection {
  let stream: TCPStream
  var request: [UInt8] = []
  private var isEndless = false
  private var timer: LoopTimer?

  init(_ stream: TCPStream) { self.stream = stream }

  /// Returns the request once it is complete: its line without the version, the fields with names
  /// in lower case, and the body.
  func takeRequest() -> (line: String, fields: [String: String], body: String)? {
    let text = String(decoding: request, as: UTF8.self)
    let parts = text.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    var lines = parts[0].split(separator: "\r\n")
    let line = String(lines.removeFirst().replacing(" HTTP/1.1", with: ""))
    var fields: [String: String] = [:]
    for line in lines {
      let pair = line.split(separator: ": ", maxSplits: 1)
      if pair.count == 2 { fields[pair[0].lowercased()] = String(pair[1]) }
    }
    let length = Int(fields["content-length"] ?? "0") ?? 0
    guard parts[1].utf8.count >= length else { return nil }
    request = []
    return (line, fields, String(parts[1]))
  }

  /// Answers as a server of Go does: a short text has its length, a longer one comes in chunks.
  func answer(_ json: String, status: Int = 200) {
    var head = "HTTP/1.1 \(status) Text\r\nContent-Type: application/json\r\n"
    if json.utf8.count < 256 {
      head += "Content-Length: \(json.utf8.count)\r\n\r\n\(json)"
    } else {
      let size = String(json.utf8.count, radix: 16)
      head += "Transfer-Encoding: chunked\r\n\r\n\(size)\r\n\(json)\r\n0\r\n\r\n"
    }
    try? stream.write(Array(head.utf8))
    stream.shutdownWrite()
  }

  func misbehave(_ fault: AgonesStandIn.Fault, on loop: NetworkLoop) {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
    switch fault {
    case .fails: answer(#"{"error":"test","code":13,"message":"test"}"#, status: 500)
    case .closesEarly:
      try? stream.write(Array("\(head)Content-Length: 100\r\n\r\n{".utf8))
      stream.close()
    case .isEndless:
      try? stream.write(Array("\(head)\r\n".utf8))
      isEndless = true
      pour()
    case .isSilent: break
    case .drips:
      try? stream.write(Array("\(head)Content-Length: 100\r\n\r\n".utf8))
      timer = LoopTimer(on: loop) { [weak self] in self?.drip() }
      drip()
    case .isOther: try? stream.write(Array("220 mail.example ready\r\n".utf8))
    }
  }

  /// Writes until the peer does not read any more.
  func pour() {
    let bytes = [UInt8](repeating: UInt8(ascii: "{"), count: 64 << 10)
    while isEndless {
      do { try stream.write(bytes) } catch { return }
    }
  }

  private func drip() {
    guard stream.isOpen else { return }
    try? stream.write([UInt8(ascii: " ")])
    timer?.arm(after: .milliseconds(50))
  }
}
