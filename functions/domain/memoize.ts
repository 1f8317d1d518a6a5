/**
 * Loads each value once, also for concurrent callers. A failed load is not repeated.
 * @param getKey tells arguments apart that are not equal by identity
 */
export function memoize<T, V>(
  load: (of: T) => Promise<V>,
  getKey: (of: T) => unknown = (of) => of,
): (of: T) => Promise<V> {
  const loaded = new Map<unknown, Promise<V>>();
  return (of) => {
    const key = getKey(of);
    const value = loaded.get(key) ?? load(of);
    loaded.set(key, value);
    return value;
  };
}

/** Maximum number of cached values. */
const MAX_CACHED = 1000;

/**
 * Caches loaded values for a time. `undefined` is not cached: the item may just have been created.
 * @param freshMs maximum age of a cached value
 */
export function memoizeFor<K, V>(
  load: (key: K) => Promise<V | undefined>,
  freshMs: number,
): (key: K, now: Date) => Promise<V | undefined> {
  const cached = new Map<K, { value: V; until: number }>();
  return async (key, now) => {
    const known = cached.get(key);
    if (known !== undefined && known.until > now.getTime()) return known.value;
    const value = await load(key);
    if (cached.size >= MAX_CACHED) cached.clear();
    if (value !== undefined) cached.set(key, { value, until: now.getTime() + freshMs });
    return value;
  };
}
