import { freePort } from 'aws-local/engines/free-port.ts';
import { PATIENCE } from 'aws-local/test/patience.ts';
import { Webhook } from 'standardwebhooks';
import { beforeAll, describe, expect, it } from 'vitest';
import { PROBLEM_STATUS } from '../../../../functions/http/problem.ts';
import { PROVOKED_WITH_FAULTS } from '../../../support/provoked-with-faults.ts';
import type { Tenant } from '../../../support/tenant.ts';
import { aPlace, type Pair } from '../place.ts';
import { actorsOf } from './actors.ts';
import { forgetful, type Likeness, type RequestLikeness } from './likeness.ts';
import { type Marking, marked } from './marks.ts';
import { type ProgrammedReceiver, type Received, startProgrammedReceiver } from './programmed-receiver.ts';
import { CAUSED, conversations, tickets } from './script/conversations.ts';
import { account, deliveries, ended, listener, type Places } from './script/deliveries.ts';
import { errors } from './script/errors.ts';
import { fillUp, webhooks } from './script/webhooks.ts';
import { type Actor, type Entry, teller } from './transcript.ts';

/**
 * Error types that no call with a key gets here: exceeded limits, calls of users with sessions, removed
 * routes, and requests that are refused before the API.
 */
const ELSEWHERE = ['RATE_LIMITED', 'SANDBOX_NOT_PROVISIONED', 'GONE', 'REQUEST_HEADERS_TOO_LARGE'];

/**
 * The limiter sends no headers on a call that it could not count in time; then the two are compared without
 * them.
 */
function asCounted<Answer extends Likeness | undefined>(answer: Answer, other: Likeness | undefined): Answer {
  if (
    answer === undefined ||
    (answer.headers.ratelimit !== undefined && other?.headers.ratelimit !== undefined)
  )
    return answer;
  const { ratelimit, 'ratelimit-policy': policy, ...headers } = answer.headers;
  return { ...answer, headers };
}

/* A sandbox answers and delivers as its live organization does (docs/specification.md, Sandbox rules). */
const place = aPlace();

describe('a sandbox', () => {
  let receiver: ProgrammedReceiver;
  let pair: Pair;
  let live: Answers;
  let sandbox: Answers;

  beforeAll(async () => {
    receiver = place.keep(await startProgrammedReceiver(place.service().tls));
    const places = { programmed: receiver.url, nobody: `https://127.0.0.1:${await freePort()}` };
    pair = await place.pair();
    const actors = await actorsOf(place, pair);
    [live, sandbox] = await Promise.all([runScript(actors.live, places), runScript(actors.sandbox, places)]);
  }, 180_000 * PATIENCE);

  it('answers every call like the live organization, except for the documented marks', () => {
    const marking = buildMarking(live, receiver);
    expect(sandbox.answers.map(({ call }) => call)).toEqual(live.answers.map(({ call }) => call));
    for (const [index, answer] of live.answers.entries())
      expect(asCounted(sandbox.answers[index], answer)).toEqual(
        marked(asCounted(answer, sandbox.answers[index]), marking),
      );
  });

  it('shows nothing of its live organization', () => {
    const shown = sandbox.entries.map(({ exchange }) => exchange.text + JSON.stringify(exchange.headers));
    expect(shown.filter((text) => text.includes(pair.live.orgId))).toEqual([]);
  });

  it('is tested with every error type', () => {
    const types = live.answers.map(({ body }) => Object(Object(body).error).type);
    const others = [...PROVOKED_WITH_FAULTS.filter((type) => type !== 'CONFLICT'), ...ELSEWHERE];
    expect(new Set(types.filter((type) => type !== undefined))).toEqual(
      new Set(Object.keys(PROBLEM_STATUS).filter((type) => !others.includes(type))),
    );
  });

  it('reaches no receiver', () => {
    expect(receiver.received.length).toBeGreaterThan(0);
    const senders = receiver.received.map(({ body }) => JSON.parse(body).orgId);
    expect(new Set(senders)).toEqual(new Set([pair.live.orgId]));
  });

  it('stores requests that verify with the endpoint’s own secret', () => {
    const requests = listAttempts(sandbox).map(({ webhookId, request }) => ({
      webhookId,
      ...Object(request),
    }));
    expect(requests.length).toBeGreaterThan(100);
    for (const { webhookId, headers, body } of requests)
      expect(new Webhook(sandbox.secrets.get(webhookId) ?? '').verify(body, headers)).toEqual(
        JSON.parse(body),
      );
  });

  it('refuses a malformed program, which a live endpoint accepts', async () => {
    const body = { url: 'https://hooks.example.com/?simulate=sometimes', events: ['ticket.created'] };
    const move = async ({ api }: Tenant) => {
      const { body: answer } = await api.get('/api/v1/webhooks?limit=1');
      const [{ id = '' } = {}] = answer.data ?? [];
      return (await api.call({ method: 'PATCH', path: `/api/v1/webhooks/${id}`, body })).status;
    };
    expect(await Promise.all([move(pair.live), move(pair.sandbox)])).toEqual([200, 400]);
  });
});

/** The answers to a caller, call by call. */
interface Answers {
  entries: readonly Entry[];
  answers: Likeness[];
  request(received: Received, receiver: string): RequestLikeness;
  /** Secrets by endpoint. */
  secrets: ReadonlyMap<string, string>;
}

async function runScript(actor: Actor, places: Places): Promise<Answers> {
  const it = teller(actor);
  const path = await listener(it, places);
  await conversations(it);
  await tickets(it);
  await ended(it, path, CAUSED);
  await account(it, path, CAUSED);
  await errors(it, actor);
  await webhooks(it);
  await deliveries(it, places);
  await fillUp(it);
  const { answer, request } = forgetful();
  const registered = it.entries.flatMap(({ exchange }) => {
    const { id, secret } = Object(JSON.parse(exchange.text || '{}').data);
    return secret === undefined ? [] : [[id, secret] as const];
  });
  return { entries: it.entries, answers: it.entries.map(answer), request, secrets: new Map(registered) };
}

function buildMarking({ request }: Answers, receiver: ProgrammedReceiver): Marking {
  const requests = new Map(
    receiver.received.map((received) => {
      const likeness = request(received, receiver.url);
      return [`${likeness.headers['webhook-delivery-id']}, ${likeness.headers['webhook-attempt']}`, likeness];
    }),
  );
  return { requestOf: (deliveryId, attempt) => requests.get(`${deliveryId}, ${attempt}`) };
}

const listAttempts = ({ entries }: Answers): { webhookId: string; request: unknown }[] =>
  entries.flatMap(({ exchange }) => {
    const { webhookId, attemptLog = [] } = Object(JSON.parse(exchange.text || '{}').data);
    return attemptLog.map(({ request }: { request: unknown }) => ({ webhookId, request }));
  });
