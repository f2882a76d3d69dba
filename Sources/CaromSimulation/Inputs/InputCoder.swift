import CaromCore

/// Encodes runs of one player's inputs. Each integer is coded as its difference from a prediction:
/// either the previous value, or the straight line through the last two values, whichever has been
/// more accurate recently. The difference is an exponential Golomb code whose order adapts to the
/// recent differences.
///
/// Before a run, both sides feed the coder a few inputs that both already have, so its state need
/// not be sent. A field that does not change throughout a run costs one bit.
struct InputCoder<Input: SimulationInput>: Sendable {
  private struct Field {
    var last: Int64 = 0
    var slope: Int64 = 0
    /// Eight times the recent mean error of predictions that repeat the previous value.
    var lastError: Int64 = 0
    /// Eight times the recent mean error of predictions that add the last difference to the
    /// previous value.
    var lineError: Int64 = 0

    var predicted: Int64 { lineError < lastError ? last + slope : last }

    /// About four times the mean magnitude of the recent differences.
    var size: Int64 = 0

    /// The order of the Golomb code, 0 to 30.
    var order: Int { min(30, 64 - UInt64(size >> 3).leadingZeroBitCount) }

    mutating func update(with value: Int64) {
      size += (value - predicted).bounded - size >> 2
      lastError += (value - last).bounded - lastError >> 3
      lineError += (value - last - slope).bounded - lineError >> 3
      slope = value - last
      last = value
    }
  }

  private var fields: [Field]
  private var values: [Int32]
  private var isConstant: [Bool]
  /// The last decoded run of inputs. They have not been stored in a buffer yet.
  var run: [Input] = []

  init() {
    let count = Input.fieldCount
    precondition(
      (1...SimulationLimits.inputFields).contains(count), "an input must have 1 to 16 fields")
    fields = Array(repeating: Field(), count: count)
    values = Array(repeating: 0, count: count)
    isConstant = Array(repeating: false, count: count)
    reset()
  }

  /// Resets the coder, as if the input before the first one were the neutral input, `Input()`.
  mutating func reset() {
    let nothing = Input()
    for index in fields.indices {
      fields[index] = Field()
      fields[index].last = Int64(nothing.field(index))
    }
  }

  /// Updates the predictions with an input that both sides have.
  mutating func update(with input: Input) {
    for index in fields.indices { fields[index].update(with: Int64(input.field(index))) }
  }

  /// Encodes a run of `count` inputs. `input` returns the input at a given index in the run,
  /// counted from 0.
  mutating func encode(
    _ count: Int, into writer: inout PacketWriter, bits: inout BitWriter,
    _ input: (Int) -> Input
  ) {
    for index in fields.indices {
      let last = fields[index].last
      isConstant[index] = (0..<count).allSatisfy { Int64(input($0).field(index)) == last }
      bits.write(isConstant[index] ? 0 : 1, 1, to: &writer)
    }
    for place in 0..<count {
      let next = input(place)
      for index in fields.indices {
        let value = Int64(next.field(index))
        if !isConstant[index] {
          let difference = value - fields[index].predicted
          bits.writeGolomb(VarInt.zigZag(difference), fields[index].order, to: &writer)
        }
        fields[index].update(with: value)
      }
    }
  }

  /// Decodes `count` inputs into `run`. If any input is invalid, the whole run must be discarded.
  mutating func decode(
    _ count: Int, from reader: inout PacketReader, bits: inout BitReader
  ) throws(DecodeError) {
    run.removeAll(keepingCapacity: true)
    for index in fields.indices { isConstant[index] = !(try bits.bit(&reader)) }
    for _ in 0..<count { run.append(try next(&reader, &bits)) }
  }

  private mutating func next(
    _ reader: inout PacketReader, _ bits: inout BitReader
  ) throws(DecodeError) -> Input {
    for index in fields.indices {
      if isConstant[index] {
        values[index] = Int32(truncatingIfNeeded: fields[index].last)
      } else {
        let folded = try bits.readGolomb(fields[index].order, &reader)
        let value = fields[index].predicted + VarInt.unZigZag(folded)
        guard let narrow = Int32(exactly: value) else { throw .invalid(what: "input field") }
        values[index] = narrow
      }
      fields[index].update(with: Int64(values[index]))
    }
    return try Input(fields: values.span)
  }
}

extension Int64 {
  /// The integer's magnitude, capped at 2^34 so that sums cannot overflow.
  fileprivate var bounded: Int64 { Swift.min(Int64(magnitude), 1 << 34) }
}
