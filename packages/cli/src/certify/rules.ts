import type { ClientRequest } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  createEvent,
  createId,
  createSecret,
  type Examination,
  type ExampleEvent,
  type Trial,
} from './examination.ts';

/** A rule for receivers. docs/guides/certify.md has a section for each. */
interface Rule {
  /** What to change in a receiver that fails. */
  remedy: string;
  examine(examination: Examination): Promise<Trial[]>;
}

const AT_ONCE = 20;
const PIECES = 5;
const PIECE_MS = 200;
/** Within which a receiver has noticed that a connection was reset. */
const RESET_MS = 200;

/** In the order in which they are examined. A receiver that fails the first is not examined further. */
export const RULES = {
  valid: {
    remedy: 'Answer 2xx to a signed event within 10 s: check the URL and the secret.',
    examine: async ({ accepts, sign }) => [await accepts(sign(createEvent()))],
  },
  'altered-body': {
    remedy: 'Verify the signature over the body, and answer 400 if it does not match.',
    examine: async ({ refuses, sign }) => [
      await refuses({ ...sign(createEvent()), body: createEvent().body }),
    ],
  },
  'raw-body': {
    remedy: 'Verify the bytes as they arrived, before anything parses them.',
    examine: async ({ accepts, refuses, sign }) => [
      await accepts(sign(createSpacedEvent())),
      await refuses({ ...sign(createEvent()), body: Buffer.from('{"type":"message.re') }),
    ],
  },
  'old-timestamp': {
    remedy: 'Answer 400 to a webhook-timestamp of more than 5 minutes ago: it may be a replay.',
    examine: async ({ refuses, sign }) => [await refuses(sign(createEvent(), { secondsAgo: 600 }))],
  },
  'wrong-secret': {
    remedy: "Compare the signature with one of the endpoint's own secret, and answer 400 if it differs.",
    examine: async ({ refuses, sign }) => [await refuses(sign(createEvent(), { secrets: [createSecret()] }))],
  },
  'two-secrets': {
    remedy:
      'Accept a request if any of the signatures in webhook-signature matches: they are separated by spaces.',
    examine: async ({ accepts, sign, secret }) => [
      await accepts(sign(createEvent(), { secrets: [createSecret(), secret] })),
    ],
  },
  duplicate: {
    remedy: 'Answer 2xx to a webhook-id that was processed before, and do nothing else.',
    examine: async ({ accepts, sign }) => {
      const event = createEvent();
      return [await accepts(sign(event)), await accepts(sign(event, { attempt: 2 }))];
    },
  },
  'reordered-pair': {
    remedy: 'Accept events in any order: read the current state with the API.',
    examine: async ({ accepts, sign }) => {
      const [created, resolved] = createConversation();
      return [await accepts(sign(resolved)), await accepts(sign(created))];
    },
  },
  'unknown-type': {
    remedy: 'Answer 2xx to event types that you do not know: types are added without notice.',
    examine: async ({ accepts, sign }) => [
      await accepts(
        sign(createEvent({ type: 'conversation.archived', data: { conversationId: createId('cnv') } })),
      ),
    ],
  },
  'unknown-field': {
    remedy: 'Ignore fields that you do not know: fields are added without notice.',
    examine: async ({ accepts, sign }) => {
      const data = {
        conversationId: createId('cnv'),
        messageId: createId('msg'),
        role: 'user',
        later: { field: 1 },
      };
      return [await accepts(sign(createEvent({ data, later: true })))];
    },
  },
  concurrent: {
    remedy: 'Answer requests that come at the same time, each within 10 s: work after the answer.',
    examine: ({ accepts, sign }) =>
      Promise.all(Array.from({ length: AT_ONCE }, () => accepts(sign(createEvent())))),
  },
  'slow-request': {
    remedy: 'Read the body to its end, and answer other requests meanwhile.',
    examine: ({ accepts, sign }) =>
      Promise.all([accepts(sign(createEvent()), { write: writeSlowly }), accepts(sign(createEvent()))]),
  },
  'reset-connection': {
    remedy: 'Survive a connection that ends within the body, and forget the event: it comes again.',
    examine: async ({ accepts, send, sign }) => {
      const event = createEvent();
      await send(sign(event), { write: writeHalf });
      await sleep(RESET_MS);
      return [await accepts(sign(event, { attempt: 2 }))];
    },
  },
} as const satisfies Record<string, Rule>;

export type RuleName = keyof typeof RULES;

/** Has other bytes when it is parsed and serialized. */
function createSpacedEvent(): ExampleEvent {
  const data = { conversationId: createId('cnv'), escalationLogId: createId('esc'), reason: 'Grüße, 你好' };
  const { id, body } = createEvent({ type: 'handoff.requested', data });
  const spaced = JSON.stringify(JSON.parse(body.toString()), null, 1).replace('ü', '\\u00fc');
  return { id, body: Buffer.from(spaced) };
}

/** Its first event, and a later one. */
function createConversation(): [created: ExampleEvent, resolved: ExampleEvent] {
  const conversationId = createId('cnv');
  return [
    createEvent({
      type: 'conversation.created',
      createdAt: new Date(Date.now() - 60_000).toISOString(),
      data: { conversationId, channelId: 'web', externalUserId: 'ada' },
    }),
    createEvent({ type: 'conversation.resolved', data: { conversationId, resolvedBy: 'ada' } }),
  ];
}

function writeSlowly(request: ClientRequest, body: Buffer): void {
  request.setHeader('content-length', body.length);
  const size = Math.ceil(body.length / PIECES);
  let at = 0;
  const timer = setInterval(() => {
    request.write(body.subarray(at, at + size));
    at += size;
    if (at < body.length) return;
    clearInterval(timer);
    request.end();
  }, PIECE_MS);
  request.on('close', () => clearInterval(timer));
}

function writeHalf(request: ClientRequest, body: Buffer): void {
  request.setHeader('content-length', body.length);
  request.write(body.subarray(0, body.length / 2), () => reset(request.socket));
}

/** TLS has no reset of its own. */
function reset(socket: Socket | null): void {
  if (socket !== null && 'encrypted' in socket) socket.destroy();
  else socket?.resetAndDestroy();
}
