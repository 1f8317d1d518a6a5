import type { PermissionRequest } from '../permissions/requests.ts';

const PREFIX_BYTES = 8;

/**
 * A message between host and sandbox. The body stays text, so that an event is serialized once and parsed
 * once.
 */
export interface Frame<Header = FrameHeader> {
  header: Header;
  body: string;
}

/** The next invocation, with the context for the handler. */
export interface InvokeHeader {
  type: 'invoke';
  requestId: string;
  /** Epoch milliseconds. */
  deadline: number;
  functionArn: string;
  traceId: string;
}

export type ReplyHeader =
  | { type: 'ready' }
  | { type: 'initError' }
  | { type: 'response'; requestId: string }
  | { type: 'error'; requestId: string }
  /** Once per action on a resource. */
  | { type: 'permission'; asked: PermissionRequest; isAllowed: boolean };

export type FrameHeader = InvokeHeader | ReplyHeader;

/**
 * Frame bytes: header length and body length (32 bits each, big endian), the header as JSON, the body as
 * UTF-8.
 */
export function encodeFrame(header: FrameHeader, body = ''): Buffer {
  const head = JSON.stringify(header);
  const headBytes = Buffer.byteLength(head);
  const bodyBytes = Buffer.byteLength(body);
  const frame = Buffer.allocUnsafe(PREFIX_BYTES + headBytes + bodyBytes);
  frame.writeUInt32BE(headBytes, 0);
  frame.writeUInt32BE(bodyBytes, 4);
  frame.write(head, PREFIX_BYTES);
  frame.write(body, PREFIX_BYTES + headBytes);
  return frame;
}

/** Splits a byte stream, in chunks of any size, into frames. */
export class FrameDecoder<Header extends FrameHeader> {
  #chunks: Buffer[] = [];
  #buffered = 0;
  #wanted = PREFIX_BYTES;

  /** @returns the frames that the chunk completes */
  push(chunk: Buffer): Frame<Header>[] {
    this.#chunks.push(chunk);
    this.#buffered += chunk.length;
    const frames: Frame<Header>[] = [];
    while (this.#buffered >= this.#wanted) {
      const bytes = this.#joined();
      this.#wanted = frameLength(bytes);
      if (this.#buffered < this.#wanted) break;
      frames.push(decodeFrame(bytes.subarray(0, this.#wanted)));
      this.#chunks = [bytes.subarray(this.#wanted)];
      this.#buffered -= this.#wanted;
      this.#wanted = PREFIX_BYTES;
    }
    return frames;
  }

  #joined(): Buffer {
    const joined =
      this.#chunks.length === 1 && this.#chunks[0] ? this.#chunks[0] : Buffer.concat(this.#chunks);
    this.#chunks = [joined];
    return joined;
  }
}

function frameLength(bytes: Buffer): number {
  return PREFIX_BYTES + bytes.readUInt32BE(0) + bytes.readUInt32BE(4);
}

function decodeFrame<Header>(frame: Buffer): Frame<Header> {
  const bodyStart = PREFIX_BYTES + frame.readUInt32BE(0);
  return {
    header: JSON.parse(frame.toString('utf8', PREFIX_BYTES, bodyStart)),
    body: frame.toString('utf8', bodyStart),
  };
}
