/**
 * Loads each value once, also for concurrent callers. A failed load is not repeated either.
 * @param keyOf tells apart arguments that are not equal by themselves
 */
export function memoize<T, V>(
  load: (of: T) => Promise<V>,
  keyOf: (of: T) => unknown = (of) => of,
): (of: T) => Promise<V> {
  const loaded = new Map<unknown, Promise<V>>();
  return (of) => {
    const key = keyOf(of);
    const value = loaded.get(key) ?? load(of);
    loaded.set(key, value);
    return value;
  };
}

/** Values that an instance keeps at most. */
const KEPT = 1000;

/**
 * Caches what `load` returns for a while, so that what every request needs is rarely read. `undefined` is not
 * cached: what is missing may just have been created.
 * @param freshMs how old a cached value may be
 */
export function memoizeFor<K, V>(
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
