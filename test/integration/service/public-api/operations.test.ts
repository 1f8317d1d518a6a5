import { randomInt } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { campaign, describeFinding } from '../../../fuzz/campaign.ts';
import { conformance } from '../../../fuzz/conformance.ts';
import { problemsOf, readDocument, successOf } from '../../../fuzz/document.ts';
import { casesOf } from '../../../support/cases.ts';
import type { Exchange, Sent } from '../../../support/exchange.ts';
import { reusing } from '../../../support/resources.ts';
import type { Tenant } from '../../../support/tenant.ts';
import { aPlace } from '../place.ts';
import { CHANGES_NOTHING, provoke, type Scene } from './provocations.ts';
import { credentialOf, validRequest } from './requests.ts';

/** Generated requests of all operations together; `npm run fuzz` sends any number of them. */
const GENERATED = casesOf(0, 500);
/** The most requests of an operation that provoke one error type: another choice for each operation. */
const PROVOCATIONS = casesOf(1, Number.POSITIVE_INFINITY);
/** The deep tests accept and refuse for every reason what sessions and keys do by the same functions. */
const HAS_BOTH_DOORS = casesOf(false, true);

/** Error types whose causes differ between keys and sessions; all others come from one function. */
const OF_DOORS: ReadonlySet<string> = new Set(['AUTHENTICATION_ERROR', 'PERMISSION_DENIED', 'RATE_LIMITED']);

/* Every operation answers as the document says, both for success and for refusal. */
const place = aPlace();
const document = readDocument();

describe('every operation', () => {
  const faultsOf = conformance(document);
  let stranger: Tenant;
  let unchanged: Tenant;
  const poor: Scene['poor'] = new Map();

  beforeAll(async () => {
    stranger = await place.tenant();
    unchanged = reusing(await place.tenant());
  });

  /**
   * Sends a request and checks that the document allows the answer.
   * @returns the exchange
   */
  async function answerTo(sent: Sent): Promise<Exchange> {
    const exchange = await place.connection().send(sent);
    expect(faultsOf(exchange)).toEqual([]);
    return exchange;
  }

  /** Some of the requests, so that operations with the same requests send different ones. */
  const someOf = (all: readonly Sent[], turn: number): Sent[] =>
    Array.from({ length: Math.min(PROVOCATIONS, all.length) }, (_, index) => index + turn * PROVOCATIONS)
      .map((index) => all[index % all.length])
      .filter((sent) => sent !== undefined);

  describe.each(document.operations.map((operation, turn) => ({ ...operation, turn })))(
    '$id',
    (operation) => {
      let tenant: Tenant;
      const isWhole = HAS_BOTH_DOORS || operation.id === operation.firstId;
      const problems = problemsOf(operation).filter(({ type }) => isWhole || OF_DOORS.has(type));

      beforeAll(async () => {
        tenant = operation.method === 'GET' || !isWhole ? unchanged : await place.tenant();
      });

      if (isWhole)
        it('accepts the example of the document and returns the location of what it creates', async () => {
          const sent = await validRequest(operation, tenant);
          const { status, headers } = await answerTo(sent);
          expect(status).toBe(successOf(operation));
          const { location } = headers;
          const reader = document.operations.find(
            ({ method, path }) => method === 'GET' && matches(path, location),
          );
          if (location === undefined || reader === undefined) return;
          const authorization = ['Authorization', `Bearer ${await credentialOf(reader, tenant)}`] as const;
          expect(await answerTo({ method: 'GET', target: location, headers: [authorization] })).toMatchObject(
            {
              status: 200,
              text: expect.stringContaining(`"id":"${location.slice(location.lastIndexOf('/') + 1)}"`),
            },
          );
        });

      it.each(problems)('answers $status $type to a request that provokes it', async ({ status, type }) => {
        const target = CHANGES_NOTHING.has(type) ? unchanged : tenant;
        const scene: Scene = {
          operation,
          tenant: target,
          service: place.service(),
          connection: place.connection(),
          poor,
          valid: () => validRequest(operation, target),
        };
        for (const sent of someOf(await provoke(type, scene), operation.turn)) {
          const answer = await answerTo(sent);
          expect([answer.status, JSON.parse(answer.text).error.type, sent]).toEqual([status, type, sent]);
        }
      });

      if (GENERATED === 0) return;

      it('answers generated requests as the document says', async () => {
        const target = {
          service: place.service(),
          connection: place.connection(),
          conforms: faultsOf,
          stranger,
        };
        const requests = Math.ceil(GENERATED / document.operations.length);
        const finding = await campaign(operation, target, { requests, seed: randomInt(2 ** 31) });
        expect(finding && describeFinding(finding)).toBeUndefined();
      });
    },
  );
});

const matches = (path: string, target = ''): boolean =>
  new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(target);
