import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { createSeal } from '../../../functions/aws/keyrings.ts';
import { generateApiKey } from '../../../functions/tenancy/api-keys.ts';
import { LIVE_GENERATION } from '../../../functions/tenancy/tenant.ts';
import { createVisitorToken, VISITOR_TOKEN_SECONDS } from '../../../functions/tenancy/visitor-token.ts';
import { aDelivery, aKeyring, NOW } from '../../builders.ts';
import { conformance } from '../../fuzz/conformance.ts';
import { type Operation, problemsOf, readDocument, successOf } from '../../fuzz/document.ts';
import { casesOf } from '../../support/cases.ts';
import type { Exchange, Sent } from '../../support/exchange.ts';
import { PROVOKED_WITH_FAULTS } from '../../support/provoked-with-faults.ts';
import { call, loadedFunctions } from './functions.ts';
import { failedAt, findReceiver, mockedTables, organization, type State } from './tables.ts';

/*
 * Errors that no request can cause: the SDK's clients are mocked, and fail at each call of each operation in
 * turn.
 */
const document = readDocument();
const faultsOf = conformance(document);
const key = generateApiKey('live');
const tables = mockedTables();
const ring = aKeyring();
const visitor = createVisitorToken(
  ring,
  {
    orgId: organization.id,
    generation: LIVE_GENERATION,
    conversationId: newId('cnv', NOW),
    expiresAt: new Date(Date.now() + VISITOR_TOKEN_SECONDS * 1000).toISOString(),
  },
  createSeal(ring),
);

// The clock stands still, so that what the first call has cached stays fresh on a slow machine too.
beforeAll(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterAll(() => {
  vi.useRealTimers();
});

const loaded = loadedFunctions(organization.id);

/** A valid request: the mocked tables have an item for every key. */
function requestTo(operation: Operation): Sent {
  const { method, path, body, parameters, caller } = operation;
  const target = path.replaceAll(/\{\w+\}/g, (parameter) => {
    const { schema } = parameters.find(({ name }) => `{${name}}` === parameter) ?? {};
    const [prefix = ''] = /[a-z]{3}_/.exec(String(schema?.pattern)) ?? [];
    return `${prefix}01a1f84b811a7000a000000000000001`;
  });
  const takesKey = parameters.some(({ name }) => name === 'Idempotency-Key');
  return {
    method,
    target,
    headers: [
      ['Authorization', `Bearer ${{ key, session: loaded.session, visitor }[caller]}`],
      ...(takesKey ? [['Idempotency-Key', crypto.randomUUID()] as const] : []),
      ...(body ? [['Content-Type', 'application/json'] as const] : []),
    ],
    ...(body ? { body: JSON.stringify(body.example) } : {}),
  };
}

/** Operations on a delivery that is not terminal. */
const ON_RETRYING = /^retry(?:Channel)?Delivery/;

const aRetrying = ({ pk, sk = '' }: { pk: string; sk?: string }) =>
  sk.startsWith('dlv_')
    ? {
        found: aDelivery({
          ...{ id: sk as never, orgId: organization.id, ...findReceiver(pk) },
          ...{ status: 'retrying', attempts: 1 },
        }),
      }
    : undefined;

/** Calls the operation's function and checks the answer against the document. */
async function callOperation(operation: Operation): Promise<Exchange> {
  const state = ON_RETRYING.test(operation.id) ? { item: aRetrying } : {};
  const { result: exchange } = await tables.withState(state, () =>
    call(loaded.functionOf(operation), operation, requestTo(operation)),
  );
  expect(faultsOf(exchange)).toEqual([]);
  return exchange;
}

const WRITES = /^(BatchWrite|Delete|Put|TransactWrite|Update)/;

const readErrorType = ({ text }: Exchange): string => JSON.parse(text).error?.type;
const namedError = (name: string): Error => Object.assign(new Error('the inside'), { name });

/** What a call of the SDK fails with, and the answer. */
const FAULTS: [type: string, status: number, name: string][] = [
  ['SERVICE_UNAVAILABLE', 503, 'ThrottlingException'],
  ['INTERNAL_ERROR', 500, 'AccessDeniedException'],
];

/** An operation with keys and with sessions is one function. */
const ONCE = document.operations.filter(({ id, firstId }) => id === firstId);
/** All have their answers to failures from one pipeline: without the deep run, one in five shows it. */
const isShown = ({ id }: Operation): boolean =>
  casesOf(ONCE.findIndex((operation) => operation.id === id) % 5 === 0, true);

describe.each(casesOf(ONCE, document.operations))('$id', (operation) => {
  const turn = document.operations.indexOf(operation) % FAULTS.length;
  const documented = problemsOf(operation).map(({ type }) => type);

  it('documents no error of this kind that the tests below do not provoke', () => {
    const provoked = [
      'INTERNAL_ERROR',
      'SERVICE_UNAVAILABLE',
      ...(documented.includes('IDEMPOTENCY_KEY_REUSED') ? ['CONFLICT'] : []),
      // Of a disabled endpoint, and not of a race: pauses-and-successors.test.ts.
      ...(/^update(?:Webhook|Channel)/.test(operation.id) ? ['CONFLICT'] : []),
    ];
    expect(PROVOKED_WITH_FAULTS.filter((type) => documented.includes(type)).sort()).toEqual(provoked.sort());
  });

  it.each(isShown(operation) ? casesOf(FAULTS.slice(turn, turn + 1), FAULTS) : [])(
    'answers %s when any of its calls fails',
    async (type, status, name) => {
      // The first call also reads what later calls have cached.
      expect((await callOperation(operation)).status).toBe(successOf(operation));
      const calls = await tables.callsOf(() => callOperation(operation));
      expect(calls.length).toBeGreaterThan(1);
      for (const [at, made] of calls.entries()) {
        const answer = await tables.withFault({ at, error: namedError(name) }, () =>
          callOperation(operation),
        );
        // Requests pass when the limiter fails.
        if (made === 'Update rates') expect(answer.status).toBe(successOf(operation));
        else expect([made, answer.status, readErrorType(answer)]).toEqual([made, status, type]);
        if (status === 503 && made !== 'Update rates') expect(answer.headers['retry-after']).toMatch(/^\d+$/);
        expect(answer.text).not.toContain('the inside');
      }
    },
  );

  it('writes by one transaction, and not at all when a condition of it fails', async () => {
    const run = async (cancelled: NonNullable<State['cancelled']>) => {
      const state = { ...(ON_RETRYING.test(operation.id) && { item: aRetrying }), cancelled };
      const { result, committed } = await tables.withState(state, () =>
        tables.callsOf(() => call(loaded.functionOf(operation), operation, requestTo(operation))),
      );
      const other = result.filter((made) => WRITES.test(made) && !/^TransactWrite| rates$/.test(made));
      return { committed, other };
    };
    const { committed, other } = await run(() => undefined);
    expect(other).toEqual([]);
    expect(committed.length).toBeLessThanOrEqual(1);
    for (const failed of committed.flat().keys())
      expect(await run(failedAt(failed))).toEqual({ committed: [], other: [] });
  });

  if (documented.includes('IDEMPOTENCY_KEY_REUSED') && isShown(operation))
    it('answers CONFLICT while another request with its key is being processed', async () => {
      // The other request always comes first, and its answer does not exist yet.
      const { result: answer } = await tables.withState({ cancelled: failedAt(0) }, () =>
        callOperation(operation),
      );
      expect([answer.status, readErrorType(answer)]).toEqual([409, 'CONFLICT']);
    });
});
