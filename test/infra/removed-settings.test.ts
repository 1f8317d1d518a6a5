import { describe, expect, it } from 'vitest';
import { releaseOf } from '../../lib/release-check/assembly.ts';
import type { Direction } from '../../lib/release-check/finding.ts';
import { checkUpdate } from '../../lib/release-check/rules.ts';
import { EVERYTHING, OTHER_ISSUER, SETTINGS, type TestContext } from './contexts.ts';
import { synthesize } from './synthesize.ts';

const WHOLE = { ...EVERYTHING, dashboard: SETTINGS.dashboard };
const release = (changes: TestContext = {}) =>
  releaseOf({ Service: synthesize({ ...WHOLE, ...changes }).toJSON() });
const removed = (from: TestContext, to: TestContext, direction: Direction) =>
  checkUpdate(release(from), release(to), direction, {})
    .filter(({ rule }) => rule === 'setting-removed')
    .map(({ level, resources }) => [level, ...resources]);

describe('release check', () => {
  it.each<[string[], TestContext]>([
    [['domain'], { domain: 'none' }],
    [['dashboard', 'mailFrom'], { dashboard: 'none', mailFrom: 'none' }],
    [['alarmEmail'], { alarmEmail: 'none' }],
    [['mailFrom'], { mailFrom: 'none' }],
    [['mailFrom', 'user pool'], OTHER_ISSUER],
  ])('refuses that a release removes %j, and warns of a rollback that does', (names, changes) => {
    expect(removed({}, changes, 'deploy')).toEqual([['error', ...names]]);
    expect(removed({}, changes, 'roll back')).toEqual([['warning', ...names]]);
    expect(removed(changes, {}, 'deploy')).toEqual([]);
  });
});
