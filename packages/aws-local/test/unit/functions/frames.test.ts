import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeFrame, FrameDecoder, type ReplyHeader } from '../../../src/functions/frames.ts';

describe('frames', () => {
  it('are decoded as encoded, however the bytes are cut', () => {
    const frame = fc.record({
      requestId: fc.string(),
      body: fc.string({ unit: 'grapheme', maxLength: 300 }),
    });
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 8 }), fc.integer({ min: 1, max: 64 }), (frames, size) => {
        const bytes = Buffer.concat(
          frames.map(({ requestId, body }) => encodeFrame({ type: 'response', requestId }, body)),
        );
        const decoder = new FrameDecoder<ReplyHeader>();
        const decoded = [];
        for (let at = 0; at < bytes.length; at += size)
          decoded.push(...decoder.push(bytes.subarray(at, at + size)));
        expect(decoded).toEqual(
          frames.map(({ requestId, body }) => ({ header: { type: 'response', requestId }, body })),
        );
      }),
    );
  });

  it('may have no body', () => {
    const decoder = new FrameDecoder<ReplyHeader>();
    expect(decoder.push(encodeFrame({ type: 'ready' }))).toEqual([{ header: { type: 'ready' }, body: '' }]);
  });
});
