import { describe, expect, it } from 'vitest';
import type { Release, Template } from '../../lib/release-check/assembly.ts';
import type { Direction } from '../../lib/release-check/finding.ts';
import { checkUpdate } from '../../lib/release-check/rules.ts';
import { EVERYTHING, OTHER_ISSUER, SETTINGS, type TestContext } from './contexts.ts';
import { synthesize } from './synthesize.ts';

const releaseWith = (changes: TestContext): Release => {
  const template = synthesize({ ...EVERYTHING, dashboard: SETTINGS.dashboard, ...changes });
  return new Map([['Service', template.toJSON() as Template]]);
};
const whole = releaseWith({});

describe('release check', () => {
  it.each([
    [['domain'], releaseWith({ domain: 'none' })],
    [['dashboard', 'mailFrom'], releaseWith({ dashboard: 'none', mailFrom: 'none' })],
    [['alarmEmail'], releaseWith({ alarmEmail: 'none' })],
    [['mailFrom'], releaseWith({ mailFrom: 'none' })],
    [['mailFrom', 'user pool'], releaseWith(OTHER_ISSUER)],
  ])('refuses that a release removes %j, and warns of a rollback that does', (names, rest) => {
    const removed = (from: Release, to: Release, direction: Direction) =>
      checkUpdate(from, to, direction, {})
        .filter(({ rule }) => rule === 'setting-removed')
        .map(({ level, resources }) => [level, ...resources]);
    expect(removed(whole, rest, 'deploy')).toEqual([['error', ...names]]);
    expect(removed(whole, rest, 'roll back')).toEqual([['warning', ...names]]);
    expect(removed(rest, whole, 'deploy')).toEqual([]);
  });
});
