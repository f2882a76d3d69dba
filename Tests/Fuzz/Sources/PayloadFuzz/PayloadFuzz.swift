import CaromCBOR
import CaromCore
import FuzzSupport

/// Checks that a decoded value encodes to bytes that decode and encode to themselves.
@c(LLVMFuzzerTestOneInput)
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = fuzzInput(data, count)
  guard let value = try? PacketDecoder(itemLimit: 4_096).decode(Everything.self, from: bytes) else {
    return 0
  }
  do {
    let once = try PacketEncoder().encode(value)
    let twice = try PacketEncoder().encode(PacketDecoder().decode(Everything.self, from: once))
    precondition(once == twice)
  } catch {
    preconditionFailure("\(error)")
  }
  return 0
}

/// A field of each shape. Every field is optional, so that short inputs reach many of them.
private struct Everything: Codable {
  var a: Int?
  var b: [Double]?
  var c: [String: Float]?
  var d: [Int: String]?
  var e: [UInt8]?
  var f: Tree?
  var g: Set<Int8>?
  var h: [Point: Bool]?
  var i: [Color?]?
  var j: UInt64?
}

private enum Color: String, Codable { case red, blue }

private struct Point: Codable, Hashable {
  var x: Int16
  var y: UInt32
}

private indirect enum Tree: Codable {
  case leaf(String)
  case node(Tree, Tree?)
}
