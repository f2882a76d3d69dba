import CaromCore
import Testing

@testable import CaromTesting

@Suite struct TraceTests {
  @Test func `a trace has one JSON object per line`() throws {
    var (network, a, b) = makePair(.steady.with { $0.mtu = 100 })
    network.trace = Trace()
    let from = network.bind(a)
    _ = network.bind(b, port: 9)
    network.send([1, 2], from: from, to: Endpoint(b.v4, port: 9))
    network.send([UInt8](repeating: 0, count: 73), from: from, to: Endpoint(b.v4, port: 9))
    _ = network.nextEvent()
    network.cut(b)
    network.trace?.append("say \"hi\"\n", at: network.now)
    let lines = [
      #"{"time":0,"event":"sent","link":"0>1","size":2,"hash":"082f2407b4e8902a"}"#,
      #"{"time":0,"event":"sent","link":"0>1","size":73,"hash":"LONG"}"#,
      #"{"time":0,"event":"dropped","link":"0>1","size":73,"hash":"LONG","reason":"tooLong"}"#,
      #"{"time":1000000,"event":"delivered","link":"0>1","size":2,"hash":"082f2407b4e8902a"}"#,
      #"{"time":1000000,"event":"fault","host":1,"text":"cut"}"#,
      #"{"time":1000000,"event":"note","text":"say \"hi\"\u000a"}"#,
    ]
    let trace = try #require(network.trace)
    let long = try #require(trace.entries[1].hash)
    let hash = String(repeating: "0", count: 16) + String(long, radix: 16)
    #expect(trace.lines == lines.map { $0.replacing("LONG", with: hash.suffix(16)) })
    #expect(trace.text == trace.lines.map { $0 + "\n" }.joined())
  }

  @Test func `events of streams are traced`() throws {
    var (network, a, b) = makePair()
    network.trace = Trace()
    network.listen(b, port: 80)
    let call = network.connect(from: a, to: Endpoint(b.v4, port: 80))
    _ = events(of: &network)
    network.write([1], to: call)
    network.reset(call)
    _ = events(of: &network)
    let entries = try #require(network.trace).entries
    #expect(entries.map(\.event) == [.connected, .accepted, .bytes, .reset])
    #expect(entries.allSatisfy { $0.stream == 0 })
    #expect(entries.map(\.host) == [a.id, b.id, b.id, b.id])
  }

  @Test(arguments: LinkProfile.all) func `equal seeds give equal traces, different seeds do not`(
    row: LinkProfile
  ) throws {
    #if DEBUG
      let count = 150
    #else
      let count = 600
    #endif
    let stories = try ([3, 3, 4] as [UInt64]).map { seed in
      let flow = Flow(
        row.outbound.with { $0.corruption = 0.01 }, count: count, every: .milliseconds(30),
        size: 900, seed: seed, traced: true)
      return try #require(flow.network.trace)
    }
    #expect(stories[0].text == stories[1].text)
    #expect(stories[0].firstDifference(from: stories[1]) == nil)
    #expect(stories[0].firstDifference(from: stories[2]) != nil)
  }

  /// The traces are the same in debug and release builds and on all platforms.
  @Test func `traces have a known hash on all platforms`() throws {
    var digest = Digest()
    for row in LinkProfile.all {
      let flow = Flow(
        row.outbound.with { $0.corruption = 0.01 }, count: 100, every: .milliseconds(150),
        size: 900, traced: true)
      digest.absorb(try #require(flow.network.trace).text.utf8)
    }
    #expect(digest.text == "6e6bb1a9480ea42d")
  }

  @Test func `a full trace counts omitted entries`() {
    var trace = Trace(limit: 2)
    for number in 0..<5 { trace.append("\(number)", at: .zero) }
    #expect(trace.entries.count == 2)
    #expect(trace.omitted == 3)
    #expect(trace.text.hasSuffix("\"text\":\"1\"}\n{\"omitted\":3}\n"))
  }

  @Test func `the first difference is reported with the lines before it`() throws {
    var (a, b) = (Trace(), Trace())
    for number in 0..<6 {
      a.append("\(number)", at: .zero)
      b.append(number == 4 ? "other" : "\(number)", at: .zero)
    }
    let difference = try #require(a.firstDifference(from: b))
    #expect(difference.line == 5)
    #expect(difference.before == Array(a.lines[1...3]))
    #expect(difference.here == a.lines[4] && difference.there == b.lines[4])
    #expect(difference == TraceDifference(of: a.text, from: b.text))
    #expect(difference.description.hasPrefix("line 5:\n  {"))
    #expect(difference.description.contains("\n- {"))
  }

  @Test func `a trace that ends early differs at its end`() throws {
    var (a, b) = (Trace(limit: 2), Trace())
    for number in 0..<3 {
      a.append("\(number)", at: .zero)
      b.append("\(number)", at: .zero)
    }
    let difference = try #require(a.firstDifference(from: b))
    #expect(difference.line == 3)
    #expect(difference.here == "{\"omitted\":1}")
    #expect(TraceDifference(of: "a\nb", from: "a")?.there == nil)
    #expect(TraceDifference(of: "a\nb", from: "a\nb") == nil)
  }
}
