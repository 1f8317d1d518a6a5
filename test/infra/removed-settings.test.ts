import { describe, expect, it } from 'vitest';
import type { Release, Template } from '../../lib/release-check/assembly.ts';
import type { Direction } from '../../lib/release-check/finding.ts';
import { checkUpdate } from '../../lib/release-check/rules.ts';
import { casesOf } from '../support/cases.ts';
import { EVERYTHING, OTHER_ISSUER, SETTINGS, type TestContext } from './contexts.ts';
import { synthesize } from './synthesize.ts';

const releaseWith = (changes: TestContext): Release => {
  const template = synthesize({ ...EVERYTHING, dashboard: SETTINGS.dashboard, ...changes });
  return new Map([['Service', template.toJSON() as Template]]);
};
const whole = releaseWith({});

describe('release check', () => {
  it.each<[string[], TestContext]>([
    [
      ['domain', 'alarmEmail', 'dashboard', 'mailFrom'],
      { domain: 'none', alarmEmail: 'none', dashboard: 'none', mailFrom: 'none' },
    ],
    [['mailFrom', 'user pool'], OTHER_ISSUER],
    ...casesOf<[string[], TestContext][]>(
      [],
      [
        [['domain'], { domain: 'none' }],
        [['dashboard', 'mailFrom'], { dashboard: 'none', mailFrom: 'none' }],
        [['alarmEmail'], { alarmEmail: 'none' }],
        [['mailFrom'], { mailFrom: 'none' }],
      ],
    ),
  ])('refuses that a release removes %j, and warns of a rollback that does', (names, changes) => {
    const rest = releaseWith(changes);
    const removed = (from: Release, to: Release, direction: Direction) =>
      checkUpdate(from, to, direction, {})
        .filter(({ rule }) => rule === 'setting-removed')
        .map(({ level, resources }) => [level, ...resources.toSorted()]);
    expect(removed(whole, rest, 'deploy')).toEqual([['error', ...names.toSorted()]]);
    expect(removed(whole, rest, 'roll back')).toEqual([['warning', ...names.toSorted()]]);
    expect(removed(rest, whole, 'deploy')).toEqual([]);
  });
});
