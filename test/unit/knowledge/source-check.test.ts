import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NOTICES } from '../../../functions/events/bus.ts';
import {
  compareContent,
  describeChange,
  failCheck,
  toSourceContent,
} from '../../../functions/knowledge/check-source.ts';
import { getMeasuredVersion, listNeededVersions } from '../../../functions/knowledge/difference.ts';
import type { LeasedSource, Source, StoredVersion } from '../../../functions/knowledge/sources.ts';
import { anOrganization, aSource, NOW } from '../../builders.ts';

const leased = (changes: Partial<Source> = {}): LeasedSource => ({
  ...aSource(changes),
  lease: { token: 'token', since: NOW.toISOString(), until: NOW.getTime() + 1 },
});

const stored = fc.uniqueArray(
  fc.record({
    version: fc.integer({ min: 1, max: 30 }),
    parts: fc.constant(1),
    announced: fc.option(fc.constant(true as const), { nil: undefined }),
  }),
  { selector: ({ version }) => version, maxLength: 30 },
);

describe('outcome of a check', () => {
  it('is new exactly when the text differs', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (before, after) => {
        const source = { content: toSourceContent(7, { text: before }) };
        const result = compareContent(source, { kind: 'fetched', text: after });
        expect(result.kind).toBe(before === after ? 'unchanged' : 'new');
        if (result.kind === 'new') expect(result.content.version).toBe(8);
        if (result.kind === 'unchanged') expect(result.content?.version).toBe(7);
      }),
    );
  });

  it('of a failure has an error of one bounded line', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 600 }), (text) => {
        const { error } = failCheck(text);
        expect(error).not.toMatch(/[\r\n]/);
        expect(error.length).toBeLessThanOrEqual(300);
        expect(error.isWellFormed()).toBe(true);
      }),
    );
  });
});

describe('needed versions of a source', () => {
  it('are the present one, the two of the last e-mail, and a bounded number of announced ones', () => {
    fc.assert(
      fc.property(
        stored,
        fc.integer({ min: 1, max: 30 }),
        fc.integer({ min: 1, max: 30 }),
        fc.integer({ min: 1, max: 30 }),
        (all, version, baseline, announcedFrom) => {
          const content = { ...toSourceContent(version, { text: '' }) };
          const source = { stored: all as StoredVersion[], content, baseline, announcedFrom };
          const needed = listNeededVersions(source);
          const compared = [version, baseline, announcedFrom];
          for (const version of all) {
            if (compared.includes(version.version)) expect(needed).toContain(version);
            else if (version.version < baseline) expect(needed).not.toContain(version);
          }
          expect(needed.length).toBeLessThanOrEqual(11);
          // The latest announced version can become the baseline.
          const [latest] = all.filter(({ announced }) => announced).toSorted((a, b) => b.version - a.version);
          if (latest !== undefined && latest.version > baseline) expect(needed).toContain(latest);
        },
      ),
    );
  });
});

describe('measured version of a source', () => {
  it('is the baseline, or the next stored version', () => {
    fc.assert(
      fc.property(stored, fc.integer({ min: 1, max: 30 }), (all, baseline) => {
        const from = getMeasuredVersion({ stored: all as StoredVersion[], baseline });
        const candidates = all.map(({ version }) => version).filter((version) => version >= baseline);
        expect(from?.version).toBe(candidates.length === 0 ? undefined : Math.min(...candidates));
      }),
    );
  });
});

describe('new text', () => {
  const fetched = (text: string) => ({ text, content: toSourceContent(2, { text }) });
  const words = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { minLength: 1, maxLength: 20 });

  it('creates a notice exactly when it differs by more than the threshold', () => {
    fc.assert(
      fc.property(
        words,
        words,
        fc.integer({ min: 0, max: 100 }),
        fc.boolean(),
        (before, after, threshold, wanted) => {
          const settings = anOrganization({
            contentChangeThreshold: threshold,
            contentChangeNotifications: wanted,
          });
          const outcome = describeChange(
            leased({ baseline: 1 }),
            fetched(after.join(' ')),
            before.join(' '),
            settings,
            NOW,
          );
          const difference = outcome.measured?.difference ?? -1;
          expect(outcome.measured?.from).toBe(1);
          expect(outcome.notice !== undefined).toBe(wanted && difference > threshold);
          if (outcome.notice) NOTICES['source.changed'].parse(outcome.notice.data);
        },
      ),
    );
  });

  it('becomes the baseline without a notice when there is none to compare with', () => {
    for (const source of [leased(), leased({ baseline: 1 })]) {
      const outcome = describeChange(source, fetched('a'), undefined, anOrganization(), NOW);
      expect(outcome).not.toHaveProperty('measured');
      expect(outcome).not.toHaveProperty('notice');
    }
  });

  it('has a notice so short that ten of them fit into a request to the bus', () => {
    const text = (word: string) => Array.from({ length: 50_000 }, (_, index) => `${word}${index}`).join(' ');
    const outcome = describeChange(
      leased({ baseline: 1 }),
      fetched(text('x')),
      text('y'),
      anOrganization(),
      NOW,
    );
    expect(JSON.stringify(outcome.notice).length).toBeLessThan(20_000);
  });
});
