import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { committer } from '../../../functions/aws/transaction.ts';
import { BusEvent } from '../../../functions/events/bus.ts';
import { checkSource } from '../../../functions/knowledge/check-source.ts';
import { computeDifference } from '../../../functions/knowledge/difference.ts';
import { checkSlots, sourceChecks } from '../../../functions/knowledge/source-checks.ts';
import { sourceStore } from '../../../functions/knowledge/sources.ts';
import { aBusEvent, aSource, aTenant } from '../../builders.ts';
import { rowsIn } from '../../contract/store/rows.ts';
import { memoryOrganizationStates } from '../../doubles/memory-organization-states.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';
import { memoryTables } from '../../doubles/tables/stack-tables.ts';
import { casesOf } from '../../support/cases.ts';
import { admins, aNotifier, DAY, REFUSED } from '../notices/notifier-fixture.ts';

const HOUR = 3600;
/** The organization's default. */
const THRESHOLD = 20;

/** A page that is checked, and the admins who get e-mails about it, over the real stores. */
async function aWatchedPage() {
  const { knowledge, outbox } = memoryTables();
  const notifier = aNotifier();
  const { clock } = notifier;
  const tenant = aTenant();
  const store = sourceStore(knowledge);
  const commit = committer(knowledge.client);
  let text = '';
  let known: string | undefined;
  const check = checkSource(
    {
      sources: sourceChecks(knowledge, outbox, commit),
      slots: checkSlots(knowledge, 1),
      organizations: notifier.ports.organizations,
      organizationStates: memoryOrganizationStates(),
      // As a server with validators.
      fetchContent: async () =>
        text === known ? { kind: 'not-modified' } : { kind: 'fetched', text, etag: text },
      onChecked: () => undefined,
      log: recordedLog(),
      now: clock.now,
      random: () => 0,
    },
    { checkEverySeconds: HOUR, leaseSeconds: 75 },
  );
  const notify = notifier.runWith({ sources: store });
  const processed = new Set<unknown>();

  return {
    ...notifier,
    /** Adds a source with a URL that others can share. @returns a check of it, with its e-mails */
    async add(page: string, url: string) {
      const source = aSource({ ...tenant, url });
      await commit(store.add(source));
      const look = async (next: string): Promise<void> => {
        text = next;
        const createdAt = clock.now().toISOString();
        const data = { sourceId: source.id };
        known = (await store.find(tenant, source.id))?.content?.etag;
        await check(aBusEvent({ type: 'source.check', ...tenant, createdAt, data }));
        for (const row of await rowsIn(outbox)) {
          if (processed.has(row.id)) continue;
          processed.add(row.id);
          await notifier.untilDone(BusEvent.parse(row), notify);
        }
      };
      await look(page);
      return { look };
    },
  };
}

const A = 'a b c d e f g h i j';
const A_LITTLE = 'a b c d e f g h i k';
const B = 'l m n o p q r s t u';
const C = 'v w x y z 1 2 3 4 5';

describe('a change of content', () => {
  it('is announced by the first check at which 24 hours have passed, if it differs from what admins know', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            page: fc.constantFrom(A, A_LITTLE, B, C),
            hours: fc.constantFrom(1, 5, 12, 23, 24, 30),
            isRefused: fc.boolean(),
          }),
          { minLength: 1, maxLength: 20 },
        ),
        fc.constantFrom(1, 120, 250),
        async (checks, count) => {
          const { add, clock, sent, results, people } = await aWatchedPage();
          people.admins = admins(count);
          const { look } = await add(A, 'https://www.example.com/prices');
          let baselineText = A;
          for (const { page, hours, isRefused } of checks) {
            clock.elapse(hours * HOUR);
            const last = sent.at(-1)?.at.getTime();
            const isDue = last === undefined || clock.ms - last >= DAY * 1000;
            const before = sent.length;
            results.splice(0, results.length, ...(isRefused ? [REFUSED] : []));
            await look(page);
            const isAnnounced = isDue && computeDifference(baselineText, page) > THRESHOLD;
            const told = sent.slice(before).flatMap(({ to }) => to);
            expect(told.toSorted()).toEqual(isAnnounced ? people.admins.toSorted() : []);
            if (isAnnounced) baselineText = page;
          }
        },
      ),
      { numRuns: casesOf(15, 40) },
    );
  });

  it('that waited for its day is announced on the first day whose budget has room', async () => {
    const { add, clock, sent, people } = await aWatchedPage();
    people.admins = admins(120);
    const waiting = await add(A, 'https://www.example.com/');
    const other = await add(A, 'https://www.example.com/other');
    clock.elapse(HOUR);
    await waiting.look(B);
    clock.elapse(HOUR);
    await waiting.look(C);
    clock.elapse(DAY);
    await other.look(B);
    await waiting.look(C);
    expect(new Set(sent.map(({ text }) => text.includes('/other')))).toEqual(new Set([false, true]));
    expect(sent).toHaveLength(6);

    clock.elapse(DAY);
    await waiting.look(C);
    expect(sent.slice(6).flatMap(({ to }) => to)).toEqual(people.admins);
  });

  it('at a URL of two sources is announced once a day, first of one and then of the other', async () => {
    const { add, clock, sent } = await aWatchedPage();
    const sources = [await add(A, 'https://www.example.com/'), await add(A, 'https://www.example.com/')];
    for (let hour = 0; hour < 60; hour += 1) {
      clock.elapse(HOUR);
      for (const { look } of sources) await look(B);
    }

    expect(sent).toHaveLength(2);
    const [first, second] = sent.map(({ at }) => at.getTime());
    expect(Number(second) - Number(first)).toBe(DAY * 1000);
  });
});
