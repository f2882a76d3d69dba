import CaromTransport
import FuzzSupport
import TestTLS

/// The certificate of the server.
private let certificate: TLSCertificate = {
  do { return try TestCertificate.load() } catch { fatalError("no certificate: \(error)") }
}()

/// What the client says once its handshake is complete.
private let greeting: [UInt8] = [1, 2, 3]

/// Reads the input as what a client sends in two parts, or as changes of what a real client sends
/// in its handshake and after it, as the first byte says.
@c(LLVMFuzzerTestOneInput)
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = fuzzInput(data, count)
  guard let first = input.first else { return 0 }
  guard let server = try? TLSSession(certificate) else { fatalError("no memory") }
  if first & 1 == 0 {
    let bytes = Array(input.dropFirst())
    let cut = min(bytes.count, Int(first))
    for part in [0..<cut, cut..<bytes.count] {
      precondition(server.receive(bytes.span.extracting(part)).isEmpty)
    }
    return 0
  }
  var changes = input.dropFirst()
  let client = TLSClient(newest: first & 2 == 0 ? .tls12 : .tls13)
  for round in 0..<4 {
    if client.isEstablished { _ = client.write(greeting) }
    var flight = client.take()
    while changes.count >= 4, Int(changes.first! & 3) == round, !flight.isEmpty {
      change(&flight, as: Array(changes.prefix(4)))
      changes = changes.dropFirst(4)
    }
    // Nothing but what the client has said passes.
    let said = Array(repeating: greeting, count: 4).flatMap { $0 }
    precondition(said.starts(with: server.receive(flight.span)))
    server.removeOutput { client.receive(Array(copying: $0)) }
  }
  return 0
}

/// Changes one byte of a flight, inserts one or cuts some out. The four bytes of `change` have the
/// kind, the place and the value.
private func change(_ flight: inout [UInt8], as change: [UInt8]) {
  let place = (Int(change[1]) << 8 | Int(change[2])) % flight.count
  switch change[0] >> 2 & 3 {
  case 0: flight[place] = change[3]
  case 1: flight[place] ^= change[3]
  case 2: flight.insert(change[3], at: place)
  default: flight.removeSubrange(place..<min(flight.count, place + 1 + Int(change[3])))
  }
}
