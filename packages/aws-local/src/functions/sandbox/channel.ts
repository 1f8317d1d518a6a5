import { Socket } from 'node:net';
import { encodeFrame, type Frame, FrameDecoder, type InvokeHeader, type ReplyHeader } from '../frames.ts';

/** File descriptor of the channel in a sandbox; the host opens it as the fourth of the child's `stdio`. */
const CHANNEL_FD = 3;

const socket = new Socket({ fd: CHANNEL_FD });
const decoder = new FrameDecoder<InvokeHeader>();
const arrived: Frame<InvokeHeader>[] = [];
let waiting: ((invocation: Frame<InvokeHeader>) => void) | undefined;

socket.on('data', (chunk) => {
  arrived.push(...decoder.push(chunk));
  handOver();
});
// The kernel closes the channel however the host ends, kill -9 included, so no sandbox is left behind.
socket.on('error', () => process.exit(0));
socket.on('close', () => process.exit(0));

function handOver(): void {
  const next = waiting && arrived.shift();
  if (!next) return;
  const deliver = waiting;
  waiting = undefined;
  deliver?.(next);
}

export function receive(): Promise<Frame<InvokeHeader>> {
  return new Promise((resolve) => {
    waiting = resolve;
    handOver();
  });
}

export function send(header: ReplyHeader, body?: string): void {
  socket.write(encodeFrame(header, body));
}
