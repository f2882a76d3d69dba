import CaromCore
import CaromDNS
import FuzzSupport

/// Answers a query with random bytes, and checks that the query ends exactly once and leaves no
/// flow open. The last byte selects the transport and whether the answer has the query's id, so
/// that the code after these checks is reached too.
@c(LLVMFuzzerTestOneInput)
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  var bytes = fuzzInput(data, count)
  guard let mode = bytes.popLast() else { return 0 }
  let server = Endpoint(.v4(0x0A00_0035), port: 53)
  var resolver = UnicastResolver(generator: SeededGenerator(seed: 1))
  let key = RecordKey("_game._tcp.example.com", mode & 4 == 0 ? .ptr : .a)
  guard (try? resolver.ask(key, of: [server], deadline: .zero + .seconds(9), at: .zero)) != nil
  else { return 0 }
  var open: [UnicastFlow: [UInt8]] = [:]
  var events = 0
  var isCut = mode & 1 != 0
  while true {
    while let step = resolver.pollTransmit() {
      switch step {
      case .datagram(let flow, let query, _): open[flow] = query
      case .stream(let flow, let query, _): open[flow] = Array(query.dropFirst(2))
      case .close(let flow): open[flow] = nil
      }
    }
    while resolver.pollEvent() != nil { events += 1 }
    precondition(open.count <= 1 && events <= 1)
    guard let (flow, query) = open.first else { break }
    if isCut {
      isCut = false
      var cut = query
      cut[2] |= 0x82
      resolver.handleDatagram(cut, from: server, on: flow, at: .zero)
      continue
    }
    let answer = mode & 2 == 0 ? bytes : answer(to: query, bytes)
    let length = [
      UInt8(truncatingIfNeeded: answer.count >> 8), UInt8(truncatingIfNeeded: answer.count),
    ]
    resolver.handleDatagram(answer, from: server, on: flow, at: .zero)
    resolver.handleBytes(length + answer, on: flow, at: .zero)
    if let next = resolver.nextTimeout { resolver.handleTimeout(at: next) }
  }
  precondition(events == 1 && resolver.openQueries == 0)
  return 0
}

/// Turns a query into an answer, with record counts and records from `bytes`.
private func answer(to query: [UInt8], _ bytes: [UInt8]) -> [UInt8] {
  var answer = query
  answer[2] |= 0x80
  for (place, byte) in zip([7, 9, 11], bytes) { answer[place] = byte & 7 }
  return answer + bytes.dropFirst(3)
}
