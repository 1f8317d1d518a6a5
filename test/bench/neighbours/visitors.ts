import { setTimeout as sleep } from 'node:timers/promises';
import { mapConcurrently } from '../../../functions/aws/concurrency.ts';
import { DASHBOARD_ORIGIN } from '../../support/service.ts';
import type { PlannedCall } from './client.ts';
import { makeHonestCalls, summarize } from './honest-calls.ts';
import { AT_ONCE, type Place } from './place.ts';
import type { Prepared, Scenario } from './scenario.ts';

const MOST_CONVERSATIONS = 500;
/** The factor by which their set-up, at their organization's budget, takes longer than a turn. */
const CONVERSATIONS_PER_SECOND = 8;
/** Each call of the set-up is one of 600 in a minute. */
const SET_UP_PER_SECOND = 9;
const HONEST_PER_SECOND = 5;
/** Polls of all visitors together: each of 500 polls every four seconds. */
const POLLS_PER_SECOND = 125;
/** Calls of routes without credentials, one for this many polls. */
const POLLS_PER_PUBLIC_CALL = 5;
/** Production permits 2,000 requests a second and 4,000 at once. */
const API_RATE = 50;
/** Until the gateway's bucket is full again. */
const REFILL_MS = 5_000;

const PUBLIC_CALLS: readonly PlannedCall[] = [
  { key: '', method: 'POST', path: '/api/session/sign-in', headers: { origin: DASHBOARD_ORIGIN }, body: {} },
  { key: '', method: 'GET', path: '/api/openapi.json' },
  { key: '', method: 'GET', path: '/api/docs' },
];

/** Tokens of visitors, each with a conversation of its own. */
async function visitorTokens({ api }: Place['hostile'], count: number, progress: (text: string) => void) {
  const widget = await api.post('/api/v1/channels', { name: 'Website', kind: 'web_widget' });
  const channelId = String(widget.body.data?.id);
  const beganAt = performance.now();
  let made = 0;
  return mapConcurrently([...Array(count).keys()], AT_ONCE, async (number) => {
    await sleep(Math.max(0, beganAt + (number * 2 * 1000) / SET_UP_PER_SECOND - performance.now()));
    const conversation = await api.post('/api/v1/conversations', {
      channelId,
      externalUserId: `user-${number}`,
    });
    const path = `/api/v1/conversations/${conversation.body.data?.id}/visitor-token`;
    const { status, body } = await api.post(path);
    if (status !== 201) throw new Error(`a visitor token was answered ${status}: ${JSON.stringify(body)}`);
    made += 1;
    if (made % 100 === 0) progress(`${made} of ${count} visitor tokens`);
    return String(body.data?.token);
  });
}

async function prepare(
  place: Place,
  { seconds, progress }: { seconds: number; progress(text: string): void },
): Promise<Prepared> {
  const { honest, hostile, hostileClient } = place;
  const calls: PlannedCall[] = [];
  for (const { api, key } of honest) {
    const id = await api.createConversation();
    const body = { role: 'user', content: 'hello' };
    calls.push({ key, method: 'POST', path: `/api/v1/conversations/${id}/messages`, body });
    calls.push({ key, method: 'GET', path: '/api/v1/conversations' });
  }
  const count = Math.min(MOST_CONVERSATIONS, Math.ceil(seconds * CONVERSATIONS_PER_SECOND));
  const tokens = await visitorTokens(hostile, count, progress);
  const hostileCalls = tokens.flatMap((key, index): PlannedCall[] => [
    { key, method: 'GET', path: '/api/v1/widget/messages' },
    ...(index % POLLS_PER_PUBLIC_CALL === 0
      ? [PUBLIC_CALLS[(index / POLLS_PER_PUBLIC_CALL) % PUBLIC_CALLS.length] as PlannedCall]
      : []),
  ]);
  const perSecond = POLLS_PER_SECOND * (1 + 1 / POLLS_PER_PUBLIC_CALL);
  return {
    honestTurn: (length) => makeHonestCalls(place, calls, { perSecond: HONEST_PER_SECOND, seconds: length }),
    async startHostile() {
      const job = hostileClient.start({ kind: 'calls', calls: hostileCalls, perSecond });
      return {
        async stop() {
          job.stop();
          const answered = await job.result;
          await sleep(REFILL_MS);
          return `${count} visitors: ${summarize(answered)}`;
        },
      };
    },
  };
}

export const visitors: Scenario = {
  name: 'visitors',
  about:
    'call to answer of calls with API keys, and how many are refused; the hostile organization has 500 visitors who poll',
  scarce: `Requests that the gateway takes from all organizations together: ${API_RATE} a second here, 2,000 in production. Visitors poll ${POLLS_PER_SECOND} times a second, and a fifth as many calls go to the sign-in and the documentation; neither counts against the budget of an organization. Honest organizations make ${HONEST_PER_SECOND} calls a second. A turn of a minute has 480 visitors, a shorter one fewer.`,
  context: { apiRate: API_RATE, apiBurst: 2 * API_RATE },
  leadSeconds: 5,
  prepare,
};
