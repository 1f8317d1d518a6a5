import fc from 'fast-check';
import { newId } from '../../../functions/aws/ids.ts';

/** Times that ISO 8601 writes with a year of four digits. */
export const times = fc.date({
  min: new Date('1970-01-01T00:00:00.000Z'),
  max: new Date('9999-12-31T23:59:59.999Z'),
  noInvalidDate: true,
});

/** Times in a range where added hours or days keep the year at four digits. */
export const recentTimes = fc.date({
  min: new Date('2020-01-01T00:00:00.000Z'),
  max: new Date('2100-01-01T00:00:00.000Z'),
  noInvalidDate: true,
});

export const idsOf = <P extends string>(prefix: P): fc.Arbitrary<`${P}_${string}`> =>
  times.map((time) => newId(prefix, time));

/**
 * Text of any code points, lone surrogates included. (The built-in string arbitrary takes seconds to set up.)
 */
export const texts = fc
  .array(fc.oneof(fc.nat({ max: 0x7f }), fc.nat({ max: 0x10ffff })), { maxLength: 40 })
  .map((points) => String.fromCodePoint(...points));

/** Bytes as base64url with one bit flipped. */
export function flipped(text: string, bit: number): string {
  const bytes = Buffer.from(text, 'base64url');
  const at = bit % (bytes.length * 8);
  bytes.writeUInt8(bytes.readUInt8(at >> 3) ^ (1 << (at & 7)), at >> 3);
  return bytes.toString('base64url');
}
