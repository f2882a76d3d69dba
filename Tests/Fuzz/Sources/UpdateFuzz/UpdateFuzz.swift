import CaromCore
import CaromDNS
import FuzzSupport

/// Answers an update with random bytes, and checks that the update ends exactly once, leaves no
/// flow open, and succeeds only if the answer is signed. Also reads the bytes as a lease and as a
/// key file.
///
/// The authentication code is that of a toy, 32 zeros, so that a response with a valid signature is
/// within reach. The last byte selects what is made of the rest.
@c(LLVMFuzzerTestOneInput)
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  var bytes = fuzzInput(data, count)
  guard let mode = bytes.popLast() else { return 0 }
  switch mode & 3 {
  case 0: readLease(bytes)
  case 1: _ = try? KeyFile(parsing: bytes)
  default: exchange(bytes, isCut: mode & 4 != 0, isWhole: mode & 8 != 0)
  }
  return 0
}

private func readLease(_ bytes: [UInt8]) {
  guard let lease = Lease(decoding: bytes) else { return }
  precondition(Lease(decoding: lease.encoded) == lease)
  let service = try? DomainService("X._game._udp.play.example", in: "play.example")
  precondition(service?.expiry(in: "play.example", bytes) != nil)
}

private func exchange(_ bytes: [UInt8], isCut: Bool, isWhole: Bool) {
  let server = Endpoint(.v4(0x0A00_0035), port: 53)
  var resolver = UnicastResolver(generator: SeededGenerator(seed: 1))
  let key = TransactionKey(name: "key") { _ in [UInt8](repeating: 0, count: 32) }
  var update = DynamicUpdate(zone: "play.example")
  update.requireUnused("X._game._udp.play.example")
  let id = resolver.makeQueryID()
  let isStarted: Void? = try? resolver.update(
    update, signedWith: key, time: 1_764_180_000, as: id, of: [server],
    deadline: .zero + .seconds(1), at: .zero)
  guard isStarted != nil else { return }
  var open: [UnicastFlow: [UInt8]] = [:]
  var events = 0
  var isCut = isCut
  while true {
    while let step = resolver.pollTransmit() {
      switch step {
      case .datagram(let flow, let request, _): open[flow] = request
      case .stream(let flow, let request, _): open[flow] = Array(request.dropFirst(2))
      case .close(let flow): open[flow] = nil
      }
    }
    while let event = resolver.pollEvent() {
      events += 1
      if case .updated = event { precondition(bytes.count >= 61, "this has no signature") }
    }
    precondition(open.count <= 1 && events <= 1)
    guard let (flow, request) = open.first else { break }
    var answer = isWhole ? bytes : answer(to: request, bytes)
    if isCut, answer.count > 2 { answer[2] |= 0x02 }
    isCut = false
    let length = [
      UInt8(truncatingIfNeeded: answer.count >> 8), UInt8(truncatingIfNeeded: answer.count),
    ]
    resolver.handleDatagram(answer, from: server, on: flow, at: .zero)
    resolver.handleBytes(length + answer, on: flow, at: .zero)
    if let next = resolver.nextTimeout { resolver.handleTimeout(at: next) }
  }
  precondition(events == 1 && resolver.openQueries == 0)
}

/// Turns a request into a response: its ID and its zone, with the response code and the record
/// counts from the first bytes, and with the rest as records.
private func answer(to request: [UInt8], _ bytes: [UInt8]) -> [UInt8] {
  var answer = Array(request.prefix(12 + 18))
  answer[2] |= 0x80
  for (place, byte) in zip([3, 7, 9, 11], bytes) { answer[place] = byte & 0x0F }
  return answer + bytes.dropFirst(4)
}
