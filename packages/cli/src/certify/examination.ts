import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { type PassedOn, type PassedRequest, type PassingOptions, passOn } from '../pass-on.ts';

/** Within which a receiver must answer. */
const DEADLINE_MS = 10_000;

/** An event of an examination. Its body is the same whenever it is sent. */
export interface ExampleEvent {
  id: string;
  body: Buffer;
}

export interface Signing {
  /** Several sign one after the other; default: the receiver's. */
  secrets?: readonly string[];
  secondsAgo?: number;
  attempt?: number;
}

/** A request, which answer was expected, and which came. */
export interface Trial {
  eventId: string;
  /** `2xx` for a request that the receiver must accept, `4xx` for one that it must refuse. */
  expected: '2xx' | '4xx';
  /** Null without an answer. */
  status: number | null;
  /** Why no answer came. */
  error?: string;
  durationMs: number;
}

export type Examination = ReturnType<typeof examine>;

export const createSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;
export const createId = (prefix: string): string => `${prefix}_${randomUUID().replaceAll('-', '')}`;

/** Builds an event. @param change of its envelope */
export function createEvent(change: object = {}): ExampleEvent {
  const data = { conversationId: createId('cnv'), messageId: createId('msg'), role: 'user' };
  const createdAt = new Date().toISOString();
  const envelope = { type: 'message.received', schemaVersion: 1, orgId: createId('org'), createdAt, data };
  return { id: createId('evt'), body: Buffer.from(JSON.stringify({ ...envelope, ...change })) };
}

/** Requests to a receiver. @param secret of the receiver */
export function examine(url: URL, secret: string, connection: Pick<PassingOptions, 'ca' | 'signal'>) {
  const options = { ...connection, timeoutMs: DEADLINE_MS };

  function sign({ id, body }: ExampleEvent, given: Signing = {}): PassedRequest {
    const { secrets = [secret], secondsAgo = 0, attempt = 1 } = given;
    const timestamp = Math.floor(Date.now() / 1000) - secondsAgo;
    const signatures = secrets.map((key) => signatureOf(key, `${id}.${timestamp}.`, body));
    return {
      headers: {
        'content-type': 'application/json',
        'user-agent': 'ConversationService-Webhooks',
        'webhook-id': id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': signatures.join(' '),
        'webhook-delivery-id': createId('dlv'),
        'webhook-attempt': String(attempt),
        // Identifiers of things that do not exist.
        'webhook-example': 'true',
      },
      body,
    };
  }

  const trial =
    (expected: Trial['expected']) =>
    async (request: PassedRequest, how: Pick<PassingOptions, 'write'> = {}): Promise<Trial> => {
      const startedAt = performance.now();
      const answer = await passOn(request, url, { ...options, ...how });
      const durationMs = Math.round(performance.now() - startedAt);
      return { eventId: request.headers['webhook-id'] ?? '', expected, ...describe(answer), durationMs };
    };

  return {
    secret,
    sign,
    /** Sends a request that must be accepted. */
    accepts: trial('2xx'),
    /** Sends a request that must be refused. */
    refuses: trial('4xx'),
    /** Sends a request whose answer does not matter. */
    send: (request: PassedRequest, how: Pick<PassingOptions, 'write'>) =>
      passOn(request, url, { ...options, ...how }),
  };
}

export const isAsExpected = ({ expected, status }: Trial): boolean =>
  status !== null && Math.floor(status / 100) === Number(expected[0]);

const signatureOf = (secret: string, head: string, body: Buffer): string => {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  return `v1,${createHmac('sha256', key).update(head).update(body).digest('base64')}`;
};

const describe = (answer: PassedOn): Pick<Trial, 'status' | 'error'> =>
  answer.kind === 'answered'
    ? { status: answer.status }
    : { status: null, error: `${answer.reason}. ${answer.advice}` };
