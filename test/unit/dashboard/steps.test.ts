import { describe, expect, it } from 'vitest';
import { countDone, isShown, keptIn, NOTHING_KEPT } from '../../../dashboard/src/pages/overview/steps.ts';

const NONE = { endpoint: false, test: false, verify: false, live: false };
const ALL = { endpoint: true, test: true, verify: true, live: true };

describe('first steps', () => {
  it('are counted', () => {
    expect([countDone(NONE), countDone({ ...NONE, test: true }), countDone(ALL)]).toEqual([0, 1, 4]);
  });

  it('are shown to admins until all are done or they are hidden', () => {
    expect(isShown(NONE, NOTHING_KEPT, true)).toBe(true);
    expect(isShown({ ...ALL, verify: false }, NOTHING_KEPT, true)).toBe(true);
    expect(isShown(ALL, NOTHING_KEPT, true)).toBe(false);
    expect(isShown(NONE, { ...NOTHING_KEPT, isHidden: true }, true)).toBe(false);
  });

  it('are shown to members until events can arrive', () => {
    expect(isShown(NONE, NOTHING_KEPT, false)).toBe(true);
    expect(isShown({ ...NONE, endpoint: true }, NOTHING_KEPT, false)).toBe(true);
    expect(isShown({ ...NONE, endpoint: true, live: true }, NOTHING_KEPT, false)).toBe(false);
  });

  it.each([null, '', '{', '7', 'null', '[]', '{"isHidden":"yes"}'])('keep nothing of %j', (text) => {
    expect(keptIn(text)).toEqual(NOTHING_KEPT);
  });

  it('keep what was stored', () => {
    const kept = { isVerified: true, isHidden: false };
    expect(keptIn(JSON.stringify(kept))).toEqual(kept);
  });
});
