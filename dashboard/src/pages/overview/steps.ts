export const STEPS = ['endpoint', 'test', 'verify', 'live'] as const;
export type Step = (typeof STEPS)[number];
/** Undefined while it is not known yet. */
export type Done = Readonly<Record<Step, boolean | undefined>>;

/** What this browser keeps of them: the service cannot know whether a receiver verifies. */
export interface Kept {
  isVerified: boolean;
  isHidden: boolean;
}
export const NOTHING_KEPT: Kept = { isVerified: false, isHidden: false };

/** Reads what was kept, which may be anything. */
export function keptIn(text: string | null): Kept {
  try {
    const kept: unknown = JSON.parse(text ?? '');
    const flag = (name: keyof Kept) => Object(kept)[name] === true;
    return { isVerified: flag('isVerified'), isHidden: flag('isHidden') };
  } catch {
    return NOTHING_KEPT;
  }
}

export const countDone = (done: Done): number => STEPS.filter((step) => done[step]).length;

/**
 * Whether the steps are shown: until they are done or hidden; to members, who cannot do them, until events
 * arrive.
 */
export function isShown(done: Done, { isHidden }: Kept, isAdmin: boolean): boolean {
  if (isHidden) return false;
  return isAdmin ? countDone(done) < STEPS.length : !(done.endpoint && done.live);
}
