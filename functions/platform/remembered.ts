/** Answers that an instance keeps at most. */
const KEPT = 1000;

/**
 * Keeps the answers of `load` for a while, so that a question which every request asks is rarely asked of a table.
 * That something is missing is not kept: it may just have come to be.
 * @param freshMs how old an answer may be
 */
export function remembered<K, V>(
  load: (key: K) => Promise<V | undefined>,
  freshMs: number,
): (key: K, now: Date) => Promise<V | undefined> {
  const kept = new Map<K, { value: V; until: number }>();
  return async (key, now) => {
    const known = kept.get(key);
    if (known !== undefined && known.until > now.getTime()) return known.value;
    const value = await load(key);
    if (kept.size >= KEPT) kept.clear();
    if (value !== undefined) kept.set(key, { value, until: now.getTime() + freshMs });
    return value;
  };
}
