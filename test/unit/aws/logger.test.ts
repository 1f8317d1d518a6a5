import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FieldKind, type Line, LOG_CODES, type LogCode } from '../../../functions/aws/log-codes.ts';
import { INVOCATION } from '../../support/functions.ts';
import { capturingLogger } from './capturing-logger.ts';

const codes = Object.keys(LOG_CODES) as LogCode[];
const aCode = fc.constantFrom(...codes);
const CANARY = 'canary 7f3a';

/** Values that do not match a kind, and must not be logged as one. */
const FOREIGN: Readonly<Record<FieldKind, fc.Arbitrary<unknown>>> = {
  id: fc.oneof(
    fc.string().map((text) => `${text} ${CANARY}`),
    fc.constantFrom(`ada@example.com?${CANARY}`, { [CANARY]: CANARY }, [CANARY], `ck_live_${CANARY}`),
  ),
  words: fc.constantFrom(`{"name":"${CANARY}"}`, `ada@${CANARY}`, `https://example.com/?x=${CANARY}`, [
    CANARY,
  ]),
  count: fc.constantFrom(CANARY, [CANARY]),
  counts: fc.constantFrom(CANARY, { [CANARY]: 1 }, { added: CANARY }),
  flag: fc.constant(CANARY),
  failure: fc.constantFrom(CANARY, new Error(CANARY), { message: CANARY }),
};

describe('a log line', () => {
  it.each(codes)('%s has the level and the meaning of its code', (code) => {
    const { log, lines } = capturingLogger('DEBUG');
    log(code, {});
    const { level, message } = LOG_CODES[code];
    expect(lines).toMatchObject([{ code, level: level.toUpperCase(), message }]);
  });

  it('has the fields that its code declares', () => {
    const { log, lines } = capturingLogger();
    log('LEDGER_DIFFERS', {
      webhookId: 'whk_1',
      generation: 0,
      hour: '2026-11-21T01:00:00.000Z',
      ledger: { added: 2 },
      deliveries: { added: 3 },
      traceId: '1-5759e988-bd862e3fe1be46a994272793',
    });
    expect(lines).toMatchObject([
      {
        webhookId: 'whk_1',
        generation: 0,
        hour: '2026-11-21T01:00:00.000Z',
        ledger: { added: 2 },
        deliveries: { added: 3 },
        traceId: '1-5759e988-bd862e3fe1be46a994272793',
      },
    ]);
  });

  it('has no field that its code does not declare, from any source', () => {
    const { log, lines } = capturingLogger();
    const more = { deliveryId: 'dlv_1', body: CANARY, error: new Error(CANARY), __proto__: { x: CANARY } };
    log('DELIVERY_EXPIRED', more);
    expect(lines).toMatchObject([{ deliveryId: 'dlv_1' }]);
    expect(JSON.stringify(lines)).not.toContain(CANARY);
  });

  it('omits a value that does not match its field’s kind', () => {
    fc.assert(
      fc.property(
        aCode.chain((code) => {
          const declared: Line['fields'] = LOG_CODES[code].fields;
          const fields = Object.fromEntries(
            Object.entries(declared).map(([name, kind]) => [name, FOREIGN[kind]]),
          );
          return fc.tuple(fc.constant(code), fc.record(fields, { requiredKeys: [] }));
        }),
        ([code, fields]) => {
          const { log, lines } = capturingLogger('DEBUG');
          log(code, fields);
          expect(JSON.stringify(lines)).not.toContain(CANARY);
        },
      ),
    );
  });

  it.each(['ck_live_0123', 'ck_test_0123', 'cvt_0123', 'whsec_0123', 'eyJhbGciOiJSUzI1NiJ9.e30.x'])(
    'does not accept %s, a credential, as a name',
    (credential) => {
      const { log, lines } = capturingLogger();
      log('DELIVERY_EXPIRED', { deliveryId: credential });
      expect(lines).toMatchObject([{ deliveryId: '[withheld]' }]);
    },
  );
});

describe('an invocation', () => {
  it('adds its own context to its lines, and nothing of the previous invocation', () => {
    const { begin, add, log, lines } = capturingLogger();
    begin(INVOCATION);
    add({ orgId: 'org_1', keyId: 'key_1', traceId: 'trace-1' });
    log('CHECK_TOO_LATE', {});
    begin(INVOCATION);
    add({ traceId: 'trace-2' });
    log('CHECK_TOO_LATE', {});
    expect(lines).toMatchObject([
      { function_name: INVOCATION.functionName, orgId: 'org_1', keyId: 'key_1', traceId: 'trace-1' },
      { function_name: INVOCATION.functionName, traceId: 'trace-2' },
    ]);
    expect(lines[1]).not.toHaveProperty('orgId');
    expect(lines[1]).not.toHaveProperty('keyId');
  });

  it('is described only by the declared fields', () => {
    const { add, log, lines } = capturingLogger();
    add({ userId: 'ada@example.com', ...{ secret: CANARY } });
    log('CHECK_TOO_LATE', {});
    expect(lines).toMatchObject([{ userId: '[withheld]' }]);
    expect(JSON.stringify(lines)).not.toContain(CANARY);
  });
});
